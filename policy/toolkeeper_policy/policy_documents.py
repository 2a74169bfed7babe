"""What policy do several documents make together?

Each class has the strictest default that any of them states, and the strictest taint mode; rules
and hardline rules are united. The packs that a document builds on count like documents of their
own, so that nothing that is written relaxes anything else.
"""

from collections.abc import Callable, Iterator, Sequence

from toolkeeper_contract import Code, ConfigError, Effect, SideEffect, did_you_mean, strictest
from toolkeeper_policy.pack import PACKS
from toolkeeper_policy.policy import Policy
from toolkeeper_policy.rule_document import TAINT_MODES, RuleDocument, read_rules
from toolkeeper_policy.section import quoted

ReadPack = Callable[[str, str], tuple[str, str]]
"""Given the file of a document and what it calls a pack of its own: that pack's file and text."""

_MOST = 100


def load_policy(documents: Sequence[tuple[str, str]], read_pack: ReadPack | None = None) -> Policy:
    """The policy of `documents`, each a file name and its YAML text; their order never matters.

    No documents at all are the default policy. `packs:` in a document names shipped packs;
    `read_pack` finds any other, a file beside the document say. Raises
    ConfigError(config.policy_invalid) with file, line, key and the nearest valid name for the
    first thing that is wrong, a cycle of packs included.
    """
    gathering = _Gathering(read_pack)
    for at, (file, text) in enumerate(documents):
        if (file, text) in documents[:at]:
            raise ConfigError(
                f"the policy document {quoted(file)} is named twice",
                "remove one of the two",
                code=Code.POLICY_INVALID,
                file=file,
            )
        gathering.add(file, text)
    parsed = list(gathering.documents.values())
    defaults: dict[SideEffect, Effect] = {}
    for document in parsed:
        for side_effect, effect in document.defaults.items():
            defaults[side_effect] = strictest((effect, defaults.get(side_effect, effect)))
    modes = [document.taint for document in parsed if document.taint is not None]
    return Policy(
        defaults=defaults,
        # TAINT_MODES goes from strict to lax.
        taint=min(modes, key=TAINT_MODES.index) if modes else "ask",
        rules=tuple(rule for document in parsed for rule in document.rules),
        hardline=tuple(rule for document in parsed for rule in document.hardline),
    )


class _Gathering:
    """Documents and the packs under them, each read once."""

    def __init__(self, read_pack: ReadPack | None) -> None:
        self.documents: dict[tuple[str, str], RuleDocument] = {}
        self._read_pack = read_pack

    def add(self, file: str, text: str, above: tuple[tuple[str, str], ...] = ()) -> None:
        # A document may be named beside another one that builds on it: it still is one.
        if (file, text) in self.documents:
            return
        document = read_rules(text, file)
        self.documents[(file, text)] = document
        if len(self.documents) > _MOST:
            raise ConfigError(
                f"the policy has more than {_MOST} documents", code=Code.POLICY_INVALID, file=file
            )
        for name, line, pack_file, pack_body in self._packs(document, file):
            # The text tells two spellings of one path.
            chain = (*above, (file, text))
            start = [
                at for at, one in enumerate(chain) if pack_file == one[0] or pack_body == one[1]
            ]
            if start:
                cycle = [*(one[0] for one in chain[start[0] :]), pack_file]
                raise ConfigError(
                    "the packs build on each other in a circle: "
                    + " -> ".join(quoted(one) for one in cycle),
                    f"leave {quoted(name)} out",
                    code=Code.POLICY_INVALID,
                    file=file,
                    line=line,
                    key="packs",
                )
            self.add(pack_file, pack_body, chain)

    def _packs(
        self, document: RuleDocument, file: str
    ) -> Iterator[tuple[str, int | None, str, str]]:
        for name, line in document.packs:
            if name in PACKS:
                yield name, line, name, PACKS[name]
            elif self._read_pack is not None and _is_file(name):
                yield name, line, *self._read_pack(file, name)
            else:
                raise ConfigError(
                    f"there is no policy pack {quoted(name)}",
                    did_you_mean(name, PACKS),
                    code=Code.POLICY_INVALID,
                    file=file,
                    line=line,
                    key="packs",
                )


def _is_file(name: str) -> bool:
    return name.endswith((".yaml", ".yml"))
