"""The functions of the session that is played over fifty turns."""

from toolkeeper import tool

NAMES = {
    "notes.read": "Read a note.",
    "notes.write": "Write a note.",
    "notes.list": "List all notes.",
    "notes.delete": "Delete a note.",
    "mail.read": "Read the mail.",
    "mail.draft": "Draft a mail.",
    "calendar.show": "Show the calendar.",
    "calendar.book": "Book an appointment.",
    "weather.today": "Tell the weather of today.",
    "weather.week": "Tell the weather of the week.",
}


def functions():
    for name, text in NAMES.items():

        def run(about: str = "", limit: int = 3) -> str:
            return about

        run.__doc__ = text
        yield tool(name=name, side_effect="none")(run)


TOOLS = list(functions())
