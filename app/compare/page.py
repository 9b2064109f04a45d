"""Compare: two checkpoints on the same text, such as before and after fine-tuning."""

from ..shell import frame
from ..shell.one_of import one_of
from . import PAGE
from .answers import show_answers
from .case import Case
from .choice import choose
from .fields import VIEW
from .heads import show_heads
from .layers import show_layers
from .trade_off import show_trade_off
from .weights import show_weights

VIEWS = {
    "answers": ("Answers", show_answers),
    "heads": ("Heads", show_heads),
    "weights": ("Weights", show_weights),
    "texts": ("Layers over many texts", show_layers),
    "speed": ("Size, speed, score", show_trade_off),
}


@frame.fragment
def show(case: Case) -> None:
    """Draw the chosen view; runs alone when a choice changes."""
    view = one_of("View", {name: title for name, (title, _) in VIEWS.items()}, VIEW)
    with frame.guard():
        VIEWS[view][1](case)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    first, second = choose(page)
    show(Case(first, second, page.text_a, page.text_b))
