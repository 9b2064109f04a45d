"""The model card that is written beside weights: README.md with the fields that the hub reads."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from bertcore.base.links import read_start
from bertcore.base.whole_files import write_whole
from bertcore.model.checkpoints.files import open_source
from bertcore.model.checkpoints.folder import CARD_LIMIT
from bertcore.model.checkpoints.source import is_remote

CARD = "README.md"


def read_licence(folder: Path) -> str | None:
    """Return the licence that the head of a folder's model card names; None without one."""
    try:
        text = read_start(folder / CARD, CARD_LIMIT).decode("utf-8", errors="replace")
    except (OSError, RuntimeError):
        return None
    head = text.partition("\n---")[0] if text.startswith("---\n") else ""
    named = re.search(r"^license: *['\"]?([\w.+-]{1,40})['\"]? *$", head, re.MULTILINE)
    return named[1] if named else None


def licence_of(source: str) -> str | None:
    """Return the licence of a checkpoint that was opened before; None if it states none."""
    try:
        return read_licence(open_source(source, allow_pickle=True).folder)
    except (ValueError, RuntimeError):
        return None  # it is gone, or the hub is not there


def write_card(
    folder: Path,
    *,
    base: str,
    licence: str | None,
    about: str,
    facts: Mapping[str, str],
    scores: Sequence[tuple[str, str]] = (),
    architecture: str,
    opened_by: str,
) -> None:
    """Write README.md, with nothing of this machine but the last part of paths.

    Args:
        base: The checkpoint that it was made from: "default", a folder, a hub id, or a name.
        licence: Of the base, as `read_licence` has it.
        opened_by: The function of `bertcore` that opens it, such as "load".
    """
    from_hub = is_remote(base)
    name = base if from_hub else Path(base).name
    head = {"library_name": "transformers", "license": licence, "base_model": from_hub and base}
    lines = [f"{key}: {json.dumps(value)}" for key, value in head.items() if value]
    rows = [("Made from", name), *facts.items(), ("Licence of the base", licence or "not stated")]
    table = "\n".join(f"| {key} | {_cell(value)} |" for key, value in rows)
    parts = [
        "---\n" + "\n".join(lines) + "\n---",
        f"# {folder.name}",
        about,
        f"| | |\n| :-- | :-- |\n{table}",
    ]
    if scores:
        table = "\n".join(f"| {key} | {_cell(value)} |" for key, value in scores)
        parts += ["## Scores", f"| metric | value |\n| :-- | :-- |\n{table}"]
    parts += [
        "## How to open it",
        f"```python\nimport bertcore\n\nmodel = bertcore.{opened_by}({folder.name!r})\n```",
        f"```python\nfrom transformers import AutoTokenizer, {architecture}\n\n"
        f"tokenizer = AutoTokenizer.from_pretrained({folder.name!r})\n"
        f"model = {architecture}.from_pretrained({folder.name!r})\n```",
    ]
    write_whole(folder / CARD, "\n\n".join(parts) + "\n")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
