"""Which values of an instance does its schema call secret?

A schema says so by `writeOnly: true` or `format: password`, at the value itself or in whatever a
reference, an alternative or a pattern of names leads to. Where alternatives differ, one of them is
enough; whether the instance is valid makes no difference.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from toolkeeper_pipeline.schema import BadSchema, Dialect, canonical_dialect, compile_schema
from toolkeeper_pipeline.schema_document import SchemaDocument

MAX_STEPS = 500_000
"""Schemas that are held against values of one instance; beyond, all of it counts as secret."""


class SecretSchema:
    """What one schema calls secret. Made once for a schema; asked for each instance."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        canonical = canonical_dialect(schema)
        dialect = Dialect(canonical["$schema"])
        self._root = canonical
        self._document = SchemaDocument(canonical, dialect)
        self._matchers: dict[str, Any] = {}
        self._here: dict[int, tuple[dict[str, Any], ...]] = {}
        self.tells = any(_says_secret(node.schema) for node in self._document.nodes.values())

    def pointers(self, instance: Any) -> tuple[str, ...]:
        """The JSON pointers of all secrets in `instance`, none inside another."""
        if not self.tells:
            return ()
        found: list[str] = []
        stack: list[tuple[tuple[dict[str, Any], ...], Any, str]] = [((self._root,), instance, "")]
        steps = 0
        while stack:
            schemas, value, pointer = stack.pop()
            applying = self._all(schemas)
            steps += len(applying)
            if steps > MAX_STEPS:
                return ("",)
            if any(map(_says_secret, applying)):
                found.append(pointer)
            elif isinstance(value, dict):
                for key, item in value.items():
                    below = tuple(part for each in applying for part in self._named(each, key))
                    if below:
                        stack.append((below, item, f"{pointer}/{_escaped(key)}"))
            elif isinstance(value, list):
                for index, item in enumerate(value):
                    below = tuple(part for each in applying for part in _placed(each, index))
                    if below:
                        stack.append((below, item, f"{pointer}/{index}"))
        return tuple(found)

    def _all(self, schemas: tuple[dict[str, Any], ...]) -> list[dict[str, Any]]:
        """`schemas` and all that judge the same value with them."""
        seen: dict[int, dict[str, Any]] = {}
        for schema in schemas:
            for each in self._with_references(schema):
                seen.setdefault(id(each), each)
        return list(seen.values())

    def _with_references(self, schema: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        known = self._here.get(id(schema))
        if known is not None:
            return known
        seen = {id(schema): schema}
        pending = [schema]
        while pending:
            current = pending.pop()
            node = self._document.nodes.get(id(current))
            if node is None:
                continue
            # What a value must not be says nothing of what it is.
            excluded = current.get("not")
            for target in self._document.in_place(node):
                if target is not excluded and id(target) not in seen:
                    seen[id(target)] = target
                    pending.append(target)
        self._here[id(schema)] = tuple(seen.values())
        return self._here[id(schema)]

    def _named(self, schema: dict[str, Any], key: str) -> Iterator[dict[str, Any]]:
        """The schemas in `schema` that judge the value under `key`."""
        known = False
        properties = schema.get("properties")
        if isinstance(properties, dict) and key in properties:
            known = True
            yield from _schemas(properties[key])
        patterns = schema.get("patternProperties")
        if isinstance(patterns, dict):
            for pattern, part in patterns.items():
                if self._matches(pattern, key):
                    known = True
                    yield from _schemas(part)
        if not known:
            yield from _schemas(schema.get("additionalProperties"))
            yield from _schemas(schema.get("unevaluatedProperties"))

    def _matches(self, pattern: str, key: str) -> bool:
        if pattern not in self._matchers:
            try:
                # The engine of the schemas, whose time is bounded.
                self._matchers[pattern] = compile_schema(
                    canonical_dialect({"type": "string", "pattern": pattern})
                )
            except BadSchema:
                self._matchers[pattern] = None
        matcher = self._matchers[pattern]
        try:
            return matcher is None or bool(matcher.is_valid(key))
        except ValueError:
            return True


def _says_secret(schema: Mapping[str, Any]) -> bool:
    return schema.get("writeOnly") is True or schema.get("format") == "password"


def _placed(schema: dict[str, Any], index: int) -> Iterator[dict[str, Any]]:
    """The schemas in `schema` that judge the item at `index`."""
    items = schema.get("items")
    first = schema.get("prefixItems", items)
    if isinstance(first, list) and index < len(first):
        yield from _schemas(first[index])
    else:
        yield from _schemas(items)
        yield from _schemas(schema.get("additionalItems"))
        yield from _schemas(schema.get("unevaluatedItems"))
    yield from _schemas(schema.get("contains"))


def _schemas(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
