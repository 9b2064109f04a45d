"""A checkpoint's answers to a text under a pretraining objective for which it has a head."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from bertcore.analysis.objectives.demo import PAIR_LABELS, REPLACED, drawn
from bertcore.analysis.objectives.given import (
    Prepared,
    masked_word_logits,
    predicts_masked_words,
    segments_of,
)
from bertcore.analysis.shared.inputs import require_finite_logits
from bertcore.model.architecture.families import Capability
from bertcore.model.bert import Bert
from bertcore.model.checkpoints.folder import has_weights
from bertcore.model.checkpoints.save import OBJECTIVE
from bertcore.model.checkpoints.source import CAUSAL, DEFAULT, SHIPPED
from bertcore.model.model import Model
from bertcore.model.objectives.attention_masks import Direction
from bertcore.model.objectives.draw import Draw
from bertcore.model.objectives.row import IGNORED, Flags, Ids
from bertcore.model.objectives.table import OBJECTIVES, objective_of
from bertcore.model.others.families import DENOISING, PERMUTED, SPANS
from bertcore.model.others.model import OtherModel
from bertcore.training.pretraining.objectives.denoising import pad_sequences
from bertcore.training.pretraining.objectives.permutation import query_states

BEST = 3
"""Number of guesses kept at each place."""
MASKED_WORDS = ("masked-words", "whole-words", "spans")
_HEADS: Mapping[str, Capability] = MappingProxyType(
    {
        "next-sentence": "nsp",
        "sentence-order": "sop",
        "replaced-tokens": "replaced",
        "causal": "next",
    }
)
_WAYS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "permutation": (PERMUTED, "an XLNet"),
        "t5-spans": (SPANS, "a T5"),
        **{name: (DENOISING, "a BART") for name in OBJECTIVES if name.startswith("bart-")},
    }
)
"""Objective -> how a `transformers` model trained with it predicts words."""
_SHIPPED: Mapping[str, str] = MappingProxyType(
    {
        "sentence-order": "toy-sop",
        "replaced-tokens": "toy-rtd",
        "causal": CAUSAL,
        "permutation": "toy-plm",
        "unilm": "toy-unilm",
        "t5-spans": "toy-t5",
        **{name: "toy-bart" for name, (way, _) in _WAYS.items() if way == DENOISING},
        "mass": "toy-mass",
    }
)
"""Objective -> the shipped checkpoint that answers it, if it is not the default."""
_RUNS: Mapping[str, str] = MappingProxyType(
    {"permutation": "plm", "unilm": "unilm", "mass": "mass"}
)
"""Objective -> its name for `pretrain --objective`: only the run tells that it was trained so."""


@dataclass(frozen=True, slots=True)
class PlaceAnswer:
    """The answer at one place that carries loss."""

    place: int
    """Index among the encoder's tokens, or the decoder's, if there is one."""
    target: str
    """The right answer."""
    best: tuple[tuple[str, float], ...]
    """The most probable answers and their probabilities."""
    probability: float
    """Probability of the right answer."""
    loss: float
    """-ln of it, nats."""


@dataclass(frozen=True, slots=True)
class ObjectiveAnswer:
    """A checkpoint's answer to one draw."""

    places: tuple[PlaceAnswer, ...]

    @property
    def loss(self) -> float:
        """The mean over the places, in nats; NaN if there are none."""
        costs = [place.loss for place in self.places]
        return sum(costs) / len(costs) if costs else float("nan")


