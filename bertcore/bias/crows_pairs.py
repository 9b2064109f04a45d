"""CrowS-Pairs: does a model prefer the stereotyping sentence, scored with and without masks?"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.analysis.shared.inputs import text_positions
from bertcore.bias.shares import Share, preferred, shares
from bertcore.data.files import BadRows
from bertcore.data.tables import read_records
from bertcore.grammar import TokenCounts, pseudo_log_likelihoods
from bertcore.likelihood import token_log_probabilities
from bertcore.model import Model
from bertcore.tokenizer import Encoding

_TOKENS_PER_BATCH = 8192
_WEIGHTS_PER_BATCH = 2**26
"""Attention weights of all layers and heads of a batch: 256 MB, if an architecture returns all at
once."""

Progress = Callable[[float], None]


def shared_positions(first: Encoding, second: Encoding) -> tuple[list[int], list[int]]:
    """Return the places of the tokens that two texts share, in order, without [CLS] and [SEP].

    The shared tokens are the matching blocks of `difflib.SequenceMatcher` on the token ids.

    Source: Nangia et al. 2020, section 3, where they are called unmodified.
    """
    places = text_positions(first), text_positions(second)
    ids = [
        [encoding.input_ids[i] for i in where]
        for encoding, where in zip((first, second), places, strict=True)
    ]
    blocks = SequenceMatcher(a=ids[0], b=ids[1], autojunk=False).get_matching_blocks()
    return (
        [places[0][block.a + i] for block in blocks for i in range(block.size)],
        [places[1][block.b + i] for block in blocks for i in range(block.size)],
    )


def unmasked_likelihoods(
    bert: Model, encodings: Sequence[Encoding], *, progress: Progress | None = None
) -> NDArray[np.float64]:
    """Return the mean log-probability of each text's tokens, with nothing hidden, in nats, [2, N].

    Row 0, AUL: all tokens count alike. Row 1, AULA: the log-probability of a token is multiplied by
    the attention it receives, averaged over layers, heads and query tokens, including [CLS] and
    [SEP]. [CLS] and [SEP] themselves are not scored. A text without a token scores NaN.

    Args:
        bert: With a masked-word head.
        encodings: From `bert.tokenize`, [N].

    ValueError if there is no masked-word head.

    Source: Kaneko and Bollegala 2022, "Unmasking the Mask", equations 2 and 3.
    """
    bert.require("mlm")
    scores = np.full((2, len(encodings)), np.nan)
    done = 0
    for chosen in _batches(bert, encodings):
        scores[:, chosen] = _unmasked(bert, [encodings[i] for i in chosen])
        done += len(chosen)
        if progress is not None:
            progress(done / len(encodings))
    return scores


def _batches(bert: Model, encodings: Sequence[Encoding]) -> Iterator[list[int]]:
    """Yield the numbers of texts of similar length, the longest first."""
    heads = bert.config.num_hidden_layers * bert.config.num_attention_heads
    order = sorted(range(len(encodings)), key=lambda i: -len(encodings[i]))
    while order:
        longest = len(encodings[order[0]])
        most = min(_TOKENS_PER_BATCH // longest, _WEIGHTS_PER_BATCH // (heads * longest**2))
        count = max(1, most)
        yield order[:count]
        order = order[count:]


@torch.inference_mode()
def _unmasked(bert: Model, encodings: Sequence[Encoding]) -> NDArray[np.float64]:
    """Return AUL and AULA of some texts, [2, B]."""
    ids, segments, attention_mask, scored = _padded(bert, encodings)
    hidden, attention = bert.module.word_states_and_attention(ids, segments, attention_mask)
    rows, places = scored.nonzero(as_tuple=True)
    log_p = token_log_probabilities(bert, hidden[rows, places], ids[rows, places])
    lengths = attention_mask.sum(1, keepdim=True)
    received = (attention * attention_mask[..., None]).sum(
        1
    ) / lengths  # mean over query tokens, [B, T]
    table = torch.zeros(2, *ids.shape, dtype=torch.float64, device=ids.device)
    table[0, rows, places] = log_p
    table[1, rows, places] = log_p * received[rows, places].double()
    means: Tensor = table.sum(-1) / scored.sum(1)
    return means.cpu().numpy()


def _padded(bert: Model, encodings: Sequence[Encoding]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return ids, segment ids, tokens and scored tokens of a padded batch, each [B, T]."""
    shape = len(encodings), max(map(len, encodings))
    ids = torch.full(shape, bert.tokenizer.pad_id)
    segments = torch.zeros(shape, dtype=torch.long)
    attention_mask, scored = (
        torch.zeros(shape, dtype=torch.bool),
        torch.zeros(shape, dtype=torch.bool),
    )
    for row, encoding in enumerate(encodings):
        length = len(encoding)
        ids[row, :length] = torch.tensor(encoding.input_ids)
        segments[row, :length] = torch.tensor(encoding.segment_ids)
        attention_mask[row, :length] = True
        scored[row, text_positions(encoding)] = True
    return tuple(tensor.to(bert.device) for tensor in (ids, segments, attention_mask, scored))  # type: ignore[return-value]


