"""The table of pretraining objectives: name, paper, draw, formula, shares.

Source of the figures: the papers named in each entry; common errors about them are in
`papers.toml`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np

from bertcore.objectives import draw
from bertcore.objectives.attention_masks import DIRECTIONS, PREDICTED
from bertcore.objectives.denoising import FRAGMENT, INFILLED, MEAN_SPAN, POISSON
from bertcore.objectives.draw import Draw, Given
from bertcore.objectives.masked_words import LONGEST_SPAN, SPAN_P, span_lengths
from bertcore.objectives.pairs import EXCHANGED, RANDOM
from bertcore.objectives.replacement import ACTIONS, SHARE
from bertcore.objectives.row import IGNORED
from bertcore.papers import Claim, read_papers

Count = Callable[[Given, Draw], tuple[float, float]]
"""Returns how many, and of how many, in one draw."""
Group = Literal["Hide pieces", "Judge a pair", "Find the fakes", "Limit who looks", "Rebuild"]


@dataclass(frozen=True, slots=True, eq=False)
class Rate:
    """A quantity counted over many draws: a share, or a mean length."""

    name: str
    count: Count
    paper: float | None
    """The paper's; None where it gives none, which only a share that is chosen may be."""
    unit: str = ""
    """Of a mean length; "" for a share."""
    follows_share: bool = False
    """Whether it is the share that is chosen."""
    note: str = ""
    """Why it is drawn differently from the paper; "" if it is not."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Objective:
    """One pretraining objective."""

    name: str
    title: str
    model: str
    """The models trained with it."""
    paper: str
    group: Group
    draw: Callable[[Given, np.random.Generator, float], Draw]
    idea: str
    """What the network must do, in one sentence."""
    loss_at: str
    """Which places carry loss."""
    formula: str
    """The loss, in LaTeX."""
    symbols: str
    """What its letters are, in Markdown with LaTeX."""
    share: float | None = None
    """The paper's share of hidden tokens, or ours where it gives none; None: none to choose."""
    rates: tuple[Rate, ...] = ()
    """(): nothing is drawn, or the paper gives no share."""
    needs_mask: bool = True
    """Whether it needs a mask token."""
    needs_pair: bool = False

    @property
    def year(self) -> int:
        return int(self.paper[-4:])

    @property
    def wrong(self) -> tuple[Claim, ...]:
        """Common claims about it, and what is true, from `papers.toml`."""
        return read_papers().claims_about(self.name)


# ---- what is counted ----


def _chosen_of_row(given: Given, drawn: Draw) -> tuple[float, float]:
    return float((drawn.corrupted.labels != IGNORED).sum()), float(len(given.row))


def _chosen_of_text(given: Given, drawn: Draw) -> tuple[float, float]:
    chosen = float((drawn.corrupted.labels != IGNORED).sum())
    return chosen, float(len(given.row.text_places))


def _hidden_of_text(given: Given, drawn: Draw) -> tuple[float, float]:
    hidden = sum(end - start for start, end in drawn.corrupted.spans)
    return float(hidden), float(len(given.row.text_places))


def _became(fate: str) -> Count:
    """Count the chosen pieces, or the spans replaced as one, with a fate."""

    def count(given: Given, drawn: Draw) -> tuple[float, float]:
        became = drawn.corrupted.became
        return float(became.count(fate)), float(len(became))

    return count


def _cut_words(given: Given, drawn: Draw) -> tuple[float, float]:
    """Count the words with every piece hidden, among those with any."""
    hidden = drawn.corrupted.labels != IGNORED
    touched = [hidden[start:end] for start, end in given.row.words() if hidden[start:end].any()]
    return float(sum(bool(one.all()) for one in touched)), float(len(touched))


def _words_of_spans(given: Given, drawn: Draw) -> tuple[float, float]:
    starts = given.row.starts_word
    spans = drawn.corrupted.spans
    return float(sum(max(1, int(starts[a:b].sum())) for a, b in spans)), float(len(spans))


