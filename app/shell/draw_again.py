"""The button that draws anew: from the next random seed, which is kept in the address."""

from typing import Literal

from streamlit.delta_generator import DeltaGenerator

from .state import Field

LAST_SEED = 999_999


def draw_again(
    seed: Field[int], where: DeltaGenerator, *, type: Literal["primary", "secondary"] = "secondary"
) -> None:
    """Draw the button; the seed after LAST_SEED is 0.

    Args:
        seed: The caller calls its `key(low=0, high=LAST_SEED)`: a link may ask for another number.
        where: Container to draw in.
        type: As for `st.button`.
    """
    where.button(
        "Draw again",
        type=type,
        icon=":material/casino:",
        on_click=lambda: seed.put((seed.value + 1) % (LAST_SEED + 1)),
    )
