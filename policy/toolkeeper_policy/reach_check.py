"""Can a rule ever decide anything?"""

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime

from toolkeeper_contract import Effect, Tool, any_matches, is_literal
from toolkeeper_policy.classification_rule import source_name
from toolkeeper_policy.condition_check import Remark
from toolkeeper_policy.rule import Rule

_VERB = {Effect.ALLOW: "allows", Effect.ASK: "asks for", Effect.DENY: "denies"}


def expired(rule: Rule, at: datetime | None) -> Iterator[Remark]:
    """Whether the rule says nothing any more at the moment `at`."""
    if at is None or rule.expires is None or not rule.is_over(at):
        return
    when = rule.expires.isoformat()
    if rule.effect is Effect.ALLOW:
        yield f"has expired at {when} and allows nothing any more", "remove it, or move the date"
    else:
        yield (
            f"has expired at {when}, so the calls that it {_VERB[rule.effect]} are decided without "
            "it",
            "move the date if they are still meant, or remove the rule",
        )


class Restricting:
    """Rules that ask or deny, by the tools that they name, so that few have to be compared."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._by_name: dict[str, list[Rule]] = {}
        self._general: list[Rule] = []
        for rule in rules:
            if rule.effect is Effect.ALLOW or rule.expires is not None:
                continue
            if not all(is_literal(pattern) for pattern in rule.tools) or not rule.tools:
                self._general.append(rule)
            for pattern in rule.tools:
                self._by_name.setdefault(pattern, []).append(rule)

    def beside(self, rule: Rule) -> Iterator[Rule]:
        """The rules that might hold wherever `rule` does."""
        yield from self._general
        if rule.tools:
            yield from self._by_name.get(rule.tools[0], ())


def shadowed(rule: Rule, restricting: Restricting) -> Iterator[Remark]:
    """Whether a stricter rule always holds where this one does."""
    for other in restricting.beside(rule):
        if (
            other.id != rule.id
            and other.effect.rank > rule.effect.rank
            and _always_with(other, rule)
            and _includes(other, rule)
        ):
            yield (
                f"can never decide: rule `{other.id}` {_VERB[other.effect]} all the calls that it "
                "is for",
                "the most restrictive rule decides, wherever it stands",
            )
            return


def unmatched(rule: Rule, tools: Collection[Tool]) -> Iterator[Remark]:
    """Whether the tools that the rule names all have another class or lack its flags."""
    if rule.tools and rule.sources:
        called = [tool for tool in tools if any_matches(rule.tools, tool.name)]
        if called and not any(source_name(tool.identity) in rule.sources for tool in called):
            yield (
                f"names `{min(tool.name for tool in called)}`, and no tool that it names is of its "
                "sources",
                "leave `sources` out, or name tools of that source",
            )
            return
    if not (rule.tools or rule.sources) or not (rule.side_effects or rule.flags):
        return
    named = [
        tool
        for tool in tools
        if (not rule.tools or any_matches(rule.tools, tool.name))
        and (not rule.sources or source_name(tool.identity) in rule.sources)
    ]
    if named and not any(
        rule.covers_tool(tool.name, source_name(tool.identity), tool.classification)
        for tool in named
    ):
        found = sorted(tool.name for tool in named)[0]
        yield (
            f"names `{found}`, and no tool that it names has its side effects and flags",
            "see the class of each tool with `toolkeeper tools`",
        )


def _always_with(other: Rule, rule: Rule) -> bool:
    """Whether what `other` wants beside its selectors is nothing, or the same as `rule` wants."""
    return (
        other.expires is None
        and (not other.attributes or other.attributes == rule.attributes)
        and (other.condition is None or other.condition == rule.condition)
    )


def _includes(wide: Rule, narrow: Rule) -> bool:
    """Whether every call that `narrow` can match is one that `wide` matches."""
    return (
        _within(wide.tools, narrow.tools, globs=True)
        and _within(wide.sources, narrow.sources)
        and _within(wide.side_effects, narrow.side_effects)
        and _within(wide.agents, narrow.agents)
        and _within(wide.users, narrow.users)
        # Of several flags or scopes one is enough, so it is the same question for those.
        and _within(wide.flags, narrow.flags)
        and _within(wide.scopes, narrow.scopes)
    )


def _within(wide: Collection[str], narrow: Collection[str], *, globs: bool = False) -> bool:
    if not wide:
        return True
    if not narrow:
        return False
    if not globs:
        return set(narrow) <= set(wide)
    return all(
        pattern in wide or (is_literal(pattern) and any_matches(wide, pattern))
        for pattern in narrow
    )
