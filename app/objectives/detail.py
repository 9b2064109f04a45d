"""One objective in detail: a draw and its answer, who attends to whom, counts, and the loss."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore.analysis.objectives.answers import (
    ObjectiveAnswer,
    objective_answer,
    shipped_for,
    why_no_answer,
)
from bertcore.analysis.objectives.demo import (
    Looks,
    ObjectiveExample,
    count_objective,
    objective_example,
)
from bertcore.analysis.words.continuation import continue_text
from bertcore.checkpoints.source import TOYS, read_toy
from bertcore.configs.data import MASKED_LM_PROB
from bertcore.objectives import Objective
from bertcore.objectives.attention_masks import DIRECTIONS, Direction
from bertcore.objectives.table import Counted, Counts

from ..epoch_masks.epochs import show_epochs
from ..plots import (
    ON_AXIS,
    Figure,
    Properties,
    Shades,
    SpecialTokens,
    error_bars,
    own_text,
    plain,
    shorten,
    theme,
)
from ..plots.source_tables import links, markdown_table
from ..shell import Field, Picture, frame, one_of, sidebar
from ..sources.documents import DOCUMENTS
from . import drawing

DRAWN = "drawn"
OTHERS = tuple(one.text for one in DOCUMENTS)  # documents from which a random B may be drawn
NUM_WRITTEN = 12  # tokens that a UniLM writes after the text
MOST_NAMED = 72  # above this many tokens an axis shows positions instead of words
SEEN, UNSEEN = theme.SEGMENT_A, "rgba(127, 134, 152, 0.12)"

PERCENTAGE = Field("objective_share", 15)
DIRECTION = Field("objective_mask", DRAWN, (DRAWN, *DIRECTIONS))
LOOKER = Field("objective_looks", 0)

FIRST_TERM = (
    " It is the loss of the masked words; the other term needs SpanBERT's own head, which is not "
    "read here."
)
DRAW = """
from bertcore.analysis import objective_example

