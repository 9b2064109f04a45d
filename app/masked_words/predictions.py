"""The most probable words at each mask, and the scores of the visitor's own words."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from bertcore.analysis.words.candidates import Candidate, parse_candidates, score_candidates
from bertcore.analysis.words.predictions import (
    Filled,
    MaskPredictions,
    fill_in_turn,
    predict_masks,
)

from ..plots import Figure, percent, plain, records, shorten, theme
from ..plots.charts import Bars
from ..shell import Field, Picture, capabilities, frame
from ..shell.links import MASK

MOST_IN_TURN = 16  # most masks that are also filled one after another; each costs a run

TOP_K = Field("top_k", 5)
CANDIDATES_LINE = Field("candidates", "")


def _best_words(predictions: MaskPredictions) -> pd.DataFrame:
    """Return a row for each mask and rank."""
    mask, rank = (at.ravel() for at in np.indices(predictions.words.shape))
    return pd.DataFrame(
        {
            "position": [predictions.positions[i] for i in mask],
            "hidden": pd.Series([predictions.originals[i] for i in mask], dtype=object),
            "rank": rank + 1,
            "piece": predictions.words.ravel(),
            "p": predictions.probabilities.ravel().astype(float),
        }
    )


def _scores(scored: Sequence[Candidate]) -> pd.DataFrame:
    """Return a row for each word, also for those without a score."""
    numbers = ("p=probability", "p_per_piece=probability_per_piece", "ln_p=log_probability")
    table = records(scored, "word", "pieces", *numbers, "rank", "problem")
    return table.assign(pieces=table["pieces"].map(" ".join))


FLOOR = 1e-12  # A logarithmic axis has no zero


def candidate_dots(scored: Sequence[Candidate]) -> Figure:
    """Draw a dot for each word with a score, and a ring for the mean of several pieces."""
    frame = _scores(scored)
    frame = frame[frame["ln_p"].notna()].sort_values("ln_p", ascending=False, kind="stable")
    below = [pieces if " " in pieces else "" for pieces in frame["pieces"]]
    # Names may repeat once shortened, so rows are numbers with tick texts.
    rows, names = list(range(len(frame))), [*map(_two_lines, frame["word"], below)]
    dots, rings = (frame[of].clip(lower=FLOOR).tolist() for of in ("p", "p_per_piece"))
    several = [row for row in rows if below[row]]
    labels = [
        percent(p) if pd.isna(rank) else f"{percent(p)}, rank {int(rank):,}"
        for p, rank in zip(frame["p"], frame["rank"], strict=True)
    ]
    fig = Figure()
    fig.add(
        "bar",
        x=dots,
        y=rows,
        orientation="h",
        width=0.12,
        marker_color=theme.SEGMENT_A,
        opacity=0.35,
        hoverinfo="skip",
        showlegend=False,
    )
    if several:
        fig.add(
            "scatter",
            x=[rings[row] for row in several],
            y=several,
            mode="markers",
            marker={"symbol": "circle-open", "size": 12, "color": theme.SEGMENT_B},
            marker_line_width=2,
            name="mean per piece",
            hovertemplate="%{x:.3%} per piece<extra></extra>",
        )
    fig.add(
        "scatter",
        x=dots,
        y=rows,
        mode="markers+text",
        marker={"size": 12, "color": theme.SEGMENT_A},
        text=[f"  {label}" for label in labels],
        textposition="middle right",
        cliponaxis=False,
        name="whole word",
        customdata=names,
        hovertemplate="%{customdata}: %{x:.3%}<extra></extra>",
        showlegend=bool(several),
    )
    theme.plot_layout(fig, "", "probability (logarithmic)", "", 36 * len(rows) + 90)
    lowest = int(np.floor(np.log10(min([1e-4, *dots]))))
    powers = range(lowest - lowest % 2, 1, 2 if lowest < -6 else 1)
    fig.update_xaxes(
        type="log",
        range=[lowest - 0.2, -0.22 * lowest],  # room for the label of a certain word
        tickvals=[10.0**e for e in powers],
        ticktext=[percent(10.0**e) if e >= -5 else f"10<sup>{e}</sup>" for e in powers],
    )
    fig.update_yaxes(**theme.named_rows(names, 0.4))
    return fig


def _two_lines(name: str, below: str) -> str:
    first = f"<b>{theme.escape(shorten(name))}</b>"
    small = f'<span style="font-size:10.5px">{theme.escape(shorten(below, 30))}</span>'
    return f"{first}<br>{small}" if below else first


BEST_WORDS = Bars(
    table=_best_words,
    value="p",
    name="piece",
    by="position",
    accent=lambda words: words.piece == words.hidden,
)
PREDICTIONS = Picture(
    name="masked-words",
    chart=BEST_WORDS,
    how=(
        "Each bar is the probability of one piece of the vocabulary; all pieces together make "
        "100%. The pink bar is the token that was there. Several masks are predicted "
        "independently, each as if the others were unknown, so two good words may not fit "
        "together."
    ),
    code="""
