"""A text under a pretraining objective: inputs, targets and attention masks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bertcore.analysis.objectives.given import Prepared, prepare
from bertcore.model.model import Model
from bertcore.model.objectives.attention_masks import Direction
from bertcore.model.objectives.draw import Draw
from bertcore.model.objectives.masked_words import LONGEST_SPAN
from bertcore.model.objectives.row import IGNORED, Flags, Ids
from bertcore.model.objectives.table import OBJECTIVES, Counts, count, objective_of

PAIR_LABELS = {
    "next-sentence": ("B follows A", "B is random"),
    "sentence-order": ("in order", "exchanged"),
}
"""The meanings of a pair's label."""
REPLACED = ("original", "replaced")


@dataclass(frozen=True, slots=True)
class ReadToken:
    text: str
    """"" where tokens were deleted."""
    fate: str
    """Its fate, as in `Draw.fates`; "gap" where tokens were deleted."""
    target: str
    """The target at its place; "" where there is no loss."""


@dataclass(frozen=True, slots=True, eq=False)
class Looks:
    """Which tokens may attend to which."""

    name: str
    """Name of the attention: "encoder", "decoder", "content stream", "query stream"."""
    rows: tuple[str, ...]
    """The attending tokens, [R]."""
    columns: tuple[str, ...]
    """The attended tokens, [C]: for a decoder the encoder's tokens, then its own."""
    allowed: Flags
    """[R, C]"""


@dataclass(frozen=True, slots=True)
class SpanEnds:
    """A span that SpanBERT is to predict from the two tokens beside it."""

    left: str
    right: str
    span: tuple[str, ...]
    """Its pieces, in order."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ObjectiveExample:
    """One text under one objective."""

    objective: str
    original: tuple[str, ...]
    """The tokens of the text, [T]: without a [SEP] inside where a pair is one document."""
    reads: tuple[ReadToken, ...]
    """The input of the encoder."""
    decoder_reads: tuple[str, ...]
    """[Td]; () without a decoder."""
    writes: tuple[str, ...]
    """The target at each token of the decoder, [Td]."""
    verdict: str
    """The right answer for a pair; "" for others."""
    order: tuple[int, ...]
    """For XLNet, when each token is predicted, from 1; 0 for unpredicted tokens, [T]. () for other
    objectives."""
    direction: str
    """UniLM's mask; "" for others."""
    ends: tuple[SpanEnds, ...]
    """For SpanBERT, the spans with a token on both sides; () for others."""
    looks: tuple[Looks, ...]
    notes: tuple[str, ...]
    """Peculiarities of this text or vocabulary, one sentence each."""

    @property
    def input(self) -> str:
        """The tokens that the encoder reads, in one line."""
        return " ".join(token.text for token in self.reads)

    @property
    def output(self) -> str:
        """What must come out, in one line: the answer for a pair, or else the targets."""
        targets = self.writes or [token.target for token in self.reads if token.target]
        return self.verdict or " ".join(targets)


def drawn(
    bert: Model,
    objective: str,
    text: str,
    text_pair: str | None = None,
    others: Sequence[str] = (),
    seed: int = 0,
    share: float | None = None,
    direction: Direction | None = None,
) -> tuple[Prepared, Draw]:
    """Return one draw of an objective on a text. Arguments are those of `objective_example`."""
    entry = objective_of(objective)
    prepared = prepare(bert, entry, text, text_pair, others=others, seed=seed, direction=direction)
    chosen = entry.share if share is None else share
    rng = np.random.default_rng(seed)
    return prepared, entry.draw(prepared.given, rng, 0.0 if chosen is None else chosen)


def objective_example(
    bert: Model,
    objective: str,
    text: str,
    text_pair: str | None = None,
    *,
    others: Sequence[str] = (),
    seed: int = 0,
    share: float | None = None,
    direction: Direction | None = None,
) -> ObjectiveExample:
    """Draw an objective on a text, or a pair.

    Args:
        bert: Provides the vocabulary, and acts as ELECTRA's generator if it predicts masked words.
        text, text_pair: The text, or the pair. If a pair is needed and there is one text, it is
            split between two of its sentences.
        others: Documents; next sentence takes a random B from them.

    ValueError if the text, the vocabulary or the share does not suit this objective; the message
    states why.
    """
    prepared, found = drawn(bert, objective, text, text_pair, others, seed, share, direction)
    named = _Names(bert, prepared.names)
    corrupted = found.corrupted
    read, tokens = named(corrupted.input_ids), named(prepared.given.row.ids)
    spans = corrupted.spans if objective == "spans" else ()
    decoder_ids = corrupted.decoder_input_ids
    written = () if decoder_ids is None else named(corrupted.labels)
    judged = found.judged
    rank = found.rank
    return ObjectiveExample(
        objective=objective,
        # BART's decoder writes the text itself.
        original=written if objective.startswith("bart-") else tokens,
        reads=_reads(named, prepared, found),
        decoder_reads=() if decoder_ids is None else named(decoder_ids),
        writes=written,
        verdict="" if judged is None else PAIR_LABELS[objective][judged.label],
        order=() if rank is None else tuple((rank + 1).tolist()),
        direction=found.direction or "",
        ends=tuple(SpanEnds(read[start - 1], read[end], tokens[start:end]) for start, end in spans),
        looks=_looks(named, prepared, found),
        notes=_notes(objective, prepared, found),
    )


