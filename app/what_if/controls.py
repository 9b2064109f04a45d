"""The changes on offer: heads and layers, the attention pattern, ids, and attention weights."""

from collections.abc import Callable, Iterator
from functools import partial

import streamlit as st

from bertcore import BertConfig, Trace
from bertcore.analysis.words.surprise import example_mask
from bertcore.architecture.config import ModernBertConfig
from bertcore.interventions import Cell, parse_head

from ..plots import plain, shorten_middle
from ..shell import frame, one_of
from ..shell.links import HEADS_OFF, MASKED, wants_question
from ..token_strip.token_strip import token_strip
from .changes import (
    LAYERS_SKIPPED,
    PATTERN,
    POSITION_IDS,
    PREFIX_LENGTH,
    SEGMENT_IDS,
    blocks,
    cells,
    chosen,
    num_positions,
    put_blocks,
    put_cell,
    put_edit,
)
from .head_switches import Switched, head_switches
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
    "Rows are layers, columns heads, both counted from 0. A head that is off contributes nothing; "
    "its layer continues with the others. A skipped layer passes its input on unchanged."
)
_SEEN = "_what_if_seen"


def choose_masks(page: frame.Page) -> tuple[int, ...]:
    """Draw the strip and return the positions that the visitor hid.

    On the first visit a word is hidden if none is, unless the link has changes.
    """
    mask = page.bert.tokenizer.mask_token
    tokens = zip(page.trace.tokens, page.trace.text_ids, strict=True)
    allowed = [i for i, (token, text) in enumerate(tokens) if text >= 0 and token != mask]
    MASKED.key(options=allowed)
    is_new = not st.session_state.get(_SEEN) and not chosen(page.bert.config, page.trace.num_tokens)
    is_new = (wants_question() or is_new) and len(allowed) > 0
    st.session_state[_SEEN] = True
    has_mask = bool(MASKED.value) or mask in page.trace.tokens
    can_hide = "mlm" in page.bert.capabilities
    if is_new and can_hide and not has_mask:
        MASKED.put([page.compute(example_mask, *page.texts)])
    masked = MASKED.value

    def toggle(position: int) -> None:
        if position in allowed:
            MASKED.put(sorted({*masked} ^ {position}))

    token_strip(page.trace, key="what_if_strip", selected=None, on_pick=toggle, marked=masked)
    return tuple(masked)


def show_switches(config: BertConfig) -> None:
    """Draw the heads and layers as switches."""

    def switch(new: Switched) -> None:
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
    st.caption(f"**How to read this.** {HOW_SWITCHES}")


def show_pattern(config: BertConfig, trace: Trace) -> None:
    """Draw the choice of which tokens may attend to which; `trace` names the tokens."""
    is_causal = config.family.is_causal
    names = CAUSAL_NAMES if is_causal else PATTERN_NAMES
    pattern = one_of("Which tokens may attend to which", names, PATTERN, with_label=True)
    if pattern == "prefix":
        st.slider("Tokens of the prefix", 0, trace.num_tokens, key=PREFIX_LENGTH.name)
    elif pattern == "drawn":
        blocked = blocks(trace.num_tokens)
        mask_drawing(
            trace.tokens, blocked, is_causal=is_causal, key="mask_drawing", on_draw=put_blocks
        )
    how = (HOW_CAUSAL if is_causal else HOW_PATTERNS)[pattern]
    st.caption(frame.own_tokens(how + (WITHIN_WINDOWS if _has_windows(config) else "")))


def _has_windows(config: BertConfig) -> bool:
    layers = range(config.num_hidden_layers)
    return isinstance(config, ModernBertConfig) and any(config.window(layer) for layer in layers)


def show_edits(config: BertConfig, trace: Trace) -> None:
    """Draw the forms for ids and weights, and what was set in them."""
    row = st.container(horizontal=True)
    if max(config.type_vocab_size, num_positions(config)) > 1:
        with row.popover("Change an id", icon=":material/edit:"):
            _edit_ids(config, trace)
    with row.popover("Change a weight", icon=":material/edit:"):
        _edit_weight(config, trace)
    for label, undo in _set(config, trace):
        st.button(
            f"{plain(label)} :material/close:",
            key=f"undo_{label}",
            on_click=undo,
            type="tertiary",
            help="Undo",
        )


def _token(label: str, trace: Trace, key: str) -> int:
    tokens = trace.tokens  # the session keeps what is called, and a trace has 60 MB
    token: int = st.selectbox(
        label,
        range(trace.num_tokens),
        format_func=lambda index: f"{index}: {shorten_middle(tokens[index], 30)}",
        key=key,
    )
    return token


def _edit_ids(config: BertConfig, trace: Trace) -> None:
    token = _token("Token", trace, "edit_token")
    for field, label, usual, limit in (
        (SEGMENT_IDS, "Segment id", trace.segment_ids[token], config.type_vocab_size),
        (POSITION_IDS, "Position id", trace.position_ids[token], num_positions(config)),
    ):
        if limit < 2:
            continue  # one row or none: there is no other id to choose
        row = st.container(horizontal=True, vertical_alignment="bottom")
        new = row.number_input(label, 0, limit - 1, value=usual, key=f"edit_{field.name}_{token}")
        args = (field, token, int(new))
        row.button("Set", key=f"set_{field.name}", on_click=put_edit, args=args)


def _edit_weight(config: BertConfig, trace: Trace) -> None:
    row = st.container(horizontal=True)
    layer = int(row.number_input("Layer", 0, config.num_hidden_layers - 1, key="edit_layer"))
    head = int(row.number_input("Head", 0, config.num_attention_heads - 1, key="edit_head"))
    source = _token("This token", trace, "edit_source")
    target = _token("attends to this one", trace, "edit_target")
    weight = st.slider("with this weight", 0.0, 1.0, 1.0, 0.01, key="edit_weight")
    now = float(trace.attentions[layer, head, source, target])
    st.caption(f"Without changes: {now:.3f}. The rest of the row is scaled, so that it sums to 1.")
    cell = Cell(layer, head, source, target, weight)
    st.button("Set", key="set_cell", on_click=put_cell, args=(cell,))


def _set(config: BertConfig, trace: Trace) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield a label and an undo for each edit."""

    def named(token: int) -> str:
        return f"{shorten_middle(trace.tokens[token], 20)} ({token})"

    changes = chosen(config, trace.num_tokens)
    for field, values in (
        (SEGMENT_IDS, changes.segment_ids),
        (POSITION_IDS, changes.position_ids),
    ):
        for token, new in values:
            label = f"{named(token)}: {field.name} {new}"
            yield label, partial(put_edit, field, token, None)
    for cell in cells(config, trace.num_tokens):
        label = (
            f"Head {cell.layer}.{cell.head}: {named(cell.source)} attends to {named(cell.target)} "
            f"with {cell.weight:.2f}"
        )
        yield label, partial(put_cell, cell, remove=True)
