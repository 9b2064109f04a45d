"""What the numbers of a ranking of heads mean, and the Python that makes them."""

from __future__ import annotations

from collections.abc import Sequence

from app.plots.untrusted_text import plain, shorten
from app.shell import texts_lookup
from bertcore.analysis.heads.importance import HeadImportance
from bertcore.interventions.what_if import Changes


def ranking_caption(found: HeadImportance, measure: str) -> str:
    """Return what a number of the measure says, as Markdown; any word and label in it is safe."""
    kind = f"_{found.task}" if measure in ("label", "answer") else ""
    names = {"word": found.chosen or "", "label": found.chosen_label or ""}
    said = {name: plain(shorten(text)) for name, text in names.items()}
    return texts_lookup.TEXTS[f"what-if.rank_{measure}{kind}"].format(
        **said, position=found.position
    )


def ranking_code(
    found: HeadImportance, measure: str, masked: Sequence[int], changes: Changes
) -> str:
    """Return Python that ranks, to follow what opens the checkpoint and runs the text.

    Args:
        found: The ranking.
        measure: Its effect that is shown.
        masked: Positions that are hidden.
        changes: In force in all runs.
    """
    return texts_lookup.CODE["what-if.rank"].format(
        masked=tuple(masked),
        changes=changes,
        position=found.position,
        word=found.chosen,
        task="" if found.task is None else ", task=read_task_head(bert)",
        label="" if found.chosen_label is None else f", label={found.chosen_label!r}",
        measure=measure,
    )