def _pieces_of_spans(given: Given, drawn: Draw) -> tuple[float, float]:
    spans = drawn.corrupted.spans
    return float(sum(end - start for start, end in spans)), float(len(spans))


def _label(given: Given, drawn: Draw) -> tuple[float, float]:
    assert drawn.judged is not None
    return float(drawn.judged.label), 1.0


def _hidden_from_generator(given: Given, drawn: Draw) -> tuple[float, float]:
    return float(sum(bool(fate) for fate in drawn.fates)), float(len(given.row))


def _direction(name: str) -> Count:
    def count(given: Given, drawn: Draw) -> tuple[float, float]:
        return float(drawn.direction == name), 1.0

    return count


def _removed_words(given: Given, drawn: Draw) -> tuple[float, float]:
    starts = given.row.starts_word & ~given.row.is_special
    removed = sum(int(starts[a:b].sum()) for a, b in drawn.corrupted.spans)
    return float(removed), float(len(given.row.words()))


def _words_of_mask(given: Given, drawn: Draw) -> tuple[float, float]:
    removed, _ = _removed_words(given, drawn)
    return removed, float(drawn.fates.count("mask"))


def _chosen(share: float = SHARE, count: Count = _chosen_of_row) -> Rate:
    return Rate("chosen, of all tokens", count, share, follows_share=True)


def _actions(of: str) -> tuple[Rate, ...]:
    names = ("[MASK]", "kept", "random")
    fates = ("mask", "kept", "random")
    return tuple(
        Rate(f"{name}, of {of}", _became(fate), share)
        for name, fate, share in zip(names, fates, ACTIONS, strict=True)
    )


_WORD_LOSS = r"L = -\frac{1}{|M|}\sum_{i \in M} \ln p(x_i \mid \tilde x)"
_WORD_SYMBOLS = "$M$: the chosen places; $x$: the text; $\\tilde x$: what the network reads."
_REBUILD_LOSS = r"L = -\frac{1}{T}\sum_{t=1}^{T} \ln p(x_t \mid x_{<t}, \tilde x)"
_REBUILD_SYMBOLS = (
    "$x$: the whole text, $T$ tokens; $\\tilde x$: the noisy one, which the encoder reads."
)
_SPAN_MEAN = float((span_lengths(SPAN_P, LONGEST_SPAN) * np.arange(1, LONGEST_SPAN + 1)).sum())


def _bart(
    name: str,
    title: str,
    drawer: Callable[[Given, np.random.Generator, float], Draw],
    idea: str,
    *,
    share: float | None = None,
    rates: tuple[Rate, ...] = (),
    needs_mask: bool = False,
) -> Objective:
    return Objective(
        name=name,
        title=title,
        model="BART",
        paper="Lewis et al. 2020",
        group="Rebuild",
        draw=drawer,
        idea=idea,
        loss_at="every token that the decoder writes: the whole text",
        formula=_REBUILD_LOSS,
        symbols=_REBUILD_SYMBOLS,
        share=share,
        rates=rates,
        needs_mask=needs_mask,
    )


