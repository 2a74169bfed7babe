"""Which tools work on the notes?"""

from typing import Annotated

from pydantic import Field

from office.store import opened
from toolkeeper import tool

Title = Annotated[str, Field(min_length=1, max_length=80)]


@tool(name="notes.search", side_effect="workspace_read")
def search_notes(words: Annotated[str, Field(min_length=1)]) -> list[str]:
    """Find the titles of the notes that hold every one of the given words."""
    with opened() as store:
        rows = store.execute("SELECT title, body FROM notes ORDER BY title").fetchall()
    wanted = words.casefold().split()
    return [
        row["title"]
        for row in rows
        if all(word in f"{row['title']} {row['body']}".casefold() for word in wanted)
    ]


@tool(name="notes.read", side_effect="workspace_read")
def read_note(title: Title) -> str:
    """Read one note, by its exact title."""
    with opened() as store:
        row = store.execute("SELECT body FROM notes WHERE title = ?", (title,)).fetchone()
    return row["body"] if row else "there is no note of that title"


@tool(name="notes.add", side_effect="workspace_write")
def add_note(title: Title, body: str) -> str:
    """Add a note, or a paragraph to the note of that title."""
    with opened() as store:
        store.execute(
            "INSERT INTO notes VALUES (?, ?) "
            "ON CONFLICT (title) DO UPDATE SET body = body || char(10, 10) || excluded.body",
            (title, body),
        )
    return f"noted under `{title}`"


@tool(name="notes.delete", side_effect="workspace_write", destructive=True, deferred=True)
def delete_note(title: Title) -> str:
    """Delete a note for good."""
    with opened() as store:
        gone = store.execute("DELETE FROM notes WHERE title = ?", (title,)).rowcount
    return f"`{title}` is deleted" if gone else "there is no note of that title"