from bertcore.analysis.words.predictions import predict_masks

predictions = predict_masks(bert, trace.text_a, trace.text_b, {masked}, {top_k})
predictions.words, predictions.probabilities            # [M, k]
""",
)
CANDIDATES = Picture(
    name="candidates",
    figure=candidate_dots,
    table=_scores,
    how=(
        "A one-piece word has its probability from the bars above and its rank among all pieces of "
        "the vocabulary; 1 is the best guess. A word of several pieces gets as many masks, and its "
        "pieces are predicted one after another from left to right, each with those before it "
        "filled in; the probabilities are multiplied. The blue dot is that product, the orange "
        "ring its geometric mean per piece: if lengths differ, compare rings with other rings and "
        "with the dots of one-piece words."
    ),
    code="""
from bertcore.analysis.words.candidates import score_candidates

scored = score_candidates(bert, trace.text_a, trace.text_b, {masked}, {position}, {words})
[(c.word, c.pieces, c.probability, c.rank) for c in scored]
""",
)


def mask_titles(predictions: MaskPredictions) -> list[str]:
    """Return the title of each mask, in Plotly's HTML: the rank of the hidden token, if known."""
    mask = theme.escape(predictions.mask)
    asked = zip(
        predictions.positions, predictions.originals, predictions.original_ranks, strict=True
    )
    return [
        f"{mask} at {position}<br> "
        if token is None or rank is None
        else f"{mask} at {position}<br>was <b>{theme.escape(shorten(token))}</b>: rank {rank:,}"
        for position, token, rank in asked
    ]


def mask_names(predictions: MaskPredictions) -> list[str]:
    """Return a short name for each mask, as plain text: where it is and what was there."""
    return [
        f"{predictions.mask} at {position}" if token is None else f"{shorten(token)} ({position})"
        for position, token in zip(predictions.positions, predictions.originals, strict=True)
    ]


def _in_turn(steps: Sequence[Filled]) -> str:
    return " → ".join(
        f"**{plain(shorten(step.word))}** at {step.position} ({plain(percent(step.probability))})"
        for step in steps
    )


def show_predictions(page: frame.Page, masked: tuple[int, ...]) -> MaskPredictions:
    """Draw the most probable words of each mask."""
    TOP_K.key(low=3, high=15)
    top_k = TOP_K.value
    predictions = page.compute(predict_masks, *page.texts, masked, top_k)
    titles = {"titles": mask_titles(predictions)}
    PREDICTIONS.show(page, predictions, drawn=titles, masked=masked, top_k=top_k)
    capabilities.note(page, "mask")
    unknown = page.bert.tokenizer.unk_token
    if unknown in predictions.words:
        st.caption(
            f"{plain(unknown)} is not a word: it stands for every word that the vocabulary cannot "
            "read, as in the text that the checkpoint was trained on."
        )
    if 1 < len(predictions.positions) <= MOST_IN_TURN:
        st.markdown(
            "Filled one after another, the most certain first, with the earlier ones filled in: "
            + _in_turn(page.compute(fill_in_turn, *page.texts, masked))
        )
    return predictions


def choose_mask(predictions: MaskPredictions) -> int:
    """Draw the controls below the bars; return the mask that the pictures below are about."""
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="large")
    row.slider("Words for each mask", 3, 15, key=TOP_K.name, width=200)
    names = dict(zip(predictions.positions, mask_names(predictions), strict=True))
    key = MASK.key(default=predictions.positions[0], options=list(names))
    if len(names) == 1:
        return predictions.positions[0]

    def name(position: int) -> str:
        return plain(names[position])

    chosen = row.pills("Look closer at", list(names), format_func=name, key=key)
    return predictions.positions[0] if chosen is None else chosen


def show_candidates(page: frame.Page, masked: tuple[int, ...], position: int) -> tuple[str, ...]:
    """Draw the scores of the visitor's own words; return the words."""
    st.header("Your own words", anchor=False)
    line = st.text_input(
        "Words to score at this mask, separated by commas",
        key=CANDIDATES_LINE.key(),
        placeholder="river, bank, hillside, New York",
    )
    words = parse_candidates(line)
    if not words:
        st.caption(
            "Try words that BERT did not suggest: rare or wrong ones, or several words in one "
            "place."
        )
        return words
    scored = page.compute(score_candidates, *page.texts, masked, position, words)
    for candidate in scored:
        if candidate.problem:
            st.warning(plain(candidate.problem))
    if not all(candidate.problem for candidate in scored):
        CANDIDATES.show(page, scored, masked=masked, position=position, words=words)
    return words
