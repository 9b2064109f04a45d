"""The tuned lens beside the plain one: fitted in the background, kept in a file, with its gain."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from bertcore import Model
from bertcore.analysis.tuned_lens import (
    LensGain,
    fit_tuned_lens,
    place_to_save,
    save_tuned_lens,
)
from bertcore.analysis.words.lens import Lens, Trajectories, layer_predictions, word_trajectories
from bertcore.data.sentences import split_sentences
from bertcore.pretraining import read_sentences
from bertcore.pretraining.data.bundled import NOVEL

from ..access import visits
from ..access.room import check_room
from ..plots.untrusted_text import plain
from ..shell import cache, frame
from ..shell.jobs import waiting
from ..shell.jobs.background import Progress, Work
from ..shell.one_of import one_of
from ..shell.picture import Picture
from ..shell.state import Field
from ..sources.tuned_lens import open_lens, opened, shown, visit_place
from .lens_figures import gain_curves, lens_figure, lens_table, rank_curves, ranks_table

SHIPPED_TEXT, OWN_TEXT = "The shipped novel", "Your own text"
TEXTS = (SHIPPED_TEXT, OWN_TEXT)
TEXT = Field("lens_text", SHIPPED_TEXT, TEXTS)
FIT = Field("lens_fit", False)
_OWN = "_lens_own_text"
_SETUP = """
from pathlib import Path
from bertcore.analysis.tuned_lens import read_tuned_lens

tuned = read_tuned_lens(Path({path!r}), bert)
"""
TUNED_LENS = Picture(
    name="tuned-lens",
    figure=lens_figure,
    table=lens_table,
    needs=frozenset({"lens", "mlm"}),
    how=(
        "The same through a **tuned lens**: before the masked-word head reads a layer, an affine "
        "map for that layer, fitted on hidden words of a text, moves its vectors towards the last "
        "layer's answers (Belrose et al. 2023). It shows what a layer knows in directions other "
        "than the head's. At a token that is not hidden it is only a guess, since it was fitted at "
        "hidden ones."
    ),
    code=_SETUP
    + """
from bertcore.analysis.words.lens import layer_predictions

lens = layer_predictions(bert, trace.text_a, trace.text_b, {masked}, {positions}, 5, tuned)
lens.words, lens.probabilities              # [L+1, N, k]
""",
)
TUNED_RANKS = Picture(
    name="tuned-ranks",
    figure=rank_curves,
    table=ranks_table,
    needs=frozenset({"lens", "mlm"}),
    how="The ranks of the same words through the tuned lens; the last layer is the same.",
    code=_SETUP
    + """
from bertcore.analysis.words.lens import word_trajectories

