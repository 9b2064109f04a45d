"""Sentence pairs: does B follow A, and what changes the answer?"""

from dataclasses import replace

import streamlit as st

from bertcore.analysis.words.next_sentence import (
    SEGMENTS,
    AttentionMass,
    attention_mass,
    segment_ids,
)
from bertcore.checkpoints.source import LANGUAGES

from ..plots import Figure, plain, subplots, theme
from ..shell import TEXT_A, TEXT_B, Field, Picture, cache, capabilities, frame, one_of, sentence_box
from . import PAGE
from .answer import show_answer, show_order, show_variants
from .several import show_several

BY_LAYER, EVERY_HEAD = "By layer", "Every head"
VIEWS = (BY_LAYER, EVERY_HEAD)
VIEW = Field("mass", BY_LAYER, VIEWS)
ATTENTION_OPEN = Field("between", False)
HOW_MUCH = "How much do the sentences attend to each other?"
LINES = (
    ": the mean of the heads, and the range from the lowest to the highest head as a band. The "
    "dotted line is {even}"
)
UNIFORM = "what uniform attention would give"


def mass_lines(attention_mass: AttentionMass) -> Figure:
    """Draw the attention mass from A to B and back by layer: mean over heads, and their range.

    Layers and heads are counted from 0, as in the attention views.
    """
    num_layers = attention_mass.mass.shape[0]
    layers = list(range(num_layers))
    fig = Figure()
    ways = (("A", "B", theme.SEGMENT_A), ("B", "A", theme.SEGMENT_B))
    for source, target, colour in ways:
        mass = attention_mass.between(source, target)
        name = f"{source} to {target}"
        band = [*mass.max(1), *mass.min(1)[::-1]]
        fig.add(
            "scatter",
            x=[*layers, *layers[::-1]],
            y=band,
            fill="toself",
            fillcolor=colour,
            opacity=0.14,
            line_width=0,
            mode="lines",
            hoverinfo="skip",
            legendgroup=name,
            showlegend=False,
        )
        fig.add(
            "scatter",
            x=layers,
            y=mass.mean(1),
            mode="lines+markers",
            name=name,
            legendgroup=name,
            line={"color": colour, "width": 3},
            marker_size=8,
            hovertemplate=f"{name}: %{{y:.1%}} (mean of the heads)<extra></extra>",
        )
        even = float(attention_mass.fraction[("A", "B", "special").index(target)])
        fig.add(
            "scatter",
            x=layers,
            y=[even] * num_layers,
            mode="lines",
            name=f"fraction of {target} in the tokens",
            legendgroup=name,
            line={"color": colour, "width": 1.5, "dash": "dot"},
            hovertemplate=f"fraction of {target} in the tokens: %{{y:.1%}}<extra></extra>",
        )
    theme.plot_layout(fig, "", "layer", "fraction of the attention", 320)
    fig.update_layout(hovermode="x unified")
    fig.update_xaxes(tickvals=layers)
    fig.update_yaxes(tickformat=".0%", rangemode="tozero")
    return fig


def mass_heatmaps(attention_mass: AttentionMass) -> Figure:
    """Draw the attention mass of every head, from A to B and from B to A, on one colour scale."""
    num_layers, num_heads = attention_mass.mass.shape[:2]
    ways = (("A", "B"), ("B", "A"))
    fig = subplots(1, 2, horizontal_spacing=0.06)
    for column, (source, target) in enumerate(ways, start=1):
        fig.add(
            "heatmap",
            z=attention_mass.between(source, target),
            x=list(range(num_heads)),
            y=list(range(num_layers)),
            coloraxis="coloraxis",
            xgap=2,
            ygap=2,
            hovertemplate="layer %{y}, head %{x}: %{z:.1%} of the attention of "
            f"{source} goes to {target}<extra></extra>",
            row=1,
            col=column,
        )
    theme.plot_layout(fig, "", "", "", 26 * num_layers + 150)
    fig.update_layout(
        margin={"l": 0, "r": 0, "t": 54, "b": 44},
        coloraxis={
            "colorscale": theme.SEQUENTIAL,
            "cmin": 0,
            "cmax": max(float(attention_mass.between(*way).max()) for way in ways),
            "colorbar": theme.bar_above("fraction of the attention", tickformat=".0%"),
        },
    )
    fig.update_xaxes(tickvals=list(range(num_heads)), showgrid=False)
    fig.update_yaxes(tickvals=list(range(num_layers)), showgrid=False)
    for column, (source, target) in enumerate(ways, start=1):
        fig.update_xaxes(title_text=f"{source} to {target}, by head", col=column)
    fig.update_yaxes(title_text="layer", col=1)
    fig.update_yaxes(showticklabels=False, col=2)
    return fig


