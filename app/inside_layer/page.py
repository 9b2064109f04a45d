"""Inside a layer: what becomes of a token's vector, step by step, and which part wrote the word."""

from functools import partial
from inspect import getsourcelines
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore import lowlevel
from bertcore.analysis.words.surprise import example_mask

from ..html_file.chart import Data
from ..plots import plain
from ..shell import Field, Picture, capabilities, frame, one_of
from ..shell.links import INSIDE_LAYER as LAYER
from ..shell.links import INSIDE_LAYER_TOKEN as TOKEN
from ..shell.links import INSIDE_LAYER_VIEW as VIEW
from ..shell.links import MASKED, ONE_TOKEN
from ..token_strip.token_strip import token_strip, usual_token
from . import PAGE, drawing
from .drawing import AllTokens, Sheet, all_tokens
from .one_token import activation_name, pair_sheet, token_sheet, word_sheet
from .run import AskedWord, Run
from .sandbox import show_sandbox
from .who_wrote import choose_word, show_who_wrote

ALL = "all"
VIEWS = {ONE_TOKEN: "One token", ALL: "All tokens"}
STEPS = {
    "embed": "Input",
    "layer": "Layer",
    "attend": "Attention",
    "split_heads": "Heads",
    "feed_forward": "Neurons",
    "normalize": "LayerNorm",
    "masked_word_logits": "Masked word",
    "pool": "Pooler",
    "next_sentence_logits": "Next sentence",
}
"""Function of `bertcore.lowlevel` -> the step of this page that it computes."""
STEP = Field("code_step", "attend", tuple(STEPS))


def _arrays(sheet: Sheet) -> Data:
    return {
        f"{index:03d}": vector.numpy().astype(np.float32)
        for index, vector in enumerate(sheet.vectors)
    }


def _all_arrays(stages: AllTokens) -> Data:
    return {
        "rows": np.array(stages.rows),
        "bands": stages.bands,
        "norms": stages.norms,
        "cosines": stages.cosines,
        "firing": np.array(stages.firing),
    }


LAYER_OF_TOKEN = Picture(
    name="inside-layer",
    table=_arrays,
    needs=frozenset({"parts"}),
    how=(
        "One token passes through layer {layer}, from top to bottom. A strip is its vector, in "
        "cells of neighbouring dimensions: blue above zero, orange below; strips of one kind share "
        "a colour scale. Beside it are its length and its cosine with the vector before the block. "
        "A **query** is compared with the **key** of every token that it may see; the scores "
        "become weights, the weights mix the **values**, and the output projection turns the mix "
        "into what the head writes. A neuron **fires** if its input is above zero{below}. {words}"
    ),
    code="""{run}
from bertcore.analysis import layer_parts

parts = layer_parts(bert, trace, {layer})
parts.scores[:, {position}], parts.weights[:, {position}]           # [H, T] each
parts.head_outputs[:, {position}].norm(dim=-1)             # what each head writes, [H]
parts.attention_state[{position}]                          # [D]
(parts.pre_activations[{position}] > 0).sum()              # neurons that fire
parts.output[{position}]                                   # [D]
""",
)
BELOW_ZERO = "; GELU of a negative input is small but not zero, so the others write a little too"
WORDS_HOW = (
    "The words are what the masked-word head would predict from the vector; it was trained on the "
    "last layer only. Shares are of {sum}; neurons are ranked by their share, since those that "
    "fire most do not always matter most. The words that a neuron raises mean little in a small "
    "model."
)
ALL_TOKENS = Picture(
    name="all-tokens-in-layer",
    table=_all_arrays,
    needs=frozenset({"parts"}),
    how=(
        "Each row is a token, each column a stage of layer {layer}. Below a strip are the length "
        "of the vector and its cosine with the vector so far. On the right: how many of the "
        "{num_neurons:,} neurons fire. Click a token to follow it."
    ),
    code="""{run}
from bertcore.analysis import layer_parts

parts = layer_parts(bert, trace, {layer})
parts.attention_output.norm(dim=-1), parts.feed_forward_output.norm(dim=-1)   # [T] each
""",
)
WORD_HEAD = Picture(
    name="masked-word-head",
    table=_arrays,
    needs=frozenset({"mlm"}),
    how=(
        "The output vector of the last layer passes through a linear layer, the activation and a "
        "LayerNorm. The result is compared with the embedding of every word of the vocabulary: the "
        "dot product plus the word's bias is its logit, and softmax turns the logits into "
        "probabilities."
    ),
    code="""{run}
from bertcore.analysis import masked_word_steps

steps = masked_word_steps(bert, trace, {position})
steps.dense, steps.activation, steps.norm          # [E] each
steps.products + steps.biases                      # the logits, [V]
""",
)
POOLER = Picture(
    name="pooler",
    table=_arrays,
    needs=frozenset({"pooler"}),
    how=(
        "The pooler reads only the first token: a linear layer and tanh. A head for sentence pairs "
        "reads the pooled vector, and so do fine-tuned classifiers."
    ),
    code="""{run}
from bertcore.analysis import pooler_steps

steps = pooler_steps(bert, trace)
steps.dense, steps.pooled, steps.logits
""",
)


