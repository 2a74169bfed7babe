"""Do the arguments that the classification lists exist?

An argument under `destination` or `payload` that no tool has counts for nothing, and those that are
listed beside it would let a call pass; one under `operands` names nothing that could be looked at.
"""

from collections.abc import Iterator

from toolkeeper.runtime.configuration import Configuration
from toolkeeper.runtime.placing import placed
from toolkeeper_contract import ConfigError, Registry, Tool, did_you_mean
from toolkeeper_policy import ClassificationRule, Finding, Severity


def check_classification(configuration: Configuration, registry: Registry) -> tuple[Finding, ...]:
    """A warning for every listed argument that none of the rule's tools has, with its line.

    Rules whose tools are not known now, or whose schemas say nothing of their arguments, are left
    out.
    """
    return tuple(
        finding
        for at, rule in enumerate(configuration.classification)
        for finding in _unknown(at, rule, configuration, registry)
    )


def _unknown(
    at: int, rule: ClassificationRule, configuration: Configuration, registry: Registry
) -> Iterator[Finding]:
    tools = [tool for tool in registry.tools.values() if rule.covers(tool.identity)]
    schemas = [_properties(tool) for tool in tools]
    known = {name for schema in schemas if schema is not None for name in schema}
    if not tools or None in schemas:
        return
    for key, names in (
        ("arguments", tuple(rule.arguments)),
        ("destination", rule.destination),
        ("payload", rule.payload),
        ("operands", tuple(pointer.split("/")[1] for pointer in rule.operands)),
    ):
        for name in names:
            if name in known:
                continue
            error = placed(
                ConfigError(
                    f"no tool that this rule is about has an argument `{name}`",
                    did_you_mean(name, known),
                    key=f"classification[{at}].{key}",
                ),
                configuration.file,
                ("classification",),
            )
            yield Finding(
                Severity.WARNING, "", f"{error.key}: {error.message}", error.hint, error.file,
                error.line,
            )  # fmt: skip


def _properties(tool: Tool) -> frozenset[str] | None:
    """The names of a tool's arguments; None where its schema does not list them all."""
    schema = tool.definition.input_schema
    properties = schema.get("properties")
    composed = ("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "patternProperties")
    if any(key in schema for key in composed):
        return None
    if properties is None:
        return frozenset()
    return frozenset(properties) if isinstance(properties, dict) else None
