"""The pages, in the order of a first lesson: to add one, add its folder to a group."""

from importlib import import_module

from .page_info import PageInfo

GROUPS = {
    "One text": (
        "glance",
        "tokens",
        "attention",
        "inside_layer",
        "masked_words",
        "sentence_pairs",
    ),
    "What if": ("what_if", "minimal_pair"),
    "Many texts": ("heads", "layer_map", "bias"),
    "Checkpoints": ("inspect_checkpoint", "compare"),
    "Training": ("training_example", "objectives", "architectures", "training"),
    "Learning": ("lessons", "papers"),
}
CLASS = "classroom"
"""Folder of the page that only a server with a class has, in the last group."""
REMOVED = {
    "checkpoints": (
        "inspect_checkpoint",
        "*Checkpoints* was removed in 0.3.0. *What is in this checkpoint?* of *Inspect* shows what "
        "was read and whether it is trained; the sidebar opens a folder, a zip file or a hub id.",
    ),
    "corpus": (
        "layer_map",
        "*Corpus* was removed in 0.3.0. *Where else?* of *Layer map* finds the nearest tokens "
        "among sentences; `bertscope encode` writes the vectors of a corpus.",
    ),
    "mixing": (
        "attention",
        "*How tokens mix* was removed in 0.3.0. The heat map of *Attention* shows norms, value "
        "zeroing and rollout, beside the weights.",
    ),
    "grammar": (
        "minimal_pair",
        "*Grammar exam* was removed in 0.3.0. *Minimal pair* scores our 200 pairs; "
        "`bertscope evaluate --task minimal-pairs` scores a file.",
    ),
    "probes": (
        "layer_map",
        "*Probes* was removed in 0.3.0. The view *Probe* of *Layer map* shows which layer encodes "
        "the part of speech or another label of words.",
    ),
}
"""By name in the address: the folder of the page that took over, and what is said there."""
REMOVED_VIEWS = {
    "checkpoints": {"contents": "1"},
    "corpus": {"map_view": "nearest"},
    "grammar": {"pair_many": "1"},
    "mixing": {"view": "heat-map", "measure": "norms"},
    "probes": {"map_view": "probe"},
}
"""What is chosen on the page that took over, by the name of the removed page."""
PAGES: dict[str, PageInfo] = {
    folder: import_module(f".{folder}", __package__).PAGE
    for folders in GROUPS.values()
    for folder in folders
}
"""By folder: the page is app/<folder>/page.py, its script pages/<folder>.py."""


def shown(*, has_class: bool) -> tuple[dict[str, tuple[str, ...]], dict[str, PageInfo]]:
    """Return the groups and pages of this server."""
    if not has_class:
        return GROUPS, PAGES
    page: PageInfo = import_module(f".{CLASS}", __package__).PAGE
    *_, last = GROUPS
    return {**GROUPS, last: (*GROUPS[last], CLASS)}, {**PAGES, CLASS: page}