@frame.fragment
def show(page: frame.Page) -> None:
    """Draw the page below the sentence box; runs alone when a choice changes."""
    run, position = _choose_token(page)
    layers = list(range(page.bert.config.num_hidden_layers))
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    upper = 2 * len(layers) // 3
    layer = one_of("Layer", layers, LAYER, default=upper, where=row, with_label=True)
    view = one_of("Show", VIEWS, VIEW, where=row, with_label=True)
    _offer_hiding(page, run, position, row)
    if view == ALL:
        _show_all(page, run, layer, position)
        return
    asked = choose_word(page, run, position, row)
    _show_token(page, run, layer, asked)
    _show_heads(page, run, asked)
    _show_code(page)
    if asked.word is not None:
        show_who_wrote(page, run, asked)


def _choose_token(page: frame.Page) -> tuple[Run, int]:
    """Draw the strip; return the run, with its hidden tokens, and the chosen token."""
    bert, trace = page.bert, page.trace
    can_hide = {"mlm", "mask"} <= bert.capabilities
    allowed = [place for place, text in enumerate(trace.text_ids) if text >= 0]
    masked = sorted(place for place in MASKED.value if place in allowed) if can_hide else []
    is_asked = bool(masked) or bert.tokenizer.mask_id in trace.input_ids
    if can_hide and allowed and not is_asked:
        masked = [page.compute(example_mask, *page.texts)]
    run = Run(page.bert_key, page.text_a, page.text_b, tuple(masked))
    TOKEN.key(low=-1, high=trace.num_tokens - 1)
    position = TOKEN.value
    if position < 0:
        position = usual_token(run.trace, bert.tokenizer.mask_id)
    token_strip(trace, key="layer_strip", selected=position, on_pick=TOKEN.put, marked=masked)
    return run, position


def _offer_hiding(page: frame.Page, run: Run, position: int, where: DeltaGenerator) -> None:
    """Draw a button that hides the chosen token, or shows it if others are hidden too."""
    bert, trace = page.bert, page.trace
    if not {"mlm", "mask"} <= bert.capabilities or trace.text_ids[position] < 0:
        return
    is_hidden = position in run.masked
    if trace.input_ids[position] == bert.tokenizer.mask_id or (is_hidden and len(run.masked) == 1):
        return
    where.button(
        "Show it" if is_hidden else "Hide it",
        icon=":material/visibility:" if is_hidden else ":material/ink_eraser:",
        on_click=lambda: MASKED.put(sorted({*run.masked} ^ {position})),
        help="A hidden token is replaced by the mask token, on every page.",
    )


