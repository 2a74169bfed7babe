"""A body vouches for its sender and its time, for every library that knows the convention."""

import base64
import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkeeper_sinks import NotSigned, SigningSecret, signed_headers, verify_signature

SECRET = "whsec_" + base64.b64encode(b"0123456789abcdef01234567").decode()
PLAIN = "a plain secret of enough length"
NOW = 1_800_000_000.0


def headers(body: bytes = b"{}", secret: str = SECRET, at: float = NOW) -> dict[str, str]:
    return signed_headers(body, SigningSecret.of(secret), message_id="ses_1:7", at=at)


@pytest.mark.parametrize("secret", [SECRET, PLAIN])
def test_what_was_signed_is_verified(secret: str) -> None:
    assert verify_signature(b"{}", headers(secret=secret), secret, now=NOW) == "ses_1:7"


def test_the_signature_is_that_of_the_convention() -> None:
    signed = f"ses_1:7.{int(NOW)}.".encode() + b"{}"
    mac = hmac.new(b"0123456789abcdef01234567", signed, hashlib.sha256).digest()
    assert headers() == {
        "webhook-id": "ses_1:7",
        "webhook-timestamp": str(int(NOW)),
        "webhook-signature": "v1," + base64.b64encode(mac).decode(),
    }


def test_names_of_headers_come_in_any_case() -> None:
    shouted = {name.upper(): value for name, value in headers().items()}
    assert verify_signature(b"{}", shouted, SECRET, now=NOW) == "ses_1:7"


def test_several_signatures_may_stand_there_while_a_secret_is_changed() -> None:
    there = headers()
    there["webhook-signature"] = f"v1a,xx v1,bm8= {there['webhook-signature']}"
    assert verify_signature(b"{}", there, SECRET, now=NOW) == "ses_1:7"


@pytest.mark.parametrize("late", [-301, 301, 10**9])
def test_an_old_message_is_refused_also_with_a_good_signature(late: int) -> None:
    with pytest.raises(NotSigned):
        verify_signature(b"{}", headers(), SECRET, now=NOW + late)


@pytest.mark.parametrize("name", ["webhook-id", "webhook-timestamp", "webhook-signature"])
def test_a_missing_header_is_refused(name: str) -> None:
    there = headers()
    del there[name]
    with pytest.raises(NotSigned, match=name):
        verify_signature(b"{}", there, SECRET, now=NOW)


@pytest.mark.parametrize("stamp", ["", "now", "-1", "1e9", "٣", "9" * 400])
def test_a_time_that_is_no_number_is_refused(stamp: str) -> None:
    with pytest.raises(NotSigned):
        verify_signature(b"{}", {**headers(), "webhook-timestamp": stamp}, SECRET, now=NOW)


@pytest.mark.parametrize("signature", ["", "v1,", "v1,é", "v2,AAAA", "AAAA", "v1 AAAA"])
def test_a_signature_of_another_shape_is_refused(signature: str) -> None:
    with pytest.raises(NotSigned):
        verify_signature(b"{}", {**headers(), "webhook-signature": signature}, SECRET, now=NOW)


@given(st.binary(max_size=40), st.binary(max_size=40))
def test_another_body_is_refused(body: bytes, other: bytes) -> None:
    there = headers(body)
    if body == other:
        verify_signature(other, there, SECRET, now=NOW)
    else:
        with pytest.raises(NotSigned):
            verify_signature(other, there, SECRET, now=NOW)


@pytest.mark.parametrize("secret", ["", "short", "whsec_c2hvcnQ=", "whsec_not base64 at all, no"])
def test_a_secret_that_cannot_sign_is_refused_and_not_quoted(secret: str) -> None:
    with pytest.raises(ValueError, match=r"bytes|base64") as fault:
        SigningSecret.of(secret)
    assert not secret or secret.removeprefix("whsec_") not in str(fault.value)


def test_a_secret_does_not_show_itself() -> None:
    assert "plain" not in repr(SigningSecret.of(PLAIN))
