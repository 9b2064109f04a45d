"""The pictures of every measure: one token's row as strips, or every token's row as maps."""

import re
from collections.abc import Callable, Collection
from functools import partial

import numpy as np
import streamlit as st

from ..plots import plain
from ..shell import Job, Picture, Texts, Work, frame, waiting
from ..streamlit_internals import plotly_chart
from . import measures
from .choices import ALL, OTHERS, SLOW
from .figures import (
    MOST_NUMBERED,
    NAMES,
    AllTokens,
    OneToken,
    maps_arrays,
    small_maps,
    strips,
    strips_table,
    verdict,
)
from .measures import Choice, MixingMaps

_MODULES = {
    "NextSentenceLogit": "attention_gradients",
    "attention_gradients": "attention_gradients",
    "best_word": "attention_gradients",
    "attention_flow": "flow",
    "normalize_rows": "maps",
    "block_norms": "norm_weighted",
    "weighted_norms": "norm_weighted",
    "attention_rollout": "flow",
    "rollout": "flow",
    "value_zeroing": "value_zeroing",
}
"""Where each function that may be used comes from."""
_TARGETS = {"word": "best_word(bert, trace, token)", "next": "NextSentenceLogit()"}


def maps_code(
    page: frame.Page, choice: Choice, drawn: Collection[str], *, every_token: bool, others: bool
) -> str:
    """Return Python from opening the checkpoint to `maps`, the numbers of each measure, [R, T].

    Args:
        drawn: The measures, in order.
        every_token: Whether there is a row for every token, or for the chosen one alone.
        others: Whether the token itself is left out.
    """
    heads = "mean(0)" if choice.head is None else "select(0, head)"
    norms = "block_norms(bert, trace).summed[layer]"
    if choice.head is not None:
        norms = "weighted_norms(bert, trace)[layer, head]"
    # All of value zeroing takes long, and only the rollout needs it.
    is_rolled = "zeroing_rollout" in drawn
    asked = "" if every_token else ", tokens=[token]"
    one_row = f"value_zeroing(bert, trace{asked})[layer]"
    values = {
        "weights": f"trace.attentions[layer].{heads}[rows]",
        "norms": f"{norms}[rows]",
        "block": "block_norms(bert, trace).normalized[layer][rows]",
        "zeroing": "zeroing[layer][rows]" if is_rolled else one_row,
        "gradient": f"gradients.product(layer).abs().{heads}[rows]",
        "rollout": "attention_rollout(trace.attentions, head=head)[layer][rows]",
        "flow": f"attention_flow(trace.attentions[: layer + 1], head=head{asked}).values",
        "zeroing_rollout": "rollout(zeroing)[layer][rows]",
    }
    lines = [
        f"layer, head, token = {choice.layer}, {choice.head}, {choice.token}",
        "rows = slice(None)" if every_token else "rows = [token]",
    ]
    if choice.target is not None and "gradient" in drawn:
        lines.append(f"gradients = attention_gradients(bert, trace, {_TARGETS[choice.target]})")
    if is_rolled:
        lines.append("zeroing = normalize_rows(value_zeroing(bert, trace))")
    lines += ["maps = {", *(f'    "{name}": {values[name]},' for name in drawn), "}"]
    if others:
        lines += [
            "is_other = ~torch.eye(trace.num_tokens, dtype=bool)[rows]  # all but the token itself",
            "maps = {name: values * is_other for name, values in maps.items()}",
        ]
    body = "\n".join(lines)
    imports = [
        f"from bertcore.analysis.mixing.{module} import {name}"
        for name, module in _MODULES.items()
        if name == "normalize_rows" or re.search(rf"\b{name}\(", body)
    ]
    torch = ["import torch", ""] if others else []
    return page.setup_code + "\n" + "\n".join([*torch, *imports, "", body, ""])


ONE_TOKEN = Picture(
    name="mixing",
    figure=strips,
    table=strips_table,
    how=(
        "Each strip answers the same question in a different way; the framed column is the token "
        "itself. Colour is the fraction of the strip's sum (its square root, so that small ones "
        "are visible; the token itself may exceed the scale); the three largest cells of at least "
        f"1% show their percentages, in texts of up to {MOST_NUMBERED} tokens. Drag over some "
        "tokens to zoom in, double-click to zoom out. The upper strips are about one layer, the "
        "lower ones about the path from the words themselves up to this layer. Where they "
        "disagree, the weights alone would mislead. None of them says why BERT decides as it does."
    ),
    code="""
fractions = {{name: normalize_rows(values.float()) for name, values in maps.items()}}  # [1, T] each
row = {{name: values[0] for name, values in fractions.items()}}
""",
)
EVERY_TOKEN = Picture(
    name="mixing-maps",
    figure=small_maps,
    table=maps_arrays,
    how=(
        "One map for each measure: each row is a token that receives, each column one that gives, "
        "and a row sums to 100%. Drag a rectangle in one map to zoom into all, double-click to "
        "zoom out. A bright diagonal means that tokens mostly keep what they have. In the map of "
        "the gradient, rows that do not matter for the chosen output are empty."
    ),
    code="""
fractions = {{name: normalize_rows(values.float()) for name, values in maps.items()}}  # [T, T] each
""",
)

