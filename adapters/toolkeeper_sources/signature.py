"""Which arguments does a Python function take, as a JSON Schema and as values?"""

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import ConfigDict, Field, create_model
from pydantic.errors import PydanticUserError
from pydantic.json_schema import GenerateJsonSchema

from toolkeeper_contract import ConfigError


class Signature:
    """The parameters of one function: `schema` describes them, `bind` turns arguments into values.

    Raises ConfigError for a function whose parameters no object can name or describe.
    """

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        parameters = _parameters(function, name)
        # Fields get names of ours, and the parameter's own name as alias: pydantic does not take
        # every name (`_page`, `model_config`), and warns about others (`schema`, `copy`).
        self._names = {f"field_{position}": key for position, key in enumerate(parameters)}
        fields: dict[str, Any] = {
            field: _field(parameters[key], key) for field, key in self._names.items()
        }
        try:
            self._model = create_model(
                "Arguments",
                __config__=ConfigDict(extra="forbid", arbitrary_types_allowed=False),
                **fields,
            )
            schema = self._model.model_json_schema(by_alias=True, schema_generator=_Untitled)
        except (PydanticUserError, TypeError, NameError, ValueError) as error:
            raise ConfigError(
                f"a parameter of the tool `{name}` has a type that json schema cannot describe",
                "use types that pydantic can read from json: str, int, list, a model, an enum",
            ) from error
        schema.pop("title", None)
        schema.pop("description", None)
        schema.setdefault("properties", {})
        self.schema: dict[str, Any] = schema

    def bind(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The function's keyword arguments: what was sent, as the declared types.

        `arguments` have passed the schema. Raises pydantic.ValidationError where a check of the
        type's own (a validator in Python) turns a value away.
        """
        model = self._model.model_validate(dict(arguments))
        # What was left out is left to the function's own defaults.
        return {self._names[field]: getattr(model, field) for field in model.model_fields_set}


class _Untitled(GenerateJsonSchema):
    """Leaves out generated titles, which cost tokens and say nothing that the name does not."""

    ignored_warning_kinds = frozenset(  # type: ignore[assignment]
        {"skipped-choice", "non-serializable-default"}
    )

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def _parameters(function: Callable[..., Any], name: str) -> dict[str, inspect.Parameter]:
    try:
        signature = inspect.signature(function, eval_str=True)
    except NameError as error:
        raise ConfigError(
            f"an annotation of the tool `{name}` names a type that is not there: `{error.name}`",
            "define the type at the top of the module, before the function",
        ) from error
    except (TypeError, ValueError, SyntaxError) as error:
        raise ConfigError(
            f"the parameters of the tool `{name}` cannot be read",
            "wrap it in a function with annotated parameters",
        ) from error
    for parameter in signature.parameters.values():
        _check(parameter, name)
    return dict(signature.parameters)


def _check(parameter: inspect.Parameter, name: str) -> None:
    if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
        raise ConfigError(
            f"the parameter `{parameter.name}` of the tool `{name}` is positional only",
            "arguments come by name: remove the `/`",
        )
    if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
        raise ConfigError(
            f"the tool `{name}` takes any number of arguments by `{parameter}`",
            "name each parameter, or take one list or one model",
        )
    if parameter.annotation is inspect.Parameter.empty:
        raise ConfigError(
            f"the parameter `{parameter.name}` of the tool `{name}` has no annotation",
            "say its type, for example `title: str`; for a method, give the bound one",
        )


def _field(parameter: inspect.Parameter, name: str) -> tuple[Any, Any]:
    annotation: Any = Annotated[parameter.annotation, Field(alias=name)]
    default = ... if parameter.default is inspect.Parameter.empty else parameter.default
    return annotation, default
