"""What a notebook shows of a view: the app's HTML file, in a frame."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from bertcore import Bert, Trace
from bertscope.app_modules import app_module

AROUND = 310
"""Pixels of the title, the caption and the folded parts of a file."""


@dataclass(frozen=True, slots=True)
class NotebookView:
    """One view; a notebook shows it, and `save` keeps it."""

    html: str
    """The whole file, the same as the app's HTML download."""
    height: int
    """In pixels, of the frame in the notebook."""

    def _repr_html_(self) -> str:
        """Return a frame that holds the file, apart from the notebook: it cannot reach it."""
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" sandbox="allow-scripts allow-downloads" '
            f'style="width: 100%; height: {self.height}px; border: 0" loading="lazy"></iframe>'
        )

    def save(self, path: str | Path) -> Path:
        """Write the view as an HTML file; return its path.

        Raises:
            OSError: If the file cannot be written.
        """
        file = Path(path)
        file.write_text(self.html, encoding="utf-8")
        return file


def shown(
    trace: Trace,
    bert: Bert | None,
    title: str,
    part: Any,
    code: str,
    key: str,
    height: int,
    *,
    table: Any = None,
    width: int | None = None,
) -> NotebookView:
    """Return a view of a trace.

    Args:
        trace, bert: What is shown, and the checkpoint where it is known.
        title: Of the view.
        part: The picture, a `Part` of the app's `report.document`.
        code: Python that makes its numbers.
        key: Of the text that says how to read it.
        height: Pixels of the picture and its controls.
        table: A `Table` of the same module, where the picture has none of its own.
        width: What the braces of the text stand for, if it has any.
    """
    document, texts = app_module("app.report.document"), app_module("app.texts")
    how = texts.TEXTS[key] if width is None else texts.TEXTS[key].format(width=width)
    typed = {"Text A": trace.text_a, "Text B": trace.text_b}
    facts = {}
    if bert is not None:
        facts["Checkpoint"] = bert.name
        if bert.report is not None:
            facts["Fingerprint of the weights"] = bert.report.fingerprint
    report = document.Report(
        title=title,
        parts=[part],
        how_to_read=how,
        texts={name: text for name, text in typed.items() if text},
        facts=facts,
        code=code,
        table=table,
        folds=True,
    )
    return NotebookView(document.to_html(report), height + AROUND)


def source_of(bert: Bert | None) -> str:
    """Return how the checkpoint is opened again, as far as it is known."""
    return "default" if bert is None else bert.name


def chosen_look(view: ModuleType, **chosen: Any) -> dict[str, Any]:
    """Return how one of the app's views opens.

    Raises:
        ValueError: If a choice is none of those that the view has.
    """
    for name, options in view.LOOK_OPTIONS.items():
        if isinstance(options, re.Pattern):  # made by the caller
            continue
        known = dict.fromkeys((view.LOOK[name], *options))
        if name in chosen and chosen[name] not in known:
            said = ", ".join(repr(option) for option in known)
            raise ValueError(f"{chosen[name]!r} is no choice of this view; expected one of {said}.")
    return {**view.LOOK, **chosen}


def check(trace: Trace, layers: Sequence[int], heads: Sequence[int]) -> None:
    """Make sure that a trace has these layers and heads.

    Raises:
        ValueError: If it has not.
    """
    num_layers, num_heads = trace.attentions.shape[:2]
    for layer in layers:
        inside("layer", layer, num_layers, "this checkpoint has layers")
    for head in heads:
        inside("head", head, num_heads, "a layer of this checkpoint has heads")


def inside(name: str, given: int, number: int, has: str) -> None:
    """Make sure that `given` counts one of `number` things from 0 on.

    Raises:
        ValueError: If it does not.
    """
    if not 0 <= given < number:
        raise ValueError(f"{name} is {given}, but {has} 0 to {number - 1}.")
