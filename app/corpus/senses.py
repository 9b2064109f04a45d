"""Senses of a word: all of its occurrences in the corpus, in groups, by layer."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from bertcore.corpus.search import Hit, Senses, WordSenses, word_senses
from bertcore.corpus.search.senses import NUM_NULLS

from ..plots.figure import Figure
from ..plots.untrusted_text import plain
from ..shell import frame
from ..shell.jobs import waiting
from ..shell.jobs.background import Progress, Work
from ..shell.picture import Picture
from ..shell.state import Field
from ..sources import encoded_corpus as source
from ..sources.encoded_corpus import Opened
from . import hits, senses_figures

GROUPS = {"": "by silhouette", "2": "2", "3": "3", "4": "4", "5": "5"}
WORD = Field("senses_word", "bank")
NUM_GROUPS = Field("senses_groups", "", tuple(GROUPS))

_CODE = """
from bertcore.corpus import open_encoded
from bertcore.corpus.search import Places, word_senses

encoded = open_encoded({folder!r})
found = word_senses(Places(encoded), {word!r}, {layers}, num_groups={num})
"""


class AtLayer(NamedTuple):
    """A word's occurrences, and their groups at one layer."""

    found: WordSenses
    senses: Senses


def _map(drawn: AtLayer) -> Figure:
    return senses_figures.occurrence_map(*drawn)


def _occurrences(drawn: AtLayer) -> pd.DataFrame:
    return senses_figures.occurrence_table(*drawn)


OCCURRENCES = Picture(
    name="senses",
    figure=_map,
    table=_occurrences,
    how=(
        "Each mark is one occurrence of the word, by the first two principal components of its "
        "vectors at layer {layer}; the groups are from k-means in ten components. The words in a "
        "group's title are more frequent around its occurrences than around the others."
    ),
    code=_CODE + "[(one.layer, one.silhouette, one.groups) for one in found.by_layer]\n",
)
CLEARNESS = Picture(
    name="senses-by-layer",
    table=senses_figures.layer_table,
    how=(
        "Silhouette: 1 if each occurrence is far closer to its own group than to the next, 0 if it "
        "is between them. Groups count only where it is above the grey line, the highest that the "
        f"same search finds in {NUM_NULLS} clouds without groups. Stability is the agreement "
        "(adjusted Rand index) with the groups of a random 80% of the occurrences: 1 means always "
        "the same, 0 means chance."
    ),
    code=_CODE
    + "[(one.layer, one.silhouette, one.chance, one.stability) for one in found.by_layer]\n",
)


@frame.fragment
def show(page: frame.Page, corpus: Opened) -> None:
    """Draw the word and its groups; runs alone when another word or layer is chosen."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    word = row.text_input("Word", key=WORD.key(), width=180, placeholder="bank").strip()
    layer = hits.choose_layer(corpus.encoded.layers, row)
    groups = row.selectbox(
        "Groups",
        list(GROUPS),
        format_func=GROUPS.__getitem__,
        key=NUM_GROUPS.key(options=list(GROUPS)),
        width=150,
    )
    target = hits.choose_target(row)
    if not word:
        st.info("Type a word that occurs in the corpus.")
        return
    num = int(groups) if groups else None
    found: WordSenses | None = waiting.result(_work(corpus, word, num), "senses")
    if found is None:
        return
    senses = next(one for one in found.by_layer if one.layer == layer)
    _say(found, senses)
    values: dict[str, Any] = {
        "folder": source.shown_folder(corpus),
        "word": word,
        "layers": corpus.encoded.layers,
        "num": num,
        "layer": layer,
    }
    for number, sense in enumerate(senses.groups):
        words = ", ".join(map(plain, sense.words))
        share = sense.num / len(found.occurrences)
        places = "1 occurrence" if sense.num == 1 else f"{sense.num} occurrences"
        title = f"Group {number + 1}: {places}, {share:.0%}"
        st.subheader(f"{title} · {words}" if words else title, anchor=False)
        examples = [found.occurrences[place] for place in sense.examples]
        st.markdown("\n".join(_line(page, hit, target) for hit in examples))
    OCCURRENCES.show(page, AtLayer(found, senses), record=senses, setup="", **values)
    if len(found.by_layer) > 1:
        st.header("By layer", anchor=False)
        fig = senses_figures.clearness(found, layer)
        CLEARNESS.show(page, found, fig=fig, setup="", **values)


def _say(found: WordSenses, senses: Senses) -> None:
    """Write how many occurrences there are, and whether the groups are more than chance."""
    num, used = found.num_found, len(found.occurrences)
    sentence = f"{plain(found.word)} occurs {num:,} times in the corpus"
    sentence += "." if used == num else f"; {used:,} of them are grouped."
    if senses.has_groups:
        sentence += f" At layer {senses.layer} they fall into {len(senses.groups)} groups"
        sentence += f" (silhouette {senses.silhouette:.2f}, by chance up to {senses.chance:.2f};"
        sentence += f" stability {senses.stability:.2f})."
    else:
        sentence += (
            f" At layer {senses.layer} the groups below are **no clearer than chance** (silhouette "
            f"{senses.silhouette:.2f}, by chance up to {senses.chance:.2f})."
        )
    st.markdown(sentence)


def _line(page: frame.Page, hit: Hit, target: str) -> str:
    """Return an example as an item of a list, its word in bold, with its link."""
    end = hits.end_of_word(hit)
    left, right = hits.left(hit), hits.right(hit, end)
    link = hits.link(page, hit, target)
    opened = "" if link is None else f" [open]({link})"
    return f"- {plain(left)}**{plain(hit.text[hit.start : end])}**{plain(right)}{opened}"


def _work(corpus: Opened, word: str, num_groups: int | None) -> Work:
    stamp = source.hashable(corpus)

    def work(progress: Progress) -> WordSenses:
        opened = source.at(Path(stamp[0]))
        progress(0.1, f"Grouping the occurrences of {plain(word)}")
        return word_senses(opened.places, word, opened.encoded.layers, num_groups=num_groups)

    return Work(("senses", stamp, word, num_groups), work)
