"""Which other words do people and tools use for the same thing?

Everyday words of tools and of requests to them, each line one meaning. The list is short on
purpose: it bridges what stemming can't (`delete` and `remove`), and a synonym counts for about a
third of the word itself, so a wrong one hardly moves a ranking.
"""

from toolkeeper_index.stemming import stem

WEIGHT = 0.35
"""What a match by a synonym is worth, measured by `bench/retrieval.py`."""

_GROUPS = """
account user member
add append insert
address geocode
alarm reminder
analyse analysis analyze
article paper publication
audio sound
book ebook
business company firm
buy order purchase shop
calculate calculation compute
calendar agenda schedule
cancel revoke
car automobile vehicle
chart diagram graph plot
chat dm message
check validate verify
child kid
cinema film movie
city town
class course lesson
client customer
climate forecast weather
clip video
cloth clothing fashion
comment reply
compute calculate
contact people person
conversion convert transform
cost price
country nation
create build generate make
currency exchange
database db
delete erase remove
deliver send
dining restaurant
direction navigation route
directory folder
display list show
doc document file
doctor physician
edit change modify update
education learn study
email inbox mail mailbox
employee staff worker
employment career job
error failure
event appointment meeting
excel sheet spreadsheet
exercise fitness workout
execute run
fetch get obtain retrieve
finance financial money
find lookup query search
flight airline plane
food cooking dish meal recipe
game gaming
gift present
goods item product
halt end stop
health medical medicine
home house property
host server
hotel accommodation lodging
image photo photograph picture
issue bug ticket
launch start
law legal
lease rent rental
link url
location map place
memo note
metric stat statistic
music song track
news headline
page webpage
pay payment
pet animal
post publish share
pupil student
question ask
rating review
recommend recommendation suggest suggestion
repo repository
share equity stock
site website
slide powerpoint presentation
summarise summarize summary
task todo
test exam quiz
translate translation
travel holiday trip vacation
"""


def _synonyms() -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for line in _GROUPS.split("\n"):
        stems = dict.fromkeys(stem(word) for word in line.split())
        for each in stems:
            found.setdefault(each, {}).update(stems)
    return {word: tuple(each for each in others if each != word) for word, others in found.items()}


SYNONYMS = _synonyms()
"""Stem -> the stems of the same meaning."""
