"""What is one thing that workers do when they die?"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Act:
    """`only` are the beginnings of the boundaries that count; those of another act are left out.

    `own_store` acts need a store of their own for each run, which is not there yet. `look` finds
    out what is left where that is not a matter of calls. `grouped`: how many commits it takes is
    another in each run, so that only the first of them is sure to come. `again` is what somebody
    does afterwards in a process of their own, once for each run. `endless` ones are killed from
    outside, at any moment.
    """

    name: str
    play: object
    prepare: object = None
    only: tuple = ("",)
    databases: tuple = ("sqlite", "postgresql")
    own_store: bool = False
    look: object = None
    grouped: bool = False
    again: object = None
    endless: bool = False
