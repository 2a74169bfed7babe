"""`toolkeeper policy`: is it well written, why is a call decided so, and what would a change do?"""

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolkeeper.cli.option import (
    DEFAULT_CONFIG,
    DEFAULT_USER,
    AgentName,
    Config,
    Json,
    Store,
    User,
    json_object_option,
)
from toolkeeper.cli.output import complain
from toolkeeper.cli.reading import ledger_to_read
from toolkeeper_contract import ConfigError

if TYPE_CHECKING:
    from toolkeeper.runtime.configuration import Configuration
    from toolkeeper.runtime.policy_replay import Redecided
    from toolkeeper_contract import Registry
    from toolkeeper_policy import Finding, Policy

app = typer.Typer(
    help="Check, explain, test and replay policies.", no_args_is_help=True, rich_markup_mode=None
)

Files = Annotated[
    list[str] | None,
    typer.Argument(metavar="FILES", help="Policy files or packs, instead of the configured ones."),
]


@app.command("check")
def check_documents(
    files: Files = None,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings end with 1.")] = False,
    config: Config = DEFAULT_CONFIG,
    as_json: Json = False,
) -> None:
    """Find what is wrong or suspicious in policy files, and in the classification, with its line.

    Where there is no configuration, only the files themselves are looked at, and not whether the
    tools, sources and agents exist that they name. Exit codes: 0 also with warnings, 1 with
    `--strict` and a warning, 2 with an error.
    """
    from toolkeeper.cli.policy_report import show_findings

    findings = _findings(config, files or [])
    show_findings(findings, as_json)
    errors = any(finding.severity == "error" for finding in findings)
    raise typer.Exit(2 if errors else 1 if findings and strict else 0)


@app.command("explain")
def explain_call(
    agent: AgentName,
    tool: Annotated[str, typer.Option("--tool", metavar="NAME", help="The tool's canonical name.")],
    args: Annotated[
        str | None, typer.Option("--args", metavar="JSON", help="The call's arguments, an object.")
    ] = None,
    user: User = DEFAULT_USER,
    attributes: Annotated[
        str | None, typer.Option("--attributes", metavar="JSON", help="Session attributes.")
    ] = None,
    tainted: Annotated[
        bool, typer.Option("--tainted", help="As if the session had read untrusted text.")
    ] = False,
    private: Annotated[
        bool, typer.Option("--private", help="As if the session had read private data.")
    ] = False,
    config: Config = DEFAULT_CONFIG,
    as_json: Json = False,
) -> None:
    """Show how a call would be decided, by which rules, and who would be asked.

    Calls nothing, writes nothing.
    What would end the call before policy is asked is noted on standard error.
    """
    from toolkeeper.cli.policy_report import show_explanation
    from toolkeeper.runtime.clock import SystemClock
    from toolkeeper.runtime.policy_document import configured_policy
    from toolkeeper.runtime.supposed_call import SupposedCall, obstacles, question_of
    from toolkeeper_policy import explain

    call = SupposedCall(
        agent=agent,
        tool=tool,
        arguments=json_object_option("--args", args),
        user=user,
        attributes=json_object_option("--attributes", attributes),
        tainted=tainted,
        private=private,
        at=SystemClock().now(),
    )
    configuration = _configuration(config)
    policy = configured_policy(configuration)
    registry = asyncio.run(_registry(configuration, policy))
    question = question_of(call, registry, configuration)
    for note in obstacles(call, registry, configuration):
        complain(f"note: {note}")
    of_agent = configuration.agents[agent]
    show_explanation(
        explain(policy, question),
        of_agent.approvers or (),
        exclude_requester=of_agent.exclude_requester,
        as_json=as_json,
    )


@app.command("test")
def run_tests(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file of cases.")],
    config: Config = DEFAULT_CONFIG,
    as_json: Json = False,
) -> None:
    """Run table tests against the configured policy, and name the rules that none exercised.

    Exit code 1 when a case fails.
    """
    from toolkeeper.cli.policy_report import show_cases
    from toolkeeper.runtime.policy_cases import load_cases, run_cases
    from toolkeeper.runtime.policy_document import configured_policy

    configuration = _configuration(config)
    policy = configured_policy(configuration)
    cases = load_cases(file, configuration, policy)
    registry = asyncio.run(_registry(configuration, policy))
    report = run_cases(cases, registry, configuration, policy)
    show_cases(report, as_json)
    raise typer.Exit(1 if report.failed else 0)


