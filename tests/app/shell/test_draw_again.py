"""The button that draws again: the next seed, and 0 after the last."""

from streamlit.testing.v1 import AppTest

from app.shell.controls import LAST_SEED
from tests.support.opened import button


def page() -> None:
    import streamlit as st

    from app.shell.controls import LAST_SEED, draw_again
    from app.shell.state import Field

    seed = Field("seed", 3)
    seed.key(low=0, high=LAST_SEED)
    draw_again(seed, st.container())


def test_the_seed_after_the_last_is_0() -> None:
    app = AppTest.from_function(page).run()
    button(app, "Draw again").click().run()
    assert app.session_state["seed"] == 4
    app.session_state["seed"] = LAST_SEED
    button(app, "Draw again").click().run()
    assert app.session_state["seed"] == 0
