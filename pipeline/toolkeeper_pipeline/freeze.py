"""Stage 6: which bytes, exactly, is everybody talking about from here on?"""

from toolkeeper_contract import Code, canonical_bytes, digest_bytes
from toolkeeper_pipeline import message
from toolkeeper_pipeline.run import Rim
from toolkeeper_pipeline.secrecy import masked_arguments
from toolkeeper_pipeline.states import Frozen, Stop, Validated


def freeze(validated: Validated, rim: Rim) -> Frozen:
    """Canonical bytes and their digest: policy, card, row and executor see these and no others."""
    try:
        data = canonical_bytes(validated.arguments)
    except (TypeError, ValueError, RecursionError):
        raise Stop(Code.ARGUMENTS_INVALID, message.FROZEN_UNREADABLE, tool=validated.tool) from None
    redacted, masked = masked_arguments(validated.arguments, validated.tool, rim, data)
    return Frozen(
        recorded=validated.recorded,
        tool=validated.tool,
        arguments=validated.arguments,
        data=data,
        digest=digest_bytes(data),
        redacted=redacted,
        masked=masked,
    )