Measure = Literal["pll", "aul", "aula", "frequency"]
MEASURES: tuple[Measure, ...] = ("pll", "aul", "aula", "frequency")
"""pll: pseudo-log-likelihood of the tokens that both sentences share; aul, aula: all tokens,
nothing hidden; frequency: word frequency, without a model."""
MORE, LESS, KIND = "sent_more", "sent_less", "bias_type"


@dataclass(frozen=True, slots=True)
class StereotypePair:
    """Two sentences that differ in the group they are about."""

    more: str
    """The more stereotyping sentence."""
    less: str
    kind: str
    """Such as "gender" or "age"."""
    row: int
    """Number of its row in the file, from 1."""


@dataclass(frozen=True, slots=True)
class StereotypeScore:
    """Both scores of a pair by each measure; NaN where a measure has none."""

    pair: StereotypePair
    more: dict[Measure, float]
    """Score of the more stereotyping sentence: nats, a sum (pll, frequency) or a mean per token."""
    less: dict[Measure, float]


def read_crows_pairs(path: Path, *, bad_rows: BadRows | None = None) -> tuple[StereotypePair, ...]:
    """Read a table with the columns sent_more, sent_less and, optionally, bias_type.

    Args:
        path: The file published by nyu-mll/crows-pairs (CSV), or a .tsv or .jsonl with these
            columns.
        bad_rows: Collects rows that cannot be used; None rejects them.

    ValueError if a column is missing or no row can be used.
    """
    return read_records(
        path,
        StereotypePair,
        {"more": MORE, "less": LESS, "kind": KIND},
        expected=f"CrowS-Pairs has the more stereotyping sentence in {MORE!r} and the less "
        f"stereotyping one in {LESS!r}.",
        defaults={"kind": "no kind"},
        bad_rows=bad_rows,
    )


def score_crows_pairs(
    bert: Model,
    pairs: Sequence[StereotypePair],
    *,
    counts: TokenCounts | None = None,
    progress: Progress | None = None,
) -> list[StereotypeScore]:
    """Return the scores of each pair by every measure.

    Pairs that share no token have no pll; without counts there is no frequency: NaN.

    Args:
        bert: A checkpoint with a masked-word head.
        pairs: [N].
        counts: Word counts of the training text.

    ValueError if there is no masked-word head.

    Sources: Nangia et al. 2020 (pll); Kaneko and Bollegala 2022 (aul, aula).
    """
    bert.require("mlm")
    encodings = [bert.tokenize(text) for pair in pairs for text in (pair.more, pair.less)]
    positions = [
        chosen
        for first, second in zip(encodings[::2], encodings[1::2], strict=True)
        for chosen in shared_positions(first, second)
    ]

    def part(start: float, size: float) -> Progress:
        def report(fraction: float) -> None:
            if progress is not None:
                progress(start + size * fraction)

        return report

    table = {measure: np.full(len(encodings), np.nan) for measure in MEASURES}
    has_shared = np.array([bool(chosen) for chosen in positions], dtype=bool)
    pll = pseudo_log_likelihoods(
        bert, encodings, scoring="single", positions=positions, progress=part(0.0, 0.8)
    )
    table["pll"] = np.where(has_shared, pll, np.nan)
    table["aul"], table["aula"] = unmasked_likelihoods(bert, encodings, progress=part(0.8, 0.2))
    if counts is not None:
        table["frequency"] = np.array([counts.log_likelihood(encoding) for encoding in encodings])
    return [
        StereotypeScore(
            pair,
            {measure: float(values[2 * i]) for measure, values in table.items()},
            {measure: float(values[2 * i + 1]) for measure, values in table.items()},
        )
        for i, pair in enumerate(pairs)
    ]


def stereotype_shares(scores: Sequence[StereotypeScore], measure: Measure) -> list[Share]:
    """Return the share of pairs whose stereotyping sentence scores higher: overall, then by kind.

    ValueError if no pair has a score by the measure.
    """
    wins = preferred(
        [score.more[measure] for score in scores], [score.less[measure] for score in scores]
    )
    return shares(wins, [score.pair.kind for score in scores])