_JOB_KEYS = "_mix_job_keys"


def picture_of(view: str) -> Picture:
    """Return the picture of a view."""
    return EVERY_TOKEN if view == ALL else ONE_TOKEN


def show_picture(
    page: frame.Page, where: Texts, choice: Choice, view: str, below: Callable[[MixingMaps], None]
) -> MixingMaps:
    """Draw the picture; slow measures appear when they are ready. Return its numbers.

    Args:
        below: Draws what is under the picture.
    """
    keys = measures.job_keys(where, choice, view)
    measures.stop(st.session_state.get(_JOB_KEYS, keys) - keys)  # of the choice before
    st.session_state[_JOB_KEYS] = keys
    measure = measures.every_token if view == ALL else measures.one_token
    measure = partial(measure, slow=SLOW.value)
    place, bars = st.container(), st.container()
    mixing = measure(where, choice)
    with bars:
        if _await(mixing):
            mixing = measure(where, choice)
    below(mixing)
    mixing = _without_itself(page, mixing, choice, view)
    with place:
        _draw(page, mixing, choice, view)
    return mixing


def setup_code(page: frame.Page, mixing: MixingMaps, choice: Choice, view: str) -> str:
    """Return Python that makes the maps as they are drawn."""
    return maps_code(page, choice, list(mixing.maps), every_token=view == ALL, others=OTHERS.value)


def _await(mixing: MixingMaps) -> bool:
    """Draw the progress of awaited measures; return whether any has finished."""
    works: dict[Work, list[str]] = {}
    for measure, work in mixing.waiting.items():
        works.setdefault(work, []).append(measure)
    has_come = False
    for work, measured in works.items():
        named = " and ".join(NAMES[measure] for measure in measured)
        say = partial(_progress, named)
        result = waiting.result(work, f"mixing-{measured[0]}", patience=0.0, say=say)
        has_come = has_come or result is not None
    return has_come


def _progress(named: str, job: Job) -> str:
    return f"{named}: {job.stage.lower()}"


def _without_itself(page: frame.Page, mixing: MixingMaps, choice: Choice, view: str) -> MixingMaps:
    """Return the rows as they are drawn: with or without the token itself."""
    if not OTHERS.value:
        return mixing
    rows = range(page.trace.num_tokens) if view == ALL else [choice.token]
    return MixingMaps(measures.without_itself(mixing.maps, rows), mixing.waiting, mixing.offered)


def _draw(page: frame.Page, mixing: MixingMaps, choice: Choice, view: str) -> None:
    """Draw the title and the picture; the files wait until nothing is awaited."""
    result: OneToken | AllTokens
    if view == ALL:
        st.header(f"Where does every token get its information? Layer {choice.layer}", anchor=False)
        result = AllTokens(mixing.maps, page.trace.tokens)
    else:
        result = _one_token(page, mixing, choice)
    picture = picture_of(view)
    if mixing.waiting:
        assert picture.figure is not None
        plotly_chart(picture.figure(result).to_dict())
        return
    picture.show(page, result, setup=setup_code(page, mixing, choice, view), with_caption=False)


def _one_token(page: frame.Page, mixing: MixingMaps, choice: Choice) -> OneToken:
    """Write the title and the verdict; return the strips, with room for what is awaited."""
    tokens, layer = page.trace.tokens, choice.layer
    rows = {name: fractions[0] for name, fractions in mixing.maps.items()}
    rows |= dict.fromkeys(mixing.waiting, np.empty(0, dtype=np.float32))
    named = [plain(token) for token in tokens]
    st.header(f"Where does “{named[choice.token]}” get its information?", anchor=False)
    where = f"In layer {layer}" if choice.head is None else f"In layer {layer}, head {choice.head}"
    answer = verdict(
        rows,
        named,
        choice.token,
        is_one_head=choice.head is not None,
        only_others=OTHERS.value,
    )
    st.markdown(f"{where}, {answer}")
    groups = {
        f"In layer {layer}": measures.IN_LAYER,
        f"From the text up to layer {layer}": measures.THROUGH_LAYERS,
    }
    return OneToken(
        {title: {n: rows[n] for n in names if n in rows} for title, names in groups.items()},
        tokens,
        choice.token,
    )
