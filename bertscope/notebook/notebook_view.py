"""A view in a notebook: the app's HTML file in a frame, made by the app's modules."""

from __future__ import annotations

import html
import importlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import bertscope
from bertcore import Model
from bertscope.app_root import find_app_root

if TYPE_CHECKING:
    from bertcore.training.tasks import TaskModel


def app_module(name: str) -> ModuleType:
    """Return a module of the app, such as "app.view".

    RuntimeError if the app's files are missing.
    """
    root = str(find_app_root())
    if root not in bertscope.__path__:
        bertscope.__path__.append(root)
    return importlib.import_module(f"bertscope.{name}")


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
        """Return a frame with the file; it cannot reach the notebook."""
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" sandbox="allow-scripts allow-downloads" '
            f'style="width: 100%; height: {self.height}px; border: 0" loading="lazy"></iframe>'
        )

    def save(self, path: str | Path) -> Path:
        """Write the view as an HTML file; return its path.

        OSError if the file cannot be written.
        """
        file = Path(path)
        file.write_text(self.html, encoding="utf-8")
        return file


def make_view(
    title: str,
    part: Any,
    bert: Model | TaskModel | None,
    texts: Mapping[str, str],
    code: str,
    height: int,
    *,
    how: str = "",
    table: Any = None,
) -> NotebookView:
    """Return a view.

    Args:
        part: The picture, a `ScriptedPicture` of the app's `html_file.document`.
        bert: The checkpoint where it is known.
        texts: What was typed, by its name.
        code: Python that makes the numbers.
        height: Pixels of the picture and its controls.
        how: How to read it, in Markdown.
        table: A `Table` of the same module.
    """
    document = app_module("app.parts.html_file.document")
    facts = {}
    if bert is not None:
        facts["Checkpoint"] = bert.name
        if isinstance(bert, Model) and bert.report is not None:
            facts["Fingerprint of the weights"] = bert.report.fingerprint
    report = document.Report(
        title=title,
        part=part,
        how_to_read=how,
        texts=texts,
        facts=facts,
        code=code,
        table=table,
        folds=True,
    )
    return NotebookView(document.to_html(report), height + AROUND)


def opening(bert: Model | TaskModel | None, texts: Sequence[str] = ()) -> str:
    """Return Python that opens the checkpoint and runs a text or pair, if there is one."""
    if bert is not None and not isinstance(bert, Model):
        return f"import bertcore\n\nmodel = bertcore.open_task({bert.name!r})\n"
    source = "default" if bert is None else bert.name
    code = f"import bertcore\n\nbert = bertcore.load({source!r})\n"
    return code + (f"trace = bert.trace({', '.join(map(repr, texts))})\n" if texts else "")


def chosen_options(view: ModuleType, **chosen: Any) -> dict[str, Any]:
    """Return the options with which one of the app's views opens.

    ValueError if a choice is none of those that the view has.
    """
    for name, options in view.OPTION_CHOICES.items():
        if isinstance(options, re.Pattern):  # made by the caller
            continue
        known = dict.fromkeys((view.DEFAULT_OPTIONS[name], *options))
        if name in chosen and chosen[name] not in known:
            listed = ", ".join(repr(option) for option in known)
            raise ValueError(
                f"{chosen[name]!r} is no choice of this view; expected one of {listed}."
            )
    return {**view.DEFAULT_OPTIONS, **chosen}
