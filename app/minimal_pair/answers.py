"""The aligned tokens of both versions, how probable they are, and what BERT answers to each."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from bertcore import Model
from bertcore.analysis.compare.before_after import WordShift
from bertcore.grammar import reads_from_left, token_log_likelihoods
from bertcore.grammar.exam import TIE

from ..plots import Figure, Shades, exactly, numbered, theme
from ..plots.before_after import next_bars, next_table, word_bars, word_table
from ..shell import Compute, Picture, cache, capabilities, frame
from .compared import (
    COMPARE_CODE,
    RUNS,
    ComparedRuns,
    column_axis,
    drawn_columns,
    gap,
    label_room,
    note_left_out,
    token_rows,
)

AT_ONCE = 64
"""Most tokens of a version that is scored within the page's run; a longer one is queued."""

MOST_NUMBERED = 12  # most columns at which the cells have room for their numbers
SURPRISED = 8.0  # nats at the dark end of the scale: one in 3,000

HIDDEN = (
    "each token is hidden in turn, with the pieces after it in its word, and predicted from all "
    "the others"
)
FROM_LEFT = "each token is predicted from those before it"
LEFT_CODE = """from bertcore.grammar import log_likelihoods

log_likelihoods(bert, texts)                # the sums, nats
"""
HIDDEN_CODE = """from bertcore.grammar import pseudo_log_likelihoods

pseudo_log_likelihoods(bert, texts)         # the sums, nats
for text in texts:
    places = [i for i, added in enumerate(text.special_tokens_mask) if not added]
    print(pseudo_log_likelihoods(bert, [text] * len(places), positions=[[i] for i in places]))
"""


class Likelihoods(NamedTuple):
    """The log-probability of each token of two versions."""

    compared: ComparedRuns
    first: NDArray[np.float64]
    """Nats, [T]; NaN for added tokens."""
    second: NDArray[np.float64]

    @property
    def sums(self) -> tuple[float, float]:
        """The scores of the versions, nats."""
        return float(np.nansum(self.first)), float(np.nansum(self.second))

    @property
    def aligned(self) -> NDArray[np.float64]:
        """Both by column, [2, N]; NaN where a version has no such token, or an added one."""
        firsts, seconds = zip(*self.compared.pair.columns, strict=True)
        rows = [
            [np.nan if at is None else scores[at] for at in places]
            for scores, places in ((self.first, firsts), (self.second, seconds))
        ]
        return np.array(rows)

    @property
    def differences(self) -> NDArray[np.float64]:
        """First minus second, [N]."""
        first, second = self.aligned
        differences: NDArray[np.float64] = first - second
        return differences


def _rows(both: Likelihoods, drawn: list[int], *, is_dark: bool) -> Figure:
    """Draw a row for each version and one for their difference, a column for each aligned token.

    Args:
        both: The scores.
        drawn: Columns to draw; those of added tokens are left out.
    """
    aligned, differences = both.aligned, both.differences
    columns = [column for column in drawn if not np.isnan(aligned[:, column]).all()]
    names = both.compared.names(drawn)
    names = [names[drawn.index(column)] for column in columns]
    changed = both.compared.changed(columns)
    labels = np.array([theme.escape(name) for name in names], dtype=object)
    scores, ahead = np.full((2, 3, len(columns)), np.nan)
    scores[:2], ahead[2] = aligned[:, columns], differences[columns]
    largest = max(1.0, float(np.nanmax(np.abs(ahead[2]), initial=0.0)))
    maps = (
        (scores, Shades(theme.SEQUENTIAL, -SURPRISED, 0.0)),
        (ahead, theme.around_zero(largest, is_dark)),
    )
    fig = Figure()
    for values, shades in maps:
        text = [["" if np.isnan(v) else exactly(v, 2) for v in row] for row in values]
        data = np.dstack([np.broadcast_to(labels, values.shape), np.array(text, object)])
        written = numbered(values, text, 11, shades) if len(columns) <= MOST_NUMBERED else {}
        hover = "<b>%{customdata[0]}</b>: %{customdata[1]} nats"
        fig.heat(values, shades, hover, gap=(gap(names), 3), customdata=data, **written)
    first, second = both.sums
    names_of_rows = (*RUNS, "first − second")
    theme.plot_layout(fig, "", "", "", 36 * 3 + label_room(names) + 44)
    fig.update_layout(margin={"l": 0, "r": 0, "t": 8, "b": 0})
    fig.update_xaxes(**column_axis(names, changed, 12))
    fig.update_yaxes(
        tickvals=[0, 1, 2],
        ticktext=[
            f"{name}  <b>{exactly(end, 2)}</b>"
            for name, end in zip(names_of_rows, (first, second, first - second), strict=True)
        ],
        range=[2.55, -0.55],
        tickfont={"size": 13},
        showgrid=False,
    )
    return fig


