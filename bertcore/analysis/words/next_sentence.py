"""The next-sentence laboratory: what changes BERT's answer to "does B follow A?"."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.analysis.shared.inputs import encoding_of
from bertcore.analysis.words.sentence_similarity import SentenceMatrix
from bertcore.model.likelihood import Row, padded_batches
from bertcore.model.model import Model, NextSentence, SentenceOrder
from bertcore.model.tokenizer import Encoding
from bertcore.model.trace import Trace
from bertcore.training.evaluation.intervals import share_interval

GROUPS = ("A", "B", "special")
"""Order of the groups in `AttentionMass`: text A, text B, and the added [CLS] and [SEP]."""

SEGMENTS = {
    "as trained": "as written",
    "all 0": "all segment ids 0",
    "exchanged": "segment ids exchanged",
}
"""Ways to assign segment ids, and the name of the corresponding variant of `pair_variants`."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One variant of a pair, and the answer."""

    name: str
    """Name of the change, in a few words."""
    text_a: str
    text_b: str
    is_next: float
    """Probability that B follows A."""


CHANGES = ("as written", "order swapped", "B repeats A", "B of another pair")
"""What is asked of each pair by `pair_rates`."""
_PAIRS_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class PairRate:
    """How often B follows A over many pairs, by the probability of each."""

    change: str
    """One of CHANGES."""
    num_pairs: int
    follows: float
    """Share of the pairs in which the probability that B follows A is above one half."""
    low: float
    """95% interval of `follows` (Wilson)."""
    high: float
    mean: float
    """Mean probability that B follows A."""


@dataclass(frozen=True, slots=True)
class AttentionMass:
    """How the attention of A, of B and of the special tokens is divided among the three groups."""

    mass: NDArray[np.float32]
    """[L, H, 3, 3]: mean over the tokens of the row's group of their attention to all tokens of
    the column's group, in the order of GROUPS. Each row sums to 1."""
    fraction: NDArray[np.float32]
    """Fraction of the input's tokens in each group, [3]: the mass if attention were uniform."""

    @property
    def is_causal(self) -> bool:
        """Whether no token of A attends to B, which is read after it."""
        return not self.between("A", "B").any()

    @property
    def across(self) -> NDArray[np.float32]:
        """The mass from A to B and from B to A, [2, L, H]."""
        return np.stack([self.between("A", "B"), self.between("B", "A")])

    @property
    def uniform(self) -> tuple[float, float]:
        """The same if attention were uniform, [2]."""
        return float(self.fraction[1]), float(self.fraction[0])

    def between(self, source: str, target: str) -> NDArray[np.float32]:
        """Return the mass from one group to another, [L, H]."""
        return self.mass[:, :, GROUPS.index(source), GROUPS.index(target)]


def score_pairs(bert: Model, pairs: Sequence[tuple[str, str]]) -> list[float]:
    """Return the probability that B follows A in each of many pairs, run in batches."""
    encodings = (bert.tokenize(a, b) for a, b in pairs)
    return _score_rows(bert, [Row(e.input_ids, e.segment_ids) for e in encodings])


def pair_rates(
    bert: Model,
    pairs: Sequence[tuple[str, str]],
    *,
    on_fraction: Callable[[float], None] = lambda done: None,
) -> tuple[PairRate, ...]:
    """Return how often B follows A over pairs, as written and after each change of CHANGES.

    The other B is that of the pair half the list away: random texts, if the pairs are. A single
    pair has no other. The intervals take the pairs as independent.

    ValueError if there is no pair, or the checkpoint has no next-sentence head.
    """
    if not pairs:
        raise ValueError("there is no pair of sentences. Give at least one.")
    bert.require("nsp")
    half = len(pairs) // 2
    asked = [
        list(pairs),
        [(b, a) for a, b in pairs],
        [(a, a) for a, _ in pairs],
        [(a, pairs[(place + half) % len(pairs)][1]) for place, (a, _) in enumerate(pairs)],
    ]
    rates = []
    done, total = 0, len(CHANGES) * len(pairs)
    for change, changed in zip(CHANGES, asked, strict=True):
        if change == CHANGES[-1] and not half:
            continue
        found: list[float] = []
        for start in range(0, len(changed), _PAIRS_AT_ONCE):
            part = changed[start : start + _PAIRS_AT_ONCE]
            found += score_pairs(bert, part)
            done += len(part)
            on_fraction(done / total)
        num_next = sum(p > 0.5 for p in found)
        low, high = share_interval(num_next, len(found))
        mean = sum(found) / len(found)
        rates.append(PairRate(change, len(found), num_next / len(found), low, high, mean))
    return tuple(rates)


