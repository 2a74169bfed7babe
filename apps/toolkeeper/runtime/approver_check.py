"""Is there somebody to answer, where the one who asks may not?

A question that nobody can ever answer is a mistake of the configuration, not of a call.
"""

from collections.abc import Iterable, Iterator

from toolkeeper.runtime.configuration import ANYBODY, Configuration
from toolkeeper.runtime.placing import placed
from toolkeeper_contract import Code, ConfigError
from toolkeeper_policy import Finding, Policy, Rule, Severity

_SOMEBODY = ""
"""A user whom the configuration does not name."""


def check_approvers(configuration: Configuration, policy: Policy) -> None:
    """ConfigError for the first agent or rule that excludes the only ones who could answer."""
    for error in approver_errors(configuration, policy):
        raise error


def approver_errors(configuration: Configuration, policy: Policy) -> Iterator[ConfigError]:
    """One for every agent and rule under which a user's calls could be answered by nobody."""
    users = [*(name for name in configuration.users if name != ANYBODY), _SOMEBODY]
    for agent in configuration.agents.values():
        if agent.exclude_requester and (who := _alone(agent.approvers or (), users)) is not None:
            key = f"agents.{agent.name}.exclude_requester"
            error = ConfigError(_message(f"the agent `{agent.name}`", who), _HINT, key=key)
            yield placed(error, configuration.file, ("agents", agent.name))
    for rule in policy.rules:
        yield from _of_rule(rule, configuration, users)


def _of_rule(
    rule: Rule, configuration: Configuration, users: Iterable[str]
) -> Iterator[ConfigError]:
    if not rule.exclude_requester:
        return
    for agent in configuration.agents.values():
        if rule.agents and agent.name not in rule.agents:
            continue
        asking = sorted(rule.users) or users
        who = _alone(rule.approvers or agent.approvers or (), asking)
        if who is not None:
            yield ConfigError(
                f"{_message(f'rule `{rule.id}`', who)} with the agent `{agent.name}`",
                _HINT,
                code=Code.POLICY_INVALID,
                file=rule.place.file if rule.place else None,
                line=rule.place.line if rule.place else None,
            )
            return


def unproven_approvers(configuration: Configuration, policy: Policy) -> Iterator[Finding]:
    """A warning for each agent and rule whose exclusion of the requester proves nothing.

    An approver without a secret counts at their word, which the requester can give as well.
    """
    users = [*(name for name in configuration.users if name != ANYBODY), _SOMEBODY]
    for agent in configuration.agents.values():
        if agent.exclude_requester:
            who = _unproven(agent.approvers or (), users, configuration)
            if who:
                key = f"agents.{agent.name}.exclude_requester"
                error = placed(ConfigError(""), configuration.file, ("agents", agent.name))
                message = f"{key}: {_unproven_message(f'the agent `{agent.name}`', who)}"
                yield Finding(Severity.WARNING, "", message, _PROVE, error.file, error.line)
    for rule in policy.rules:
        if rule.exclude_requester:
            asking = sorted(rule.users) or users
            who = {
                name
                for agent in configuration.agents.values()
                if not rule.agents or agent.name in rule.agents
                for name in _unproven(
                    rule.approvers or agent.approvers or (), asking, configuration
                )
            }
            if who:
                message = _unproven_message(f"rule `{rule.id}`", who)
                file, line = (rule.place.file, rule.place.line) if rule.place else (None, None)
                yield Finding(Severity.WARNING, rule.id, message, _PROVE, file, line)


_HINT = "name somebody else under `approvers`"
_PROVE = "add their hashes to `approver_secrets`; `toolkeeper approvals hash` makes one"


def _unproven(
    approvers: Iterable[str], users: Iterable[str], configuration: Configuration
) -> set[str]:
    """Those who could answer for one of the users, and need not prove who they are."""
    names = set(approvers)
    left = {name for user in users for name in names - {user}}
    return left - configuration.approver_secrets.keys()


def _unproven_message(subject: str, names: Iterable[str]) -> str:
    listed = ", ".join(f"`{name}`" for name in sorted(names))
    return f"{subject} excludes the requester, who can answer as {listed}: no secret is asked"


def _alone(approvers: Iterable[str], users: Iterable[str]) -> str | None:
    """The first user whose calls nobody else could answer."""
    names = set(approvers)
    return next((user for user in users if not names - {user}), None)


def _message(subject: str, user: str) -> str:
    whose = f"`{user}`" if user else "a user"
    return f"{subject} excludes the requester, and nobody else could answer for {whose}"