def _table(both: Likelihoods) -> pd.DataFrame:
    """Return a row for each aligned token."""
    first, second = both.aligned
    return both.compared.columns().assign(nats_first=first, nats_second=second)


LIKELIHOOD = Picture(
    name="minimal-pair-likelihood",
    figure=_rows,
    table=_table,
    how=(
        "The log-probability of each token, in nats: {scored}. Yellow is expected, dark "
        "surprising. A version's score is the sum; one with more tokens "
        "sums more terms. Below is the difference of aligned tokens: blue where the first version "
        "is ahead."
    ),
    code="""
second = bert.trace({texts})
texts = [bert.tokenize(one.text_a, one.text_b) for one in (trace, second)]
{score}""",
)


def can_score(page: frame.Page, compared: ComparedRuns) -> bool:
    """Return whether both versions are whole texts that the checkpoint gives a probability."""
    bert = page.bert
    if not (reads_from_left(bert) or {"mlm", "mask"} <= bert.capabilities):
        return False
    return bert.tokenizer.mask_id not in {*compared.first.input_ids, *compared.second.input_ids}


def show_likelihood(page: frame.Page, compared: ComparedRuns) -> None:
    """Draw the verdict, and the log-probability of each token in both versions."""
    with frame.guard():
        traces = (compared.first, compared.second)
        texts = tuple((trace.text_a, trace.text_b) for trace in traces)
        if max(trace.num_tokens for trace in traces) <= AT_ONCE:
            scores = cache.computed(_scored, page.bert_key, texts)
        else:
            compute = Compute(name="likelihood", stage="Hiding each token in turn")
            scores = compute(_scored, page.bert_key, texts)
        both = Likelihoods(compared, *scores)
        is_causal = reads_from_left(page.bert)
        st.header(_verdict(both, is_causal=is_causal), anchor=False)
        drawn = drawn_columns(compared.pair, np.abs(np.nan_to_num(both.differences)))
        LIKELIHOOD.show(
            page,
            both,
            drawn={"drawn": drawn, "is_dark": page.is_dark},
            scored=FROM_LEFT if is_causal else HIDDEN,
            score=LEFT_CODE if is_causal else HIDDEN_CODE,
            texts=compared.texts,
        )
        note_left_out(drawn, compared.pair)


def _verdict(both: Likelihoods, *, is_causal: bool) -> str:
    """Return which version has the higher sum, and by how much.

    The sum is a log-probability of the text if each token is predicted from those before it.
    """
    first, second = both.sums
    if abs(first - second) <= TIE:
        equal = "are equally probable" if is_causal else "score the same"
        return f"Both versions {equal}: {exactly(first, 2)} nats"
    name = RUNS[int(second > first)]
    ahead = exactly(abs(first - second), 2).removeprefix("+")
    return (
        f"The {name} version {'is more probable' if is_causal else 'scores higher'} by {ahead} "
        f"nats: {exactly(first, 2)} and "
        f"{exactly(second, 2)}"
    )