def pair_variants(
    bert: Model, trace: Trace, replacements: tuple[str, ...] = ()
) -> tuple[Variant, ...]:
    """Return the unchanged pair, then several changed versions, each with its probability.

    The changes: order swapped; all segment ids 0; segment ids exchanged (A gets 1, B gets 0); the
    [SEP] between A and B left out; and B replaced by each of `replacements`. A checkpoint with
    fewer than two segments has no changes of segment ids. Words that are hidden in the trace are
    hidden in all versions. ValueError if the checkpoint has no next-sentence head, or there is no
    text B.
    """
    text_a, text_b = _pair(trace)
    written = pair_answer(bert, trace).is_next
    encoding, swapped = encoding_of(bert, trace), bert.tokenize(text_b, text_a)
    ids, segments = encoding.input_ids, encoding.segment_ids
    inputs: list[tuple[str, str, str, Row]] = [
        ("order swapped", text_b, text_a, _with_words(swapped, trace, (1, 0)))
    ]
    if bert.config.type_vocab_size > 1:
        inputs += [
            ("all segment ids 0", text_a, text_b, Row(ids, [0] * len(ids))),
            ("segment ids exchanged", text_a, text_b, Row(ids, [1 - s for s in segments])),
        ]
    inputs.append(("no [SEP] between", text_a, text_b, _without_separator(encoding)))
    for text in replacements:
        other = _with_words(bert.tokenize(text_a, text), trace, (0,))
        inputs.append(("another B", text_a, text, other))
    scores = _score_rows(bert, [row for *_, row in inputs])
    names = ((name, a, b) for name, a, b, _ in inputs)
    changed = (Variant(*named, score) for named, score in zip(names, scores, strict=True))
    return (Variant("as written", text_a, text_b, written), *changed)


@torch.inference_mode()
def pair_answer(bert: Model, trace: Trace, segments: str = "as trained") -> NextSentence:
    """Return the answer for a pair whose segment ids are assigned in a way of SEGMENTS.

    ValueError if the checkpoint has no next-sentence head, or there is no text B.
    """
    _pair(trace)
    bert.require("nsp")
    logits = bert.module.nsp_logits(_last(bert, _assigned(bert, trace, segments)))
    return NextSentence(*logits[0].float().softmax(-1).tolist())


@torch.inference_mode()
def pair_order(bert: Model, trace: Trace) -> SentenceOrder:
    """Return the probability that text A comes before text B, by ALBERT's head.

    ValueError if the checkpoint has no sentence-order head, or there is no text B.
    """
    _pair(trace)
    bert.require("sop")
    logits = bert.module.sop_logits(_last(bert, trace))
    return SentenceOrder(*logits[0].float().softmax(-1).tolist())


def pair_attention(bert: Model, trace: Trace, segments: str = "as trained") -> AttentionMass:
    """Return `attention_mass` of a pair whose segment ids are assigned in a way of SEGMENTS.

    ValueError if text A or text B has no token.
    """
    return attention_mass(_assigned(bert, trace, segments))


def _pair(trace: Trace) -> tuple[str, str]:
    if trace.text_b is None:
        raise ValueError("there is no text B. Give two texts.")
    return trace.text_a, trace.text_b


def _last(bert: Model, trace: Trace) -> Tensor:
    return trace.hidden_states[-1][None].to(bert.device, bert.dtype)