@dataclass(frozen=True, slots=True, eq=False)
class TriedObjective:
    """An objective on a text: its draw, or why there is none."""

    objective: str
    example: ObjectiveExample | None
    reason: str
    """A sentence; "" where there is an example."""


def try_objectives(
    bert: Model,
    text: str,
    text_pair: str | None = None,
    *,
    others: Sequence[str] = (),
    seed: int = 0,
) -> tuple[TriedObjective, ...]:
    """Return a draw of each objective of `OBJECTIVES`; arguments as for `objective_example`."""
    tried = []
    for name in OBJECTIVES:
        try:
            example = objective_example(bert, name, text, text_pair, others=others, seed=seed)
            tried.append(TriedObjective(name, example, ""))
        except ValueError as reason:
            tried.append(TriedObjective(name, None, str(reason)))
    return tuple(tried)


def count_objective(
    bert: Model,
    objective: str,
    text: str,
    text_pair: str | None = None,
    *,
    others: Sequence[str] = (),
    share: float | None = None,
    num_draws: int = 1000,
    seed: int = 0,
) -> Counts:
    """Count what an objective does in many draws on a text, next to its paper's shares.

    Arguments and errors are those of `objective_example` and `count`. ELECTRA's generator is not
    run: what is hidden from it does not depend on it.
    """
    entry = objective_of(objective)
    prepared = prepare(bert, entry, text, text_pair, others=others, seed=seed)
    given = replace(prepared.given, generator=None)
    return count(objective, given, share=share, num_draws=num_draws, seed=seed)


class _Names:
    """Maps ids to tokens, including added sentinels."""

    def __init__(self, bert: Model, added: Sequence[str]) -> None:
        self.bert, self.added = bert, added

    def __call__(self, ids: Ids) -> tuple[str, ...]:
        size = self.bert.tokenizer.vocab_size
        return tuple(
            self.bert.tokenizer.id_to_token(one) if one < size else self.added[one - size]
            for one in ids.tolist()
        )


def _reads(named: _Names, prepared: Prepared, found: Draw) -> tuple[ReadToken, ...]:
    corrupted = found.corrupted
    tokens = named(corrupted.input_ids)
    targets = [""] * len(tokens)
    if found.is_replaced is not None:
        targets = [REPLACED[int(one)] for one in found.is_replaced]
    elif corrupted.decoder_input_ids is None:
        for place in np.flatnonzero(corrupted.labels != IGNORED).tolist():
            targets[place] = named(corrupted.labels[place : place + 1])[0]
    read = [ReadToken(*one) for one in zip(tokens, found.fates, targets, strict=True)]
    is_whole = len(tokens) == len(prepared.given.row) or found.judged is not None
    if is_whole or "sentinel" in found.fates or "mask" in found.fates:
        return tuple(read)
    for start, _ in reversed(_joined(corrupted.spans)):
        gone = sum(end - begin for begin, end in corrupted.spans if end <= start)
        read.insert(start - gone, ReadToken("", "gap", ""))
    return tuple(read)


def _joined(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans, with touching ones merged."""
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and joined[-1][1] == start:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _looks(named: _Names, prepared: Prepared, found: Draw) -> tuple[Looks, ...]:
    corrupted = found.corrupted
    read = named(corrupted.input_ids)
    everyone = np.ones((len(read), len(read)), dtype=bool)
    own = everyone if corrupted.allowed is None else corrupted.allowed
    if found.query is not None:
        return (
            Looks("content stream", read, read, own),
            Looks("query stream", read, read, found.query),
        )
    encoder = Looks("encoder", read, read, own)
    if corrupted.decoder_input_ids is None:
        return (encoder,)
    reads = named(corrupted.decoder_input_ids)
    across = np.ones((len(reads), len(read)), dtype=bool)
    if corrupted.decoder_positions is not None:
        # MASS hides the encoder's masks from the decoder (microsoft/MASS trainer.py).
        across &= corrupted.input_ids != prepared.given.pieces.mask_id
    earlier = np.tri(len(reads), dtype=bool)
    decoder = Looks("decoder", reads, read + reads, np.concatenate([across, earlier], axis=1))
    return (decoder, encoder)


def _notes(objective: str, prepared: Prepared, found: Draw) -> tuple[str, ...]:
    notes = []
    num_words = len(prepared.given.row.words())
    if objective == "spans" and num_words < LONGEST_SPAN:
        notes.append(
            f"The text has {num_words} word{'s' if num_words > 1 else ''}: spans of up to "
            f"{LONGEST_SPAN} are cut at its end."
        )
    if objective == "t5-spans" and prepared.names:
        notes.append(
            f"This vocabulary has no sentinels: {len(prepared.names)} are added to its end."
        )
    if objective == "t5-spans" and len(found.corrupted.spans) == 1:
        notes.append("A single span always ends the text: T5 begins with clean text, then a span.")
    if objective == "replaced-tokens" and prepared.given.generator is None:
        notes.append(
            "This checkpoint predicts no masked words, so the generator's guesses are any pieces "
            "of the vocabulary."
        )
    return tuple(notes)