@app.command("replay")
def replay_calls(
    files: Annotated[
        list[str] | None, typer.Argument(metavar="FILES", help="More files of the new policy.")
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy",
            metavar="NEW",
            help="A policy file or pack; several make one policy (default: the configured ones).",
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--since", metavar="TIME", help="Only calls from then on: ISO 8601, or 12h, 7d."
        ),
    ] = None,
    config: Config = DEFAULT_CONFIG,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Decide the recorded calls again under another policy, and show what would be different.

    What hangs on a masked argument is undecidable, and not guessed. Exit code 1 when a call that
    was denied would now be allowed.
    """
    from toolkeeper.cli.policy_report import show_replay
    from toolkeeper.runtime.clock import SystemClock
    from toolkeeper.runtime.policy_document import configured_policy, named_policy
    from toolkeeper.runtime.policy_history import moment_of

    configuration = _configuration(config)
    start = None if since is None else moment_of(since, SystemClock().now())
    names = [*(policy or []), *(files or [])]
    changed = named_policy(names) if names else configured_policy(configuration)
    found = asyncio.run(_replayed(configuration, changed, config, store, start))
    show_replay(found, changed.revision, start, as_json)
    raise typer.Exit(1 if any(one.loosened for one in found) else 0)


async def _replayed(
    configuration: "Configuration", policy: "Policy", config: Path, store: str | None, since: Any
) -> "list[Redecided]":
    from toolkeeper.runtime.policy_history import recorded_calls
    from toolkeeper.runtime.policy_replay import Replay

    replay = Replay(policy, configuration)
    async with ledger_to_read(config, store) as ledger:
        calls = recorded_calls(ledger, since=since, origins=replay.asks_for_origins)
        found = [replay.decide(call) async for call in calls]
    return sorted(found, key=lambda one: (one.call.row.opened_at, one.call.row.invocation_id))


def _findings(config: Path, names: list[str]) -> "list[Finding]":
    from toolkeeper.runtime.approver_check import approver_errors, unproven_approvers
    from toolkeeper.runtime.classification_check import check_classification
    from toolkeeper.runtime.clock import SystemClock
    from toolkeeper.runtime.policy_document import (
        configured_documents,
        named_documents,
        policy_faults,
        policy_of,
    )
    from toolkeeper_policy import check_policy

    configuration = None
    if names and not config.exists():
        complain(f"note: there is no `{config}`: whether tools and agents exist is not checked")
        documents = named_documents(names)
    else:
        configuration = _configuration(config)
        documents = named_documents(names) if names else configured_documents(configuration)
    faults = policy_faults(documents)
    if faults:
        return [_fault(fault) for fault in faults]
    if configuration is None:
        return []
    policy = policy_of(documents)
    unanswerable = [_fault(error) for error in approver_errors(configuration, policy)]
    if unanswerable:
        return unanswerable
    registry = asyncio.run(_registry(configuration, policy))
    found = check_policy(
        policy,
        registry,
        configuration.servers,
        configuration.agents,
        at=SystemClock().now(),
    )
    unproven = unproven_approvers(configuration, policy)
    return [*found, *unproven, *check_classification(configuration, registry)]


def _fault(error: ConfigError) -> "Finding":
    from toolkeeper_policy import Finding, Severity

    message = f"{error.key}: {error.message}" if error.key else error.message
    return Finding(Severity.ERROR, "", message, error.hint, error.file, error.line)


def _configuration(config: Path) -> "Configuration":
    from toolkeeper.runtime.configuration import load_configuration

    return load_configuration(config, os.environ)


async def _registry(configuration: "Configuration", policy: "Policy") -> "Registry":
    """What all sources list now; told where one of them cannot be asked."""
    from toolkeeper.runtime import Toolkeeper

    keeper = Toolkeeper(configuration, policy=policy)
    try:
        registry = await keeper.everything()
    finally:
        await keeper.close()
    for status in registry.sources:
        if status.state != "ok":
            complain(f"note: source `{status.name}` is {status.state.value}: {status.reason}")
    return registry
