"""The names that the package promises."""

import toolkeeper_sources


def test_the_public_face_is_pinned() -> None:
    assert sorted(toolkeeper_sources.__all__) == [
        "CatalogSource",
        "FunctionSource",
        "FunctionTool",
        "HttpMcpSource",
        "ListingLimits",
        "McpSource",
        "SchemaLimits",
        "ServerError",
        "ServerSource",
        "ToolCrashed",
        "check_definition",
        "child_environment",
        "load_functions",
        "operand_digests",
        "sorted_out",
        "tool",
    ]
    assert all(hasattr(toolkeeper_sources, name) for name in toolkeeper_sources.__all__)
