"""What can go wrong, who reads it, and under which code?

    ToolkeeperError
    ├── ToolError      an error result: the model reads it
    │   ├── tool.not_found.not_offered | .withdrawn     one and the same text, so nothing leaks
    │   ├── tool_pin_mismatch                           the definition changed since it was pinned
    │   ├── tool.arguments_invalid
    │   ├── tool.denied.policy | .hardline | .scope | .trust | .rule_error
    │   ├── tool.approval.rejected | .expired
    │   ├── tool.failed | tool.failed.timeout | .result_invalid | .unknown_outcome
    │   ├── tool.unavailable
    │   └── tool.search_invalid
    ├── RunError       ends the run: the operator reads it
    │   ├── plan.builder_not_current
    │   ├── ledger.unavailable
    │   └── ledger.conflict
    └── ConfigError    raised while wiring: the developer reads it
        └── config.invalid | .policy_invalid | .tool_name_reserved | .tool_name_taken
            | .control_tool_unavailable

A code is never renamed or reused.
"""

from enum import StrEnum


class Code(StrEnum):
    """Every error code, as it stands in rows, lines and results."""

    NOT_OFFERED = "tool.not_found.not_offered"
    WITHDRAWN = "tool.not_found.withdrawn"
    PIN_MISMATCH = "tool_pin_mismatch"
    ARGUMENTS_INVALID = "tool.arguments_invalid"
    DENIED_POLICY = "tool.denied.policy"
    DENIED_HARDLINE = "tool.denied.hardline"
    DENIED_SCOPE = "tool.denied.scope"
    DENIED_TRUST = "tool.denied.trust"
    DENIED_RULE_ERROR = "tool.denied.rule_error"
    APPROVAL_REJECTED = "tool.approval.rejected"
    APPROVAL_EXPIRED = "tool.approval.expired"
    FAILED = "tool.failed"
    FAILED_TIMEOUT = "tool.failed.timeout"
    FAILED_RESULT_INVALID = "tool.failed.result_invalid"
    FAILED_UNKNOWN_OUTCOME = "tool.failed.unknown_outcome"
    UNAVAILABLE = "tool.unavailable"
    SEARCH_INVALID = "tool.search_invalid"
    BUILDER_NOT_CURRENT = "plan.builder_not_current"
    LEDGER_UNAVAILABLE = "ledger.unavailable"
    LEDGER_CONFLICT = "ledger.conflict"
    CONFIG_INVALID = "config.invalid"
    POLICY_INVALID = "config.policy_invalid"
    TOOL_NAME_RESERVED = "config.tool_name_reserved"
    TOOL_NAME_TAKEN = "config.tool_name_taken"
    CONTROL_TOOL_UNAVAILABLE = "config.control_tool_unavailable"


class ToolkeeperError(Exception):
    """Any error of toolkeeper: a code, a lower-case message, and what to do next."""

    def __init__(self, code: Code, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class ToolError(ToolkeeperError):
    """A call ends with this as its error result; the model reads `message`."""


class RunError(ToolkeeperError):
    """The run cannot go on; the operator reads it."""


class ConfigError(ToolkeeperError):
    """The wiring is wrong; the developer reads it.

    `file`, `line` (1-based) and `key` say where, as far as they are known.
    """

    def __init__(
        self,
        message: str,
        hint: str | None = None,
        *,
        code: Code = Code.CONFIG_INVALID,
        file: str | None = None,
        line: int | None = None,
        key: str | None = None,
    ) -> None:
        super().__init__(code, message, hint)
        self.file = file
        self.line = line
        self.key = key

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line) if part is not None)
        parts = [part for part in (place, self.key) if part]
        where = ": ".join(parts)
        text = super().__str__()
        return f"{where}: {text}" if where else text
