"""Which tools work on the contacts?"""

import csv
import io
from typing import Annotated, Any

from pydantic import Field

from office.store import opened
from toolkeeper import tool

Email = Annotated[str, Field(pattern=r"^[^@\s]+@[^@\s]+$")]


@tool(name="contacts.find", side_effect="workspace_read", private=True)
def find_contact(name: Annotated[str, Field(min_length=1)]) -> Any:
    """Look up people by a part of their name."""
    with opened() as store:
        rows = store.execute(
            "SELECT * FROM contacts WHERE instr(lower(name), lower(?)) ORDER BY name", (name,)
        )
        return [dict(row) for row in rows]


@tool(name="contacts.add", side_effect="workspace_write")
def add_contact(name: str, email: Email, phone: str | None = None) -> str:
    """Add a person."""
    with opened() as store:
        added = store.execute(
            "INSERT INTO contacts VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (name, email, phone)
        ).rowcount
    return f"`{name}` is added" if added else f"`{name}` is there already"


@tool(name="contacts.update", side_effect="workspace_write", idempotent=True, deferred=True)
def update_contact(name: str, email: Email | None = None, phone: str | None = None) -> str:
    """Change the email address or the phone number of a person; what is left out stays."""
    with opened() as store:
        changed = store.execute(
            "UPDATE contacts SET email = coalesce(?, email), phone = coalesce(?, phone) "
            "WHERE name = ?",
            (email, phone, name),
        ).rowcount
    return f"`{name}` is up to date" if changed else f"there is no contact `{name}`"


@tool(name="contacts.export", side_effect="workspace_read", private=True, scopes=["export"])
def export_contacts() -> str:
    """Write out all contacts as comma-separated values."""
    with opened() as store:
        rows = store.execute("SELECT name, email, phone FROM contacts ORDER BY name").fetchall()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("name", "email", "phone"))
    writer.writerows(tuple(row) for row in rows)
    return text.getvalue()
