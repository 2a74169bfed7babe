"""Which tools work on the calendar?"""

from datetime import datetime, timedelta
from typing import Annotated, Any

from pydantic import Field

from office.store import opened
from toolkeeper import tool

Day = Annotated[
    str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$", description="a date, for example 2026-12-04")
]
Moment = Annotated[
    str,
    Field(
        pattern=r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$",
        description="date and time, for example 2026-12-04T10:00",
    ),
]
Minutes = Annotated[int, Field(ge=5, le=480)]


@tool(name="calendar.list", side_effect="workspace_read")
def list_appointments(day: Day, days: Annotated[int, Field(ge=1, le=31)] = 1) -> Any:
    """List the appointments of a day, or of several days from it on."""
    first = datetime.fromisoformat(day)
    with opened() as store:
        rows = store.execute(
            "SELECT * FROM appointments WHERE start >= ? AND start < ? ORDER BY start, id",
            (_text(first), _text(first + timedelta(days=days))),
        )
        return [dict(row) for row in rows]


@tool(name="calendar.free", side_effect="workspace_read")
def find_free_time(day: Day, minutes: Minutes = 30) -> list[str]:
    """Find free starting times between nine and five on a day, on the half hour."""
    start = datetime.fromisoformat(f"{day}T09:00")
    length = timedelta(minutes=minutes)
    with opened() as store:
        rows = store.execute("SELECT * FROM appointments WHERE start LIKE ?", (f"{day}%",))
        taken = [_span(row["start"], row["minutes"]) for row in rows]
    slots = [start + timedelta(minutes=30 * half_hour) for half_hour in range(16)]
    closing_time = start + timedelta(hours=8)
    return [
        _text(slot)
        for slot in slots
        if slot + length <= closing_time
        and all(slot + length <= begins or slot >= ends for begins, ends in taken)
    ]


@tool(name="calendar.create", side_effect="workspace_write")
def create_appointment(title: str, start: Moment, minutes: Minutes = 30) -> Any:
    """Enter a new appointment; returns it with its id."""
    with opened() as store:
        number = store.execute(
            "INSERT INTO appointments (title, start, minutes) VALUES (?, ?, ?)",
            (title, _text(datetime.fromisoformat(start)), minutes),
        ).lastrowid
    return {"id": number, "title": title, "start": start, "minutes": minutes}


@tool(name="calendar.move", side_effect="workspace_write", idempotent=True, deferred=True)
def move_appointment(id: int, start: Moment) -> str:
    """Move an appointment to another time; its length stays."""
    with opened() as store:
        row = store.execute("SELECT title FROM appointments WHERE id = ?", (id,)).fetchone()
        if row is None:
            return f"there is no appointment {id}"
        moment = _text(datetime.fromisoformat(start))
        store.execute("UPDATE appointments SET start = ? WHERE id = ?", (moment, id))
    return f"`{row['title']}` is on {moment} now"


@tool(name="calendar.cancel", side_effect="workspace_write", destructive=True, deferred=True)
def cancel_appointment(id: int) -> str:
    """Take an appointment off the calendar for good."""
    with opened() as store:
        gone = store.execute("DELETE FROM appointments WHERE id = ?", (id,)).rowcount
    return f"appointment {id} is off the calendar" if gone else f"there is no appointment {id}"


def _text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M")


def _span(start: str, minutes: int) -> tuple[datetime, datetime]:
    begins = datetime.fromisoformat(start)
    return begins, begins + timedelta(minutes=minutes)