def _show_token(page: frame.Page, run: Run, layer: int, asked: AskedWord) -> None:
    words = "" if asked.word is None else WORDS_HOW.format(sum=asked.sum)
    has_gelu = activation_name(page.bert.config.hidden_act) == "GELU"
    _show_sheet(
        page,
        LAYER_OF_TOKEN,
        page.compute(token_sheet, run, layer, asked),
        key="layer_drawing",
        name=f"{run.trace.tokens[asked.position]} in layer {layer}",
        title=f"Layer {layer}",
        asked=asked,
        layer=layer,
        position=asked.position,
        run=run.python,
        words=words,
        below=BELOW_ZERO if has_gelu else "",
    )


def _show_sheet(
    page: frame.Page,
    picture: Picture,
    sheet: Sheet,
    *,
    key: str,
    name: str,
    title: str,
    asked: AskedWord | None = None,
    **values: Any,
) -> None:
    """Draw a sheet and its downloads; `values` fill the picture's caption and Python."""
    message = drawing.sheet_message(sheet, name, asked)
    drawing.COMPONENT(message, key=key)
    part = partial(drawing.COMPONENT.part, message)
    picture.offer(page, sheet, title=title, part=part, **values)


def _show_all(page: frame.Page, run: Run, layer: int, position: int) -> None:
    stages = page.compute(all_tokens, run, layer, position)
    message = drawing.all_message(stages, run.trace, position)

    def follow(token: int) -> None:
        TOKEN.put(token)
        VIEW.put(ONE_TOKEN)

    drawing.COMPONENT(message, key="layer_all", picked=follow)
    if len(stages.rows) < run.trace.num_tokens:
        st.caption(f"{len(stages.rows)} of {run.trace.num_tokens} tokens are drawn.")
    ALL_TOKENS.offer(
        page,
        stages,
        title=f"All tokens in layer {layer}",
        part=partial(drawing.COMPONENT.part, message),
        layer=layer,
        num_neurons=stages.num_neurons,
        run=run.python,
    )


def _show_heads(page: frame.Page, run: Run, asked: AskedWord) -> None:
    """Draw what reads the last layer: the masked-word head and the pooler."""
    st.header("After the last layer", anchor=False)
    token = run.trace.tokens[asked.position]
    if "mlm" in page.bert.capabilities:
        st.subheader(f"The masked-word head at {plain(token)}", anchor=False)
        _show_sheet(
            page,
            WORD_HEAD,
            page.compute(word_sheet, run, asked),
            key="word_head",
            name=f"The masked-word head at {token}",
            title="The masked-word head",
            run=run.python,
            position=asked.position,
        )
    else:
        capabilities.note(page, "mlm")
    if "pooler" in page.bert.capabilities:
        st.subheader("The pooler", anchor=False)
        sheet, title = page.compute(pair_sheet, run), "The pooler"
        _show_sheet(page, POOLER, sheet, key="pooler", name=title, title=title, run=run.python)
    else:
        capabilities.note(page, "pooler")


def _show_code(page: frame.Page) -> None:
    """Draw the lines that compute a step, if the checkpoint is what they read."""
    if page.bert.config.model_type != "bert" or page.bert.config.is_decoder:
        return
    with st.expander("The code of a step", icon=":material/code:"):
        step = one_of("Step", STEPS, STEP)
        lines, first = getsourcelines(getattr(lowlevel, step))
        st.code("".join(lines), language="python", wrap_lines=True)
        st.caption(
            f"Lines {first} to {first + len(lines) - 1} of `bertcore/lowlevel.py`, BERT in plain "
            "tensors, which computes what this page shows. `docs/read-the-code.md` reads it beside "
            "the code of `transformers`; `notebooks/bert_in_plain_tensors.ipynb` runs it."
        )


@frame.fragment
def sandbox(page: frame.Page) -> None:
    """Draw the toy head; its sliders rerun only this."""
    show_sandbox(page)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    if LAYER_OF_TOKEN.is_available(page):
        show(page)
        sandbox(page)
