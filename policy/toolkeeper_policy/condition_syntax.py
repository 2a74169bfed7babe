"""How is a condition built from its words?

The library that evaluates conditions keeps its syntax tree to itself, and a running condition
cannot be interrupted. So its structure is read here first: what it names is checked against what
there is, and what could run for too long is refused before it ever runs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from toolkeeper_policy.condition_token import ConditionFault, Token, Word, literal_text, tokens

MAX_TREE_DEPTH = 256
MAX_DEPTH = 32
"""How deep brackets, signs and branches may nest."""

COMPREHENSIONS = frozenset({"all", "exists", "exists_one", "existsOne", "map", "filter"})
"""The macros that run over the elements of a list or the keys of a map."""

_RELATIONS = ("<", "<=", ">", ">=", "==", "!=", "in")
_LEVELS: tuple[tuple[str, ...], ...] = (("||",), ("&&",), _RELATIONS, ("+", "-"), ("*", "/", "%"))
Span = tuple[int, int]
"""The first character and the one after the last, 0-based."""

_CONSTANTS = {"true": True, "false": False, "null": None}


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant; `value` is a Python value."""

    value: Any


@dataclass(frozen=True, slots=True)
class Name:
    """A variable. `span` is where it stands, as are those of the other nodes that have one."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Select:
    """`operand.field`."""

    operand: "Node"
    field: str
    span: Span


@dataclass(frozen=True, slots=True)
class Index:
    """`operand[key]`."""

    operand: "Node"
    key: "Node"
    span: Span


@dataclass(frozen=True, slots=True)
class Call:
    """A function, a method of `target`, or a macro; the span begins with its name."""

    function: str
    target: "Node | None"
    arguments: "tuple[Node, ...]"
    span: Span

    @property
    def comprehends(self) -> bool:
        return self.target is not None and self.function in COMPREHENSIONS

    @property
    def variable(self) -> str | None:
        """What a comprehension calls each element; None for other calls."""
        if not self.comprehends or not self.arguments:
            return None
        first = self.arguments[0]
        return first.name if isinstance(first, Name) else None


@dataclass(frozen=True, slots=True)
class ListOf:
    """`[a, b]`, or the keys and values of `{a: b}` one after another."""

    items: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True)
class Operation:
    """`operator` over one, two or (for `?`) three operands."""

    operator: str
    operands: "tuple[Node, ...]"


Node = Literal | Name | Select | Index | Call | ListOf | Operation


def parse_condition(text: str) -> Node:
    """The tree of `text`; raises ConditionFault for anything that is no condition."""
    parser = _Parser(list(tokens(text)))
    if parser.is_over:
        raise ConditionFault("the condition is empty", "leave `when` out to match always")
    node = parser.expression()
    if not parser.is_over:
        raise parser.unexpected()
    if _depth(node) > MAX_TREE_DEPTH:
        raise ConditionFault("the condition is too long a chain", "split it into several rules")
    return node


def children(node: Node) -> Sequence[Node]:
    """The direct parts of a node."""
    if isinstance(node, Select):
        return (node.operand,)
    if isinstance(node, Index):
        return (node.operand, node.key)
    if isinstance(node, Call):
        return node.arguments if node.target is None else (node.target, *node.arguments)
    if isinstance(node, ListOf):
        return node.items
    if isinstance(node, Operation):
        return node.operands
    return ()


def _depth(node: Node) -> int:
    """How deep the tree is, found without going down by recursion."""
    depth = 0
    level: list[Node] = [node]
    while level:
        depth += 1
        level = [child for parent in level for child in children(parent)]
    return depth


def walk(node: Node) -> Iterator[Node]:
    """The node and everything in it."""
    yield node
    for child in children(node):
        yield from walk(child)


class _Parser:
    def __init__(self, words: list[Token]) -> None:
        self._words = words
        self._at = 0
        self._depth = 0

    @property
    def ahead(self) -> Token:
        return self._words[self._at]

    @property
    def is_over(self) -> bool:
        return self.ahead.word is Word.END

    def unexpected(self) -> ConditionFault:
        token = self.ahead
        if token.word is Word.END:
            return ConditionFault(
                "the condition ends too early", "is a bracket or an operand missing?"
            )
        shown = token.text if len(token.text) <= 40 and token.text.isprintable() else "..."
        return ConditionFault(
            f"the condition has an unexpected `{shown}` at character {token.start + 1}",
            "conditions are written in cel, `args.to.all(a, a.endsWith('@example.com'))` say",
        )

    def expression(self) -> Node:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ConditionFault(
                f"the condition is nested deeper than {MAX_DEPTH} levels",
                "split it into several rules",
            )
        node = self._binary(0)
        if self._take("?"):
            yes = self._binary(0)
            self._need(":")
            node = Operation("?", (node, yes, self.expression()))
        self._depth -= 1
        return node

    def _binary(self, level: int) -> Node:
        if level == len(_LEVELS):
            return self._unary()
        node = self._binary(level + 1)
        chain = 0
        while self.ahead.word in (Word.MARK, Word.NAME) and self.ahead.text in _LEVELS[level]:
            operator = self._next().text
            node = Operation(operator, (node, self._binary(level + 1)))
            # Each link of `a + b + c` makes the tree one deeper.
            chain += 1
            if chain > 4 * MAX_DEPTH:
                raise ConditionFault(
                    "the condition is too long a chain", "split it into several rules"
                )
        return node

    def _unary(self) -> Node:
        if self.ahead.word is Word.MARK and self.ahead.text in ("!", "-"):
            sign = self._next().text
            self._depth += 1
            if self._depth > MAX_DEPTH:
                raise ConditionFault(f"the condition is nested deeper than {MAX_DEPTH} levels")
            operand = self._unary()
            self._depth -= 1
            if sign == "-" and isinstance(operand, Literal) and type(operand.value) in (int, float):
                return Literal(-operand.value)
            return Operation(sign, (operand,))
        return self._member()

    def _member(self) -> Node:
        start = self.ahead.start
        node = self._primary()
        links = 0
        while True:
            links += 1
            if links > 4 * MAX_DEPTH:
                raise ConditionFault("the condition is too long a chain")
            if self._take("."):
                token = self._name()
                if self._take("("):
                    arguments = self._items(")")
                    node = Call(token.text, node, arguments, (token.start, self._end))
                else:
                    node = Select(node, token.text, (start, token.end))
            elif self._take("["):
                key = self.expression()
                self._need("]")
                node = Index(node, key, (start, self._end))
            else:
                return node

    def _primary(self) -> Node:
        token = self.ahead
        if token.word is Word.TEXT:
            return Literal(literal_text(self._next().text))
        if token.word is Word.NUMBER:
            return Literal(_number(self._next().text))
        if token.word is Word.NAME and token.text != "in":
            self._next()
            if self._take("("):
                arguments = self._items(")")
                return Call(token.text, None, arguments, (token.start, self._end))
            if token.text in _CONSTANTS:
                return Literal(_CONSTANTS[token.text])
            if self.ahead.text == "{":
                raise ConditionFault(f"a condition cannot build a `{token.text}`")
            return Name(token.text, (token.start, token.end))
        if self._take("("):
            node = self.expression()
            self._need(")")
            return node
        if self._take("["):
            return ListOf(self._items("]"))
        if self._take("{"):
            return ListOf(self._entries())
        raise self.unexpected()

    def _items(self, closing: str) -> tuple[Node, ...]:
        items: list[Node] = []
        while not self._take(closing):
            items.append(self.expression())
            if not self._take(","):
                self._need(closing)
                break
        return tuple(items)

    def _entries(self) -> tuple[Node, ...]:
        items: list[Node] = []
        while not self._take("}"):
            items.append(self.expression())
            self._need(":")
            items.append(self.expression())
            if not self._take(","):
                self._need("}")
                break
        return tuple(items)

    def _name(self) -> Token:
        if self.ahead.word is not Word.NAME:
            raise self.unexpected()
        return self._next()

    def _next(self) -> Token:
        token = self.ahead
        self._at += 1
        return token

    @property
    def _end(self) -> int:
        """Where the word ends that was read last."""
        return self._words[self._at - 1].end

    def _take(self, mark: str) -> bool:
        if self.ahead.word is Word.MARK and self.ahead.text == mark:
            self._at += 1
            return True
        return False

    def _need(self, mark: str) -> None:
        if not self._take(mark):
            raise self.unexpected()


def _number(text: str) -> int | float:
    plain = text.rstrip("uU")
    if plain[:2].lower() == "0x":
        return int(plain, 16)
    return float(plain) if any(char in plain for char in ".eE") else int(plain)
