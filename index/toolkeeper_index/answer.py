"""What did a search for tools find, or why did it find nothing?"""

from dataclasses import dataclass
from enum import StrEnum

from toolkeeper_contract import Tool


class SearchFailure(StrEnum):
    """Why a search has no answer; every one is an error result that the model reads."""

    EMPTY_QUERY = "empty_query"
    QUERY_NOT_TEXT = "query_not_text"
    LIMIT_INVALID = "limit_invalid"
    SELECT_INVALID = "select_invalid"
    UNKNOWN_NAME = "unknown_name"
    NO_MATCH = "no_match"


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """`tools` best first, empty with a failure. `unknown` are positions in `select`, from 1."""

    tools: tuple[Tool, ...] = ()
    failure: SearchFailure | None = None
    unknown: tuple[int, ...] = ()

    @property
    def is_error(self) -> bool:
        return self.failure is not None
