"""Which parts of a JSON document are schemas, and what do they refer to?

Property names, enum values and defaults may look like keywords (a parameter called `$ref`), so a
schema can only be read by following the keywords that hold schemas.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from toolkeeper_contract import NAMED_SCHEMAS, ONE_SCHEMA, SCHEMA_LIST
from toolkeeper_pipeline.schema import Dialect

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
"""The keywords that refer to a schema elsewhere."""

_SIBLINGS_IGNORED = frozenset({Dialect.DRAFT_04, Dialect.DRAFT_06, Dialect.DRAFT_07})

IN_PLACE = frozenset(
    {"allOf", "anyOf", "dependencies", "dependentSchemas", "else", "if", "not", "oneOf", "then"}
)
"""The keywords whose schemas judge the same value, so that a loop through them never ends."""


@dataclass(frozen=True, slots=True)
class Child:
    """A schema inside a schema: under which keyword, and at which path from its parent."""

    keyword: str
    path: tuple[str, ...]
    schema: dict[str, Any]


def children(schema: Mapping[str, Any]) -> Iterator[Child]:
    """The schemas that stand directly inside `schema`; booleans hold nothing and are left out."""
    for keyword, value in schema.items():
        if isinstance(value, dict):
            if keyword in ONE_SCHEMA:
                yield Child(keyword, (keyword,), value)
            elif keyword in NAMED_SCHEMAS:
                for name, item in value.items():
                    if isinstance(item, dict):
                        yield Child(keyword, (keyword, name), item)
        elif isinstance(value, list) and keyword in SCHEMA_LIST:
            for position, item in enumerate(value):
                if isinstance(item, dict):
                    yield Child(keyword, (keyword, str(position)), item)


@dataclass(frozen=True, slots=True)
class Node:
    """A schema of the document, and the URI that its references are relative to."""

    schema: dict[str, Any]
    base: str


class SchemaDocument:
    """Every schema of a document: `nodes` by identity, and by the URIs that references may use.

    Places that only a reference makes a schema (`#/x-shared/point`) are among the nodes.
    """

    def __init__(self, root: dict[str, Any], dialect: Dialect) -> None:
        self.dialect = dialect
        self._id_keyword = "id" if dialect is Dialect.DRAFT_04 else "$id"
        self._resources: dict[str, dict[str, Any]] = {"": root}
        self._anchors: dict[tuple[str, str], dict[str, Any]] = {}
        self._dynamic: dict[str, list[dict[str, Any]]] = {}
        self.nodes: dict[int, Node] = {}
        self._add(root, "")
        self._add_referenced()

    def target(self, node: Node, reference: str) -> dict[str, Any] | bool | None:
        """The schema that `reference` means at `node`; None when it is not in the document."""
        if reference.startswith("#"):
            uri, fragment = node.base, reference[1:]
        else:
            uri, fragment = _resolved(node.base, reference)
        resource = self._resources.get(uri)
        if resource is None:
            return None
        if not fragment:
            return resource
        if fragment.startswith("/"):
            return _at_pointer(resource, unquote(fragment))
        return self._anchors.get((uri, unquote(fragment)))

    def in_place(self, node: Node) -> Iterator[dict[str, Any]]:
        """The schemas that judge the very value that `node` judges."""
        ignores_siblings = self.dialect in _SIBLINGS_IGNORED and "$ref" in node.schema
        for keyword in REFERENCES:
            reference = node.schema.get(keyword)
            if isinstance(reference, str):
                target = self.target(node, reference)
                if isinstance(target, dict):
                    yield target
                if keyword == "$dynamicRef":
                    yield from self._dynamic.get(reference.rpartition("#")[2], ())
        if not ignores_siblings:
            for child in children(node.schema):
                if child.keyword in IN_PLACE:
                    yield child.schema

    def _add(self, schema: dict[str, Any], base: str) -> None:
        stack = [(schema, base)]
        while stack:
            current, base = stack.pop()
            if id(current) in self.nodes:
                continue
            base = self._named(current, base)
            self.nodes[id(current)] = Node(current, base)
            stack.extend((child.schema, base) for child in children(current))

    def _named(self, schema: dict[str, Any], base: str) -> str:
        own = schema.get(self._id_keyword)
        if isinstance(own, str) and not ("$ref" in schema and self.dialect in _SIBLINGS_IGNORED):
            uri, fragment = _resolved(base, own)
            if fragment:
                self._anchors.setdefault((uri, fragment), schema)
            if not own.startswith("#"):
                base = uri
                self._resources.setdefault(base, schema)
        for keyword in ("$anchor", "$dynamicAnchor"):
            anchor = schema.get(keyword)
            if isinstance(anchor, str):
                self._anchors.setdefault((base, anchor), schema)
                if keyword == "$dynamicAnchor":
                    self._dynamic.setdefault(anchor, []).append(schema)
        return base

    def _add_referenced(self) -> None:
        # A pointer may lead to a place that no keyword makes a schema (`#/x-shared/point`).
        pending = list(self.nodes.values())
        while pending:
            known = len(self.nodes)
            for node in pending:
                for keyword in REFERENCES:
                    reference = node.schema.get(keyword)
                    target = self.target(node, reference) if isinstance(reference, str) else None
                    if isinstance(target, dict) and id(target) not in self.nodes:
                        self._add(target, node.base)
            pending = list(self.nodes.values())[known:]


def _resolved(base: str, reference: str) -> tuple[str, str]:
    try:
        uri, fragment = urldefrag(urljoin(base, reference))
    except ValueError:
        return base, ""
    return uri, fragment


def _at_pointer(resource: dict[str, Any], pointer: str) -> dict[str, Any] | bool | None:
    node: Any = resource
    for part in pointer[1:].split("/"):
        part = part.replace("~1", "/").replace("~0", "~")
        if isinstance(node, dict) and part in node:
            node = node[part]
        elif isinstance(node, list) and part.isascii() and part.isdigit() and int(part) < len(node):
            node = node[int(part)]
        else:
            return None
    return node if isinstance(node, dict | bool) else None
