"""What the papers say: claims beside the truth, figures, ablations, a reading list."""

from __future__ import annotations

from itertools import groupby

import pandas as pd
import streamlit as st

from bertcore.papers import Claim, Literature, read_papers

from ..navigation import PAGES
from ..plots.source_tables import contrasts, links, markdown_table
from ..shell import frame
from ..shell.links import TOKENS_VIEW, open_page
from ..shell.one_of import one_of
from ..shell.picture import Picture
from ..shell.state import Field
from . import PAGE
from .figures import ablation_dots, ablation_table, glue_dots, glue_table
from .ways_figures import ways_figure, ways_table

_SETUP = "from bertcore.papers import read_papers\n"

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
ABLATION_NAMES = {one.name: one.title for one in read_papers().ablations}

VIEW = Field("papers_view", SCORES, VIEWS)
TOPIC = Field("papers_topic", TOPICS[0], TOPICS)
ABLATION = Field("papers_ablation", "objectives", tuple(ABLATION_NAMES))


def _claims_table(literature: Literature) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "topic": claim.topic,
                "told": claim.told,
                "true": claim.true,
                "source": "; ".join(f"{one.paper.short}, {one.where}" for one in claim.source),
            }
            for claim in literature.claims
        ]
    )


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
GLUE = Picture(
    name="glue-by-size",
    figure=glue_dots,
    table=glue_table,
    how=(
        "Each dot is a BERT model: its parameters, with both pretraining heads, against its mean "
        "over nine columns of GLUE test scores (MNLI counts twice and WNLI is left out, as in "
        "table 1 of the BERT paper). All are pretrained and fine-tuned without a teacher; the "
        "smaller ones are from Turc et al. 2019."
    ),
    code="""
literature = read_papers()
[(row.name, row.num_parameters, row.average) for row in literature.glue]
""",
)
ABLATED = Picture(
    name="ablations",
    figure=ablation_dots,
    table=ablation_table,
    how=(
        "Each dot is a variant on a task, its score beside it. The grey line is the first variant "
        "({first}), with its scores below the task names; left of it is worse. All scores are on "
        "dev sets; differences of a few tenths may be chance."
    ),
    code="""
ablation = read_papers().ablation({name!r})
ablation.columns, ablation.rows, ablation.differences()
""",
)

FOUR_WAYS = Picture(
    name="four-ways",
    figure=ways_figure,
    table=ways_table,
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


def draw() -> None:
    """Draw the page."""
    frame.header(PAGE)
    literature = read_papers()
    view = one_of("View", VIEWS, VIEW)
    with frame.guard():
        if view == SCORES:
            _show_scores(literature)
        elif view == ABLATIONS:
            _show_ablation(literature)
        elif view == CLAIMS:
            _show_claims(literature)
        elif view == NUMBERS:
            _show_numbers(literature)
        elif view == WAYS:
            _show_ways(literature)
        elif view == TRANSFORMER:
            with st.container(key="contrasts"):  # as wide as its columns need
                st.markdown(contrasts(literature))
        else:
            _show_reading(literature)


def _show_claims(literature: Literature) -> None:
    topic = one_of("Topic", TOPICS, TOPIC)
    told, true = st.columns([2, 3], gap="medium")
    told.markdown("**Claim**")
    true.markdown("**Fact**")
    for number, claim in enumerate(literature.claims):
        if claim.topic == topic:
            _show_claim(claim, number)
    TOLD.offer(None, literature, setup=_SETUP)


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
    rows = [(one.what, one.base, one.large, links(one.source)) for one in literature.facts]
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


def _show_ways(literature: Literature) -> None:
    FOUR_WAYS.show(None, literature.ways, setup=_SETUP)
    rows = [
        (f"**{one.name}**", one.head, one.sets, f"`--task {one.task}`", links(one.source))
        for one in literature.ways
    ]
    head = ("Way", "Head", "Data sets in the paper", "`bertscope finetune`", "Source")
    st.markdown(markdown_table(head, rows))


def _show_scores(literature: Literature) -> None:
    st.header("GLUE by size", anchor=False)
    GLUE.show(None, literature, setup=_SETUP)
    st.header("SQuAD", anchor=False)
    rows = [
        (
            f"{one.version}, {one.split}",
            one.model,
            f"{one.exact:.1f}",
            f"**{one.f1:.1f}**",
            links([one.source]),
        )
        for one in literature.squad
    ]
    st.markdown(markdown_table(("SQuAD", "Model", "Exact match", "F1", "Source"), rows))


def _show_ablation(literature: Literature) -> None:
    name = one_of("Ablation", ABLATION_NAMES, ABLATION)
    ablation = literature.ablation(name)
    ABLATED.show(None, ablation, setup=_SETUP, name=name, first=ablation.rows[0][0])
    st.caption(links([ablation.source]))


def _show_reading(literature: Literature) -> None:
    for group, papers in groupby(literature.papers, key=lambda paper: paper.group):
        st.header(group, anchor=False)
        lines = [f"- {one.short}: [{one.title}]({one.url}). {one.why}" for one in papers]
        st.markdown("\n".join(lines))
