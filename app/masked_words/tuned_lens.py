"""The tuned lens beside the plain one: fitted in the background, kept in a file, with its gain."""

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
from bertcore.data.sentences import split_sentences
from bertcore.pretraining import read_sentences
from bertcore.pretraining.data.bundled import NOVEL

from ..access import visits
from ..access.room import check_room
from ..plots import theme
from ..plots.charts import Line, Lines
from ..plots.untrusted_text import plain
from ..shell import frame
from ..shell.compute import Compute
from ..shell.jobs.background import Progress
from ..shell.one_of import one_of
from ..shell.picture import Picture
from ..shell.state import Field
from ..sources.tuned_lens import opened, shown, visit_place

SHIPPED_TEXT, OWN_TEXT = "The shipped novel", "Your own text"
TEXTS = (SHIPPED_TEXT, OWN_TEXT)
TEXT = Field("lens_text", SHIPPED_TEXT, TEXTS)
FIT = Field("lens_fit", False)
_OWN = "_lens_own_text"
SETUP = """
from pathlib import Path
from bertcore.analysis.tuned_lens import read_tuned_lens

tuned = read_tuned_lens(Path({path!r}), bert)
"""


def _gain_rows(gain: LensGain) -> pd.DataFrame:
    """Return a row for each layer (0: embeddings)."""
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
    chart=Lines(
        table=_gain_rows,
        lines=[
            Line(f"{lens} lens", f"{lens}_{measure}", colour, panel)
            for lens, colour in (("plain", theme.SPECIAL), ("tuned", theme.ACCENT))
            for panel, measure in enumerate(("bits", "agreement"))
        ],
        panels=("KL to the last layer, bits", "same best word"),
        hover=("{name}, layer %{x}: %{y:.2f}", "{name}, layer %{x}: %{y:.1%}"),
        x_title="layer (0: embeddings)",
    ),
    needs=frozenset({"lens", "mlm"}),
    how=(
        "Both lenses on {tokens} hidden tokens of {sentences} sentences that the tuned lens was "
        "not fitted on: how far the words of each layer are from the last layer's (KL, in bits; 0 "
        "is the same), and at how many tokens the best word is the same. Error bars are 95% "
        "bootstrap intervals over sentences."
    ),
    code=SETUP + "tuned.gain.plain.bits, tuned.gain.tuned.bits   # means and intervals, [L]\n",
)


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
    with frame.guard():
        compute = Compute(name="tuned-lens", stopped="The fit was stopped.")
        compute(fit, page.bert_key, own if source == OWN_TEXT else None, _place(page.bert))
        FIT.put(False)
        st.rerun()


def fit(model: Model, own: str | None, place: Path, *, on_fraction: Progress) -> Path:
    """Fit a lens and write it to a file; return that.

    Args:
        model: The checkpoint.
        own: The visitor's text; None for the shipped one.
        on_fraction: Called with the fraction done and the stage.
    """
    if own is None:
        documents = read_sentences([NOVEL.train])
        sentences, text = [s for document in documents for s in document], NOVEL.title
    else:
        sentences = [s for line in own.splitlines() for s in split_sentences(line)]
        text = "a typed text"
    lens = fit_tuned_lens(model, sentences, text=text, on_fraction=on_fraction)
    return save_tuned_lens(lens, place)


def _place(model: Model) -> Path:
    """Return the file to write: on a closed server the visitor's own.

    ValueError if the visitor has no room for it.
    """
    own = visit_place(model)
    if own is None:
        return place_to_save(model)
    visits.current().place(own.parent.name)
    config = model.config
    check_room(4 * config.num_hidden_layers * config.hidden_size * (config.hidden_size + 1))
    return own