def _assigned(bert: Model, trace: Trace, way: str) -> Trace:
    """Return the run of the same tokens with segment ids that are assigned in a way of SEGMENTS."""
    assigned = {"as trained": lambda s: s, "all 0": lambda s: 0, "exchanged": lambda s: 1 - s}
    ids = [*map(assigned[way], trace.segment_ids)]
    if ids == trace.segment_ids:
        return trace
    encoding = encoding_of(bert, trace)
    return bert.trace(trace.text_a, trace.text_b, segment_ids=ids, encoding=encoding)


def _with_words(encoding: Encoding, trace: Trace, texts: Sequence[int]) -> Row:
    """Return an input whose texts have the tokens of a trace, hidden ones too.

    `texts` says which text of the trace is A, and B, of the input.
    """
    ids = list(encoding.input_ids)
    for own, of_trace in enumerate(texts):
        places = (place for place, text in enumerate(encoding.text_ids) if text == own)
        pieces = zip(trace.input_ids, trace.text_ids, strict=True)
        same = (piece for piece, text in pieces if text == of_trace)
        for place, piece in zip(places, same, strict=False):  # one of both may be truncated
            ids[place] = piece
    return Row(ids, list(encoding.segment_ids))


def next_sentence_matrix(bert: Model, sentences: Sequence[str]) -> SentenceMatrix:
    """Return the probability that sentence j follows sentence i for all ordered pairs.

    The diagonal is NaN: a sentence does not follow itself. N * (N - 1) inputs, run in batches.
    ValueError if there are fewer than two sentences, one is blank, or the checkpoint has no
    next-sentence head.
    """
    if len(sentences) < 2:
        raise ValueError(
            f"{len(sentences)} sentence{'' if len(sentences) == 1 else 's'} given; a matrix needs "
            "at least two. Write one sentence per line."
        )
    blank = [i for i, sentence in enumerate(sentences) if not sentence.strip()]
    if blank:
        raise ValueError(f"sentence {blank[0] + 1} is blank. Write one sentence per line.")
    where = [(i, j) for i in range(len(sentences)) for j in range(len(sentences)) if i != j]
    scores = score_pairs(bert, [(sentences[i], sentences[j]) for i, j in where])
    matrix = np.full((len(sentences), len(sentences)), np.nan, dtype=np.float32)
    for (i, j), score in zip(where, scores, strict=True):
        matrix[i, j] = score
    return SentenceMatrix(tuple(sentences), matrix)


def attention_mass(trace: Trace) -> AttentionMass:
    """Return how much attention flows within and between A, B and the special tokens.

    ValueError if text A or text B has no token.
    """
    kinds = np.array([text if text >= 0 else 2 for text in trace.text_ids])
    member = np.stack([kinds == group for group in range(3)])  # [3, T]
    counts = member.sum(-1)
    for group in (0, 1):
        if counts[group] == 0:
            raise ValueError(
                f"text {GROUPS[group]} has no tokens, so no attention flows between the two "
                "texts. Write both sentences."
            )
    belongs = torch.from_numpy(member.astype(np.float32))
    # [L, H, T, T] -> sum over the columns of a group -> mean over the rows of a group
    to_group = trace.attentions.float() @ belongs.T  # [L, H, T, 3]
    mass = (belongs / torch.from_numpy(counts).float()[:, None]) @ to_group  # [L, H, 3, 3]
    return AttentionMass(mass=mass.numpy(), fraction=(counts / len(kinds)).astype(np.float32))


def _without_separator(encoding: Encoding) -> Row:
    """Return the input without the [SEP] after A; a [SEP] typed in the text stays."""
    first_added = encoding.special_tokens_mask.index(True, 1)
    kept = [i for i in range(len(encoding)) if i != first_added]
    return Row([encoding.input_ids[i] for i in kept], [encoding.segment_ids[i] for i in kept])


@torch.inference_mode()
def _score_rows(bert: Model, rows: Sequence[Row]) -> list[float]:
    is_next = [0.0] * len(rows)
    for chosen, ids, segments, mask in padded_batches(bert, rows):
        logits = bert.module.nsp_logits(bert.module.word_states(ids, segments, mask))
        for row, probability in zip(chosen, logits.float().softmax(-1)[:, 0].tolist(), strict=True):
            is_next[row] = probability
    return is_next
