"""Where do the office's appointments, notes and contacts live?"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

WORLD = Path(__file__).resolve().parents[1] / "world"
FILE = WORLD / "office.db"

_TABLES = """
CREATE TABLE appointments (
    id INTEGER PRIMARY KEY, title TEXT NOT NULL, start TEXT NOT NULL, minutes INTEGER NOT NULL
);
CREATE TABLE notes (title TEXT PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE contacts (name TEXT PRIMARY KEY, email TEXT NOT NULL, phone TEXT);
"""

_APPOINTMENTS = [
    (1, "Board meeting", "2026-12-03T09:00", 90),
    (2, "Dentist", "2026-12-03T14:30", 45),
    (3, "Lunch with Noor", "2026-12-04T12:00", 60),
]
_NOTES = [
    ("Offer to Harbour Ltd", "Valid until the end of the year. Do not go below 40,000."),
    ("Board meeting", "Agenda: budget, new office, minutes to be committed the same day."),
]
_CONTACTS = [
    ("Noor Haddad", "noor@example.com", "+41 44 555 01 02"),
    ("Dr. Stein (dentist)", "praxis@stein.example", None),
]


def create_store() -> None:
    """Makes the store with a few entries; it must not be there yet."""
    FILE.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(FILE)) as store, store:
        store.executescript(_TABLES)
        store.executemany("INSERT INTO appointments VALUES (?, ?, ?, ?)", _APPOINTMENTS)
        store.executemany("INSERT INTO notes VALUES (?, ?)", _NOTES)
        store.executemany("INSERT INTO contacts VALUES (?, ?, ?)", _CONTACTS)


@contextmanager
def opened() -> Iterator[sqlite3.Connection]:
    """One transaction on the store: committed at the end, rolled back by an exception."""
    # `mode=rw`: a store that nobody created is an error, not a new empty file.
    with closing(sqlite3.connect(f"{FILE.as_uri()}?mode=rw", uri=True)) as store, store:
        store.row_factory = sqlite3.Row
        yield store
