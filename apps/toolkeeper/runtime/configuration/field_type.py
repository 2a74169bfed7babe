"""Which values may stand in a field, and what is said about the others?"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, PlainValidator, WithJsonSchema
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from toolkeeper.runtime.configuration.duration import LONGEST, seconds
from toolkeeper_contract import Code, nearest

_LONGEST_NAME = 128


class Section(BaseModel):
    """A mapping with a fixed set of keys; nothing is coerced and nothing else is allowed.

    The text under a field says what it is for; `field_words` reads it.
    """

    model_config = ConfigDict(extra="forbid", strict=True)


def told(
    message: str, hint: str | None = None, code: Code = Code.CONFIG_INVALID
) -> PydanticCustomError:
    """An error with our own words, which `problem` hands on as they are."""
    # The words are passed as context: pydantic would read braces in a message as a template.
    return PydanticCustomError(
        "told", "{message}", {"message": message, "hint": hint or "", "code": code.value}
    )


def shown(value: str) -> str:
    """User input for a message: on one line and not endless."""
    text = value if value.isprintable() else value.encode("unicode_escape").decode("ascii")
    return f"`{text[:80]}...`" if len(text) > 80 else f"`{text}`"


def text_of(value: Any) -> str:
    if not isinstance(value, str):
        hint = "put it in quotes" if isinstance(value, bool | int | float) else None
        raise told(f"must be text, not {kind_of(value)}", hint)
    if not value:
        raise told("must not be empty")
    if "\x00" in value:
        raise told("must not hold a null character")
    return value


def kind_of(value: Any) -> str:
    """What a YAML value is, in words; the value itself may be a secret."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "`true`" if value else "`false`"
    names = {str: "text", int: "a number", float: "a number", list: "a list", dict: "a mapping"}
    return names.get(type(value), "something else")


def name_fault(value: str) -> str | None:
    """What is wrong with the name of an agent, a user, a toolset or an overlay."""
    if not value:
        return "a name must not be empty"
    if not value.isprintable():
        return f"the name {shown(value)} holds characters that cannot be shown"
    if value != value.strip():
        return f"the name {shown(value)} begins or ends with a space"
    if len(value) > _LONGEST_NAME:
        return f"the name {shown(value)} is longer than {_LONGEST_NAME} characters"
    return None


def _name(value: Any) -> str:
    text = text_of(value)
    fault = name_fault(text)
    if fault:
        raise told(fault)
    return text


def _duration(value: Any) -> float:
    found = seconds(value)
    if found is None:
        what = shown(value) if isinstance(value, str) else kind_of(value)
        raise told(f"{what} is not a duration", "write seconds, or `500ms`, `30s`, `5m`, `24h`")
    if found <= 0:
        raise told("must be longer than nothing")
    if found > LONGEST:
        raise told("is longer than ten years")
    return found


def _whole(least: int) -> Callable[[Any], int]:
    def check(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            hint = "write it without quotes and units" if isinstance(value, str) else None
            what = "a fraction" if isinstance(value, float) else kind_of(value)
            raise told(f"must be a whole number, not {what}", hint)
        if value < least:
            raise told(f"must be {least} or more, not {value}")
        if value > 10**12:
            raise told("is too large")
        return value

    return check


def _scalar(value: Any) -> str | int | float | bool:
    if not isinstance(value, str | int | float | bool):
        raise told(f"must be text, a number or `true` or `false`, not {kind_of(value)}")
    if isinstance(value, float) and not math.isfinite(value):
        raise told("must be a finite number")
    return value


def _json_pointer(value: Any) -> str:
    if value == "":
        return ""
    text = text_of(value)
    if not text.startswith("/"):
        raise told(f"{shown(text)} is no JSON pointer", "write `/auth/token`, say; `*` for any key")
    if re.search("~(?![01])", text):
        raise told(f"{shown(text)} is no JSON pointer", "write `~0` for `~` and `~1` for `/`")
    return text


def _version(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise told(f"must be the number 1, not {kind_of(value)}", "write `version: 1`")
    if value != 1:
        raise told(f"version {value} is not known", "write `version: 1`")
    return value


@dataclass(frozen=True, slots=True)
class Choice:
    """Marks a field that takes one of `options`."""

    options: tuple[str, ...]

    def check(self, value: Any) -> str:
        """`value` when it is one of the options."""
        known = "use " + " or ".join(f"`{option}`" for option in self.options)
        if not isinstance(value, str):
            raise told(f"must be one word, not {kind_of(value)}", known)
        if value not in self.options:
            near = nearest(value, self.options)
            raise told(
                f"{shown(value)} is not known here", f"did you mean `{near}`?" if near else known
            )
        return value

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.check)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return {"type": "string", "enum": list(self.options)}


Text = Annotated[str, PlainValidator(text_of), WithJsonSchema({"type": "string", "minLength": 1})]
Name = Annotated[str, PlainValidator(_name), WithJsonSchema({"type": "string", "minLength": 1})]
AnyText = Annotated[str, AfterValidator(lambda value: text_of(value) if value else value)]
Duration = Annotated[
    float,
    PlainValidator(_duration),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "exclusiveMinimum": 0},
                {"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)? ?(ms|s|m|h|d)?$"},
            ]
        }
    ),
]
Positive = Annotated[
    int, PlainValidator(_whole(1)), WithJsonSchema({"type": "integer", "minimum": 1})
]
Count = Annotated[int, PlainValidator(_whole(0)), WithJsonSchema({"type": "integer", "minimum": 0})]
Scalar = Annotated[
    str | int | float | bool,
    PlainValidator(_scalar),
    WithJsonSchema({"type": ["string", "number", "boolean"]}),
]
JsonPointer = Annotated[
    str,
    PlainValidator(_json_pointer),
    WithJsonSchema({"type": "string", "pattern": "^(/([^~]|~[01])*)?$"}),
]
Version = Annotated[int, PlainValidator(_version), WithJsonSchema({"const": 1})]
