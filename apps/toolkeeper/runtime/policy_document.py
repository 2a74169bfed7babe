"""Which policy do the documents and packs make that people name?"""

from collections.abc import Sequence
from pathlib import Path

from toolkeeper.runtime.configuration import Configuration, read_text
from toolkeeper_contract import Code, ConfigError, did_you_mean
from toolkeeper_policy import Policy, load_policy, pack_names, pack_text


def configured_policy(configuration: Configuration) -> Policy:
    """The policy of all configured documents and packs. ConfigError with file, line and key."""
    return load_policy(
        [
            *((name, pack_text(name)) for name in configuration.packs),
            *(_document(path) for path in configuration.policies),
        ],
        _beside,
    )


def named_policy(names: Sequence[str]) -> Policy:
    """The policy of documents and packs named on a command line, relative to where it is given.

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
    return load_policy(documents, _beside)


def is_pack_name(name: str) -> bool:
    """Whether this is how packs are named, and no path of a file."""
    return "/" not in name and not name.endswith((".yaml", ".yml", ".json"))


def _document(path: Path) -> tuple[str, str]:
    hint = "name a policy file, or a shipped pack"
    return shown_path(path), read_text(path, hint=hint, code=Code.POLICY_INVALID)


def _beside(file: str, name: str) -> tuple[str, str]:
    """A document that another one builds on; it is looked for beside that one."""
    return _document(Path(file).parent / name)


def shown_path(path: Path) -> str:
    """A path as its reader would write it: relative to where they are, if it is below."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
