"""A small office: a calendar, notes and contacts, in one SQLite file."""
