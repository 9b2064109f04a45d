"""What the papers say: claims beside the truth, figures, ablations, a reading list."""

from collections.abc import Sequence
from itertools import groupby

import pandas as pd
import streamlit as st

from bertcore.papers import Claim, Literature, Way, read_papers

from ..navigation import PAGES
from ..plots import Figure, Properties, theme
from ..plots.diagram import BODY, QUIET, READ, add_box, add_text, lay_out
from ..plots.source_tables import contrasts, links, markdown_table
from ..shell import Field, Picture, frame, one_of, open_page
from ..shell.links import TOKENS_VIEW
from . import PAGE
from .scores import SETUP, show_ablation, show_scores

_ROOM = 5.0  # height of a way, in rows of boxes
_PIXELS = 34  # height of a row of boxes, in pixels


def _ways_figure(ways: Sequence[Way]) -> Figure:
    """Draw each way: its input below, BERT, and above it what the head predicts, where it reads."""
    fig = Figure()
    for number, way in enumerate(ways):
        _draw(fig, way, _ROOM * (len(ways) - 1 - number))
    lay_out(fig, _ROOM * len(ways), round(_ROOM * _PIXELS * len(ways)) + 16)
    return fig


def _ways_table(ways: Sequence[Way]) -> pd.DataFrame:
    """Return a row for each input: whether the head reads its last vector, and what it predicts."""
    rows = [
        (way.name, way.task, word, way.says.get(place, ""))
        for way in ways
        for place, word in enumerate(way.inputs)
    ]
    return pd.DataFrame(rows, columns=["way", "task", "input", "says"])


def _draw(fig: Figure, way: Way, low: float) -> None:
    """Draw one way above `low`."""
    width = 1 / len(way.inputs)
    add_text(fig, 0.0, low + 4.4, f"<b>{theme.escape(way.name)}</b>", xanchor="left", size=17)
    add_box(fig, (0.0, 1.0), (low + 1.4, low + 2.2), BODY)
    add_text(fig, 0.5, low + 1.8, "BERT", size=16)
    for place, word in enumerate(way.inputs):
        across = width * (place + 0.06), width * (place + 0.94)
        middle = sum(across) / 2
        add_box(fig, across, (low + 0.2, low + 1.0), QUIET)
        add_text(fig, middle, low + 0.6, theme.escape(word))
        answer = way.says.get(place)
        if answer is None:
            continue
        add_box(fig, across, (low + 2.9, low + 3.7), READ)
        add_text(fig, middle, low + 3.3, f"<b>{theme.escape(answer)}</b>")
        ends: Properties = {"x0": middle, "x1": middle, "y0": low + 2.2, "y1": low + 2.9}
        fig.add_shape(type="line", line={"color": theme.ACCENT, "width": 3}, **ends)


FOUR_WAYS = Picture(
    name="four-ways",
    figure=_ways_figure,
    table=_ways_table,
    how=(
        "Below is the input; above BERT, in pink, is what the new head predicts from the last "
        "vector at that place (after figure 4 of the BERT paper). Only the head is new, and it is "
        "trained together with BERT. Multiple choice is a fifth way: each choice is read with the "
        "text and gets one number, and softmax runs over the choices."
    ),
    code="""
for way in read_papers().ways:
    print(way.name, way.head, way.sets)
""",
)


def show_ways(literature: Literature) -> None:
    """Draw the ways, and a table of their heads and data sets."""
    FOUR_WAYS.show(None, literature.ways, setup=SETUP)
    rows = [
        (f"**{way.name}**", way.head, way.sets, f"`--task {way.task}`", links(way.source))
        for way in literature.ways
    ]
    head = ("Way", "Head", "Data sets in the paper", "`bertscope finetune`", "Source")
    st.markdown(markdown_table(head, rows))
    label = "Pretraining beside fine-tuning, computed: Training example"
    if st.button(label, type="tertiary", icon=":material/arrow_forward:"):
        open_page("training_example")