def why_no_answer(bert: Model, objective: str) -> str | None:
    """Return why a checkpoint has no answer to an objective, as a sentence; None if it has one."""
    objective_of(objective)
    capability = _HEADS.get(objective)
    if capability is not None:
        return bert.absent.get(capability)
    run = _RUNS.get(objective)
    if run is not None and bert.objective == run:
        return bert.absent.get("mlm")
    if objective in MASKED_WORDS:
        absent = bert.absent.get("mlm")
        if absent is None and not predicts_masked_words(bert):
            return (
                "This checkpoint was trained with another objective: choose that one to see its "
                "answer."
            )
        return absent
    way, name = _WAYS.get(objective, (None, ""))
    is_of_run = bert.objective in _RUNS.values()
    if isinstance(bert, OtherModel) and bert.module.other.words == way and not is_of_run:
        return bert.absent.get("mlm")
    trained = f"a checkpoint of `bertscope pretrain --objective {run}`"
    to_open = " or ".join([*([name] if name else []), *([trained] if run else [])])
    known = f" ({OBJECTIVE} in its config.json does not say so)" if run else ""
    return f"This checkpoint was not trained with it{known}. Open {to_open} to see an answer."


def shipped_for(objective: str) -> str | None:
    """Return the name of the shipped checkpoint that has an answer to an objective, if one has."""
    name = _SHIPPED.get(objective_of(objective).name, DEFAULT)
    return name if name in SHIPPED and has_weights(SHIPPED[name]) else None


@torch.no_grad()
def objective_answer(
    bert: Model,
    objective: str,
    text: str,
    text_pair: str | None = None,
    *,
    others: Sequence[str] = (),
    seed: int = 0,
    share: float | None = None,
    direction: Direction | None = None,
) -> ObjectiveAnswer:
    """Return a checkpoint's answer to the draw of `objective_example` with the same arguments.

    A decoder reads the right tokens before each (teacher forcing), as in training. ValueError if
    the checkpoint has no head for it or answers NaN or infinity, or as `objective_example`.
    """
    reason = why_no_answer(bert, objective)
    if reason is not None:
        raise ValueError(reason)
    prepared, found = drawn(bert, objective, text, text_pair, others, seed, share, direction)
    if found.judged is not None:
        return _pair(bert, objective, prepared, found)
    if found.is_replaced is not None:
        return _replaced(bert, prepared, found)
    labels = found.corrupted.labels
    places = np.flatnonzero(labels != IGNORED)
    return _words(bert, places, labels[places], _logits(bert, objective, prepared, found, places))


def _words(bert: Model, places: Ids, right: Ids, logits: Tensor) -> ObjectiveAnswer:
    size, name = bert.tokenizer.vocab_size, bert.tokenizer.id_to_token
    require_finite_logits([logits[:, :size]])
    log_p = logits.log_softmax(-1)
    answers = []
    for row, (place, label) in enumerate(zip(places.tolist(), right.tolist(), strict=True)):
        best = log_p[row, :size].topk(min(BEST, size))
        answers.append(
            PlaceAnswer(
                place,
                name(label),
                tuple(
                    (name(int(piece)), float(p))
                    for piece, p in zip(best.indices, best.values.exp(), strict=True)
                ),
                float(log_p[row, label].exp()),
                -float(log_p[row, label]),
            )
        )
    return ObjectiveAnswer(tuple(answers))


