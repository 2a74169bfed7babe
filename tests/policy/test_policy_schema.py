"""Does the editors' schema agree with what is loaded?"""

import pytest
import yaml
from jsonschema import Draft202012Validator

from toolkeeper_policy import load_policy, pack_names, pack_text, policy_json_schema
from toolkeeper_policy.rule_document import DOCUMENT_KEYS, RULE_KEYS

FULL = """\
version: 1
packs: [reads-free]
zone: Europe/Zurich
defaults: {none: allow, financial: ask}
taint: off
rules:
  - id: all
    tools: ["mcp.*"]
    sources: [git]
    side_effects: [financial]
    flags: [private]
    agents: [chat]
    users: [ana]
    scopes: [mail]
    attributes: {website: "*", tier: [1, gold], beta: true}
    when: args.to == "x"
    effect: allow
    approvers: [ana]
    expires: "2026-12-31"
    despite_taint: true
hardline:
  - {id: never, flags: [destructive], effect: deny}
"""


def valid(text: str) -> bool:
    return bool(Draft202012Validator(policy_json_schema()).is_valid(yaml.safe_load(text)))


def test_the_schema_is_one_and_knows_every_key() -> None:
    schema = policy_json_schema()
    Draft202012Validator.check_schema(schema)
    assert set(schema["properties"]) == set(DOCUMENT_KEYS)
    assert set(schema["properties"]["rules"]["items"]["properties"]) == set(RULE_KEYS)


def test_whole_documents_and_packs_are_valid() -> None:
    load_policy([("p.yaml", FULL)])
    assert valid(FULL)
    for name in pack_names():
        assert valid(pack_text(name))


@pytest.mark.parametrize(
    "text",
    [
        "version: 2\n",
        "rule: []\n",
        "taint: maybe\n",
        "packs: [reads]\n",
        "defaults: {financial: allwo}\n",
        "rules: [{id: x, effect: ask}]\n",
        "rules: [{id: x, tools: [], effect: ask}]\n",
        "rules: [{id: x, tools: [a], effect: block}]\n",
        "rules: [{id: 'a b', tools: [a], effect: ask}]\n",
        "rules: [{id: x, when: true, effect: ask}]\n",
        "rules: [{id: x, attributes: {}, effect: ask}]\n",
        "hardline: [{id: x, tools: [a], effect: ask}]\n",
        "hardline: [{id: x, tools: [a], effect: deny, expires: '2030-01-01'}]\n",
    ],
)
def test_what_cannot_be_loaded_is_marked(text: str) -> None:
    assert not valid(text)
