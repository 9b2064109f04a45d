"""Pseudo-log-likelihood: the log-probabilities of a sentence's tokens, each hidden in turn."""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bertcore.likelihood.hidden_tokens import HiddenToken, Row, Translate, hidden_log_probabilities
from bertcore.model import Model
from bertcore.tokenizer import Encoding

Scoring = Literal["within-word", "single"]
SCORINGS: tuple[Scoring, ...] = ("within-word", "single")
"""`within-word` hides the later pieces of the same word too; `single` hides one piece at a time."""
_ENCODINGS_AT_ONCE = 1024
"""Sentences whose hidden copies are laid out together, those of like length side by side."""


def pseudo_log_likelihoods(
    bert: Model,
    encodings: Sequence[Encoding],
    *,
    scoring: Scoring = "within-word",
    by_layer: bool = False,
    translate: Translate | None = None,
    positions: Sequence[Sequence[int]] | None = None,
    progress: Callable[[float], None] | None = None,
) -> NDArray[np.float64]:
    """Return the pseudo-log-likelihood of each encoded text, nats, [N].

    A text of T tokens is run T times, each time with one token hidden, and the log-probabilities of
    the hidden tokens are summed. The masked-word head reads only the hidden places.

    Args:
        bert: A checkpoint with a masked-word head.
        encodings: From `bert.tokenize`. [CLS] and [SEP] are never hidden; [MASK] typed in a text
            stays and adds nothing.
        scoring: "single" hides one piece at a time. In a word of several pieces the others then
            give it away, so rare words score too high; "within-word" hides the pieces after it in
            the same word as well.
        by_layer: Read every layer's states through the masked-word head: [L+1, N], where index 0 is
            the embeddings' output. The head was trained only on the last layer.
        translate: Maps each layer's states to the head's input, such as `translate` of a tuned
            lens; None: the unchanged states.
        positions: The tokens of each text that are hidden and counted, such as those that two
            texts share; None: all of them.
        progress: Called with the fraction done after each batch.

    ValueError if there is no masked-word head, or layers cannot be read.

    Sources: Salazar et al. 2020, "Masked Language Model Scoring", for "single"; Kauf and Ivanova
        2023, "A Better Way to Do Masked Language Model Scoring", for "within-word".
    """
    bert.require("lens" if by_layer else "mlm")
    num_layers = bert.config.num_hidden_layers + 1 if by_layer else 1
    scores = np.zeros((num_layers, len(encodings)))
    hidden = [_hidden_positions(encoding, bert.tokenizer.mask_id) for encoding in encodings]
    if positions is not None:
        hidden = [
            [i for i in allowed if i in set(chosen)]
            for allowed, chosen in zip(hidden, positions, strict=True)
        ]
    total = sum(map(len, hidden))
    done = 0
    for start in range(0, len(encodings), _ENCODINGS_AT_ONCE):
        copies, owners = [], []
        for number in range(start, min(start + _ENCODINGS_AT_ONCE, len(encodings))):
            for position in hidden[number]:
                copies.append(_copy(encodings[number], position, bert.tokenizer.mask_id, scoring))
                owners.append(number)
        for chosen, log_p in hidden_log_probabilities(
            bert, copies, by_layer=by_layer, translate=translate
        ):
            for layer, values in zip(scores, log_p, strict=True):
                np.add.at(layer, [owners[i] for i in chosen], values)
            done += len(chosen)
            if progress is not None:
                progress(done / total)
    return scores if by_layer else scores[0]


def _copy(encoding: Encoding, position: int, mask_id: int, scoring: Scoring) -> HiddenToken:
    """Return a text with one token hidden; with "within-word" also the later pieces of its word."""
    end = position + 1
    if scoring == "within-word":
        while end < len(encoding) and encoding.word_ids[end] == encoding.word_ids[position]:
            end += 1
    ids = list(encoding.input_ids)
    ids[position:end] = [mask_id] * (end - position)
    return HiddenToken(Row(ids, encoding.segment_ids), position, encoding.input_ids[position])


def _hidden_positions(encoding: Encoding, mask_id: int) -> list[int]:
    return [
        i
        for i, (token_id, added) in enumerate(
            zip(encoding.input_ids, encoding.special_tokens_mask, strict=True)
        )
        if not added and token_id != mask_id
    ]
