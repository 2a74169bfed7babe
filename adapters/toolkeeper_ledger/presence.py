"""Was a store begun at a URL?"""

from toolkeeper_ledger.location import is_on_server, store_path


def is_there(url: str) -> bool:
    """Whether a store was begun at `url`: a file with something in it, or a database with tables.

    ConfigError for what is no store. What cannot be looked at is there: opening it says more.
    """
    if is_on_server(url):
        from toolkeeper_ledger.postgres_opening import holds_store

        return holds_store(url)
    path = store_path(url)
    try:
        return path.stat().st_size > 0
    except FileNotFoundError:
        return False
    except (OSError, ValueError):
        return True