example = objective_example(
    bert, {name!r}, trace.text_a, trace.text_b,
    others={others!r}, seed={seed}, share={share}, direction={direction!r},
)
"""


def _tokens(example: ObjectiveExample) -> pd.DataFrame:
    """Return a row for each token of the encoder, or of the decoder if there is one."""
    if example.writes:
        return pd.DataFrame({"decoder_reads": example.decoder_reads, "writes": example.writes})
    return pd.DataFrame(
        {
            "reads": [token.text for token in example.reads],
            "became": [token.fate for token in example.reads],
            "must_come_out": [token.target for token in example.reads],
        }
    )


def _looks_map(looks: Looks) -> Figure:
    """Draw a field for each pair of tokens: blue where the row may attend to the column."""
    num_rows, num_columns = looks.allowed.shape
    is_large = num_columns > MOST_NAMED
    hover: Properties = {"hoverinfo": "skip", "hovertemplate": None}
    if not is_large:  # a text for each of very many cells would be megabytes
        verbs = ("must not attend to", "may attend to")
        hover = {
            "customdata": [[verbs[int(one)] for one in row] for row in looks.allowed],
            "text": [[theme.escape(shorten(column)) for column in looks.columns]] * num_rows,
        }
    fig = Figure()
    shades = Shades([[0, UNSEEN], [1, SEEN]])
    text = "%{y} %{customdata} %{text}"
    fig.heat(looks.allowed.astype("int8"), shades, text, gap=0 if is_large else 1, **hover)
    cell = 22 if num_rows <= 30 else 16 if num_rows <= MOST_NAMED else 700 / num_rows
    if looks.allowed.all():  # nothing to make out in it
        cell = min(cell, 13)
    theme.plot_layout(fig, "", "attended to", "attends", 150 + round(cell * num_rows))
    for update, names in ((fig.update_xaxes, looks.columns), (fig.update_yaxes, looks.rows)):
        if len(names) <= MOST_NAMED:
            ticks = [theme.escape(shorten(name, ON_AXIS)) for name in names]
            update(tickmode="array", tickvals=list(range(len(names))), ticktext=ticks)
    fig.update_xaxes(tickangle=-60, showgrid=False)
    fig.update_yaxes(autorange="reversed", showgrid=False)
    if num_columns > num_rows:  # a decoder's own tokens come after the encoder's
        fig.add_vline(x=num_columns - num_rows - 0.5, line_width=2, line_color=theme.ACCENT)
    return fig


def _looks_table(looks: Looks) -> pd.DataFrame:
    """Return a row for each token that attends, a column for each that is attended to."""
    table = pd.DataFrame(looks.allowed.astype(int))
    table.columns = [f"{number} {token}" for number, token in enumerate(looks.columns)]
    table.insert(0, "token", list(looks.rows))
    return table


def _shares(counts: Counts) -> list[Counted]:
    """Return what is a share, not a length."""
    return [rate for rate in counts.rates if not rate.unit]


def _counts_figure(counts: Counts, marks: SpecialTokens) -> Figure:
    """Draw each share as a point with its interval, and the paper's as a line if it gives one."""
    rates = _shares(counts)
    means, places = [rate.mean for rate in rates], list(range(len(rates)))
    names = [theme.escape(own_text(rate.name, marks)) for rate in rates]
    labels = [
        f"{name}<br><b>{rate.mean:.1%}</b>"
        + ("" if rate.paper is None else f"  paper {rate.paper:.1%}")
        for name, rate in zip(names, rates, strict=True)
    ]
    fig = Figure()
    given = [place for place in places if rates[place].paper is not None]
    if given:
        fig.add(
            "scatter",
            x=[rates[place].paper for place in given],
            y=given,
            customdata=[names[place] for place in given],
            mode="markers",
            name="the paper",
            marker={"symbol": "line-ns", "size": 26, "line_width": 3, "line_color": theme.ACCENT},
            hovertemplate="%{customdata}: paper %{x:.1%}<extra></extra>",
        )
    lows, highs = [rate.low for rate in rates], [rate.high for rate in rates]
    fig.add(
        "scatter",
        x=means,
        y=places,
        customdata=names,
        mode="markers",
        name=f"{counts.num_draws:,} draws on this text",
        marker={"size": 11, "color": theme.SEGMENT_A},
        error_x=error_bars(means, lows, highs, theme.SEGMENT_A, thickness=3),
        hovertemplate="%{customdata}: %{x:.1%}<extra></extra>",
    )
    theme.plot_layout(fig, "", "", "", 96 + 52 * len(rates))
    fig.update_xaxes(range=[-0.03, 1.03], tickvals=[0, 0.25, 0.5, 0.75, 1], tickformat=".0%")
    fig.update_yaxes(
        range=[len(rates) - 0.5, -0.5], tickvals=places, ticktext=labels, tickfont_size=14
    )
    return fig


def _counts_table(counts: Counts) -> pd.DataFrame:
    """Return a row for each share or length."""
    columns = ("counted", "mean", "low", "high", "paper", "chosen_or_paper", "unit")
    rows = [
        (rate.name, rate.mean, rate.low, rate.high, rate.paper, rate.expected, rate.unit or "share")
        for rate in counts.rates
    ]
    return pd.DataFrame(rows, columns=list(columns))


EXAMPLE = Picture(
    name="objective",
    table=_tokens,
    how="The expected output is framed in pink. Loss is measured at {loss_at}.",
    code=DRAW + "example.reads, example.writes, example.verdict\n",
)
LOOKS = Picture(
    name="objective-looks",
    figure=_looks_map,
    table=_looks_table,
    how="The token of a row may attend to the blue columns. {looks}",
    code=DRAW + "example.looks[{number}].allowed\n",
)
COUNTS = Picture(
    name="objective-counts",
    figure=_counts_figure,
    table=_counts_table,
    how=(
        "Blue: this text, drawn {num_draws} times, with its 95% interval; {paper}. A short "
        "text cannot be divided exactly: a share is a whole number of tokens."
    ),
    code="""
from bertcore.analysis import count_objective

counts = count_objective(
    bert, {name!r}, trace.text_a, trace.text_b, others={others!r}, seed={seed}, share={share},
)
counts.rates
""",
)
LOOKERS = {
    "decoder": "Left of the line are the encoder's tokens, right of it the decoder's own; those "
    "still to be written are hidden.",
    "content stream": "The content stream: a token sees itself, and what comes before it in the "
    "order.",
    "query stream": "The query stream, from which tokens are predicted: no token sees itself.",
}


