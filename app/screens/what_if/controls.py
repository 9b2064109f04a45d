"""The changes on offer: heads and layers, and the attention pattern."""

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore import BertConfig, Trace
from bertcore.model.architecture.config import ModernBertConfig
from bertcore.model.interventions import parse_head

from ...shell import frame, hidden, how_to_read, one_of
from ...shell.links import HEADS_OFF
from .changes import CHANGES, LAYERS_SKIPPED, PATTERN, PREFIX_LENGTH, blocks, put_blocks
from .head_switches import head_switches
from .mask_drawing import mask_drawing

PATTERN_NAMES = {
    "bidirectional": "All",
    "causal": "Causal",
    "right-to-left": "Right to left",
    "prefix": "Prefix",
    "drawn": "Drawn",
}
CAUSAL_NAMES = {"bidirectional": "Causal", "drawn": PATTERN_NAMES["drawn"]}
"""Names where attention is always causal."""
HOW_PATTERNS = {
    "bidirectional": "Every token may attend to every token, as in training.",
    "causal": (
        "Each token sees itself and those before it, as in GPT. BERT was not trained this way, and "
        "\\[CLS\\] sees only itself: the next-sentence answer is the same for every text."
    ),
    "right-to-left": "Each token sees itself and those after it, as in a sixth of UniLM's batches.",
    "prefix": (
        "The tokens of the prefix see each other; each later one sees the prefix and the tokens "
        "before it, as in UniLM's sequence-to-sequence mode."
    ),
    "drawn": "A filled cell: the row's token may attend to the column's, in every head.",
}
HOW_CAUSAL = {
    "bidirectional": "Each token sees itself and those before it, as in training.",
    "drawn": HOW_PATTERNS["drawn"] + " Later tokens stay masked.",
}
WITHIN_WINDOWS = " Layers with a window keep it: there no token sees beyond it."
HOW_SWITCHES = (
    "Each square is a head, each row a layer: click one to switch it off.\n\n"
    "A head that is off contributes nothing; its layer continues with the others. A skipped layer "
    "passes its input on unchanged."
)
_SEEN = "_what_if_seen"


def choose_masks(page: frame.Page) -> tuple[int, ...]:
    """Draw the strip, in which a click hides a token; return the hidden positions."""
    hidden.strip(page.trace, page.encoding, page.masked, key="what_if_strip")
    return page.masked


def asks_word() -> bool:
    """Return whether a word is hidden if none is: on the first visit, unless parts are changed."""
    is_first = not st.session_state.get(_SEEN)
    st.session_state[_SEEN] = True
    return is_first and not any(field.is_chosen for field in CHANGES)


def show_switches(config: BertConfig) -> None:
    """Draw the heads and layers as switches."""

    def switch(new: dict[str, Any]) -> None:
        HEADS_OFF.put([str(name) for name in new["off"]])
        LAYERS_SKIPPED.put([int(layer) for layer in new["skipped"]])

    head_switches(
        config.num_hidden_layers,
        config.num_attention_heads,
        sorted(HEADS_OFF.value, key=parse_head),
        sorted(LAYERS_SKIPPED.value),
        key="head_switches",
        on_switch=switch,
    )
    how_to_read(HOW_SWITCHES)


def show_pattern(config: BertConfig, trace: Trace, menu: DeltaGenerator) -> None:
    """Draw the choice of which tokens may attend to which in `menu`, a chosen one in the page.

    Args:
        trace: Names the tokens.
    """
    is_causal = config.family.is_causal
    names = CAUSAL_NAMES if is_causal else PATTERN_NAMES
    label = "Which tokens may attend to which"
    pattern = one_of(label, names, PATTERN, where=menu, with_label=True)
    if pattern == "prefix":
        st.slider("Tokens of the prefix", 0, trace.num_tokens, key=PREFIX_LENGTH.name)
    elif pattern == "drawn":
        blocked = blocks(trace.num_tokens)
        mask_drawing(
            trace.tokens, blocked, is_causal=is_causal, key="mask_drawing", on_draw=put_blocks
        )
    how = (HOW_CAUSAL if is_causal else HOW_PATTERNS)[pattern]
    where = menu if pattern == PATTERN.default else st
    where.caption(frame.own_tokens(how + (WITHIN_WINDOWS if _has_windows(config) else "")))


def _has_windows(config: BertConfig) -> bool:
    layers = range(config.num_hidden_layers)
    return isinstance(config, ModernBertConfig) and any(config.window(layer) for layer in layers)