_ALL = (
    Objective(
        name="masked-words",
        title="Masked words",
        model="BERT, RoBERTa",
        paper="Devlin et al. 2019",
        group="Hide pieces",
        draw=draw.mask_pieces,
        idea="Predict hidden pieces from those on both sides.",
        loss_at="the chosen places, also the kept and the random ones",
        formula=_WORD_LOSS,
        symbols=_WORD_SYMBOLS,
        share=SHARE,
        rates=(_chosen(), *_actions("the chosen")),
    ),
    Objective(
        name="whole-words",
        title="Whole words",
        model="BERT-WWM",
        paper="google-research/bert 2019",
        group="Hide pieces",
        draw=draw.mask_whole_words,
        idea="Predict hidden words, with no piece given away.",
        loss_at="each piece of the chosen words",
        formula=_WORD_LOSS,
        symbols=_WORD_SYMBOLS,
        share=SHARE,
        rates=(
            _chosen(),
            Rate("hidden whole, of the touched words", _cut_words, 1.0),
            *_actions("the chosen"),
        ),
    ),
    Objective(
        name="spans",
        title="Spans and their ends",
        model="SpanBERT",
        paper="Joshi et al. 2020",
        group="Hide pieces",
        draw=draw.mask_spans,
        idea="Predict a hidden span, also from only the two tokens beside it.",
        loss_at="each piece of the spans, twice: as BERT, and from both ends",
        formula=_WORD_LOSS
        + r" -\frac{1}{|S|}\sum_{i \in S} \ln p(x_i \mid h_{s-1}, h_{e+1}, p_{i-s+1})",
        symbols="$M$: the hidden places; $S$: those of spans, $s$ to $e$, with a token on both "
        "sides; "
        "$h$: last states; $p$: a learned vector of the place in the span.",
        share=SHARE,
        rates=(
            Rate("hidden, of the text", _hidden_of_text, SHARE, follows_share=True),
            Rate("words of a span", _words_of_spans, _SPAN_MEAN, "words"),
            *_actions("the spans"),
        ),
    ),
    Objective(
        name="next-sentence",
        title="Next sentence",
        model="BERT",
        paper="Devlin et al. 2019",
        group="Judge a pair",
        draw=draw.next_sentence,
        idea="Predict whether B follows A or is from another document.",
        loss_at="the first token alone, through the pooler",
        formula=r"L = -\ln p(y \mid h_1)",
        symbols="$y$: 0 where B follows A, 1 where it is random; $h_1$: the pooled vector of "
        "the first "
        "token. It is added to the loss of the masked words.",
        rates=(Rate("random B", _label, RANDOM),),
        needs_mask=False,
        needs_pair=True,
    ),
    Objective(
        name="sentence-order",
        title="Sentence order",
        model="ALBERT",
        paper="Lan et al. 2020",
        group="Judge a pair",
        draw=draw.sentence_order,
        idea="Predict whether two neighbours were exchanged.",
        loss_at="the first token alone, through the pooler",
        formula=r"L = -\ln p(y \mid h_1)",
        symbols="$y$: 0 in order, 1 exchanged; $h_1$: the pooled vector of the first token. It "
        "is added "
        "to the loss of the masked words.",
        rates=(Rate("exchanged", _label, EXCHANGED),),
        needs_mask=False,
        needs_pair=True,
    ),
    Objective(
        name="replaced-tokens",
        title="Replaced tokens",
        model="ELECTRA, DeBERTa-v3",
        paper="Clark et al. 2020",
        group="Find the fakes",
        draw=draw.replaced,
        idea="Detect which tokens a small generator made up.",
        loss_at="every token; the generator's at the hidden ones",
        formula=r"L = L_G + 50\, L_D,\qquad "
        r"L_D = -\frac{1}{T}\sum_{t=1}^{T} \ln p(y_t \mid \hat x)",
        symbols="$L_G$: the generator's loss of masked words; $\\hat x$: the text with its "
        "guesses; $y$: 1 "
        "where a guess differs from the text.",
        share=SHARE,
        rates=(
            Rate(
                "hidden from the generator",
                _hidden_from_generator,
                SHARE,
                follows_share=True,
            ),
        ),
    ),
    Objective(
        name="permutation",
        title="Permuted order",
        model="XLNet",
        paper="Yang et al. 2019",
        group="Limit who looks",
        draw=draw.permutation,
        idea="Predict the end of a random order from what comes before it.",
        loss_at="the last sixth of the order",
        formula=r"L = -\frac{1}{|Z|}\sum_{t \in Z} \ln p(x_{z_t} \mid x_{z_{<t}})",
        symbols="$z$: the order; $Z$: its last sixth. The query stream predicts: it knows the "
        "place "
        "and not the token.",
        share=PREDICTED,
        rates=(Rate("predicted, of the text", _chosen_of_text, PREDICTED, follows_share=True),),
        needs_mask=False,
    ),
    Objective(
        name="unilm",
        title="A mixture of masks",
        model="UniLM",
        paper="Dong et al. 2019",
        group="Limit who looks",
        draw=draw.unilm,
        idea="Predict hidden pieces from one side, the other, or both.",
        loss_at="the chosen places",
        formula=r"L = -\frac{1}{|M|}\sum_{i \in M} \ln p(x_i \mid \tilde x_j,\ A_{ij} = 1)",
        symbols="$M$: the chosen places; $A$: which tokens may attend to which; $\\tilde x$: what "
        "the network reads.",
        share=SHARE,
        rates=(
            *(Rate(name, _direction(name), share) for name, share in DIRECTIONS.items()),
            _chosen(),
        ),
        needs_pair=True,
    ),
    Objective(
        name="causal",
        title="Next token",
        model="GPT",
        paper="Radford et al. 2018",
        group="Limit who looks",
        draw=draw.causal,
        idea="Predict each token from those before it.",
        loss_at="every token but the last: each predicts the next",
        formula=r"L = -\frac{1}{T-1}\sum_{t=2}^{T} \ln p(x_t \mid x_{<t})",
        symbols="$x$: the text, $T$ tokens.",
        needs_mask=False,
    ),
    Objective(
        name="t5-spans",
        title="Spans and sentinels",
        model="T5",
        paper="Raffel et al. 2020",
        group="Rebuild",
        draw=draw.t5_spans,
        idea="Write what each sentinel stands for.",
        loss_at="every token that the decoder writes: the removed spans",
        formula=r"L = -\frac{1}{T_d}\sum_{t=1}^{T_d} \ln p(y_t \mid y_{<t}, \tilde x)",
        symbols="$y$: sentinels, each with its span, $T_d$ tokens; $\\tilde x$: the text with "
        "sentinels.",
        share=SHARE,
        rates=(
            Rate("removed, of the text", _hidden_of_text, SHARE, follows_share=True),
            Rate("pieces of a span", _pieces_of_spans, MEAN_SPAN, "pieces"),
        ),
        needs_mask=False,
    ),
    _bart(
        "bart-infilling",
        "Text infilling",
        draw.bart_infilling,
        "Write the text again; a mask stands for any number of words.",
        share=INFILLED,
        rates=(
            Rate("removed, of the words", _removed_words, INFILLED, follows_share=True),
            Rate(
                "words behind a mask",
                _words_of_mask,
                3.0,
                "words",
                note=f"drawn with {POISSON}, the released configuration",
            ),
        ),
        needs_mask=True,
    ),
    _bart(
        "bart-sentences",
        "Sentence permutation",
        draw.bart_sentences,
        "Write the text again, its sentences in order.",
    ),
    _bart(
        "bart-masking",
        "Token masking",
        draw.bart_masking,
        "Write the text again; each mask stands for one token.",
        share=INFILLED,
        rates=(Rate("hidden, of the text", _hidden_of_text, None, follows_share=True),),
        needs_mask=True,
    ),
    _bart(
        "bart-deletion",
        "Token deletion",
        draw.bart_deletion,
        "Write the text again; find out where tokens are missing.",
        share=INFILLED,
        rates=(Rate("deleted, of the text", _hidden_of_text, None, follows_share=True),),
    ),
    _bart(
        "bart-rotation",
        "Document rotation",
        draw.bart_rotation,
        "Write the text again, from where it began.",
    ),
    Objective(
        name="mass",
        title="A hidden half",
        model="MASS",
        paper="Song et al. 2019",
        group="Rebuild",
        draw=draw.mass,
        idea="Write the half that the encoder does not see.",
        loss_at="every token that the decoder writes: the fragment",
        formula=r"L = -\frac{1}{k}\sum_{t=u}^{v} \ln p(x_t \mid x_{u \ldots t-1}, \tilde x)",
        symbols="$u$ to $v$: the fragment, $k$ tokens; $\\tilde x$: the text without it.",
        share=FRAGMENT,
        rates=(Rate("hidden, of the text", _hidden_of_text, FRAGMENT, follows_share=True),),
    ),
)
OBJECTIVES: Mapping[str, Objective] = MappingProxyType({one.name: one for one in _ALL})
"""By name, in the order of a lesson."""
