"""Writing with a masked-word model: a row of masks after a text, filled one by one."""

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from bertcore.analysis.shared.finite import require_finite
from bertcore.analysis.shared.inputs import mask_positions
from bertcore.analysis.words.predictions import fill_in_turn
from bertcore.model import Model

MOST_MASKS = 20


@dataclass(frozen=True, slots=True, eq=False)
class MaskStep:
    """One mask filled, the most certain of those left."""

    position: int
    """Position of the mask in `tokens`."""
    word: str
    """The word put there."""
    probability: float
    """Probability given the masks filled before."""
    tokens: tuple[str, ...]
    """The model's input, with this mask and those filled later still open, [T]."""
    weights: NDArray[np.float32]
    """Attention of the mask, the mean over the heads, [L, T]."""


@dataclass(frozen=True, slots=True, eq=False)
class MaskWriting:
    """The text a masked-word model wrote."""

    steps: tuple[MaskStep, ...]
    """In the order in which they were filled."""
    places: tuple[int, ...]
    """Places of all masks, from left to right."""
    text: str
    """The words from left to right, as text."""
    joint: float
    """The product of the steps' probabilities."""


@torch.inference_mode()
def write_with_masks(bert: Model, text: str, num_tokens: int = 8) -> MaskWriting:
    """Append masks to a text and fill them one by one, the most certain first.

    The number of words must be given beforehand, each step runs the whole network on the whole text
    again, and no step matches training, in which 15% of the tokens are hidden.

    Args:
        bert: A checkpoint with a masked-word head.
        text: The text before the masks.
        num_tokens: Masks to append, 1 to MOST_MASKS.

    ValueError if the number is out of range, the text has a [MASK], the masks do not fit after it,
    there is no masked-word head, or numbers are NaN or infinite.

    Source: `fill_in_turn`, with the attention at each step.
    """
    bert.require("mlm")
    if not 1 <= num_tokens <= MOST_MASKS:
        raise ValueError(f"num_tokens is {num_tokens}; expected 1 to {MOST_MASKS}.")
    mask = bert.tokenizer.mask_token
    if bert.tokenizer.mask_id in bert.tokenize(text).input_ids:
        raise ValueError(f"the text already has a {mask}. Replace it with a word.")
    masked = f"{text} {' '.join([mask] * num_tokens)}".strip()
    encoding = bert.tokenize(masked)
    places = mask_positions(encoding, bert.tokenizer.mask_id)
    if len(places) < num_tokens:
        raise ValueError(
            f"{num_tokens} masks do not fit after the text: the checkpoint has {bert.max_length} "
            "positions. Shorten the text."
        )
    ids, tokens = list(encoding.input_ids), list(encoding.tokens)
    steps = []
    joint = 1.0
    for filled in fill_in_turn(bert, masked):
        read = replace(encoding, input_ids=list(ids), tokens=list(tokens))
        trace = bert.trace(masked, encoding=read)
        require_finite(trace.hidden_states, "hidden states")
        weights = trace.attentions[:, :, filled.position]
        steps.append(
            MaskStep(
                filled.position,
                filled.word,
                filled.probability,
                tuple(tokens),
                weights.float().mean(1).numpy(),
            )
        )
        joint *= filled.probability
        tokens[filled.position] = filled.word
        token_id = bert.tokenizer.token_to_id(filled.word)
        assert token_id is not None, "the word came from the vocabulary"
        ids[filled.position] = token_id
    written = bert.tokenizer.decode([ids[place] for place in places])
    return MaskWriting(tuple(steps), tuple(places), written, joint)
