"""How do requests to a collector fail without telling its address?

The exporter logs what a request raised, in the library's words: with the address, which may hold a
secret. So a request raises in ours.
"""

from typing import Any

import requests


class CollectorSession(requests.Session):
    """Follows no redirect, and asks the environment for no proxy and no `.netrc`."""

    def __init__(self) -> None:
        super().__init__()
        self.trust_env = False

    def request(self, *arguments: Any, **options: Any) -> requests.Response:
        options["allow_redirects"] = False
        try:
            return super().request(*arguments, **options)
        except requests.exceptions.Timeout:
            raise requests.exceptions.Timeout("the collector did not answer in time") from None
        except requests.exceptions.ConnectionError:
            raise requests.exceptions.ConnectionError("the collector cannot be reached") from None
        except requests.exceptions.RequestException:
            raise requests.exceptions.RequestException(
                "the request to the collector failed"
            ) from None
