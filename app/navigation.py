"""The pages, in the order of a first lesson: to add one, add its folder to a group."""

from importlib import import_module

from .page_info import PageInfo

GROUPS = {
    "": (
        "glance",
        "lessons",
        "tokens",
        "attention",
        "masked_words",
        "sentence_pairs",
        "inspect_checkpoint",
    ),
    "Understand": (
        "inside_layer",
        "what_if",
        "minimal_pair",
        "architectures",
        "objectives",
        "papers",
    ),
    "Measure": ("heads", "layer_map", "bias"),
    "Inspect": ("compare",),
    "Train": ("training_example", "training"),
}
"""Those of "" always stand in the menu, the others under *More tools*."""
DOOR = "door"
"""Folder of the page at the app's own address, which is in no group."""
QUESTIONS = {
    "inside_layer": "What does a layer do to a word?",
    "what_if": "What if a part is switched off?",
    "minimal_pair": "What does one other word change?",
    "architectures": "Which words may each model see?",
    "objectives": "What else can a model guess?",
    "papers": "Which figures on BERT are true?",
    "heads": "What is each attention head good at?",
    "layer_map": "Which words lie close together?",
    "bias": "What does it think of people?",
    "compare": "How do two models differ?",
    "training_example": "What is BERT given to learn from?",
    "training": "How does a model learn?",
    "classroom": "What does my class answer?",
}
"""What a page under *More tools* answers, by folder: shorter than its purpose."""
TEACH, CLASS = "Teach", "classroom"
"""The last group, and the folder of its page that only a server with a class has."""
CLASS_LINK = PageInfo(
    "class-link", "A link for my class", "What should my class see?", ":material/link:"
)
"""An entry of the last group, which leads to a form on *Lessons*."""
READING = (
    *(folder for folder in GROUPS[""] if folder not in ("lessons", "inspect_checkpoint")),
    *GROUPS["Understand"],
    *GROUPS["Measure"],
    "inspect_checkpoint",
    *GROUPS["Inspect"],
    *GROUPS["Train"],
)
"""The order in which a page leads to the next; *Lessons* leads to pages of its own."""
REMOVED = {
    "checkpoints": (
        "inspect_checkpoint",
        "*Checkpoints* was removed in 0.3.0. *What is in this checkpoint?* of *Inspect my model* "
        "shows what was read and whether it is trained; the sidebar opens a folder, a zip file or "
        "a hub id.",
    ),
    "corpus": (
        "layer_map",
        "*Corpus* was removed in 0.3.0. *Where else?* on *Layer map* finds the nearest tokens "
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
        "*Probes* was removed in 0.3.0. *Layer map* shows below its map which layer encodes "
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
    folder: import_module(f".screens.{folder}", __package__).PAGE
    for folders in ((DOOR,), *GROUPS.values())
    for folder in folders
}
"""By folder: the page is app/screens/<folder>/page.py, its script pages/<folder>.py."""


def shown(*, has_class: bool) -> tuple[dict[str, tuple[str, ...]], dict[str, PageInfo]]:
    """Return the groups and pages of this server."""
    if not has_class:
        return GROUPS, PAGES
    page: PageInfo = import_module(f".screens.{CLASS}", __package__).PAGE
    return {**GROUPS, TEACH: (CLASS,)}, {**PAGES, CLASS: page}