def show_one(page: frame.Page, entry: Objective, seed: int, above: DeltaGenerator) -> None:
    """Draw one objective in detail.

    Args:
        above: What comes before the drawing, so that this stays in its place, and keeps the focus,
            while a checkpoint that answers is opened.
    """
    with above:
        st.header(entry.title, anchor=False)
        st.markdown(f"{entry.idea} *{plain(entry.model)}: {plain(entry.paper)}*")
        page = _answering(page, entry)
        share, direction = _choose(entry)
    choice: dict[str, Any] = {
        "others": OTHERS if entry.name == "next-sentence" else (),
        "seed": seed,
        "share": share,
        "direction": direction,
    }
    with frame.guard():
        try:
            example = page.compute(objective_example, entry.name, *page.texts, **choice)
        except ValueError as reason:  # the text does not suit this objective
            st.info(plain(frame.sentence_of(reason)))
        else:
            _show_example(page, entry, example, choice)
            _show_counts(page, entry, choice)
            if entry.name == "masked-words" and "mlm" in page.bert.capabilities:
                st.subheader("Static and dynamic masks", anchor=False)
                text = f"{page.text_a} {page.text_b or ''}"
                show_epochs(page, text, seed=seed, share=share or MASKED_LM_PROB)
    st.subheader("The loss", anchor=False)
    st.latex(entry.formula)
    st.caption(entry.symbols)
    st.subheader("Common misconceptions", anchor=False)
    rows = [(claim.told, claim.true, links(claim.source)) for claim in entry.wrong]
    st.markdown(markdown_table(("Claim", "Fact", "Source"), rows))


def _answering(page: frame.Page, entry: Objective) -> frame.Page:
    """Return the page with a checkpoint that has an answer: its own, else a shipped one."""
    reason = why_no_answer(page.bert, entry.name)
    name = shipped_for(entry.name)
    if reason is None or name is None:
        return page
    mark = ""
    if name in TOYS:
        toy = read_toy(name)
        mark = (
            f", **a toy** that trained for {toy.steps:,} steps. Correct on held-out text: "
            f"{toy.accuracy:.1%} of {toy.fraction_of}; {toy.guessing:.1%} by guessing "
            f"({plain(toy.guess)})"
        )
    own = plain(sidebar.brief_name(page.bert_key.source))
    st.info(
        f"**{name}** reads and answers here{mark}. {own} has no answer: "
        f"{plain(frame.sentence_of(ValueError(reason)))}"
    )
    return replace(page, bert_key=sidebar.key_of(name))


def _choose(entry: Objective) -> tuple[float | None, Direction | None]:
    """Draw the controls of an objective; return the share, None for the paper's, and the mask."""
    share, direction = None, None
    row = st.container(horizontal=True, vertical_alignment="bottom")
    if entry.share is not None:
        usual = round(100 * entry.share)
        key = PERCENTAGE.key(default=usual, low=1, high=99)
        percentage = row.slider("Hidden", 1, 99, format="%d%%", key=key, width=300)
        share = None if percentage == usual else percentage / 100
    if entry.name == "unilm":
        chosen = one_of("Mask", (DRAWN, *DIRECTIONS), DIRECTION, where=row, with_label=True)
        direction = next((one for one in DIRECTIONS if one == chosen), None)
    return share, direction


