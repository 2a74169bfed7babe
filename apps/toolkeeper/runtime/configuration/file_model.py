"""Which keys may stand in a configuration file?"""

# ruff: noqa: RUF012 - pydantic copies a mutable default for each instance

from typing import Annotated, Any

from pydantic import Field

from toolkeeper.runtime.configuration.field_type import (
    AnyText,
    Choice,
    Count,
    Duration,
    JsonPointer,
    Name,
    Positive,
    Scalar,
    Section,
    Text,
    Version,
)
from toolkeeper.runtime.configuration.server import Acceptance, Trust
from toolkeeper.runtime.configuration.store_url import DEFAULT_STORE
from toolkeeper.runtime.configuration.tool_name_field import (
    ControlTool,
    SearchName,
    ToolName,
    ToolPattern,
)
from toolkeeper_contract import CONTROL_TOOLS, TOOL_SEARCH, SideEffect

_Trust = Annotated[str, Choice(tuple(Trust))]
_Acceptance = Annotated[str, Choice(tuple(Acceptance))]
_SideEffect = Annotated[str, Choice(tuple(SideEffect))]
_Disclosure = Annotated[str, Choice(("index", "search", "native"))]
_Listing = Annotated[str, Choice(("index", "names", "none"))]
_Replan = Annotated[str, Choice(("on_change", "never"))]


class ServerFile(Section):
    command: Text | None = None
    """the program to start; it speaks MCP on its standard input and output"""
    args: list[AnyText] = []
    """the program's arguments; `${NAME}` is replaced from the environment"""
    env: dict[str, AnyText] = {}
    """environment variables for the program; `${NAME}` is replaced from the environment"""
    cwd: Text | None = None
    """the folder the program starts in, relative to this file; this file's folder by default"""
    url: Text | None = None
    """the address of a remote MCP server"""
    headers: dict[str, AnyText] = {}
    """headers for the remote server; `${NAME}` is replaced from the environment"""
    catalog: Text | None = None
    """a saved listing; its tools can be planned but not called"""
    server: Text | None = None
    """with `catalog`: take only the tools of this server"""
    trust: _Trust = Trust.UNTRUSTED.value
    """whether the server's words and results are taken for ours"""
    annotations: _Trust = Trust.UNTRUSTED.value
    """whether the server's own hints (`readOnlyHint`) may lower a class"""
    acceptance: _Acceptance = Acceptance.FIRST_LISTING.value
    """`first_listing` accepts what the server lists first, `manual` nothing"""
    timeout: Duration = 30.0
    """for starting, connecting and listing; seconds, or `500ms`, `5m`"""
    serial: bool = False
    """whether calls to the server, of whatever tool, must not overlap"""


class ClassificationFile(Section):
    tools: list[ToolPattern] = []
    """names, or patterns with `*`"""
    sources: list[Text] = []
    """server ids, or `functions`"""
    arguments: dict[Text, Annotated[list[Scalar], Field(min_length=1)]] | None = Field(
        default=None, min_length=1
    )
    """only calls in which each of these arguments is one of its values, exactly"""
    side_effect: _SideEffect | None = None
    """what a call does to the world"""
    destructive: bool | None = None
    """sets or clears the flag"""
    idempotent: bool | None = None
    """sets or clears the flag"""
    open_world: bool | None = None
    """sets or clears the flag"""
    private: bool | None = None
    """whether the tool reads something that its owner would not publish"""
    result: _Trust | None = None
    """whether a result may be read as ours"""
    destination: list[Text] = []
    """the arguments that say where something goes"""
    payload: list[Text] = []
    """the arguments that say what goes there"""
    operands: list[JsonPointer] = []
    """JSON pointers of arguments that name files here; an approval covers their content too"""


class UserFile(Section):
    scopes: list[Text] = []
    """the scopes that the user holds"""


class PinFile(Section):
    when: dict[str, Scalar] = Field(min_length=1)
    """write session attributes and their values; `"*"` stands for any value"""
    tools: list[ToolPattern] = Field(min_length=1)
    """write names or patterns of the tools that move to the front"""


class SearchFile(Section):
    limit: Positive = 5
    """results when the model asks for no number"""
    max_limit: Positive = 20
    """results at most"""
    name: SearchName = TOOL_SEARCH
    """the name that `tool.search` bears for this agent"""


class CapsFile(Section):
    definitions: Positive = 30
    """tool definitions at most"""
    definition_tokens: Positive = 9_000
    """estimated tokens of all definitions at most"""
    index_entries: Count = 40
    """entries of the deferred index at most"""
    index_tokens: Count = 2_000
    """estimated tokens of the index at most"""


class LimitsFile(Section):
    call_timeout: Duration = 60.0
    """one call's time, all its attempts together; seconds, or `500ms`, `5m`"""
    attempt_timeout: Duration | None = None
    """one attempt's time; what is left of the call's by default"""
    retries: Count = 2
    """how often a read or an idempotent call is tried again that timed out or was cut off"""
    result_bytes: Positive = 50_000
    """UTF-8 bytes of a result that the model reads"""
    result_kept_bytes: Positive = 10_000_000
    """bytes that are kept aside of one result: of its text, and of its other parts together"""
    result_blocks: Positive = 1_000
    """parts of one result"""
    result_depth: Positive = 128
    """levels of nesting in the structured content of one result"""
    result_nodes: Positive = 100_000
    """values in the structured content of one result"""
    parallel_calls: Positive = 8
    """calls of one model step that run at once"""
    approval_expiry: Duration = 86_400.0
    """how long an approval can be answered and used"""
    grant_expiry: Duration = 2_592_000.0
    """how long a standing approval can hold at most, and holds where nobody says it"""
    lease: Duration = 300.0
    """how long a silent process keeps a call; renewed while the call runs"""
    argument_bytes: Positive = 1_048_576
    """UTF-8 bytes of one call's arguments"""
    argument_depth: Positive = 256
    """levels of nesting in one call's arguments"""


