"""Gender erased from a hidden state, live: what this removes, and what it costs."""

from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from bertcore.analysis.compare.before_after import WordShift, word_shifts
from bertcore.analysis.shared.inputs import mask_positions
from bertcore.bias import (
    Effect,
    Erasure,
    Estimate,
    erase,
    fit_erasure,
    measure_erasure,
)
from bertcore.model import Model

from ..plots import Figure, error_bars, own_markdown, plain, subplots, theme
from ..plots.before_after import AFTER, BEFORE, word_bars, word_table
from ..shell import Compute, Field, Picture, Progress, capabilities, frame, one_of

STATE = Field("bias_erase_state", 0)
NAMES = {"leace": "LEACE", "inlp": "INLP", "direction": "One direction"}
METHOD = Field("bias_erase_method", "leace", tuple(NAMES))
TEXT = Field("bias_erase_text", "She worked as a [MASK].")
TOP_WORDS = 6
MOST_CHARACTERS = 300
ROW_PIXELS = 84


class Outcome(NamedTuple):
    """An erasure, and its measures before and after."""

    erasure: Erasure
    effects: tuple[Effect, ...]
    why_not_saved: str | None


def _written(estimate: Estimate, *, is_share: bool) -> str:
    return f"{estimate.mean:.0%}" if is_share else f"{estimate.mean:.2f}"


def _effects(effects: tuple[Effect, ...]) -> Figure:
    """Draw a row for each measure: before (grey) and after (blue), with intervals."""
    panels = [[effect for effect in effects if effect.is_share is kind] for kind in (True, False)]
    panels = [panel for panel in panels if panel]
    fig = subplots(
        len(panels),
        1,
        row_heights=[len(panel) for panel in panels],
        vertical_spacing=0.18 if len(panels) > 1 else 0,
    )
    theme.plot_layout(fig, "", "", "", ROW_PIXELS * len(effects) + 130)
    for number, panel in enumerate(panels):
        where = {"row": number + 1, "col": 1}
        is_share = panel[0].is_share
        for side, (name, colour) in enumerate((("before", BEFORE), ("after", AFTER))):
            found = [(each.before, each.after)[side] for each in panel]
            fig.add(
                "scatter",
                x=[each.mean for each in found],
                y=[row + 0.3 * (side - 0.5) for row in range(len(panel))],
                mode="markers+text",
                text=[_written(each, is_share=is_share) for each in found],
                textposition="top center" if side == 0 else "bottom center",
                cliponaxis=False,
                name=name,
                legendgroup=name,
                showlegend=number == 0,
                marker={"color": colour, "size": 10},
                error_x=error_bars(
                    [each.mean for each in found],
                    [each.low for each in found],
                    [each.high for each in found],
                    colour,
                ),
                hovertemplate="%{x}<extra>" + name + "</extra>",
                **where,
            )
        names = [theme.escape(each.name).replace(", ", ",<br>") for each in panel]
        rows = theme.named_rows(names, 0.35)
        fig.update_yaxes(**rows, tickfont={"size": 14}, ticklen=0, **where)
        for row, each in enumerate(panel):
            if each.neutral:  # chance; measures that should stay the same have none
                fig.add_shape(
                    type="line",
                    x0=each.neutral,
                    x1=each.neutral,
                    y0=row - 0.5,
                    y1=row + 0.5,
                    line={"color": theme.SPECIAL, "width": 1, "dash": "dash"},
                    **where,
                )
        if is_share:
            fig.update_xaxes(range=[-0.02, 1.02], tickformat=".0%", **where)
        else:
            fig.update_xaxes(title_text="nats", rangemode="tozero", **where)
    fig.update_layout(dragmode=False)
    return fig


EFFECTS = Picture(
    name="bias-erased",
    figure=_effects,
    table=lambda effects: pd.DataFrame([effect.row() for effect in effects]),
    how=(
        "Before (grey) and after (blue), with 95% intervals. *Probes* are trained on 30 feminine "
        "and 30 masculine words and names, none of which the erasure was fitted on; dashed: "
        "chance. The *gap* is the mean distance between two groups at 20 occupations (0: none). "
        "*Masked words* and the *exam* are the price. LEACE: Belrose et al. 2023; INLP: Ravfogel "
        "et al. 2020; one direction: Bolukbasi et al. 2016."
    ),
    code="""
from bertcore.bias import fit_erasure, measure_erasure

erasure = fit_erasure(bert, {state}, {method!r})
for effect in measure_erasure(bert, erasure):
    print(effect.name, effect.before, effect.after)
""",
    needs=frozenset({"parts"}),
)


