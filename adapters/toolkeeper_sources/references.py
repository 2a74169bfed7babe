"""Do a schema's references stay inside it, and does following them come to an end?"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from toolkeeper_pipeline.schema import Dialect
from toolkeeper_sources.schema_walk import IN_PLACE, children

MAX_JUDGEMENTS = 2_000
"""How often one place of the arguments may have to be judged."""

_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_SIBLINGS_IGNORED = frozenset({Dialect.DRAFT_04, Dialect.DRAFT_06, Dialect.DRAFT_07})


def bad_reference(document: "SchemaDocument") -> str | None:
    """Why a reference of the document cannot be followed, or None.

    Refuses whatever would have to be fetched, whatever points nowhere, and pure loops: references
    that come back to where they started without going down into the value, on which a validator
    recurses without end.
    """
    refers = False
    for node in document.nodes.values():
        for keyword in _REFERENCES:
            reference = node.schema.get(keyword)
            if reference is None:
                continue
            refers = True
            if not isinstance(reference, str):
                return f"a `{keyword}` is not a string"
            if document.target(node, reference) is None:
                if reference.startswith("#"):
                    return f"a `{keyword}` points to nothing in the schema"
                return f"a `{keyword}` leads outside the schema, and nothing is fetched"
    if not refers:
        return None
    if _loops(document):
        return "its references form a loop that never ends"
    if _most_judgements(document) > MAX_JUDGEMENTS:
        return "its references multiply: one value would be judged too many times"
    return None


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
        for keyword in _REFERENCES:
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
                for keyword in _REFERENCES:
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


def _loops(document: SchemaDocument) -> bool:
    """Whether the graph of in-place references has a cycle; depth-first, without recursion."""
    finished: set[int] = set()
    for start in document.nodes:
        if start in finished:
            continue
        path: set[int] = {start}
        stack = [(start, document.in_place(document.nodes[start]))]
        while stack:
            current, targets = stack[-1]
            following = next(targets, None)
            if following is None:
                path.discard(current)
                finished.add(current)
                stack.pop()
            elif id(following) in path:
                return True
            elif id(following) not in finished and id(following) in document.nodes:
                path.add(id(following))
                stack.append((id(following), document.in_place(document.nodes[id(following)])))
    return False


def _most_judgements(document: SchemaDocument) -> int:
    """An upper bound of how many schemas may judge one value, all levels of a path together.

    A few dozen references that each name the next twice would otherwise take longer than anybody
    waits. What leads back to itself counts once: there the engine remembers its verdicts.
    """
    costs: dict[int, int] = {}
    entered: set[int] = set()
    stack = list(document.nodes)
    while stack:
        current = stack[-1]
        node = document.nodes[current]
        same = list(document.in_place(node))
        below = [child for child in children(node.schema) if child.keyword not in IN_PLACE]
        if current in costs:
            stack.pop()
        elif current not in entered:
            entered.add(current)
            targets = [*same, *(child.schema for child in below)]
            stack.extend(id(item) for item in targets if id(item) not in entered)
        else:
            stack.pop()
            named = [costs.get(id(c.schema), 1) for c in below if c.keyword in _ONE_EACH]
            others = [costs.get(id(c.schema), 1) for c in below if c.keyword in _TOGETHER]
            costs[current] = (
                1 + sum(costs.get(id(s), 1) for s in same) + max(named, default=0) + sum(others)
            )
    return max(costs.values(), default=0)


_ONE_EACH = frozenset({"prefixItems", "properties"})
"""Keywords of which one schema at most judges a given value inside."""

_TOGETHER = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "contains",
        "items",
        "patternProperties",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