def _scored(
    bert: Model,
    texts: Sequence[tuple[str, str | None]],
    *,
    on_fraction: Callable[[float], None] = lambda fraction: None,
) -> list[NDArray[np.float64]]:
    """Return the scores of each version, as of `token_log_likelihoods`."""
    scores = []
    for number, text in enumerate(texts):

        def report(fraction: float, before: int = number) -> None:
            on_fraction((before + fraction) / len(texts))

        scores.append(token_log_likelihoods(bert, *text, progress=report))
    return scores


HOW_TOKENS = (
    "What both versions share is shown once. What differs is framed, the first version above the "
    "second; ∅ is a token that one of them does not have. Equal tokens are aligned first; a "
    "replacement is below what it replaces."
)
SAME_TEXTS = (
    "The two versions are the same, so nothing differs. Choose an example, or *Copy the first "
    "version* and change a word in it."
)
SAME_TOKENS = (
    "The two versions differ as text but have the same tokens in this vocabulary, so nothing "
    "differs for BERT. Change a word in the second version."
)
NO_QUESTION = (
    "BERT has no question to answer here: write \\[MASK\\] at the same place in both versions to "
    "compare its words, or add a sentence B to compare the next-sentence answer."
)
NO_MASKED_WORDS = (
    "This checkpoint has no masked-word (MLM) head, so no words can be compared. What differs "
    "inside is below; to compare words, choose a pretrained checkpoint such as `default` in the "
    "sidebar."
)


def _word_table(shifts: Sequence[WordShift]) -> pd.DataFrame:
    table = word_table(shifts).rename(columns={"p_before": "p_first", "p_after": "p_second"})
    return table.assign(difference_points=100 * (table["p_second"] - table["p_first"]))


def _answer_table(is_next: Sequence[float]) -> pd.DataFrame:
    return next_table(is_next).assign(run=RUNS)


WORDS = Picture(
    name="minimal-pair-words",
    figure=word_bars,
    table=_word_table,
    how=(
        "The best words at each \\[MASK\\] in the first version (grey) and the second (blue): the "
        "five best of both. The number after the probabilities is the difference in percentage "
        "points. KL measures how far the probabilities of the whole vocabulary moved: 0 means not "
        "at all."
    ),
    code=COMPARE_CODE,
)
NEXT_SENTENCE = Picture(
    name="minimal-pair-next-sentence",
    figure=next_bars,
    table=_answer_table,
    how=(
        "The next-sentence head's probability that B follows A (blue) and that it is a random text "
        "(orange), in both versions; in brackets the difference in percentage points."
    ),
    code=COMPARE_CODE,
)


def show_tokens(compared: ComparedRuns) -> bool:
    """Draw the aligned tokens; return whether any differ."""
    st.html(token_rows(compared.first, compared.second, compared.pair))
    differ = any(compared.pair.changed)
    if not differ:
        first, second = compared.first, compared.second
        is_same = (first.text_a, first.text_b) == (second.text_a, second.text_b)
        st.info(SAME_TEXTS if is_same else SAME_TOKENS)
    st.caption(f"**How to read this.** {HOW_TOKENS}")
    return differ


def show_answers(page: frame.Page, compared: ComparedRuns) -> None:
    """Draw the words at each common [MASK], and the next-sentence answers."""
    pair = compared.pair
    if pair.shifts:
        drawn = {"originals": [None] * len(pair.shifts), "names": RUNS, "mask": page.marks.mask}
        WORDS.show(page, pair.shifts, drawn=drawn, texts=compared.texts)
    if pair.next_first is not None and pair.next_second is not None:
        is_next = (pair.next_first.is_next, pair.next_second.is_next)
        NEXT_SENTENCE.show(page, is_next, drawn={"names": RUNS}, texts=compared.texts)
    has_question = bool(pair.shifts) or pair.next_first is not None
    if not has_question and can_score(page, compared):
        show_likelihood(page, compared)
    elif not pair.shifts and capabilities.never_has(page.bert, "mlm"):
        capabilities.tells(page, "mlm")
    elif not pair.shifts and "mlm" not in page.bert.capabilities:
        st.warning(NO_MASKED_WORDS)
    elif not pair.shifts and pair.next_first is None:
        st.info(frame.own_tokens(NO_QUESTION))