def _show_example(
    page: frame.Page, entry: Objective, example: ObjectiveExample, choice: dict[str, Any]
) -> None:
    """Draw what goes in and comes out, the checkpoint's answer, and the attention mask."""
    reason = why_no_answer(page.bert, entry.name)
    answer: ObjectiveAnswer | None = None
    if reason is None:
        answer = page.compute(objective_answer, entry.name, *page.texts, **choice)
    shown = drawing.shown(entry.name, example, answer)
    drawing.draw(drawing.message([shown], page.marks.mask, in_detail=True))
    for ends in example.ends:
        span = " ".join(ends.span)
        st.markdown(
            f"From both ends: **{plain(ends.left)}** … **{plain(ends.right)}** → {plain(span)}"
        )
    if example.direction and choice["direction"] is None:
        st.markdown(f"Mask drawn: **{example.direction}**.")
    for note in example.notes:
        st.caption(plain(note))
    if answer is None:
        st.caption(f"**No answer.** {plain(frame.sentence_of(ValueError(reason)))}")
    elif answer.places:
        term = FIRST_TERM if example.ends else ""
        st.markdown(
            f"This checkpoint's mean loss here is **{answer.loss:.2f}** nats, over "
            f"{len(answer.places)} place{'s' if len(answer.places) > 1 else ''}.{term}"
        )
        if entry.name == "unilm":
            _show_writing(page)
    EXAMPLE.offer(page, example, record=example, loss_at=entry.loss_at, name=entry.name, **choice)
    st.subheader("Which tokens may attend to which", anchor=False)
    names = {number: looks.name for number, looks in enumerate(example.looks)}
    number = one_of("Attention", names, LOOKER) if len(names) > 1 else 0
    looks = example.looks[number]
    who = _who_looks(looks)
    LOOKS.show(page, looks, number=number, looks=who, name=entry.name, **choice)


def _show_writing(page: frame.Page) -> None:
    """Write what a UniLM adds to the text under its left-to-right mask."""
    try:
        written = page.compute(continue_text, page.text_a, NUM_WRITTEN).text
    except ValueError as reason:
        st.caption(plain(frame.sentence_of(reason)))
    else:
        st.markdown(f"It also writes. From left to right, text A goes on: **{plain(written)}**")


def _who_looks(looks: Looks) -> str:
    """Return the sentence on a map: an encoder's is full, one-sided or a prefix."""
    if looks.name in LOOKERS:
        return LOOKERS[looks.name]
    if looks.allowed.all():
        return "Each token attends to all of them, on both sides."
    if not np.triu(looks.allowed, 1).any():
        return "Each token attends to itself and to those before it."
    if not np.tril(looks.allowed, -1).any():
        return "Each token attends to itself and to those after it."
    return (
        "The tokens of text A attend to all of A; those of text B to A, to themselves and to those "
        "before them."
    )


def _show_counts(page: frame.Page, entry: Objective, choice: dict[str, Any]) -> None:
    """Draw what 1,000 draws give, beside the paper's shares."""
    if not entry.rates:
        return
    st.subheader("1,000 draws", anchor=False)
    drawn = {name: choice[name] for name in ("others", "seed", "share")}
    counts = page.compute(count_objective, entry.name, *page.texts, **drawn)
    for rate in counts.rates:
        if rate.unit:
            early = " In a short text, spans end early." if rate.high < rate.expected else ""
            note = f" ({rate.note})" if rate.note else ""
            st.markdown(
                f"{plain(rate.name).capitalize()}: **{rate.mean:.2f}** ({rate.low:.2f} to "
                f"{rate.high:.2f}); the paper: **{rate.expected:.1f}**{note}.{early}"
            )
    if shares := _shares(counts):
        has_paper = any(share.paper is not None for share in shares)
        COUNTS.show(
            page,
            counts,
            drawn={"marks": page.marks},
            num_draws=f"{counts.num_draws:,}",
            paper="pink: the paper" if has_paper else "the paper gives no share",
            name=entry.name,
            **drawn,
        )
