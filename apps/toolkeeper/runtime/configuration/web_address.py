"""Is this the address of something on the web?"""

from urllib.parse import urlsplit


def is_web_address(url: str) -> bool:
    """Whether `url` is one of `http` or `https` with a host in it."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    good = parts.scheme in ("http", "https") and bool(parts.hostname) and port != 0
    return good and url.isprintable() and " " not in url


def host_of(url: str) -> str:
    """The host of `url`, without a port; empty when it has none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
