"""Which policy do the documents and packs make that people name?"""

from collections.abc import Sequence
from pathlib import Path

from toolkeeper.runtime.configuration import Configuration, read_text
from toolkeeper_contract import Code, ConfigError, did_you_mean
from toolkeeper_policy import Policy, load_policy, pack_names, pack_text

Texts = Sequence[tuple[str, str]]
"""Documents: the file of each, as it is shown, and its text."""


def configured_policy(configuration: Configuration) -> Policy:
    """The policy of all configured documents and packs. ConfigError with file, line and key."""
    return policy_of(configured_documents(configuration))


def named_policy(names: Sequence[str]) -> Policy:
    """The policy of documents and packs named on a command line (see `named_documents`)."""
    return policy_of(named_documents(names))


def configured_documents(configuration: Configuration) -> Texts:
    """The texts of all configured documents and packs."""
    return [
        *((name, pack_text(name)) for name in configuration.packs),
        *(_document(path) for path in configuration.policies),
    ]


def named_documents(names: Sequence[str]) -> Texts:
    """The texts of documents and packs, relative to where the command line is.

    A bare name is a shipped pack, unless a file is called so. ConfigError for anything else.
    """
    documents = []
    for name in names:
        if Path(name).is_file() or not is_pack_name(name):
            documents.append(_document(Path(name)))
        elif name in pack_names():
            documents.append((name, pack_text(name)))
        else:
            raise ConfigError(
                f"there is no policy pack and no file `{name}`",
                did_you_mean(name, pack_names()),
                code=Code.POLICY_INVALID,
            )
    return documents


def policy_of(documents: Texts) -> Policy:
    """The policy that the documents make together. ConfigError with file, line and key."""
    return load_policy(documents, _beside)


def policy_faults(documents: Texts) -> list[ConfigError]:
    """The first fault of every document, or else of all together; none where they make a policy."""
    alone = [fault for document in documents for fault in _faults([document])]
    return alone or _faults(documents)


def is_pack_name(name: str) -> bool:
    """Whether this is how packs are named, and no path of a file."""
    return "/" not in name and not name.endswith((".yaml", ".yml", ".json"))


def _faults(documents: Texts) -> list[ConfigError]:
    try:
        policy_of(documents)
    except ConfigError as error:
        return [error]
    return []


def _document(path: Path) -> tuple[str, str]:
    hint = "name a policy file, or a shipped pack"
    return _shown(path), read_text(path, hint=hint, code=Code.POLICY_INVALID)


def _beside(file: str, name: str) -> tuple[str, str]:
    """A document that another one builds on; it is looked for beside that one."""
    return _document(Path(file).parent / name)


def _shown(path: Path) -> str:
    """A path as its reader would write it: relative to where they are, if it is below."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
