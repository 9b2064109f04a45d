"""Pseudo-log-likelihood: the log-probabilities of a sentence's tokens, each hidden in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.model import Model
from bertcore.tokenizer import Encoding

Scoring = Literal["within-word", "single"]
SCORINGS: tuple[Scoring, ...] = ("within-word", "single")
"""`within-word` hides the later pieces of the same word too; `single` hides one piece at a time."""
_ENCODINGS_AT_ONCE = 1024
"""Sentences whose hidden copies are laid out together, those of like length side by side."""
_TOKENS_PER_BATCH = 8192
"""Padded tokens that run together: bounds memory; more is no faster on two cores."""
_LOGITS_PER_CHUNK = 512
"""Places whose vocabulary logits exist at the same time: 62 MB with 30,522 pieces."""


def pseudo_log_likelihoods(
    bert: Model,
    encodings: Sequence[Encoding],
    *,
    scoring: Scoring = "within-word",
    by_layer: bool = False,
    positions: Sequence[Sequence[int]] | None = None,
    progress: Callable[[float], None] | None = None,
) -> NDArray[np.float64]:
    """Return the pseudo-log-likelihood of each encoded text, nats, [N].

    A text of T tokens is run T times, each time with one token hidden, and the log-probabilities
    of the hidden tokens are summed. The masked-word head reads the hidden places alone.

    Args:
        bert: With a masked-word head.
        encodings: Of `bert.tokenize`. [CLS] and [SEP] are never hidden; [MASK] typed in a text
            stays and adds nothing.
        scoring: "single" hides one piece at a time. In a word of several pieces the others then
            give it away, so that rare words score too high; "within-word" hides the pieces after
            it in the same word as well.
        by_layer: Read every layer's states through the masked-word head: [L+1, N], where index 0
            is the embeddings' output. The head was trained on the last layer alone.
        positions: The tokens of each text that are hidden and counted, such as those that two
            texts share; None: all of them.
        progress: Called with the fraction done after each batch.

    Raises:
        ValueError: If there is no masked-word head, or no reading by layer.

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
        part = slice(start, start + _ENCODINGS_AT_ONCE)
        for batch in _batches(encodings[part], hidden[part], bert, scoring):
            log_p = _log_probabilities(bert, batch, by_layer=by_layer)
            for layer, values in zip(scores, log_p, strict=True):
                np.add.at(layer, batch.texts + start, values)
            done += len(batch.texts)
            if progress is not None:
                progress(done / total)
    return scores if by_layer else scores[0]


class _Batch:
    """Copies of texts, each with a token hidden, and which one.

    Args:
        copies: (number of the text, its encoding, position hidden) of each of B copies.
        pad_id, mask_id: Of the vocabulary.
        scoring: As for `pseudo_log_likelihoods`.
    """

    def __init__(
        self,
        copies: Sequence[tuple[int, Encoding, int]],
        pad_id: int,
        mask_id: int,
        scoring: Scoring,
    ) -> None:
        longest = max(len(encoding) for _, encoding, _ in copies)
        self.texts = np.array([number for number, _, _ in copies])
        self.positions = np.array([position for _, _, position in copies])
        self.input_ids = np.full((len(copies), longest), pad_id)
        self.segment_ids = np.zeros_like(self.input_ids)
        self.targets = np.empty(len(copies), dtype=np.int64)
        for row, (_, encoding, position) in enumerate(copies):
            length = len(encoding)
            self.input_ids[row, :length] = encoding.input_ids
            self.segment_ids[row, :length] = encoding.segment_ids
            self.targets[row] = encoding.input_ids[position]
            end = position + 1
            if scoring == "within-word":
                while end < length and encoding.word_ids[end] == encoding.word_ids[position]:
                    end += 1
            self.input_ids[row, position:end] = mask_id
        lengths = np.array([len(encoding) for _, encoding, _ in copies])
        self.kept = np.arange(longest) < lengths[:, None]


def _hidden_positions(encoding: Encoding, mask_id: int) -> list[int]:
    return [
        i
        for i, (token_id, added) in enumerate(
            zip(encoding.input_ids, encoding.special_tokens_mask, strict=True)
        )
        if not added and token_id != mask_id
    ]


def _batches(
    encodings: Sequence[Encoding], hidden: Sequence[Sequence[int]], bert: Model, scoring: Scoring
) -> Iterator[_Batch]:
    """Yield all copies of some texts in batches of like length, the longest first."""
    mask_id, pad_id = bert.tokenizer.mask_id, bert.tokenizer.pad_id
    order = sorted(range(len(encodings)), key=lambda i: -len(encodings[i]))
    copies: list[tuple[int, Encoding, int]] = []
    for i in order:
        encoding = encodings[i]
        for position in hidden[i]:
            copies.append((i, encoding, position))
            if (len(copies) + 1) * len(copies[0][1]) > _TOKENS_PER_BATCH:
                yield _Batch(copies, pad_id, mask_id, scoring)
                copies = []
    if copies:
        yield _Batch(copies, pad_id, mask_id, scoring)


@torch.inference_mode()
def _log_probabilities(bert: Model, batch: _Batch, *, by_layer: bool) -> NDArray[np.float64]:
    """Return the log-probability of each hidden token, nats: [1, B], or [L+1, B] by layer."""
    device = bert.device
    ids, segments, kept = (
        torch.from_numpy(array).to(device)
        for array in (batch.input_ids, batch.segment_ids, batch.kept)
    )
    if by_layer:
        states = bert.module.read_early(bert.module.every_state(ids, segments, kept))
    else:
        # Without padding there is nothing to hide, and attention is faster without a mask.
        mask = None if bool(batch.kept.all()) else kept
        states = bert.module.word_states(ids, segments, mask)[None]
    rows = torch.arange(len(ids), device=device)
    hidden = states[:, rows, torch.from_numpy(batch.positions).to(device)]  # [L+1 or 1, B, D]
    targets = torch.from_numpy(batch.targets).to(device).repeat(len(hidden))
    return _of_targets(bert, hidden.flatten(0, 1), targets).view(len(hidden), -1).cpu().numpy()


def _of_targets(bert: Model, hidden: Tensor, targets: Tensor) -> Tensor:
    """Return log p of `targets` [N] by hidden states [N, D], float64 [N]."""
    parts = []
    chunks = (torch.split(tensor, _LOGITS_PER_CHUNK) for tensor in (hidden, targets))
    for states, ids in zip(*chunks, strict=True):
        logits = bert.module.mlm_logits(states).float()
        chosen = logits.gather(1, ids[:, None])[:, 0]
        parts.append(chosen.double() - logits.logsumexp(-1).double())
    return torch.cat(parts)