path = word_trajectories(
    bert, trace.text_a, trace.text_b, {masked}, {position}, {words}, tuned
)
path.ranks                                  # [L+1, W]
""",
)


def _gain_table(gain: LensGain) -> pd.DataFrame:
    columns: dict[str, object] = {"layer": range(len(gain.saved_bits.mean))}
    for name, quality in (("plain", gain.plain), ("tuned", gain.tuned)):
        for kind, interval in (("bits", quality.bits), ("agreement", quality.agreement)):
            columns[f"{name}_{kind}"] = interval.mean
            columns[f"{name}_{kind}_low"], columns[f"{name}_{kind}_high"] = interval[1:]
    saved = gain.saved_bits
    columns |= {"saved_bits": saved.mean, "saved_low": saved.low, "saved_high": saved.high}
    return pd.DataFrame(columns)


GAIN = Picture(
    name="tuned-lens-gain",
    figure=gain_curves,
    table=_gain_table,
    needs=frozenset({"lens", "mlm"}),
    how=(
        "Both lenses on {tokens} hidden tokens of {sentences} sentences that the tuned lens was "
        "not fitted on: how far the words of each layer are from the last layer's (KL, in bits; 0 "
        "is the same), and at how many tokens the best word is the same. Error bars are 95% "
        "bootstrap intervals over sentences."
    ),
    code=_SETUP + "tuned.gain.plain.bits, tuned.gain.tuned.bits   # means and intervals, [L]\n",
)


def predictions(
    page: frame.Page, path: Path, masked: tuple[int, ...], positions: tuple[int, ...]
) -> Lens:
    """Return `layer_predictions` through the lens in a file."""
    where = (page.text_a, page.text_b, masked, positions, 5)
    lens: Lens = cache.of_file(_predict, path, page.bert_key, *where)
    return lens


def trajectories(
    page: frame.Page, path: Path, masked: tuple[int, ...], position: int, words: tuple[str, ...]
) -> Trajectories:
    """Return `word_trajectories` through the lens in a file."""
    where = (page.text_a, page.text_b, masked, position, words)
    found: Trajectories = cache.of_file(_follow, path, page.bert_key, *where)
    return found


def show_gain(page: frame.Page, path: Path) -> None:
    """Draw what the lens gains, and what it was fitted on."""
    lens = opened(page, path)
    gain = lens.gain
    numbers: dict[str, Any] = {
        "tokens": f"{gain.num_tokens:,}",
        "sentences": f"{gain.num_sentences:,}",
    }
    with st.expander("What the tuned lens gains"):
        GAIN.show(page, gain, path=shown(path), **numbers)
        st.caption(
            f"Fitted on {lens.num_tokens:,} hidden tokens of {plain(lens.text)}, "
            f"{lens.num_steps:,} steps of Adam per layer."
        )


def offer_fit(page: frame.Page) -> None:
    """Draw the choice of a text and the button that fits a lens; then its progress."""
    FIT.key()
    row = st.container(horizontal=True, vertical_alignment="bottom")
    source = one_of("Fit a tuned lens on", TEXTS, TEXT, where=row, with_label=True)
    own = ""
    if source == OWN_TEXT:
        own = st.text_area(
            "Text to fit on",
            key=_OWN,
            height=160,
            placeholder="Some pages of text in the checkpoint's language",
        )
    icon = ":material/tune:"
    is_empty = source == OWN_TEXT and not own.strip()
    about = "About a minute for a small checkpoint, several for one as large as BERT base."
    if row.button("Fit the lens", icon=icon, disabled=is_empty, help=about):
        FIT.put(True)
    if not FIT.value or is_empty:
        return
    work = fitting(page.bert_key, own if source == OWN_TEXT else None, _place(page.bert))
    path: Path | None = waiting.result(work, "tuned-lens", stopped="The fit was stopped.")
    if path is not None:
        FIT.put(False)
        st.rerun()


def fitting(key: cache.BertKey, own: str | None, place: Path) -> Work:
    """Return the work that fits a lens and writes its file; its result is the file.

    Args:
        key: The checkpoint.
        own: The visitor's text; None for the shipped one.
        place: The file to write.
    """

    def work(progress: Progress) -> Path:
        if own is None:
            documents = read_sentences([NOVEL.train])
            sentences, text = [s for document in documents for s in document], NOVEL.title
        else:
            sentences = [s for line in own.splitlines() for s in split_sentences(line)]
            text = "a typed text"
        lens = fit_tuned_lens(cache.opened(key), sentences, text=text, on_fraction=progress)
        return save_tuned_lens(lens, place)

    digest = "" if own is None else hashlib.sha256(own.encode(errors="replace")).hexdigest()
    return Work(("tuned-lens", key, digest, str(place)), work)


def _place(model: Model) -> Path:
    """Return the file to write: on a closed server the visitor's own.

    Raises:
        ValueError: If the visitor has no room for it.
    """
    own = visit_place(model)
    if own is None:
        return place_to_save(model)
    visits.current().place(own.parent.name)
    config = model.config
    check_room(4 * config.num_hidden_layers * config.hidden_size * (config.hidden_size + 1))
    return own


def _predict(
    path: Path,
    key: cache.BertKey,
    text_a: str,
    text_b: str | None,
    masked: tuple[int, ...],
    positions: tuple[int, ...],
    top_k: int,
) -> Lens:
    model = cache.opened(key)
    lens = cache.of_file(open_lens, path, key)
    return layer_predictions(model, text_a, text_b, masked, positions, top_k, lens)


def _follow(
    path: Path,
    key: cache.BertKey,
    text_a: str,
    text_b: str | None,
    masked: tuple[int, ...],
    position: int,
    words: tuple[str, ...],
) -> Trajectories:
    model = cache.opened(key)
    lens = cache.of_file(open_lens, path, key)
    return word_trajectories(model, text_a, text_b, masked, position, words, lens)
