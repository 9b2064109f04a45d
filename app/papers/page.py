"""What the papers say: claims beside the truth, figures, ablations, a reading list."""

from itertools import groupby

import streamlit as st

from bertcore.papers import Claim, Literature, read_papers

from ..navigation import PAGES
from ..plots.source_tables import contrasts, links, markdown_table
from ..shell import Field, frame, one_of, open_page, show
from ..shell.links import PHASES_OPEN, TOKENS_VIEW
from . import PAGE
from .views import ABLATED, FOUR_WAYS, GLUE, PARTS

ABLATION_NAMES = {ablation.name: ablation.title for ablation in read_papers().ablations}
RECORDED_PARTS = "parts"
_OFFERED = ABLATION_NAMES | {RECORDED_PARTS: "Parts trained, labels (ours)"}
ABLATION = Field("papers_ablation", "objectives", tuple(_OFFERED))


def show_scores(literature: Literature) -> None:
    """Draw GLUE by size, and SQuAD as a table."""
    st.header(GLUE.question, anchor=False)
    show(GLUE, None)
    st.header("SQuAD", anchor=False)
    rows = [
        (
            f"{result.version}, {result.split}",
            result.model,
            f"{result.exact:.1f}",
            f"**{result.f1:.1f}**",
            links([result.source]),
        )
        for result in literature.squad
    ]
    st.markdown(markdown_table(("SQuAD", "Model", "Exact match", "F1", "Source"), rows))


def show_ablation(literature: Literature) -> None:
    """Draw the ablation that the visitor chooses."""
    name = one_of("Ablation", _OFFERED, ABLATION)
    if name == RECORDED_PARTS:
        st.header(PARTS.question, anchor=False)
        show(PARTS, None)
        return
    st.header(ABLATED.question, anchor=False)
    show(ABLATED, None, name)
    st.caption(links([literature.ablation(name).source]))


def show_ways(literature: Literature) -> None:
    """Draw the ways, and a table of their heads and data sets."""
    st.header(FOUR_WAYS.question, anchor=False)
    show(FOUR_WAYS, None)
    rows = [
        (f"**{way.name}**", way.head, way.sets, f"`--task {way.task}`", links(way.source))
        for way in literature.ways
    ]
    head = ("Way", "Head", "Data sets in the paper", "`bertscope finetune`", "Source")
    st.markdown(markdown_table(head, rows))
    label = "Pretraining beside fine-tuning, computed: Training example"
    if st.button(label, type="tertiary", icon=":material/arrow_forward:"):
        PHASES_OPEN.put(True)
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


CLAIMS_READ = (
    "Left: what is often claimed. Right: what the source says. Sources open in a new tab and need "
    "a network connection."
)


def _show_claims(literature: Literature) -> None:
    topic = one_of("Topic", TOPICS, TOPIC)
    told, true = st.columns([2, 3], gap="medium")
    told.markdown("**Claim**")
    true.markdown("**Fact**")
    for number, claim in enumerate(literature.claims):
        if claim.topic == topic:
            _show_claim(claim, number)
    st.caption(f"**How to read this.** {CLAIMS_READ}")


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