WORDS = Picture(
    name="bias-erased-words",
    figure=word_bars,
    table=word_table,
    how=(
        "The most probable words at each \\[MASK\\] without the erasure (grey) and with it (blue), "
        "and the change in percentage points."
    ),
    code="""
from bertcore.bias import erase, fit_erasure

erased = erase(bert, fit_erasure(bert, {state}, {method!r}))
print(bert.fill_mask({text!r}))
print(erased.fill_mask({text!r}))
""",
    needs=frozenset({"parts", "mlm"}),
)


def show(page: frame.Page) -> None:
    """Draw the choice of state and method, the measures, and a sentence before and after."""
    if capabilities.tells(page, "parts"):
        return
    last = page.bert.config.num_hidden_layers
    states = list(range(last + 1))
    st.select_slider(
        "Hidden state to erase gender from",
        states,
        key=STATE.key(default=last // 2, options=states),
        format_func=lambda state: "emb." if state == 0 else str(state),
        width=420,
        help="After this layer, every token's vector loses what a linear map can read about "
        "gender; the layers above read the rest.",
    )
    one_of("Method", NAMES, METHOD)
    state, method = STATE.value, METHOD.value
    result = Compute(name="erased")(_outcome, page.bert_key, state, method)
    st.markdown(_verdict(result, last))
    EFFECTS.show(page, result.effects, state=state, method=method)
    if result.why_not_saved is None:
        st.caption(
            f"It can be saved: `bertscope bias erase --layer {state} --method {method} --save "
            "FOLDER` folds it into the heads that read this state. The state itself is unchanged."
        )
    else:
        st.caption(f"Live only: {plain(result.why_not_saved)}")
    if WORDS.needs <= page.bert.capabilities:
        st.subheader("A sentence before and after")
        _show_words(page, result.erasure)


def _outcome(bert: Model, state: int, method: str, *, progress: Progress) -> Outcome:
    progress(0.0, "Fitting the erasure")
    erasure = fit_erasure(bert, state, method)
    effects = measure_erasure(
        bert, erasure, progress=lambda done, name: progress(done, name.capitalize())
    )
    return Outcome(erasure, effects, erase(bert, erasure).why_not_saved)


def _verdict(result: Outcome, last: int) -> str:
    """Return what a probe still finds, here and at the last state, in a sentence each."""
    erasure, here = result.erasure, result.effects[0]
    first = (
        f"**At hidden state {erasure.state} a probe is right about the gender of "
        f"{here.before.mean:.0%} of words before and {here.after.mean:.0%} after (chance 50%).**"
    )
    if here.after.low > 0.5:
        first += (
            " Words that the erasure was not fitted on still show it: it was hidden, not removed "
            "(Gonen and Goldberg 2019)."
        )
    if erasure.state == last:
        return first
    above = result.effects[1]
    first += f" At the last state: {above.before.mean:.0%} before, {above.after.mean:.0%} after"
    is_back = above.after.low > max(0.5, here.after.high)  # more than chance allows
    return first + (": the layers above find it again." if is_back else ".")


def _show_words(page: frame.Page, erasure: Erasure) -> None:
    """Draw the box for a sentence, and its words before and after."""
    mask = page.bert.tokenizer.mask_token
    st.text_input(
        own_markdown("A sentence with \\[MASK\\]", page.marks),
        key=TEXT.key(),
        max_chars=MOST_CHARACTERS,
    )
    text = TEXT.value.replace("[MASK]", mask)
    if mask not in text:
        st.info(own_markdown("Write \\[MASK\\] where a word is to be predicted.", page.marks))
        return

    with frame.guard():
        shifts = Compute(name="erased-words")(_shifts, page.bert_key, erasure, text)
        drawn: dict[str, Any] = {"originals": [None] * len(shifts), "mask": mask}
        values: dict[str, Any] = {"state": erasure.state, "method": erasure.method, "text": text}
        WORDS.show(page, shifts, drawn=drawn, **values)


def _shifts(
    bert: Model, erasure: Erasure, text: str, *, progress: Progress
) -> tuple[WordShift, ...]:
    """Return how the words at each mask of a sentence change."""
    progress(0.0, "Running the sentence")
    before, after = bert.trace(text), erase(bert, erasure).trace(text)
    places = mask_positions(bert.tokenize(text), bert.tokenizer.mask_id)
    return word_shifts(bert, before, after, [(i, i) for i in places], TOP_WORDS)
