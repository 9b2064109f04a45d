"""Senses of a word: all of its occurrences in the corpus, in groups, by layer."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from bertcore.corpus.search import Hit, Senses, WordSenses, word_senses
from bertcore.corpus.search.senses import NUM_NULLS

from ..plots import Figure, plain, records, shorten, theme
from ..plots.charts import Curve, LayerCurves
from ..shell import Compute, Field, Picture, Progress, frame
from ..shell.links import short_address
from ..sources import encoded_corpus as source
from ..sources.encoded_corpus import Opened
from . import hits

GROUPS = {"": "by silhouette", "2": "2", "3": "3", "4": "4", "5": "5"}
WORD = Field("senses_word", "bank")
NUM_GROUPS = Field("senses_groups", "", tuple(GROUPS))

_CONTEXT = 40
MARKED = "the marked words"
"""What the words marked in the visitor's list are called where no word is typed."""

_CODE = """
from bertcore.corpus import open_encoded
from bertcore.corpus.search import Places, word_senses

encoded = open_encoded({folder!r})
found = word_senses(Places(encoded), {word!r}, {layers}, num_groups={num}{marked})
"""


class AtLayer(NamedTuple):
    """A word's occurrences, and their groups at one layer."""

    found: WordSenses
    senses: Senses


def occurrence_map(drawn: AtLayer) -> Figure:
    """Draw the occurrences by their first two principal components, coloured by group."""
    found, senses = drawn
    fig = Figure()
    for number, _ in enumerate(senses.groups):
        own = [i for i, label in enumerate(senses.labels) if label == number]
        fig.add(
            "scatter",
            x=[float(senses.points[i, 0]) for i in own],
            y=[float(senses.points[i, 1]) for i in own],
            mode="markers",
            name=f"group {number + 1}",
            marker={
                "size": 10,
                "color": theme.CATEGORICAL[number],
                "symbol": ("circle", "diamond", "square", "cross", "x")[number],
                "opacity": 0.8,
            },
            customdata=[_context(found.occurrences[i]) for i in own],
            hovertemplate="%{customdata}<extra>" + f"group {number + 1}</extra>",
        )
    theme.plot_layout(fig, "", "first component", "second component", 360)
    fig.update_layout(margin={"t": 36}, showlegend=True)
    return fig


def _context(hit: Hit) -> str:
    end = hits.end_of_word(hit)
    left = hit.text[max(0, hit.start - _CONTEXT) : hit.start]
    right = shorten(hit.text[end : end + 2 * _CONTEXT], _CONTEXT)
    return f"{theme.escape(left)}<b>{theme.escape(hit.word)}</b>{theme.escape(right)}"


def _by_layer(found: WordSenses) -> pd.DataFrame:
    """Return a row for each layer."""
    table = records(found.by_layer, "layer", "silhouette", "chance", "stability")
    table.insert(1, "groups", [len(senses.groups) for senses in found.by_layer])
    return table


def occurrence_table(drawn: AtLayer) -> pd.DataFrame:
    """Return a row for each occurrence, with its group at one layer."""
    found, senses = drawn
    points = {"x": senses.points[:, 0].astype(float), "y": senses.points[:, 1].astype(float)}
    hits = records(found.occurrences, "word", "text", "start", "document", "sentence")
    return pd.DataFrame({"group": np.asarray(senses.labels) + 1, **points}).join(hits)


OCCURRENCES = Picture(
    name="senses",
    figure=occurrence_map,
    table=occurrence_table,
    how=(
        "Each mark is one occurrence of the word, by the first two principal components of its "
        "vectors at layer {layer}; the groups are from k-means in ten components. The words in a "
        "group's title are more frequent around its occurrences than around the others."
    ),
    code=_CODE + "[(one.layer, one.silhouette, one.groups) for one in found.by_layer]\n",
)
CLEARNESS = Picture(
    name="senses-by-layer",
    chart=LayerCurves(
        table=_by_layer,
        curves=(
            Curve("silhouette", "silhouette", 0),
            Curve("chance", f"highest of {NUM_NULLS} clouds without groups", None, "dash"),
            Curve("stability", "stability", 2, "dot"),
        ),
        title="",
        unit="",
        form=".2f",
    ),
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
    usual = "" if corpus.marked else WORD.default
    key = WORD.key(default=usual)
    word = row.text_input("Word", key=key, width=180, placeholder="bank").strip()
    layer = hits.choose_layer(corpus.encoded.layers, row)
    groups = row.selectbox(
        "Groups",
        list(GROUPS),
        format_func=GROUPS.__getitem__,
        key=NUM_GROUPS.key(options=list(GROUPS)),
        width=150,
    )
    target = hits.choose_target(row)
    marked = () if word else corpus.marked
    if word and corpus.marked:
        st.caption("Words are marked in your list. To group them, type no word.")
    if marked:
        word = MARKED
    if not word:
        st.info("Type a word that occurs in the corpus.")
        return
    num = int(groups) if groups else None
    found = Compute(name="senses")(_grouped, source.hashable(corpus), word, num, marked)
    senses = next(one for one in found.by_layer if one.layer == layer)
    _say(found, senses)
    values: dict[str, Any] = {
        "folder": source.shown_folder(corpus),
        "word": word,
        "layers": corpus.encoded.layers,
        "num": num,
        "marked": f", marked={list(marked)}" if marked else "",
        "setup": page.setup_code + corpus.code if corpus.code else "",
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
    OCCURRENCES.show(page, AtLayer(found, senses), record=senses, **values)
    if len(found.by_layer) > 1:
        st.header("By layer", anchor=False)
        CLEARNESS.show(page, found, drawn={"marked": layer}, **values)


def _say(found: WordSenses, senses: Senses) -> None:
    """Write how many occurrences there are, and whether the groups are more than chance."""
    num, used = found.num_found, len(found.occurrences)
    verb = "occur" if found.word == MARKED else "occurs"
    word = "The marked words" if found.word == MARKED else plain(found.word)
    sentence = f"{word} {verb} {num:,} times in the corpus"
    sentence += "." if used == num else f"; {used:,} of them are grouped."
    if found.num_copies:
        sentence += (
            f" {found.num_copies:,} of them are in a sentence that occurs more than once: copies "
            "are groups of their own, whatever the word means."
        )
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
    link = short_address(target, page.bert_key, hit.text)
    opened = "" if link is None else f" [open]({link})"
    return f"- {plain(left)}**{plain(hit.text[hit.start : end])}**{plain(right)}{opened}"


def _grouped(
    stamp: tuple[str, int, int],
    word: str,
    num_groups: int | None,
    marked: tuple[tuple[int, int, int], ...],
    *,
    progress: Progress,
) -> WordSenses:
    """Return the senses of a word in the corpus of a stamp; see `source.hashable`."""
    opened = source.at(Path(stamp[0]))
    progress(0.1, f"Grouping the occurrences of {plain(word)}")
    layers = opened.encoded.layers
    return word_senses(opened.places, word, layers, num_groups=num_groups, marked=marked)
