"""The visitor's choices on the page Inspect, kept for the session and in links."""

from __future__ import annotations

from bertcore.analysis.attribution import BASELINES, OCCLUSIONS

from ..shell import Field

STEPS = (20, 50, 200)
VIEWS = {"text": "One text", "file": "A labelled file"}
METHODS = {
    "ig": "Integrated gradients",
    "gradient": "Gradient × input",
    "occlusion": "Occlusion",
}
"""Methods that give a number to each word."""
_METHODS_IN_LINKS = {"ig": "ig", "gradient": "gradient", "erasure": "occlusion"}
"""Names of METHODS in links; occlusion used to be called erasure."""

VIEW = Field("inspect_view", "text", tuple(VIEWS))
WHY = Field("inspect_why", "words")
METHOD = Field("inspect_method", "ig")
BASELINE = Field("inspect_baseline", BASELINES[0], BASELINES)
NUM_STEPS = Field("inspect_steps", STEPS[1], STEPS)
OCCLUSION = Field("inspect_erase", OCCLUSIONS[0])
SLICES = Field("inspect_slices", "length")


def method_options(methods: list[str]) -> dict[str, str]:
    """Return the names of some METHODS by their names in links."""
    return {link: name for link, name in _METHODS_IN_LINKS.items() if name in methods}
