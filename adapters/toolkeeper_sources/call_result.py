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

from toolkeeper_contract import Blob, Text, ToolResult
from toolkeeper_pipeline.media import UNKNOWN_TYPE, media_type
from toolkeeper_sources.limits import RESULT_LIMITS


def result_of_call(result: CallToolResult) -> ToolResult:
    """Texts as text, everything binary as blobs, structured content kept beside them.

    Without any block the structured content is all there is to read. A resource bears its address.
    """
    parts = tuple(part for block in result.content for part in _parts(block))
    return ToolResult(parts, structured=result.structured_content, is_error=result.is_error)


def _parts(
    block: TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource,
) -> tuple[Text | Blob, ...]:
    if isinstance(block, TextContent):
        return (Text(block.text),)
    if isinstance(block, ImageContent | AudioContent):
        return (_blob(block.data, block.mime_type),)
    if isinstance(block, ResourceLink):
        return (Text(_link(block)),)
    resource = block.resource
    if isinstance(resource, BlobResourceContents):
        blob = _blob(resource.blob, resource.mime_type or UNKNOWN_TYPE)
        return (Text(f"{resource.uri}:"), blob)
    return (Text(f"{resource.uri}:\n{resource.text}"),)


def _link(link: ResourceLink) -> str:
    details = [link.mime_type] if link.mime_type else []
    details += [f"{link.size:,} bytes"] if link.size is not None else []
    more = f" ({', '.join(details)})" if details else ""
    return f"{link.title or link.name}: {link.uri}{more}"


def _blob(data: str, mime_type: str) -> Text | Blob:
    if len(data) // 4 * 3 > RESULT_LIMITS.size:
        return Text(f"[{media_type(mime_type)}, about {len(data) // 4 * 3:,} bytes, too large]")
    try:
        return Blob(base64.b64decode(data, validate=True), mime_type)
    except (binascii.Error, ValueError):
        # The server's own mistake; what it sent is still what the call gave.
        return Text(data)
