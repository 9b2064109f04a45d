"""The quantity read from a run: the difference of two logits, of words at a mask or of classes."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from bertcore.analysis.patching.pair import PatchPair
from bertcore.analysis.shared.inputs import mask_positions, run_rows, word_log_probabilities
from bertcore.analysis.words.logit_attribution import word_id_of
from bertcore.likelihood.hidden_tokens import Row
from bertcore.model import Model
from bertcore.network.task_reader import TaskReader

TOP_WORDS = 10
"""Number of best words of each version from which the two words are chosen if none are given."""


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """The difference of two logits, and where it is read."""

    name: str
    """The word or class of the first logit."""
    other: str | None
    """That of the second; None: only the first logit (a score, a label's log-odds) is used."""
    places: tuple[int, int] | None
    """The token that is read in each version; None: all tokens are."""
    read: Callable[[Tensor], Tensor]
    """Last hidden states of that token [B, 1, D], or of all [B, T, D], to differences [B]."""


@torch.no_grad()
def word_answer(
    model: Model,
    pair: PatchPair,
    word: str | None = None,
    other: str | None = None,
    *,
    mask: int = 0,
) -> Answer:
    """Return the difference of the logits of two words at a [MASK] that both versions have.

    Args:
        pair: Versions with [MASK] at an aligned place.
        word, other: Pieces of the vocabulary; None: among the best words of both versions, the one
            that the first raises most over the second and the one that it lowers most.
        mask: Index of the common mask, from 0.

    ValueError if there is no masked-word head, no such mask, or a word is not one piece.
    """
    model.require("mlm")
    column = common_masks(model, pair)[mask:]
    if not column:
        token = model.tokenizer.mask_token
        raise ValueError(
            f"the versions have no {token} at the same place, so there are no words to compare. "
            f"Write {token} in both, or hide a token that occurs in both."
        )
    places = pair.columns[column[0]]
    ids = [None if name is None else word_id_of(model, name) for name in (word, other)]
    if None in ids:
        raised, lowered = _telling_words(model, pair, places)
        if ids[0] is None:
            ids[0] = raised if raised != ids[1] else lowered
        if ids[1] is None:
            ids[1] = lowered if lowered != ids[0] else raised
    chosen, against = (number for number in ids if number is not None)
    if chosen == against:
        raise ValueError(
            f"{model.tokenizer.id_to_token(chosen)!r} is given twice: the difference of its logit "
            "to itself is 0. Choose two words."
        )

    def read(states: Tensor) -> Tensor:
        logits = model.module.mlm_logits(states[:, 0])
        return logits[:, chosen].float() - logits[:, against].float()

    named = model.tokenizer.id_to_token
    return Answer(named(chosen), named(against), places, read)


def common_masks(model: Model, pair: PatchPair) -> list[int]:
    """Return the columns that have [MASK] in both versions."""
    if model.tokenizer.mask_id < 0:
        model.require("mlm")  # says why there are no masks
    one, two = (set(mask_positions(e, model.tokenizer.mask_id)) for e in (pair.first, pair.second))
    return [n for n, (i, j) in enumerate(pair.columns) if i in one and j in two]


@torch.no_grad()
def telling_token(model: Model, pair: PatchPair) -> int | None:
    """Return the token of the first version at which the versions' predictions differ most.

    Each token of the texts that both versions have is hidden in turn, in both.

    Returns:
        Its position; None if they have no token in common.

    ValueError if there is no masked-word head.
    """
    model.require("mlm")
    mask_id, specials = model.tokenizer.mask_id, pair.first.special_tokens_mask
    columns = [
        column
        for column, differs in zip(pair.columns, pair.changed, strict=True)
        if not differs and not specials[column[0]]
    ]
    if not columns:
        return None
    log_p = []
    for side, encoding in enumerate((pair.first, pair.second)):
        rows = []
        for column in columns:
            ids = list(encoding.input_ids)
            ids[column[side]] = mask_id
            rows.append(Row(ids, list(encoding.segment_ids)))
        states: dict[int, Tensor] = {}
        for chosen, hidden in run_rows(model, rows):
            states |= {n: hidden[at, columns[n][side]] for at, n in enumerate(chosen)}
        ordered = torch.stack([states[n] for n in range(len(columns))])
        log_p.append(torch.cat([part.cpu() for part in word_log_probabilities(model, ordered)]))
    divergence = (log_p[0].exp() * (log_p[0] - log_p[1])).sum(-1)
    return columns[int(divergence.argmax())][0]


def _telling_words(model: Model, pair: PatchPair, places: tuple[int, int]) -> list[int]:
    """Return the words that the first version raises and lowers most."""
    states = torch.stack(
        [
            model.word_states(e)[place]
            for e, place in zip((pair.first, pair.second), places, strict=True)
        ]
    )
    named = model.module.mlm_logits(states).float()[:, : model.tokenizer.vocab_size]
    log_p = torch.log_softmax(named, -1).cpu()
    best = torch.unique(log_p.topk(min(TOP_WORDS, log_p.shape[1])).indices)
    raised = (log_p[0] - log_p[1])[best]
    return [int(best[raised.argmax()]), int(best[raised.argmin()])]


@torch.no_grad()
def class_answer(
    model: Model,
    reader: TaskReader,
    pair: PatchPair,
    label: str | None = None,
    other: str | None = None,
) -> Answer:
    """Return the difference of two classes' logits; for a score or labels, the logit itself.

    Args:
        reader: Its head (`read_task_head`).
        label, other: Two classes; None: those that the first version raises and lowers most.

    ValueError if the head answers for each token, or there is no such class.
    """
    if reader.kind not in ("classes", "labels", "score"):
        raise ValueError(
            f"this head answers for each token ({reader.kind}), so a text has no class logit to "
            "follow. Open a checkpoint that labels texts, or one with a masked-word head."
        )
    encodings = (pair.first, pair.second)
    logits = torch.cat(
        [reader.logits(model.module, model.hidden(e)[None]).float() for e in encodings]
    )
    raised = (torch.log_softmax(logits, -1) if reader.kind == "classes" else logits).cpu()
    raised = raised[0] - raised[1]
    chosen = int(raised.argmax()) if label is None else _label_id(reader, label)
    second: int | None = None
    if reader.kind == "classes":
        second = int(raised.argmin()) if other is None else _label_id(reader, other)
        if second == chosen:
            raise ValueError(
                f"class {reader.labels[chosen]!r} is given twice: the difference to itself is 0. "
                "Choose two classes."
            )
    elif reader.kind == "labels" and label is None:
        chosen = int(raised.abs().argmax())

    def read(states: Tensor) -> Tensor:
        found = reader.logits(model.module, states).float()
        return found[:, chosen] if second is None else found[:, chosen] - found[:, second]

    return Answer(
        reader.labels[chosen] if reader.labels else "score",
        None if second is None else reader.labels[second],
        _places(reader, pair),
        read,
    )


def _places(reader: TaskReader, pair: PatchPair) -> tuple[int, int] | None:
    """Return the token that a text head reads; None if it reads all."""
    reads = reader.head.form.reads
    if reads in ("pooler", "first"):
        return 0, 0
    return (len(pair.first) - 1, len(pair.second) - 1) if reads == "last" else None


def _label_id(reader: TaskReader, label: str) -> int:
    if label not in reader.labels:
        listed = ", ".join(map(repr, reader.labels[:20]))
        raise ValueError(f"there is no class {label[:40]!r}; the head has {listed}.")
    return reader.labels.index(label)
