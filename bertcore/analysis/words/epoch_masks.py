"""The tokens of a text hidden in one draw, and in each epoch: static or dynamic masking."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertcore.configs.data import MASKED_LM_PROB, DataConfig
from bertcore.data.sentences import split_sentences
from bertcore.model.model import Model
from bertcore.model.objectives.masking import mask_text
from bertcore.model.objectives.row import ACTIONS, BECAME, Actions
from bertcore.training.pretraining.data.batches import Batch
from bertcore.training.pretraining.data.corpus import pack_corpus
from bertcore.training.pretraining.objectives.epochs import Batches


@dataclass(frozen=True, slots=True)
class Corruption:
    """One draw of the 80/10/10 procedure; all tuples have length T."""

    tokens: tuple[str, ...]
    """The original sentence."""
    input_tokens: tuple[str, ...]
    """The input of the model, with the replacements."""
    actions: tuple[str | None, ...]
    """"mask", "kept" or "random" for a chosen token, None for the others."""

    @property
    def num_chosen(self) -> int:
        """Number of tokens that the model has to predict."""
        return sum(action is not None for action in self.actions)


def corrupt(
    bert: Model,
    text: str,
    text_pair: str | None = None,
    seed: int = 0,
    masked_lm_prob: float = MASKED_LM_PROB,
) -> Corruption:
    """Hide tokens of a text or pair with the code of pretraining.

    Of the T tokens (special ones counted) round(masked_lm_prob * T), at least one, are chosen;
    each becomes [MASK] with probability 0.8, stays with 0.1, or becomes a random piece with 0.1.

    ValueError if the text has no token, or `masked_lm_prob` is out of range.

    Source: Devlin et al. 2019, section 3.1, by `bertcore.model.objectives.masking.mask_text`.
    """
    encoding = bert.tokenize(text, text_pair)
    masked = mask_text(
        encoding.input_ids,
        encoding.special_tokens_mask,
        mask_id=bert.tokenizer.mask_id,
        vocab_size=bert.tokenizer.vocab_size,
        seed=seed,
        masked_lm_prob=masked_lm_prob,
    )
    actions: list[str | None] = [None] * len(encoding)
    for position, action in zip(
        masked.positions[0].tolist(), masked.action[0].tolist(), strict=True
    ):
        actions[position] = BECAME[action]
    return Corruption(
        tokens=tuple(encoding.tokens),
        input_tokens=tuple(bert.tokenizer.id_to_token(i) for i in masked.input_ids[0].tolist()),
        actions=tuple(actions),
    )


NUM_EPOCHS = 20
COPIES = 10
"""Copies of BERT's data, each with its own masks."""
LONGEST = 64
"""Maximum number of tokens of the followed row."""
FATES = ("", *BECAME)
"""The fates of a token, by number in `EpochMasks.fates`."""


@dataclass(frozen=True, slots=True, eq=False)
class EpochMasks:
    """The masks of one row over some epochs."""

    tokens: tuple[str, ...]
    """Tokens of the row, [T]: the beginning of the text."""
    fates: NDArray[np.int8]
    """0: not hidden; 1: [MASK], 2: kept, 3: random, [E, T]."""
    dupe_factor: int
    """Copies of the data; 0: new masks in each epoch."""
    num_text: int
    """Tokens that may be hidden."""

    @property
    def num_masks(self) -> int:
        """Number of different masks among the epochs."""
        return len(np.unique(self.fates > 0, axis=0))

    @property
    def num_never(self) -> int:
        """Number of tokens of the text that no epoch hides."""
        return self.num_text - int((self.fates > 0).any(0).sum())


