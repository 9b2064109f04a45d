"""What the papers say: claims beside the truth, figures, ablations, a reading list."""

from itertools import groupby

import streamlit as st

from bertcore.lessons.papers import read_papers

from ...navigation import PAGES
from ...plots.source_tables import contrasts, links, markdown_table
from ...shell import Field, frame, one_of, open_page, show
from ...shell.links import PHASES_OPEN, TOKENS_VIEW
from . import PAGE
from .views import ABLATED, FOUR_WAYS, GLUE, PARTS, WORTH

LITERATURE = read_papers()
ABLATION_NAMES = {ablation.name: ablation.title for ablation in LITERATURE.ablations}
RECORDED_PARTS = "parts"
_OFFERED = ABLATION_NAMES | {RECORDED_PARTS: "Parts trained, labels (ours)"}
ABLATION = Field("papers_ablation", "objectives", tuple(_OFFERED))


VIEWS = SQUAD, ABLATIONS, CLAIMS, NUMBERS, WAYS, TRANSFORMER, READING = (
    "SQuAD",
    "Ablations",
    "Claims and facts",
    "BERT in numbers",
    "Fine-tuning",
    "From Transformer to BERT",
    "Reading list",
)
OPENED: Field[list[str]] = Field("papers_view", [], VIEWS)
"""Headings that are open."""
TOPICS = tuple(dict.fromkeys(claim.topic for claim in LITERATURE.claims))
TOPIC = Field("papers_topic", TOPICS[0], TOPICS)


@frame.closed("How well does BERT answer questions?", OPENED, at=SQUAD)
def show_squad() -> None:
    """Draw the scores on SQuAD as a table."""
    rows = [
        (
            f"{result.version}, {result.split}",
            result.model,
            f"{result.exact:.1f}",
            f"**{result.f1:.1f}**",
            links([result.source]),
        )
        for result in LITERATURE.squad
    ]
    st.markdown(markdown_table(("SQuAD", "Model", "Exact match", "F1", "Source"), rows))


@frame.closed(ABLATED.question, OPENED, ABLATION, at=ABLATIONS)
def show_ablation() -> None:
    """Draw the ablation that the visitor chooses."""
    name = one_of("Ablation", _OFFERED, ABLATION)
    if name == RECORDED_PARTS:
        show(PARTS, None)
        return
    show(ABLATED, None, name)
    st.caption(links([LITERATURE.ablation(name).source]))


@frame.closed(FOUR_WAYS.question, OPENED, at=WAYS)
def show_ways() -> None:
    """Draw the ways, and a table of their heads and data sets."""
    show(FOUR_WAYS, None)
    rows = [
        (f"**{way.name}**", way.head, way.sets, f"`--task {way.task}`", links(way.source))
        for way in LITERATURE.ways
    ]
    head = ("Way", "Head", "Data sets in the paper", "`bertscope finetune`", "Source")
    st.markdown(markdown_table(head, rows))
    label = "Pretraining beside fine-tuning, computed: Training example"
    if st.button(label, type="tertiary", icon=":material/arrow_forward:"):
        PHASES_OPEN.put(True)
        open_page("training_example")


@frame.closed("Which claims about BERT are wrong?", OPENED, TOPIC, at=CLAIMS)
def show_claims() -> None:
    """Draw the claims of a topic, each beside the facts."""
    topic = one_of("Topic", TOPICS, TOPIC)
    for number, claim in enumerate(LITERATURE.claims):
        if claim.topic != topic:
            continue
        with st.container(border=True):
            told, true = st.columns([2, 3], gap="medium")
        told.markdown(f":material/close: {claim.told}")
        true.markdown(f":material/check: {claim.true}")
        row = true.container(horizontal=True, vertical_alignment="center", gap="small")
        row.caption(links(claim.source), width="content")
        if claim.view == WORTH.name:
            show(WORTH, None)
        if claim.page is not None and row.button(
            f"See it: {PAGES[claim.page].title}",
            key=f"see_{number}",
            type="tertiary",
            icon=":material/arrow_forward:",
        ):
            if claim.page == "tokens" and claim.view is not None:
                TOKENS_VIEW.put(claim.view)
            open_page(claim.page)


@frame.closed("How large is BERT, and how long did it learn?", OPENED, at=NUMBERS)
def show_numbers() -> None:
    """Draw the facts of both sizes as a table."""
    counted = {row.name: row.num_parameters for row in LITERATURE.glue}
    rows = [(fact.what, fact.base, fact.large, links(fact.source)) for fact in LITERATURE.facts]
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


@frame.closed("What to read next?", OPENED, at=READING)
def show_reading() -> None:
    """Draw the papers by group."""
    for group, papers in groupby(LITERATURE.papers, key=lambda paper: paper.group):
        st.subheader(group, anchor=False)
        lines = [f"- {paper.short}: [{paper.title}]({paper.url}). {paper.why}" for paper in papers]
        st.markdown("\n".join(lines))


@frame.closed("What did BERT change in the Transformer?", OPENED, at=TRANSFORMER)
def show_contrasts() -> None:
    """Draw four models beside each other as a table."""
    with st.container(key="contrasts"):  # as wide as its columns need
        st.markdown(contrasts(LITERATURE))


def draw() -> None:
    """Draw the page."""
    frame.header(PAGE)
    st.header(GLUE.question, anchor=False)
    show(GLUE, None)
    show_claims()
    show_numbers()
    show_contrasts()
    show_ablation()
    show_ways()
    show_squad()
    show_reading()
