"""What did an MCP server answer to a call, as a tool's result?"""

import base64
import binascii

from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
)

from toolkeeper_contract import Blob, Text, ToolResult, canonical_text

_UNKNOWN_TYPE = "application/octet-stream"


def result_of_call(result: CallToolResult) -> ToolResult:
    """Texts as text, everything binary as blobs, structured content kept beside them."""
    parts = tuple(_part(block) for block in result.content)
    structured = result.structured_content
    if not parts and structured is not None:
        # Some servers send the value alone; the model still has to read something.
        parts = (Text(canonical_text(structured)),)
    return ToolResult(parts, structured=structured, is_error=result.is_error)


def _part(
    block: TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource,
) -> Text | Blob:
    if isinstance(block, TextContent):
        return Text(block.text)
    if isinstance(block, ImageContent | AudioContent):
        return _blob(block.data, block.mime_type)
    if isinstance(block, ResourceLink):
        title = block.title or block.name
        return Text(f"{title}: {block.uri}")
    if isinstance(block.resource, BlobResourceContents):
        return _blob(block.resource.blob, block.resource.mime_type or _UNKNOWN_TYPE)
    return Text(block.resource.text)


def _blob(data: str, mime_type: str) -> Text | Blob:
    try:
        return Blob(base64.b64decode(data, validate=True), mime_type)
    except (binascii.Error, ValueError):
        # The server's own mistake; what it sent is still what the call gave.
        return Text(data)
