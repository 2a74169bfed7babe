"""What does a configuration file come to, and what is wrong with it?"""

import re
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

from pydantic import ValidationError

from toolkeeper.runtime.approver_secret import is_hash
from toolkeeper.runtime.configuration.agent_section import (
    agents,
    check_server_of_tool,
    check_servers_of_tools,
)
from toolkeeper.runtime.configuration.configuration import (
    Configuration,
    Redaction,
    SchemaLimits,
)
from toolkeeper.runtime.configuration.field_type import name_fault, shown
from toolkeeper.runtime.configuration.file_model import ClassificationFile, ConfigurationFile
from toolkeeper.runtime.configuration.file_text import Documents, nulls
from toolkeeper.runtime.configuration.inclusion import read_documents
from toolkeeper.runtime.configuration.notification_section import telemetry, webhooks
from toolkeeper.runtime.configuration.problem import problems, raise_all
from toolkeeper.runtime.configuration.server_section import servers
from toolkeeper.runtime.configuration.store_url import (
    DEFAULT_STORE,
    VARIABLE,
    absolute_store,
)
from toolkeeper.runtime.configuration.substitution import Substitution
from toolkeeper.runtime.redaction import ToolSecrets, pattern_fault, words
from toolkeeper_contract import ConfigError, Path, SideEffect, did_you_mean
from toolkeeper_policy import FUNCTIONS, ClassificationRule, pack_names

_FUNCTION = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


def load_configuration(path: FilePath, environment: Mapping[str, str]) -> Configuration:
    """The configuration at `path`, with all that it includes.

    Raises ConfigurationErrors (a ConfigError that holds one error for every fault found), or a
    plain ConfigError when a file cannot be read at all. Policy documents are not read here, nor
    are functions imported; whether tools exist is the registry's to say.
    """
    documents = read_documents(path)
    file = _parsed(documents)
    errors: list[ConfigError] = []
    _check_names(file, documents, errors)
    _check_secrets(file, documents, errors)
    for section in ("toolsets", "overlays"):
        for name, tools in getattr(file, section).items():
            check_servers_of_tools(tools, (section, name), file, documents, errors)
    substitution = Substitution(environment, documents, errors)
    configuration = Configuration(
        file=str(path),
        folder=path.absolute().parent,
        store=_store(file, documents, substitution, errors),
        agents=agents(file, documents, errors),
        policies=_policies(file, documents, errors),
        packs=tuple(name for name in file.policy if name in pack_names()),
        servers=servers(file, documents, substitution, errors),
        functions=_functions(file, documents, errors),
        classification=_classification(file, documents, errors),
        toolsets={name: tuple(tools) for name, tools in file.toolsets.items()},
        overlays={name: tuple(tools) for name, tools in file.overlays.items()},
        users={name: frozenset(user.scopes) for name, user in file.users.items()},
        approver_secrets=dict(file.approver_secrets),
        notifications=webhooks(file, documents, substitution, errors),
        telemetry=telemetry(file, documents, substitution, errors),
        secrets=frozenset(substitution.secrets),
        redaction=_redaction(file, documents, errors),
        schema_limits=SchemaLimits(**file.limits.model_dump()),
    )
    raise_all(errors)
    return configuration


def _parsed(documents: Documents) -> ConfigurationFile:
    errors = [
        documents.error(
            path,
            "has no value",
            "write `{}` for an agent with the defaults"
            if path[0] == "agents" and len(path) == 2
            else "give it one, or remove the key",
        )
        for path in nulls(documents.value)
    ]
    missing = {error.key for error in errors}
    try:
        file = ConfigurationFile.model_validate(documents.value)
    except ValidationError as error:
        found = problems(error, documents, ConfigurationFile)
        errors += [problem for problem in found if problem.key not in missing]
    else:
        raise_all(errors)
        return file
    raise_all(errors)
    raise AssertionError("a failed validation always has an error")


def _check_names(file: ConfigurationFile, documents: Documents, errors: list[ConfigError]) -> None:
    for section in ("agents", "users", "toolsets", "overlays", "approver_secrets"):
        for name in getattr(file, section):
            fault = name_fault(name)
            if fault:
                errors.append(documents.error((section, name), fault))


def _check_secrets(
    file: ConfigurationFile, documents: Documents, errors: list[ConfigError]
) -> None:
    for name, hashed in file.approver_secrets.items():
        if not is_hash(hashed):
            errors.append(
                documents.error(
                    ("approver_secrets", name),
                    "this is not the hash of a secret",
                    "make one with `toolkeeper approvals hash`",
                )
            )


