"""What does a conversation say about the tools that were searched, found and called in it?"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CallSeen:
    """One call of the model's.

    `call_id` is the provider's, "" where it gave none; `occurrence` counts the calls with that id
    from 1. `index` is the message that holds the call, and `end` the one behind which a lost
    result of it belongs. `kind` is how it is written, which says how its result is. `answered`:
    a result of it follows.
    """

    call_id: str
    occurrence: int
    wire_name: str
    index: int
    end: int
    kind: str
    answered: bool


@dataclass(frozen=True, slots=True)
class ResultSeen:
    """One result; `call` is the position in `Transcript.calls` of the call that it answers.

    None for a result whose call is not there: the conversation was cut, or it is the second one.
    """

    call_id: str
    index: int
    call: int | None


@dataclass(frozen=True, slots=True)
class SearchSeen:
    """A call of the search tool; `occurrence` counts the searches with that id from 1."""

    call_id: str
    occurrence: int
    wire_name: str
    answered: bool


@dataclass(frozen=True, slots=True)
class NativeFound:
    """What one search on the provider's side has found: wire names, in the answer's order."""

    names: tuple[str, ...]
    index: int


@dataclass(frozen=True, slots=True)
class Transcript:
    """A conversation as far as tools go, each part in the order in which it stands there.

    `notes` are the invocation ids that our own compaction notes cite. `turns` are the indices of
    the user's messages; one that only brings results of calls is none. `open_from` is the position
    in `calls` from which on a result can still be appended, because only results came since.
    """

    calls: tuple[CallSeen, ...] = ()
    results: tuple[ResultSeen, ...] = ()
    searches: tuple[SearchSeen, ...] = ()
    native: tuple[NativeFound, ...] = ()
    notes: tuple[str, ...] = ()
    turns: tuple[int, ...] = ()
    open_from: int = 0

    @property
    def unanswered(self) -> tuple[CallSeen, ...]:
        """The calls without a result, wherever they stand."""
        return tuple(call for call in self.calls if not call.answered)
