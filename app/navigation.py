"""The pages, in the order of a first lesson: to add one, add its folder here."""

from __future__ import annotations

from importlib import import_module

from .shell.page_info import PageInfo

FOLDERS = (
    "glance",
    "tokens",
    "attention",
    "mixing",
    "heads",
    "masked_words",
    "sentence_pairs",
    "what_if",
    "minimal_pair",
    "compare",
    "layer_map",
    "checkpoints",
    "inspect_checkpoint",
    "training",
)
PAGES: dict[str, PageInfo] = {
    folder: import_module(f".{folder}", __package__).PAGE for folder in FOLDERS
}
"""By folder: the page is app/<folder>/page.py, its script pages/<folder>.py."""