def _store(
    file: ConfigurationFile,
    documents: Documents,
    substitution: Substitution,
    errors: list[ConfigError],
) -> str:
    at: Path = ("store",)
    if "store" not in file.model_fields_set and substitution.environment.get(VARIABLE):
        try:
            return absolute_store(substitution.environment[VARIABLE], documents.folder(at))
        except ConfigError as error:
            errors.append(ConfigError(f"`{VARIABLE}`: {error.message}", error.hint))
            return DEFAULT_STORE
    url = substitution.text(file.store, at)
    try:
        return url if substitution.failed(at) else absolute_store(url, documents.folder(at))
    except ConfigError as error:
        errors.append(documents.error(at, error.message, error.hint))
        return url


def _policies(
    file: ConfigurationFile, documents: Documents, errors: list[ConfigError]
) -> tuple[FilePath, ...]:
    found = []
    for index, name in enumerate(file.policy):
        at: Path = ("policy", index)
        path = documents.folder(at) / name
        if name in file.policy[:index]:
            errors.append(
                documents.error(at, f"{shown(name)} stands here twice", "remove one of the two")
            )
        if name in pack_names():
            continue
        if "/" not in name and not name.endswith((".yaml", ".yml", ".json")):
            errors.append(
                documents.error(
                    at,
                    f"there is no policy pack {shown(name)}",
                    did_you_mean(name, pack_names()),
                )
            )
        elif not path.is_file():
            near = did_you_mean(path.name, [other.name for other in path.parent.glob("*.y*ml")])
            errors.append(
                documents.error(
                    at,
                    f"there is no policy file {shown(name)}",
                    near or "it is looked for beside the configuration",
                )
            )
        found.append(path)
    return tuple(found)


def _functions(
    file: ConfigurationFile, documents: Documents, errors: list[ConfigError]
) -> tuple[str, ...]:
    for index, reference in enumerate(file.functions):
        at: Path = ("functions", index)
        if not _FUNCTION.fullmatch(reference):
            errors.append(
                documents.error(
                    at,
                    f"{shown(reference)} is no reference to functions",
                    "write `module:name`, `myapp.tools:TOOLS`, say",
                )
            )
        elif reference in file.functions[:index]:
            errors.append(
                documents.error(at, f"`{reference}` stands here twice", "remove one of the two")
            )
    return tuple(file.functions)


def _classification(
    file: ConfigurationFile, documents: Documents, errors: list[ConfigError]
) -> tuple[ClassificationRule, ...]:
    rules = []
    for index, section in enumerate(file.classification):
        at: Path = ("classification", index)
        for place, source in enumerate(section.sources):
            if source not in file.servers and source != FUNCTIONS:
                errors.append(
                    documents.error(
                        (*at, "sources", place),
                        f"there is no source {shown(source)}",
                        did_you_mean(source, [*file.servers, FUNCTIONS]),
                    )
                )
        check_servers_of_tools(section.tools, (*at, "tools"), file, documents, errors)
        if not _says_something(section):
            errors.append(
                documents.error(
                    at, "this rule says nothing about its tools", "add `side_effect`, say"
                )
            )
        try:
            rules.append(_rule(section))
        except ConfigError as error:
            errors.append(documents.error(at, error.message, error.hint, code=error.code))
    return tuple(rules)


def _says_something(section: ClassificationFile) -> bool:
    return bool(section.model_fields_set - {"tools", "sources", "arguments"})


def _rule(section: ClassificationFile) -> ClassificationRule:
    values: dict[str, Any] = section.model_dump()
    for key in ("tools", "sources", "destination", "payload", "operands"):
        values[key] = tuple(values[key])
    values["arguments"] = {
        name: tuple(listed) for name, listed in (section.arguments or {}).items()
    }
    effect = values["side_effect"]
    values["side_effect"] = None if effect is None else SideEffect(effect)
    return ClassificationRule(**values)


def _redaction(
    file: ConfigurationFile, documents: Documents, errors: list[ConfigError]
) -> Redaction:
    for index, key in enumerate(file.redaction.keys):
        if not words(key):
            errors.append(
                documents.error(
                    ("redaction", "keys", index),
                    f"{shown(key)} holds no word",
                    "write the words of a key, `customer number`, say",
                )
            )
    for index, pattern in enumerate(file.redaction.patterns):
        fault = pattern_fault(pattern)
        if fault:
            errors.append(documents.error(("redaction", "patterns", index), *fault))
    for name, section in file.redaction.tools.items():
        check_server_of_tool(name, ("redaction", "tools", name), file, documents, errors)
        if not section.arguments and not section.results:
            errors.append(
                documents.error(
                    ("redaction", "tools", name),
                    f"this says nothing about {shown(name)}",
                    "add `arguments: [/auth/token]`, say",
                )
            )
    return Redaction(
        tuple(file.redaction.keys),
        tuple(file.redaction.patterns),
        tuple(
            ToolSecrets(name, tuple(section.arguments), tuple(section.results))
            for name, section in file.redaction.tools.items()
        ),
    )
