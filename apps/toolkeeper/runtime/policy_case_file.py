"""Which keys may stand in a file of policy tests?"""

from typing import Annotated, Any

from pydantic import Field

from toolkeeper.runtime.configuration.field_type import AnyText, Choice, Name, Section, Text
from toolkeeper_contract import Effect


class CaseSessionFile(Section):
    tainted: bool = False
    """whether the session has read somebody else's words"""
    private: bool = False
    """whether the session has read something private"""
    attributes: dict[str, Any] = Field(default_factory=dict)
    """session attributes, for conditions"""
    said: AnyText = ""
    """what the user wrote; values in it come from the user"""
    trusted: AnyText = ""
    """what trusted results have said"""
    untrusted: AnyText = ""
    """what untrusted results have said; the session is tainted by it"""


class CaseFile(Section):
    name: Text | None = None
    """what the case shows"""
    agent: Name | None = None
    """the agent's name; needed where there are several"""
    user: Name | None = None
    """on whose behalf"""
    tool: Text
    """write the tool's canonical name, `mcp.git.git_log`, say"""
    args: dict[str, Any] = Field(default_factory=dict)
    """the call's arguments"""
    session: CaseSessionFile = Field(default_factory=CaseSessionFile)
    """what the session has read and said so far"""
    at: Text | None = None
    """the moment of the call, with its zone: `2026-12-01T09:00:00+01:00`"""
    expect: Annotated[str, Choice(tuple(effect.value for effect in Effect))]
    """write `expect:` allow, ask or deny"""
    rule: Text | None = None
    """the rule that has to be among those that decide; null: no rule, but the class default"""


class CasesFile(Section):
    """Table tests of a policy."""

    version: int = 1
    """the version of this format"""
    cases: list[CaseFile] = Field(min_length=1)
    """write a list of cases: `- {tool: notes.add, expect: ask}`, say"""
