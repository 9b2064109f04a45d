"""Heads: what each attention head does over many sentences."""

import pandas as pd
import streamlit as st

from bertcore.analysis.heads.sinks import MAX_TEXTS, SINKS, Sink, find_sinks

from ..plots import own_text, plain, records
from ..plots.sinks import TARGETS
from ..shell import Compute, Picture, frame
from ..shell.links import address
from ..sources.head_texts import HeadTextSource, choose
from . import PAGE, job
from .grid import show_grid
from .ranked_heads import show_ranked

COLUMNS = ("head", "sink", "kind", "attention", "norm", "effect", "constant", "one direction")


def sinks_table(sinks: tuple[Sink, ...]) -> pd.DataFrame:
    """Return a row for each head that has a sink, with its word and all its numbers."""
    numbers = (
        "attention value_norm change change_rest change_off change_head share constancy rank_one"
    )
    return records(sinks, "layer", "head", "target", "word", "num_texts", *numbers.split())


KINDS_OF_SINK = Picture(
    name="heads-sinks",
    table=sinks_table,
    needs=frozenset({"parts"}),
    how=(
        "The heads that give at least half of their attention to \\[CLS\\], \\[SEP\\] or "
        "punctuation. *Norm*: of what the head passes on from there, by that from other tokens. "
        "*Effect*: change of the layer's output (1 − cosine) with the head's value there at zero, "
        "by that with a head of the layer off (mean). *Constant*: the part of what is passed on "
        "that is one vector in all texts. *One direction*: the part of the output in a text that "
        "lies along one. **idle**, it does nothing: effect up to 25%, norm up to 40%. Above 25%, "
        "**constant** (from 90% on: a bias) or **spreads** (it gathered something from the text "
        "and hands it on). **unclear** if effect and norm disagree, or under 5 texts have the "
        "token. The thresholds are ours. Fesser et al. (2026) told idle from spreading sinks in "
        "vision models, by norm and low rank. Measured on {measured} texts."
    ),
    code="""
from bertcore.analysis import find_sinks

sinks = find_sinks(bert, texts.sentences)
[(sink.layer, sink.head, sink.target, sink.word, sink.value_norm, sink.share) for sink in sinks]
""",
)


def show_sinks(page: frame.Page, chosen: HeadTextSource) -> None:
    """Draw a row for each head with a sink, when they are measured."""
    st.header("Sinks: idle, constant, or spreading?", anchor=False)
    if not KINDS_OF_SINK.is_available(page):
        return
    texts = chosen.texts.sentences[:MAX_TEXTS]
    sinks = Compute(name="sinks", stage="Zeroing values")(find_sinks, page.bert_key, texts)
    if sinks:
        st.container(key="heads_sinks").markdown(_table(page, chosen, sinks))
    else:
        named = own_text(", ".join(TARGETS[target] for target in SINKS), page.marks)
        st.markdown(f"No head gives half of its attention to one of {plain(named)}.")
    KINDS_OF_SINK.offer(page, sinks, setup=job.setup_code(page, chosen), measured=f"{len(texts):,}")


def _table(page: frame.Page, chosen: HeadTextSource, sinks: tuple[Sink, ...]) -> str:
    """Return the sinks as a table in Markdown; each head leads to its attention in a text."""
    first = chosen.texts.sentences[0]
    lines = ["| " + " | ".join(COLUMNS) + " |", "|:--|:--|:--|" + "--:|" * (len(COLUMNS) - 3)]
    for sink in sinks:
        there = address(
            "attention",
            page.bert_key,
            first.text,
            first.text_pair,
            layer=sink.layer,
            heads=sink.head,
        )
        numbers = sink.attention, sink.value_norm, sink.share, sink.constancy, sink.rank_one
        cells = (
            f"[**{sink.layer}.{sink.head}**]({there})",
            plain(own_text(TARGETS[sink.target], page.marks)),
            sink.word,
            *("–" if number != number else f"{number:.0%}" for number in numbers),
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


@frame.fragment
def views(page: frame.Page, chosen: HeadTextSource) -> None:
    """Draw grid and list; a click in them reruns only this, not the page."""
    report = job.report(page, chosen)
    if report.num_cut:
        st.caption(
            f"{report.num_cut:,} sentences have more tokens than this checkpoint can read; they "
            "were cut."
        )
    show_grid(page, chosen, report)
    show_ranked(page, chosen, report)
    with frame.guard():
        show_sinks(page, chosen)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    with frame.guard(stop=True):
        chosen = choose()
    if chosen is None:
        frame.end_page()
    views(page, chosen)
