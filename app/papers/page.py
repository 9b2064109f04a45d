"""What the papers say: claims beside the truth, figures, ablations, a reading list."""

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
from .scores import SETUP, show_ablation, show_scores
from .ways import show_ways

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
