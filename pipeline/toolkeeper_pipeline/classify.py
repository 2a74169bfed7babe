"""Stage 7: what would this call do to the world?

The real tool's own class decides, for these very arguments; `tool.call` has none to speak of.
"""

from toolkeeper_pipeline.states import Classified, Frozen


def classify(frozen: Frozen) -> Classified:
    """Side effect and flags of this very call."""
    return Classified(frozen, frozen.tool.class_of(frozen.arguments))
