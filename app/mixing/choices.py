"""The visitor's choices: token, layer, head, target; and notes on what is left out."""

import streamlit as st

from bertcore.others.families import OtherFamily

from ..plots import plain
from ..shell import Field, Texts, capabilities, frame, one_of
from ..token_strip.token_strip import token_strip, usual_token
from . import measures
from .figures import NAMES
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