def epoch_masks(
    bert: Model,
    text: str,
    *,
    dupe_factor: int = COPIES,
    seed: int = 0,
    masked_lm_prob: float = MASKED_LM_PROB,
    actions: Actions = ACTIONS,
) -> EpochMasks:
    """Return the tokens hidden in each epoch of a pretraining run on a text.

    The text is the corpus of the run, in rows of running text; its first row is followed.

    Args:
        dupe_factor: Number of copies of the data with different masks, used in turn; 0: new masks
            in each epoch.
        actions: Shares of [MASK], kept and random among them, whole percents.

    ValueError if the vocabulary has no mask token, the text has no word, or a value is out of its
    range.

    Source: `bertcore.training.pretraining.objectives.epochs.Batches`; Liu et al. 2019, section 4.1.
    """
    bert.require("mlm")
    tokenizer = bert.tokenizer
    sentences = split_sentences(" ".join(text.split()))
    if not any(tokenizer.encode_ids(sentences) if sentences else []):
        raise ValueError("the text has no word. Write at least one sentence.")
    config = DataConfig.for_length(
        min(LONGEST, bert.max_length),
        masked_lm_prob=masked_lm_prob,
        mask_shares="/".join(f"{100 * share:.0f}" for share in actions),
        objective="mlm",
        dupe_factor=dupe_factor,
        batch_size=1,
    )
    corpus = pack_corpus([sentences], tokenizer)
    batches = Batches(corpus, tokenizer, config, seed=seed)
    num_rows = batches.num_instances
    first = np.asarray(corpus.ids[: config.max_seq_length - 2], dtype=np.int64)
    rows = [
        _first_row(batches, range(epoch * num_rows, (epoch + 1) * num_rows), first)
        for epoch in range(NUM_EPOCHS)
    ]
    ids = _original(rows[0])
    return EpochMasks(
        tuple(map(tokenizer.id_to_token, ids.tolist())),
        np.stack([_fates(row) for row in rows])[:, : len(ids)],
        dupe_factor,
        len(first),
    )


@dataclass(frozen=True, slots=True, eq=False)
class BothMasks:
    """The masks of one row in both ways."""

    static: EpochMasks
    dynamic: EpochMasks
    mask: str
    """How the vocabulary writes [MASK]."""

    @property
    def hidden(self) -> list["HiddenToken"]:
        """The hidden tokens in both ways, epoch by epoch."""
        return [
            HiddenToken(name, int(epoch) + 1, int(place), way.tokens[place], FATES[fate])
            for name, way in (("static", self.static), ("dynamic", self.dynamic))
            for (epoch, place), fate in np.ndenumerate(way.fates)
            if fate
        ]


@dataclass(frozen=True, slots=True)
class HiddenToken:
    """A token that is hidden in an epoch."""

    masks: str
    """"static" or "dynamic"."""
    epoch: int
    """From 1."""
    position: int
    token: str
    became: str
    """"mask", "kept" or "random"."""


def both_masks(
    bert: Model,
    text: str,
    *,
    seed: int = 0,
    masked_lm_prob: float = MASKED_LM_PROB,
    actions: Actions = ACTIONS,
) -> BothMasks:
    """Return static masks and dynamic ones of a text; arguments and errors as of `epoch_masks`."""
    options: dict[str, Any] = {"masked_lm_prob": masked_lm_prob, "actions": actions}
    static, dynamic = (
        epoch_masks(bert, text, dupe_factor=copies, seed=seed, **options) for copies in (COPIES, 0)
    )
    return BothMasks(static, dynamic, bert.tokenizer.mask_token)


def _first_row(batches: Batches, steps: range, first: NDArray[np.int64]) -> Batch:
    """Return the row of a pass that has the first tokens of the text."""
    for step in steps:
        row = batches.batch(step)
        if np.array_equal(_original(row)[1 : 1 + len(first)], first):
            return row
    raise AssertionError("each token is in exactly one row of a pass")


def _original(row: Batch) -> NDArray[np.int64]:
    """Return the ids of a batch of one row before masking, without padding, [T]."""
    ids = row.input_ids[0].clone()
    is_prediction = row.weights[0] > 0
    ids[row.positions[0][is_prediction]] = row.labels[0][is_prediction]
    found: NDArray[np.int64] = ids[row.attention_mask[0]].numpy()
    return found


def _fates(row: Batch) -> NDArray[np.int8]:
    """Return what became of each token of a batch of one row, as in `EpochMasks.fates`, [T]."""
    fates = np.zeros(row.input_ids.shape[1], dtype=np.int8)
    is_prediction = row.weights[0] > 0
    fates[row.positions[0][is_prediction].numpy()] = row.action[0][is_prediction].numpy() + 1
    return fates