MASS = Picture(
    name="attention-mass",
    figure=mass_lines,
    table=lambda mass: {"mass": mass.mass, "share": mass.fraction},
    how=(
        "The fraction of the attention given by the tokens of one sentence that goes to the "
        "tokens of the other{view}. The rest to 100% stays in the same sentence or goes to "
        "\\[CLS\\] and \\[SEP\\], which a head may attend to when it finds nothing else (Clark et "
        "al. 2019)."
    ),
    code="""
from bertcore.analysis.words.next_sentence import attention_mass, segment_ids

ids = segment_ids(trace, {segments!r})
mass = attention_mass(bert.trace(trace.text_a, trace.text_b, segment_ids=ids))
mass.between("A", "B")                      # [L, H]
""",
)


def draw_attention(page: frame.Page, segments: str) -> None:
    """Draw the attention between the sentences, with the chosen segment ids."""
    ids = segment_ids(page.trace, segments)
    trace = cache.trace(page.bert_key, page.text_a, page.text_b, segment_ids=ids)
    mass = attention_mass(trace)
    is_every_head = one_of("View", VIEWS, VIEW) == EVERY_HEAD
    is_causal = page.bert.config.family.is_causal
    even = "the other sentence's fraction of the tokens" if is_causal else UNIFORM
    view = "" if is_every_head else LINES.format(even=even)
    if is_causal:
        view += ". A is read before B, so A to B is 0"
    fig = mass_heatmaps(mass) if is_every_head else None
    MASS.show(page, mass, fig=fig, segments=segments, view=view)


@frame.closed(HOW_MUCH, ATTENTION_OPEN, VIEW)
def show_attention(page: frame.Page, segments: str) -> None:
    """Draw the same under a closed heading."""
    draw_attention(page, segments)


def other_texts(page: frame.Page) -> tuple[str, ...]:
    """Return sentences to put in place of B, in the language of the checkpoint."""
    source = page.bert_key.source
    checkpoint = source if source in LANGUAGES else ""
    texts = (e.text_b for e in sentence_box.EXAMPLES if e.checkpoint == checkpoint)
    return tuple(text for text in texts if text and text != page.text_b)


SEGMENT_IDS = Field("segments", next(iter(SEGMENTS)), tuple(SEGMENTS))

NO_HEAD = (
    "This checkpoint has no next-sentence (NSP) head, so it cannot say whether B follows A. The "
    "attention between the sentences is below; for the score, choose a pretrained checkpoint such "
    "as `default` in the sidebar."
)
FAMILY_WITHOUT_HEAD = (
    "{reason} The attention between the sentences is below; for next-sentence scores, choose a "
    "pretrained BERT such as `default` in the sidebar."
)


EXAMPLE = next(example for example in sentence_box.EXAMPLES if example.group == "Pairs")


def swap(page: frame.Page) -> None:
    """Exchange the two sentences."""
    TEXT_A.put(page.text_b or "")
    TEXT_B.put(page.text_a)


def choose(page: frame.Page, *, is_example: bool) -> str:
    """Draw what can be done with the pair; return the choice of segment ids."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    row.button(
        "Swap A and B",
        icon=":material/swap_horiz:",
        on_click=swap,
        args=(page,),
        disabled=is_example,
    )
    with row.popover("Another B", icon=":material/edit:"):
        for text in other_texts(page):
            st.button(
                plain(text),
                key=f"b_{text}",
                type="tertiary",
                on_click=TEXT_B.put,
                args=(text,),
            )
    if page.bert.config.type_vocab_size < 2:
        row.caption(
            "This checkpoint gives all tokens the same segment, or none: only the special tokens "
            "between A and B separate them, so there are no segment ids to change."
        )
        return SEGMENT_IDS.default
    return one_of("Segment ids", list(SEGMENTS), SEGMENT_IDS, where=row, with_label=True)


def show_pair(page: frame.Page, *, is_example: bool) -> None:
    """Draw everything about a pair: that of the sentence box, or an example."""
    segments = choose(page, is_example=is_example)
    if "nsp" not in page.bert.capabilities:
        capabilities.no_head(page, "nsp", NO_HEAD, FAMILY_WITHOUT_HEAD)
        if "sop" in page.bert.capabilities:
            show_order(page)
        st.header(HOW_MUCH, anchor=False)
        frame.fragment(draw_attention)(page, segments)
    else:
        show_answer(page, segments)
        show_variants(page, other_texts(page))
        show_attention(page, segments)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    with frame.guard():
        shown, is_example = page, page.text_b is None
        if is_example:
            pair = (EXAMPLE.text_a, EXAMPLE.text_b)
            frame.example_pair(*pair, ", since your text has no sentence B.")
            shown = replace(page, text_a=pair[0], text_b=pair[1])
        show_pair(shown, is_example=is_example)
    show_several(page)
