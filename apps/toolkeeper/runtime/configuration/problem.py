"""What is wrong with a file, and how are several faults told at once?"""

from collections.abc import Sequence
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from toolkeeper.runtime.configuration.field_type import kind_of
from toolkeeper.runtime.configuration.field_words import field_words
from toolkeeper.runtime.configuration.file_text import Documents
from toolkeeper_contract import Code, ConfigError, Path, did_you_mean


class ConfigurationErrors(ConfigError):
    """Every fault of a file that could be found at once; as a ConfigError it is the first.

    `errors` is in the order of the file and never empty.
    """

    def __init__(self, errors: Sequence[ConfigError]) -> None:
        first = errors[0]
        super().__init__(
            first.message,
            first.hint,
            code=first.code,
            file=first.file,
            line=first.line,
            key=first.key,
        )
        self.errors = tuple(errors)

    def __str__(self) -> str:
        return "\n".join(ConfigError.__str__(error) for error in self.errors)


def raise_all(errors: Sequence[ConfigError]) -> None:
    """Raises ConfigurationErrors with `errors` by file and line; nothing when there are none."""
    if errors:
        files = list(dict.fromkeys(error.file for error in errors))
        raise ConfigurationErrors(
            sorted(errors, key=lambda error: (files.index(error.file), error.line or 0))
        )


def problems(
    error: ValidationError, documents: Documents, model: type[BaseModel], at: Path = ()
) -> list[ConfigError]:
    """Our own words for what pydantic found below the path `at`; its text is never shown."""
    return [_problem(detail, documents, model, at) for detail in error.errors(include_url=False)]


_WANTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "`true` or `false`",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}


def _problem(
    detail: ErrorDetails, documents: Documents, model: type[BaseModel], at: Path
) -> ConfigError:
    kind, found, path = detail["type"], detail["input"], (*at, *detail["loc"])
    context = detail.get("ctx", {})
    if kind == "extra_forbidden":
        return unknown_key(documents, path, _fields(model, detail["loc"][:-1]))
    if kind == "missing":
        name = str(path[-1])
        return documents.error(
            path[:-1], f"the key `{name}` is missing", _advice(model, detail["loc"])
        )
    if kind == "told":
        return documents.error(
            path, context["message"], context["hint"] or None, code=Code(context["code"])
        )
    if kind in _WANTED:
        wanted = _WANTED[kind]
        return documents.error(
            path, f"must be {wanted}, not {kind_of(found)}", _conversion(wanted, found)
        )
    if kind == "string_too_short":
        return documents.error(path, "must not be empty")
    if kind == "too_short":
        return documents.error(path, "must not be empty", _filling(model, detail["loc"]))
    return documents.error(path, "has a value that is not allowed here")


def unknown_key(documents: Documents, path: Path, known: Sequence[str]) -> ConfigError:
    """The error for the unknown key that `path` ends with."""
    name = str(path[-1])
    return documents.error(
        path,
        f"unknown key `{name}`",
        _ELSEWHERE.get(name)
        if name in _ELSEWHERE and name not in known
        else did_you_mean(name, known),
    )


_ELSEWHERE = {
    "taint": "`taint` stands in a policy file",
    "rules": "`rules` stand in a policy file, which `policy` names",
    "hardline": "`hardline` stands in a policy file, which `policy` names",
    "type": "remove it; `command` is spoken to over stdio, `url` over http",
    "transport": "remove it; `command` is spoken to over stdio, `url` over http",
    "mcpServers": "here they stand under `servers`",
}


def _conversion(wanted: str, found: Any) -> str | None:
    if wanted == "text" and isinstance(found, bool | int | float):
        return "put it in quotes"
    if wanted == "a list" and isinstance(found, str):
        return "put it in square brackets, `[...]`"
    if wanted == "a whole number" and isinstance(found, str):
        return "write it without quotes and without a unit"
    if wanted == "`true` or `false`" and isinstance(found, str):
        return "write it without quotes"
    return None


def _filling(model: type[BaseModel], loc: Path) -> str | None:
    owner = _model_at(model, loc[:-1])
    field = owner.model_fields.get(str(loc[-1])) if owner else None
    if field is not None and not field.is_required():
        return "leave the key out instead"
    return _advice(model, loc)


def _advice(model: type[BaseModel], loc: Path) -> str | None:
    owner = _model_at(model, loc[:-1])
    return field_words(owner).get(str(loc[-1])) if owner else None


def _fields(model: type[BaseModel], loc: Path) -> list[str]:
    owner = _model_at(model, loc)
    return list(owner.model_fields) if owner else []


def _model_at(model: type[BaseModel], loc: Path) -> type[BaseModel] | None:
    """The model whose keys stand at `loc` in a file of `model`."""
    here: Any = model
    for part in loc:
        if isinstance(here, type) and issubclass(here, BaseModel):
            here = here.model_fields[str(part)].annotation
        else:
            # the values of a mapping or the items of a list
            here = get_args(here)[-1] if get_args(here) else None
        here = _without_none(here)
    return here if isinstance(here, type) and issubclass(here, BaseModel) else None


def _without_none(annotation: Any) -> Any:
    if get_origin(annotation) in (list, dict):
        return annotation
    kept = [part for part in get_args(annotation) if part is not type(None)]
    return kept[0] if kept else annotation
