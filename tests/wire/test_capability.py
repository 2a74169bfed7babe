"""Is native search used only where a provider documents it?"""

import pytest

from toolkeeper_contract import ConfigError
from toolkeeper_wire import PROVIDERS, Capability, Incapable, native_search

CLAUDE = "claude-sonnet-4-5"


@pytest.mark.parametrize(
    "model",
    [
        "claude-opus-4-5",
        "claude-opus-4-5-20251101",
        "claude-sonnet-4-5-20250929",
        "claude-haiku-4-5-20251001",
        "claude-sonnet-4-6",
        "claude-opus-4-8",
        "claude-opus-5",
        "claude-sonnet-5-5",
        "claude-fable-5-2",
        "claude-mythos-5",
        "claude-mythos-preview",
    ],
)
def test_documented_claude_models_search_on_their_side(model: str) -> None:
    assert native_search("anthropic", None, model) == Capability("anthropic", "bm25")


@pytest.mark.parametrize(
    "model",
    [
        "gpt-5.4",
        "gpt-5.4-mini",
        "gpt-5.4-mini-2026-03-17",
        "gpt-5.5-pro",
        "gpt-5.6-sol",
        "gpt-6-astra",
        "gpt-6.2-sol",
    ],
)
def test_documented_gpt_models_search_on_their_side(model: str) -> None:
    assert native_search("openai-responses", None, model) == Capability(
        "openai-responses", "hosted"
    )


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("anthropic", "claude-opus-4-1-20250805"),
        ("anthropic", "claude-sonnet-4-20250514"),
        ("anthropic", "claude-opus-4"),
        ("anthropic", "claude-3-5-sonnet-20241022"),
        ("anthropic", "claude-3-7-sonnet-latest"),
        ("anthropic", "claude-sonnet-4-5-fast"),
        ("anthropic", "claude-newfamily-9"),
        ("anthropic", "anthropic/claude-sonnet-4-5"),
        ("anthropic", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
        ("anthropic", "claude-sonnet-4-5@20250929"),
        ("anthropic", "Claude-Sonnet-4-5"),
        ("anthropic", "gpt-5.4"),
        ("openai-responses", "gpt-5"),
        ("openai-responses", "gpt-5.3"),
        ("openai-responses", "gpt-5.4-nano"),
        ("openai-responses", "gpt-5.4-nano-2026-03-17"),
        ("openai-responses", "gpt-5.4-chat-latest"),
        ("openai-responses", "gpt-4.1"),
        ("openai-responses", "gpt-4o"),
        ("openai-responses", "o3"),
        ("openai-responses", "gpt-audio-mini"),
        ("openai-responses", "openai/gpt-5.4"),
        ("openai-responses", CLAUDE),
    ],
)
def test_a_model_that_is_older_or_unknown_does_not(provider: str, model: str) -> None:
    found = native_search(provider, None, model)
    assert found == Incapable(f"model `{model}` is not known to have tool search")


@pytest.mark.parametrize(
    ("provider", "model", "endpoint"),
    [
        ("anthropic", CLAUDE, "https://api.anthropic.com"),
        ("anthropic", CLAUDE, "https://api.anthropic.com/"),
        ("anthropic", CLAUDE, "https://API.Anthropic.com:443/v1/messages"),
        ("anthropic", CLAUDE, "api.anthropic.com"),
        ("openai-responses", "gpt-5.4", "https://api.openai.com/v1"),
    ],
)
def test_the_providers_own_endpoint_searches(provider: str, model: str, endpoint: str) -> None:
    assert isinstance(native_search(provider, endpoint, model), Capability)


@pytest.mark.parametrize(
    "endpoint",
    [
        "",
        "https://gateway.example/anthropic",
        "https://api.anthropic.com.gateway.example",
        "https://api.anthropic.com@gateway.example/",
        "https://key@api.anthropic.com/",
        "https://gateway.example/?to=api.anthropic.com",
        "http://api.anthropic.com",
        "https://api.anthropic.com:8443",
        "https://eu-api.anthropic.com",
        "https://bedrock-runtime.us-east-1.amazonaws.com",
        "https://us-east5-aiplatform.googleapis.com/v1",
        "http://localhost:4000",
        "https://api.anthropic.com:port",
        "https://[api.anthropic.com",
        "https://api.openai.com/v1",
    ],
)
def test_any_other_endpoint_does_not(endpoint: str) -> None:
    found = native_search("anthropic", endpoint, CLAUDE)
    assert isinstance(found, Incapable)
    assert found.reason.startswith("the endpoint is not `api.anthropic.com`")
    # What stands in an address may be a secret.
    assert "key" not in found.reason


@pytest.mark.parametrize("provider", [*PROVIDERS, "unheard-of"])
def test_a_session_without_a_model_has_no_native_search(provider: str) -> None:
    for model in (None, ""):
        assert isinstance(native_search(provider, None, model), Incapable)


@pytest.mark.parametrize("provider", ["generic", "openai", "gemini", "mcp"])
def test_a_provider_without_a_search_says_so(provider: str) -> None:
    assert native_search(provider, None, "gpt-5.4") == Incapable(
        f"provider `{provider}` has no tool search of its own"
    )


def test_a_variant_can_be_asked_for() -> None:
    assert native_search("anthropic", None, CLAUDE, "regex") == Capability("anthropic", "regex")
    assert native_search("openai-responses", None, "gpt-5.4", "bm25") == Incapable(
        "provider `openai-responses` has no `bm25` tool search"
    )
    with pytest.raises(ConfigError, match="`bm52` is not a known tool search") as caught:
        native_search("anthropic", None, CLAUDE, "bm52")
    assert caught.value.hint == "did you mean `bm25`?"


def test_a_reason_shows_no_endless_model_name() -> None:
    found = native_search("anthropic", None, "claude-" + "x" * 200_000)
    assert isinstance(found, Incapable)
    assert len(found.reason) < 200
    assert "\x1b" not in str(native_search("anthropic", None, "a\x1b[31m"))
