"""What was wrong with the words of a command, in our words?

The library's own sentences are for its developers; here each kind of mistake gets one of ours.
"""

import re
from collections.abc import Iterable
from typing import Any

from toolkeeper_contract import did_you_mean

_COMMAND = re.compile(r"No such command '(.*?)'", re.DOTALL)
_TOO_MANY = re.compile(r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)\.?$", re.DOTALL)


def is_usage_error(error: BaseException) -> bool:
    """Whether the parser of the command line raised it."""
    return hasattr(error, "format_message") and hasattr(error, "exit_code")


def help_instead(error: Any) -> str | None:
    """The help text, where a command was given nothing at all; None for a real mistake."""
    return error.format_message() if type(error).__name__ == "NoArgsIsHelpError" else None


def complaint(error: Any) -> str:
    """One message: what is wrong, and what to do next."""
    message, hint = _told(error)
    context = getattr(error, "ctx", None)
    path = getattr(context, "command_path", "toolkeeper")
    shown = f"`{path} --help` shows what there is"
    return f"{message} ({hint or shown})"


def _told(error: Any) -> tuple[str, str | None]:
    kind = type(error).__name__
    text = str(getattr(error, "message", "") or "")
    context = getattr(error, "ctx", None)
    if kind == "NoSuchOption":
        return f"unknown option `{error.option_name}`", did_you_mean(
            error.option_name, _options(context)
        )
    if kind == "BadOptionUsage":
        needs = "takes no value" if "does not take" in text else "needs a value"
        return f"the option `{error.option_name}` {needs}", None
    if kind == "MissingParameter":
        return f"{_named(error.param)} is missing", None
    if kind == "BadParameter":
        return f"the value of {_named(error.param)} does not fit", None
    if command := _COMMAND.search(text):
        known = getattr(context.command, "commands", ()) if context else ()
        return f"unknown command `{command[1]}`", did_you_mean(command[1], known)
    if extra := _TOO_MANY.search(text):
        return f"`{extra[1]}` is one word too many", None
    return "the command line cannot be read", None


def _named(parameter: Any) -> str:
    if parameter is None:
        return "something"
    if getattr(parameter, "param_type_name", "") == "option":
        return f"`{parameter.opts[0]}`"
    return f"the argument `{parameter.metavar or str(parameter.name).upper()}`"


def _options(context: Any) -> Iterable[str]:
    if context is None:
        return ()
    return [
        option
        for parameter in context.command.get_params(context)
        if getattr(parameter, "param_type_name", "") == "option"
        for option in parameter.opts
    ]