class AgentFile(Section):
    tools: list[ToolName] = []
    """configured tools by canonical name, in rank order"""
    servers: list[Text] = []
    """servers whose tools the agent discovers"""
    toolsets: list[Text] = []
    """toolsets that an intent may ask for"""
    overlays: list[Text] = []
    """overlays that an intent may ask for"""
    deferred_tools: list[ToolPattern] = []
    """names or patterns of tools that only the index advertises"""
    always_defined: list[ToolName] = []
    """tools that are never deferred"""
    pin: list[PinFile] = []
    """tools that move to the front in sessions with an attribute"""
    control_tools: list[ControlTool] = list(CONTROL_TOOLS)
    """the framework's own tools; without `tool.call` nothing is deferred"""
    disclosure: _Disclosure = "index"
    """how tools without a definition become known: listed, loaded by search, by the provider"""
    listing: _Listing = "index"
    """what is shown of deferred tools: `index` lines, bare `names`, or `none`"""
    search: SearchFile = SearchFile()
    """bounds of `tool.search`"""
    caps: CapsFile = CapsFile()
    """the budget of a plan"""
    replan: _Replan = "on_change"
    """whether old sessions see new tools"""
    limits: LimitsFile = LimitsFile()
    """bounds of a call"""
    approvers: list[Name] | None = Field(default=None, min_length=1)
    """who may answer this agent's approvals; the session's own user by default"""
    exclude_requester: bool = False
    """whether the session's own user may not answer"""


class ToolSecretsFile(Section):
    arguments: list[JsonPointer] = []
    """JSON pointers of secret arguments, `/auth/token`, say; `*` stands for any key or index"""
    results: list[JsonPointer] = []
    """the same for results that are JSON"""


class RedactionFile(Section):
    keys: list[Text] = []
    """words; the values of keys that contain them are masked"""
    patterns: list[Text] = []
    """regular expressions (RE2 syntax); what they match is masked"""
    tools: dict[ToolPattern, ToolSecretsFile] = {}
    """tools by name or pattern, and where secrets stand in what goes in and comes out"""


class SchemaLimitsFile(Section):
    schema_bytes: Positive = 524_288
    """bytes of one tool's schema"""
    schema_depth: Positive = 100
    """levels of nesting in one tool's schema"""
    schema_nodes: Positive = 20_000
    """values in one tool's schema"""


class WebhookFile(Section):
    webhook: Text
    """the address that is told; `${NAME}` is replaced from the environment"""
    secret: Text
    """signs what is sent: 24 characters or more, or `whsec_` and base64; `${NAME}` is replaced"""
    events: list[Text] = Field(min_length=1)
    """names of events, `[approval.asked]`, say"""
    name: Name | None = None
    """tells its events from others'; the address's host by default"""
    timeout: Duration = 10.0
    """one attempt's time, ten minutes at most; seconds, or `500ms`, `5m`"""
    give_up_after: Duration = 259_200.0
    """the age at which an event is told no more"""


class TelemetryFile(Section):
    otlp: Text
    """the base address of an OpenTelemetry collector, `http://localhost:4318`, say"""
    headers: dict[str, AnyText] = {}
    """headers for the collector; `${NAME}` is replaced from the environment"""
    service: Name = "toolkeeper"
    """the name under which this program's measurements stand"""
    interval: Duration = 60.0
    """how often metrics are sent"""


class ConfigurationFile(Section):
    """A toolkeeper configuration."""

    version: Version
    """write `version: 1`"""
    include: list[Text] = []
    """files with further keys, relative to this one"""
    override: dict[str, Any] = {}
    """keys of the included files that are different here; for the main file only"""
    store: Text = DEFAULT_STORE
    """the database, relative to this file"""
    policy: list[Text] = []
    """policy files, or shipped packs by their bare names"""
    servers: dict[str, ServerFile] = {}
    """servers by id"""
    functions: list[Text] = []
    """`module:name` of functions, or of iterables of them"""
    classification: list[ClassificationFile] = []
    """the operator's word on what tools do"""
    toolsets: dict[str, list[ToolName]] = {}
    """named lists of tools"""
    overlays: dict[str, list[ToolName]] = {}
    """named lists of tools that an intent can add"""
    users: dict[str, UserFile] = {}
    """users by name; `*` stands for everybody else"""
    agents: dict[str, AgentFile] = Field(min_length=1)
    """write one agent at least: `agents: {chat: {}}`, say"""
    approver_secrets: dict[str, Text] = {}
    """hashes of approvers' secrets"""
    redaction: RedactionFile = RedactionFile()
    """what is masked besides the built-in words and shapes"""
    notifications: list[WebhookFile] = []
    """who is told of events, outside this program"""
    telemetry: TelemetryFile | None = None
    """where spans and metrics go; nowhere by default"""
    limits: SchemaLimitsFile = SchemaLimitsFile()
    """bounds for the schemas of all tools"""
