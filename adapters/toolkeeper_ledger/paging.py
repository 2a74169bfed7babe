"""How is a query of any length read in little memory, on every database?"""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Column, Connection, RowMapping, Select

PAGE = 500


def paged(
    connection: Connection, query: Select[Any], key: Column[Any], *, size: int = PAGE
) -> Iterator[RowMapping]:
    """The rows in the order of `key`, a column of theirs that is unique among them.

    Each page is a query of its own: no cursor stays open while the caller asks something else.
    """
    page = query.order_by(key).limit(size)
    last: Any = None
    while True:
        now = page if last is None else page.where(key > last)
        rows = connection.execute(now).mappings().all()
        yield from rows
        if len(rows) < size:
            return
        last = rows[-1][key.name]
