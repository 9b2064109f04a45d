"""The drawing of objectives, a component of ours: rows to choose from, or one in detail."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from bertcore.analysis.objectives.answers import ObjectiveAnswer
from bertcore.analysis.objectives.demo import ObjectiveExample
from bertcore.model.objectives import OBJECTIVES

from ...parts.component import Component

COMPONENT = Component("bertscope_objectives", __file__)


def shown(
    name: str, example: ObjectiveExample | str, answer: ObjectiveAnswer | None = None
) -> dict[str, Any]:
    """Return what the drawing shows of an objective: its draw, or a sentence on why there is none,
    and the checkpoint's answer, if there is one.
    """
    entry = OBJECTIVES[name]
    drawn = None if isinstance(example, str) else example
    return {
        "name": name,
        "title": entry.title,
        "origin": f"{entry.model} · {entry.year}",
        "group": entry.group,
        "error": example if isinstance(example, str) else "",
        "original": drawn.original if drawn else (),
        "reads": [asdict(token) for token in drawn.reads] if drawn else (),
        "decoder_reads": drawn.decoder_reads if drawn else (),
        "writes": drawn.writes if drawn else (),
        "verdict": drawn.verdict if drawn else "",
        "order": drawn.order if drawn else (),
        "direction": drawn.direction if drawn else "",
        "answers": [asdict(place) for place in answer.places] if answer else (),
    }


def draw(
    objectives: Sequence[dict[str, Any]], mask: str, on_pick: Callable[[str], None] | None = None
) -> None:
    """Draw objectives from `shown`: rows to choose from, or one in detail.

    Both are the same component, so that the focus stays in it.

    Args:
        mask: The checkpoint's [MASK].
        on_pick: Called with the name of the objective that is chosen.
    """

    def picked(name: str) -> None:
        if on_pick is not None and name in OBJECTIVES:
            on_pick(name)

    data = {"in_detail": on_pick is None, "objectives": list(objectives), "mask": mask}
    COMPONENT(key="objectives", data=data, picked=picked)
