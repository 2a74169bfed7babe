"""Which English words could stand in a request for anything?

Verbs of asking and of handling in general (`find`, `retrieve`, `create`), measures of time and
amount, praise, and the words of every interface (`input`, `format`). They rank tools like all
other words, but do not tell what a request is about: a tool that shares only them with a request
is no answer to it. Words that can name the thing itself (`news`, `time`, `report`, `course`) are
not among them.
"""

from functools import lru_cache

from toolkeeper_index.stemming import stem

_TEXT = """
able access accurate active actual add added addition additionally advance affect after afternoon
again against ahead allow along already alternative always amazing among amount annual another
answer anyway apart apply approach appropriate april area around arrange ask aspect assist august
available average avoid away back base basic become before begin believe below best better between
beyond big bit brief bring carefully case certain chance change check choose clear close come
common complete comprehensive concern consider consist contain continue correct couple create
crucial curious current cut daily data day deal december decide deep define delete depend describe
description desire detail determine different difficult display early easily easy
edit effect efficient effort end engage enjoy enough ensure enter entire especially essential even
ever everything exact exactly example excellent exciting exist expect explain explore extra fact
fairly familiar fantastic far fast favor favorite february feel fetch field final find fine finish
first fit five focus follow format forward four free frequent friday full fully fun future gather
general get give given go goal gone good great grow half handle happen hard help high highest
highly hope hour huge id idea ideal identify imagine immediate impact improve include incredible
indicate individual info information initial input insert instead interest introduce involve item
january join july june keep know knowledge known large last lastly late later latest lead least
leave left length less level likely limit line list little long look lot low lowest main make
manage many march matter max maximum meet mention method mind minimum minute miss modify moment
monday month monthly moreover morning move much multiple name necessary never new newest next nice
night none normal nothing notice november number numerous object obtain occur october offer often
old open operation opportunity optimal option organize original otherwise outcome output overall
overview parameter part particular particularly past per perfect perform perhaps period pick piece
place point popular possible possibly potential prefer prepare present pretty prior
procedure proceed process produce proper properly provide purpose put quality query quick quickly
quite raise rather reach read ready real reason receive recent recommend reduce refer regard
regular relate relevant reliable remember remove request require respect respond response rest
result retrieve return right run saturday save say scenario search second see seek seem select
send sense separate september series serious serve set several short show shown side significant
similar simple simply simultaneously since single situation six size small solution solve soon
sort special specific specified spend stand standard start state stay step still stop strong
submit sufficient suggest suitable sum sunday support suppose sure take talk target tell ten term
thing think third thorough though thought three thursday today together told tomorrow tonight tool
top topic total toward tried truly try tuesday turn two type typical ultimate understand unique
upcoming update urgent use usual valid valuable value various vary version view wait way wednesday
week whole wide wonder work world worry worth write wrong year yesterday yet young zero
"""

_STEMS = frozenset(stem(word) for word in _TEXT.split())
_TOPICS = frozenset({"news"})
"""Words that only look like a form of a general one."""


@lru_cache(maxsize=65_536)
def is_general(word: str) -> bool:
    """Whether the lower-case `word`, in any of its forms, is general."""
    return word not in _TOPICS and stem(word) in _STEMS
