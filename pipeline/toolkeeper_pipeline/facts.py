"""What has a session read so far, as its calls are decided?

Calls of one model step were all written before the model read any of their results. So they are
decided by what was known when the step began, whichever of them is quicker; what they bring is
known to the calls that follow. Only a write is told at once: a read beside it may show it already.
"""

from collections.abc import Set
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol

from toolkeeper_contract import Classification, Provenance, SideEffect
from toolkeeper_contract.draft import drafted
from toolkeeper_policy import Heard


@drafted
@dataclass(frozen=True, slots=True)
class Lesson:
    """What one result adds: `text` as the model can read it, whole and without secrets.

    `trusted` says whether the text counts as ours, `private` whether it tells what its owner would
    not publish. `given` are the arguments of the call, without secrets.
    """

    text: str
    trusted: bool
    private: bool = False
    given: Any = None


class Facts(Protocol):
    """What deciding and sealing ask of a session, and tell it."""

    @property
    def tainted(self) -> bool: ...

    @property
    def private(self) -> bool: ...

    @property
    def provenance(self) -> Provenance: ...

    def trusts(self, classification: Classification, source: str) -> bool:
        """Whether a result of such a call to `source` counts as ours."""
        ...

    def wrote(self, source: str) -> bool:
        """Tells that a call may have changed `source`; whether that was in a tainted session."""
        ...

    def learn(self, lesson: Lesson) -> None:
        """Tells what a result brought."""
        ...


class SessionFacts:
    """All that a session has read: whether that was untrusted or private, and the words of it.

    `written` are the sources that something was written to while the session was tainted: from then
    on, what comes from them may be somebody else's words. Told things hold at once; `step` gives
    the view of calls that belong together.
    """

    def __init__(
        self,
        *,
        tainted: bool = False,
        private: bool = False,
        written: Set[str] = frozenset(),
        heard: Heard | None = None,
    ) -> None:
        self.tainted = tainted
        self.private = private
        self.written = set(written)
        self.heard = heard or Heard()

    @property
    def provenance(self) -> Provenance:
        return self.heard

    def mark(self, *, tainted: bool = False, private: bool = False) -> None:
        """Sets marks that were set elsewhere; nothing takes a mark off."""
        self.tainted = self.tainted or tainted
        self.private = self.private or private

    def trusts(self, classification: Classification, source: str) -> bool:
        if not classification.trusted_result:
            return False
        # What reads nothing is not touched by what was written.
        return classification.side_effect is SideEffect.NONE or source not in self.written

    def wrote(self, source: str) -> bool:
        if self.tainted:
            self.written.add(source)
        return self.tainted

    def learn(self, lesson: Lesson) -> None:
        if lesson.trusted:
            self.heard.trusted(lesson.text, lesson.given)
        else:
            self.heard.untrusted(lesson.text)
        self.mark(tainted=not lesson.trusted, private=lesson.private)

    def copy(self) -> "SessionFacts":
        """The same facts for a session that goes on from here."""
        return SessionFacts(
            tainted=self.tainted,
            private=self.private,
            written=self.written,
            heard=self.heard.copy(),
        )

    def step(self) -> "StepFacts":
        """The view of the calls of one model step; to be used as a context manager."""
        return StepFacts(self)


class StepFacts:
    """What was known when a model step began; what its calls bring is passed on when it ends."""

    def __init__(self, session: SessionFacts) -> None:
        self._session = session
        self._lessons: list[Lesson] | None = []
        self.tainted = session.tainted
        self.private = session.private

    @property
    def provenance(self) -> Provenance:
        return self._session.heard

    def trusts(self, classification: Classification, source: str) -> bool:
        return self._session.trusts(classification, source)

    def wrote(self, source: str) -> bool:
        if self.tainted:
            self._session.written.add(source)
        return self.tainted

    def learn(self, lesson: Lesson) -> None:
        if self._lessons is None:
            # A call that was cancelled is sealed after its step.
            self._session.learn(lesson)
        else:
            self._lessons.append(lesson)

    def __enter__(self) -> "StepFacts":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        lessons, self._lessons = self._lessons or [], None
        for lesson in lessons:
            self._session.learn(lesson)