def _logits(bert: Model, objective: str, prepared: Prepared, found: Draw, places: Ids) -> Tensor:
    """Return the vocabulary's logits at the places, float32 [N, V]."""
    corrupted = found.corrupted
    if objective in MASKED_WORDS:
        return masked_word_logits(bert, corrupted.input_ids, prepared.segment_ids, places)
    ids = _tensor(bert, corrupted.input_ids)[None]
    if objective == "causal":
        states = bert.module.word_states(ids)[0, places]  # all of a text is segment 0, as trained
        return bert.module.next_logits(states).float().cpu()
    if objective == "unilm":
        assert corrupted.allowed is not None
        segment_ids = _tensor(bert, prepared.segment_ids)[None]
        hidden = bert.module(ids, segment_ids, _tensor(bert, corrupted.allowed)[None])
        return bert.module.mlm_logits(hidden[0, places]).float().cpu()
    if isinstance(bert, Bert):
        return _permuted_logits(bert, ids, found, places)
    assert isinstance(bert, OtherModel), "why_no_answer lets no other pass"
    network = bert.module
    segments = _tensor(bert, prepared.segment_ids)[None] if objective == "permutation" else None
    inputs = network.inputs(ids, segments, None)
    if found.query is not None:
        dtype = network.token_table.dtype
        unseen = torch.from_numpy(~found.query)[None].to(bert.device, dtype)
        target = torch.eye(ids.shape[1], device=bert.device, dtype=dtype)[None]
        out = network.run(
            network.base, **inputs, perm_mask=unseen, target_mapping=target, use_mems=False
        )
        states = out.last_hidden_state[0]
    else:
        assert corrupted.decoder_input_ids is not None
        # MASS's decoder reads a fragment at its own positions, the others a text from its start.
        rows = pad_sequences([corrupted], max(bert.tokenizer.pad_id, 0))
        out = network.run(
            network.base,
            **inputs,
            decoder_input_ids=rows["decoder_input_ids"].to(bert.device),
            decoder_attention_mask=rows["decoder_attention_mask"].to(bert.device),
            output_hidden_states=True,
            use_cache=False,
        )
        states = out.decoder_hidden_states[-1][0]
        if corrupted.decoder_positions is not None:
            places = corrupted.decoder_positions[places]
    return network.mlm_logits(states[places]).float().cpu()


def _permuted_logits(bert: Bert, ids: Tensor, found: Draw, places: Ids) -> Tensor:
    """Return the logits of our network's query stream; a text is segment 0, as trained."""
    assert found.rank is not None
    positions = _tensor(bert, places)[None]
    rows = {
        "input_ids": ids,
        "segment_ids": torch.zeros_like(ids),
        "rank": _tensor(bert, found.rank)[None],
        "positions": positions,
        "weights": torch.ones_like(positions),
        "queries": torch.full_like(positions, bert.tokenizer.mask_id),
    }
    return bert.module.mlm_logits(query_states(bert.module, rows)[0]).float().cpu()


def _pair(bert: Model, objective: str, prepared: Prepared, found: Draw) -> ObjectiveAnswer:
    assert found.judged is not None
    ids = _tensor(bert, found.judged.input_ids)[None]
    segments = _tensor(bert, segments_of(prepared, found))[None]
    hidden = bert.module(ids, segments)
    is_nsp = objective == "next-sentence"
    logits = bert.module.nsp_logits(hidden) if is_nsp else bert.module.sop_logits(hidden)
    require_finite_logits([logits])
    log_p = F.log_softmax(logits[0].float(), -1).cpu()
    names = PAIR_LABELS[objective]
    right = found.judged.label
    best = tuple(zip(names, log_p.exp().tolist(), strict=True))
    cost = -float(log_p[right])
    return ObjectiveAnswer((PlaceAnswer(0, names[right], best, float(log_p[right].exp()), cost),))


def _replaced(bert: Model, prepared: Prepared, found: Draw) -> ObjectiveAnswer:
    assert found.is_replaced is not None
    ids = _tensor(bert, found.corrupted.input_ids)[None]
    hidden = bert.module(ids, _tensor(bert, prepared.segment_ids)[None])[0]
    logits = bert.module.replaced_logits(hidden).float().cpu()
    require_finite_logits([logits])
    answers = []
    for place, (logit, is_replaced) in enumerate(zip(logits, found.is_replaced, strict=True)):
        p = float(torch.sigmoid(logit))
        cost = float(F.softplus(-logit if is_replaced else logit))
        best = ((REPLACED[1], p), (REPLACED[0], 1 - p))
        right = REPLACED[int(is_replaced)]
        answers.append(PlaceAnswer(place, right, best, float(np.exp(-cost)), cost))
    return ObjectiveAnswer(tuple(answers))


def _tensor(bert: Model, ids: Ids | Flags) -> Tensor:
    return torch.from_numpy(ids).to(bert.device)