SCORES, ABLATIONS, CLAIMS, NUMBERS, WAYS, TRANSFORMER, READING = VIEWS = (
    "Scores",
    "Ablations",
    "Claims and facts",
    "BERT in numbers",
    "Fine-tuning",
    "From Transformer to BERT",
    "Reading list",
)
TOPICS = tuple(dict.fromkeys(claim.topic for claim in read_papers().claims))

VIEW = Field("papers_view", SCORES, VIEWS)
TOPIC = Field("papers_topic", TOPICS[0], TOPICS)


def _claims_table(literature: Literature) -> pd.DataFrame:
    rows = [
        (claim.topic, claim.told, claim.true, "; ".join(source.text for source in claim.source))
        for claim in literature.claims
    ]
    return pd.DataFrame(rows, columns=["topic", "told", "true", "source"])


TOLD = Picture(
    name="told-and-true",
    table=_claims_table,
    how=(
        "Left: what is often claimed. Right: what the source says. The download contains all "
        "topics. Sources open in a new tab and need a network connection."
    ),
    code="""
for claim in read_papers().claims:
    print(claim.told, "->", claim.true, [(one.paper.url, one.where) for one in claim.source])
""",
)


def _show_claims(literature: Literature) -> None:
    topic = one_of("Topic", TOPICS, TOPIC)
    told, true = st.columns([2, 3], gap="medium")
    told.markdown("**Claim**")
    true.markdown("**Fact**")
    for number, claim in enumerate(literature.claims):
        if claim.topic == topic:
            _show_claim(claim, number)
    TOLD.offer(None, literature, setup=SETUP)


def _show_claim(claim: Claim, number: int) -> None:
    """Draw a claim beside the facts."""
    with st.container(border=True):
        told, true = st.columns([2, 3], gap="medium")
    told.markdown(f":material/close: {claim.told}")
    true.markdown(f":material/check: {claim.true}")
    row = true.container(horizontal=True, vertical_alignment="center", gap="small")
    row.caption(links(claim.source), width="content")
    if claim.page is not None and row.button(
        f"See it: {PAGES[claim.page].title}",
        key=f"see_{number}",
        type="tertiary",
        icon=":material/arrow_forward:",
    ):
        if claim.view is not None:
            TOKENS_VIEW.put(claim.view)
        open_page(claim.page)


def _show_numbers(literature: Literature) -> None:
    counted = {row.name: row.num_parameters for row in literature.glue}
    rows = [(fact.what, fact.base, fact.large, links(fact.source)) for fact in literature.facts]
    place = next(i for i, row in enumerate(rows) if row[0] == "Parameters") + 1
    rows.insert(
        place,
        (
            "... counted here",
            f"{counted['Base']:,}",
            f"{counted['Large']:,}",
            "our network of this shape, both heads, uncased vocabulary",
        ),
    )
    st.markdown(markdown_table(("Quantity", "Base", "Large", "Source"), rows))


def _show_reading(literature: Literature) -> None:
    for group, papers in groupby(literature.papers, key=lambda paper: paper.group):
        st.header(group, anchor=False)
        lines = [f"- {paper.short}: [{paper.title}]({paper.url}). {paper.why}" for paper in papers]
        st.markdown("\n".join(lines))


def _show_contrasts(literature: Literature) -> None:
    with st.container(key="contrasts"):  # as wide as its columns need
        st.markdown(contrasts(literature))


DRAWN = {
    SCORES: show_scores,
    ABLATIONS: show_ablation,
    CLAIMS: _show_claims,
    NUMBERS: _show_numbers,
    WAYS: show_ways,
    TRANSFORMER: _show_contrasts,
    READING: _show_reading,
}


def draw() -> None:
    """Draw the page."""
    frame.header(PAGE)
    view = one_of("View", VIEWS, VIEW)
    with frame.guard():
        DRAWN[view](read_papers())
