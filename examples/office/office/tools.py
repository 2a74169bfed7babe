"""Which functions does the configuration take over as tools?"""

from office.calendar import (
    cancel_appointment,
    create_appointment,
    find_free_time,
    list_appointments,
    move_appointment,
)
from office.contacts import add_contact, export_contacts, find_contact, update_contact
from office.notes import add_note, delete_note, read_note, search_notes

TOOLS = [
    list_appointments,
    find_free_time,
    create_appointment,
    move_appointment,
    cancel_appointment,
    search_notes,
    read_note,
    add_note,
    delete_note,
    find_contact,
    add_contact,
    update_contact,
    export_contacts,
]
