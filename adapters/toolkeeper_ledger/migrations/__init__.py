"""Which steps lead from each version of the tables to the next?

A step is never changed once it was released: stores were made with it. `schema.py` is what all of
them together come to, and a test says where it is not. Importing this package imports Alembic, so
only who has a store to bring up to date does.
"""

from collections.abc import Callable, Mapping

from alembic.operations import Operations

from toolkeeper_ledger.migrations import revision_1, revision_2, revision_3

__all__ = ["STEPS"]

STEPS: Mapping[int, Callable[[Operations], None]] = {
    1: revision_1.upgrade,
    2: revision_2.upgrade,
    3: revision_3.upgrade,
}
"""By the version that a step leads to, from the one before it; 0 is a store without tables."""
