"""The component that shows what both networks write, and its message."""

from dataclasses import asdict
from typing import Any

from bertcore.analysis.words.continuation import Continuation, MaskWriting, WrittenTexts

from ...parts.component import Component

COMPONENT = Component("bertscope_writing", __file__)


def message(written: WrittenTexts, following: str, masks: str) -> dict[str, Any]:
    """Return the drawing's message.

    Args:
        following, masks: What the two networks are called.
    """
    both: dict[str, Any] = {"next": None, "masks": None}
    if isinstance(written.following, Continuation):
        both["next"] = {
            "name": following,
            "before": written.before,
            "written": [asdict(token) for token in written.following.written],
        }
    if isinstance(written.masks, MaskWriting):
        steps = written.masks.steps
        both["masks"] = {
            "name": masks,
            "tokens": steps[0].tokens,
            "places": written.masks.places,
            "steps": [
                {
                    "position": step.position,
                    "word": step.word,
                    "probability": step.probability,
                    "weights": step.weights.round(4).tolist(),
                }
                for step in steps
            ],
        }
    return both
