"""The public-domain text shipped with the package, to try pretraining without a download."""

from pathlib import Path
from typing import NamedTuple

_FOLDER = Path(__file__).parent / "texts"


class BundledText(NamedTuple):
    """A text in corpus form: one paragraph per line, a blank line between documents."""

    title: str
    train: Path
    valid: Path
    """The held-out part."""


NOVEL = BundledText(
    "Jane Austen, Pride and Prejudice (1813)",
    _FOLDER / "austen_train.txt.xz",
    _FOLDER / "austen_valid.txt.xz",
)
"""56 and 5 chapters of a novel; `texts/README.md` states its source."""

_RECORDED = Path(__file__).parents[1] / "recorded"
RECORDED_RUN = _RECORDED / "from-noise"
"""A small run from noise, to be replayed: settings, scores and probes, without weights; its
`README.md` explains how it was made."""
RECORDED_STATIONS = _RECORDED / "stations"
"""A smaller and shorter one with the objectives of the default checkpoint, one after another."""
RECORDED_RUNS = (RECORDED_RUN, RECORDED_STATIONS, _RECORDED / "novel")
"""Those, and five minutes on the novel."""
