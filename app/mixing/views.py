"""The choices of the page, and every measure: one token's row as strips, or all rows as maps."""

import re
from collections.abc import Callable, Collection
from functools import partial

import numpy as np
import streamlit as st

from bertcore.others.families import OtherFamily

from ..plots import plain
from ..shell import Field, Job, Picture, Texts, Work, capabilities, frame, one_of, waiting
from ..streamlit_internals import plotly_chart
from ..token_strip.token_strip import token_strip, usual_token
from . import measures
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

ONE, ALL = "token", "all"
VIEWS = {ONE: "One token", ALL: "Every token"}
TARGETS = {"word": "the word predicted at the token", "next": "B follows A"}
ALL_HEADS = "all"

VIEW = Field("mix_view", ONE, tuple(VIEWS))
TOKEN = Field("mix_token", -1)  # -1 for `usual_token`
LAYER = Field("mix_layer", 0)
HEAD = Field("mix_head", ALL_HEADS)
TARGET = Field("mix_target", "word")
OTHERS = Field("mix_others", False)  # whether a token's own fraction is left out
SLOW = Field("mix_slow", False)  # whether measures that take long are computed too


def kept_choice(page: frame.Page) -> Choice:
    """Return what is chosen; the widgets are drawn below the picture."""
    config, num_tokens = page.bert.config, page.trace.num_tokens
    TOKEN.key(low=-1, high=num_tokens - 1)
    layers = list(range(config.num_hidden_layers))
    # In the middle: early layers attend to neighbours, the last ones mix little.
    LAYER.key(default=len(layers) // 2, options=layers)
    HEAD.key(options=head_names(page))
    targets = measures.targets(page.bert, page.text_b)
    if targets:
        TARGET.key(default=targets[0], options=targets)
    OTHERS.key()
    SLOW.key()
    token, mask_id = TOKEN.value, page.bert.tokenizer.mask_id
    return Choice(
        layer=LAYER.value,
        head=None if HEAD.value == ALL_HEADS else int(HEAD.value),
        token=usual_token(page.trace, mask_id) if token < 0 else token,
        target=TARGET.value if targets else None,
    )


def head_names(page: frame.Page) -> list[str]:
    """Return the choices of a head."""
    return [ALL_HEADS, *(str(head) for head in range(page.bert.config.num_attention_heads))]


def choose_token(page: frame.Page, choice: Choice) -> None:
    """Draw the text; a click chooses the token that receives."""
    token_strip(page.trace, key="mix_strip", selected=choice.token, on_pick=TOKEN.put)


def draw_controls(page: frame.Page) -> None:
    """Draw the controls: layer, head, target, and whether the token itself counts."""
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    layers = list(range(page.bert.config.num_hidden_layers))
    one_of("Layer", layers, LAYER, default=len(layers) // 2, where=row, with_label=True)
    row.selectbox(
        "Head",
        head_names(page),
        format_func=lambda name: "all together" if name == ALL_HEADS else f"head {name}",
        key=HEAD.name,
        width=150,
        help="One head: weights, norms and gradient are of this head; rollout and flow go through "
        "the head of this number in each layer. Value zeroing and the strip with residual "
        "always combine all heads.",
    )
    targets = measures.targets(page.bert, page.text_b)
    if len(targets) > 1:
        row.selectbox(
            "Gradient of", targets, format_func=TARGETS.__getitem__, key=TARGET.name, width=270
        )
    row.toggle(
        "Leave out the token itself",
        key=OTHERS.name,
        help="What a token keeps of itself is large in measures that include the residual "
        "connection and absent from others. Without it, each row is what comes from the other "
        "tokens.",
    )


def offer_slow(page: frame.Page, where: Texts, choice: Choice, view: str) -> None:
    """Draw the switch of the measures that take long; off stops them, too."""
    num_rows = page.trace.num_tokens if view == ALL else 1
    slow = measures.slow_measures(where, choice, num_rows)
    if not slow:
        return
    names = " and ".join(NAMES[name].lower() for name in slow)

    def switched() -> None:
        if not SLOW.value:
            measures.stop(measures.job_keys(where, choice, view))

    # Both value zeroings are one job.
    seconds = slow.get("flow", 0.0) + slow.get("zeroing_rollout", 0.0)
    st.toggle(
        f"Compute {names} too ({_about(seconds)})",
        key=SLOW.name,
        on_change=switched,
        help="They take long for a text of this length, so they run only on request. The time for "
        "flow grows with the cube of the length for one token and the fourth power for all; "
        "for value zeroing, with the square. Switch this off to stop.",
    )


def _about(seconds: float) -> str:
    """Return a rough time in words.

    >>> _about(23.0), _about(200.0)
    ('about 25 seconds', 'about 3 minutes')
    """
    if seconds < 90:
        return f"about {5 * max(1, round(seconds / 5))} seconds"
    return f"about {round(seconds / 60)} minutes"


def show_notes(page: frame.Page, mixing: MixingMaps, choice: Choice, view: str) -> None:
    """Write what is missing in the picture, and why."""
    if "flow" not in {*mixing.maps, *mixing.waiting, *mixing.offered}:
        rows = "for every one of" if view == ALL else "for one of"
        instead = "one token, a lower layer," if view == ALL else "a lower layer"
        st.caption(
            f"Flow is left out: through {choice.layer + 1} layers, {rows} "
            f"{page.trace.num_tokens} tokens, it would take too long. Choose {instead} or a "
            "shorter text."
        )
    family = page.bert.config.family
    left_out = [
        name
        for name in (*measures.IN_LAYER, *measures.THROUGH_LAYERS)
        if name not in measures.measures(page.bert)
    ]
    if family.is_causal:
        after = "a token receives nothing from those after it"
        if "norms" in mixing.maps:
            after += f", so the chart of {plain(page.marks.others)} is left out"
        st.caption(f"{family.name} reads from left to right: {after}.")
    if isinstance(family, OtherFamily) and family.has_decoder:
        st.caption(
            f"This is {family.name}'s encoder. What its decoder attends to is shown on the page "
            "Attention."
        )
    if left_out:
        names = ", ".join(NAMES[name] for name in left_out)
        reason = capabilities.reason(page.bert, "parts")
        st.caption(f"Left out: {names}. They need the internals of the layers, but {reason}")
    elif choice.target is None:
        st.caption(
            "Gradient × attention is left out: it needs the logit of a masked word or, for a pair, "
            "of the next sentence, and this checkpoint has neither."
        )
    elif "gradient" in mixing.maps and not mixing.maps["gradient"].any():
        st.caption(
            "The strip of the gradient is empty: nothing that this token receives in this layer "
            "reaches the chosen output. Next sentence is read from \\[CLS\\] alone."
        )


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
