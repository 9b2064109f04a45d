"""The component that draws how one word was cut into pieces, with what was tried."""

from bertcore.model.tokenizer.wordpiece import WordSteps

from ..component import Component

COMPONENT = Component("bertscope_word_steps", __file__)
MAX_TRIED = 14
"""Most failed candidates drawn for a piece; the others are only counted."""


def word_steps(steps: WordSteps, *, key: str) -> None:
    """Draw what happened to one word."""
    COMPONENT(
        key=key,
        data={
            "word": steps.word,
            "normalized": steps.normalized,
            "isAdded": steps.is_added,
            "steps": [[name, after] for name, _, after in steps.steps],
            "pieces": [
                {
                    "token": piece.token,
                    "id": piece.id,
                    "tried": piece.tried[:MAX_TRIED],
                    "more": max(0, len(piece.tried) - MAX_TRIED),
                }
                for piece in steps.pieces
            ],
            "reason": steps.unk_reason or "",
        },
    )
