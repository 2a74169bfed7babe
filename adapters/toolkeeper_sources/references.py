"""Do a schema's references stay inside it, and does following them come to an end?"""

from toolkeeper_pipeline.schema_document import IN_PLACE, REFERENCES, SchemaDocument, children

MAX_JUDGEMENTS = 2_000
"""How often one place of the arguments may have to be judged."""


def bad_reference(document: "SchemaDocument") -> str | None:
    """Why a reference of the document cannot be followed, or None.

    Refuses whatever would have to be fetched, whatever points nowhere, and pure loops: references
    that come back to where they started without going down into the value, on which a validator
    recurses without end.
    """
    refers = False
    for node in document.nodes.values():
        for keyword in REFERENCES:
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
