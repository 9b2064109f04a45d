"""What the page shows: each view is a function of the core, a chart, and how to read it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from torch.nn.functional import avg_pool2d

from bertcore.analysis.mixing.head_rows import HeadRows, head_rows
from bertcore.analysis.mixing.layer_stages import layer_stages
from bertcore.analysis.mixing.toy_head import TOKENS, VALUES, ToyHead, toy_head
from bertcore.analysis.words.head_steps import masked_word_steps, pooler_steps
from bertcore.analysis.words.logit_attribution import LogitAttribution, logit_attribution
from bertcore.analysis.words.token_in_layer import TokenInLayer, token_in_layer

from ...plots import Figure, plain, shorten, signed, subplots, theme
from ...plots.charts import Grid, Words
from ...plots.tables import arrays, cells, columns, named, tensors
from ...view import View
from .drawing import (
    COMPONENT,
    activation_name,
    layer_sheet,
    pooler_sheet,
    stages_message,
    word_sheet,
)

MOST_LENGTH = 20.0  # of the toy head's query
COPIES, HALF = 0.95, 0.45  # weight from which one value is copied, and two are averaged
BELOW_ZERO = "; GELU of a negative input is small but not zero, so the others write a little too"
WORDS_HOW = (
    "The words are what the masked-word head would predict from the vector; it was trained on the "
    "last layer only. Shares are of {sum}; neurons are ranked by their share, since those that "
    "fire most do not always matter most. The words that a neuron raises mean little in a small "
    "model."
)


def about_token(token: TokenInLayer) -> Mapping[str, object]:
    """Return what fills the caption of a token in a layer."""
    return {
        "layer": token.layer,
        "below": BELOW_ZERO if activation_name(token.activation) == "GELU" else "",
        "words": "" if token.shares is None else WORDS_HOW.format(**about_shares(token.shares)),
    }


# ---- who wrote the word ----


def about_shares(shares: LogitAttribution) -> Mapping[str, object]:
    """Return what the shares add up to, and its number."""
    total = f"the logit of **{plain(shares.word)}**"
    if shares.against is not None:
        total += f" minus that of **{plain(shares.against)}**"
    return {"sum": total, "logit": f"{shares.logit:z.2f}".replace("-", "−")}


def staircase(shares: LogitAttribution) -> Figure:
    """Draw the shares one after another: each bar begins where the last one ended."""
    parts, steps = zip(*shares.stairs, strict=True)
    total = f"“{shorten(shares.word)}”"
    total = (
        f"logit of {total}" if shares.against is None else f"{total} − “{shorten(shares.against)}”"
    )
    names = [theme.escape(name) for name in (*parts, total)]
    widths, ends = np.array([*steps, shares.logit]), np.cumsum(steps)
    starts = np.array([0.0, *ends[:-1], 0.0])
    colours = [theme.SEGMENT_A if share >= 0 else theme.SEGMENT_B for share in steps]
    numbers = [signed(width) for width in widths.tolist()]
    fig = Figure()
    fig.add(
        "bar",
        x=widths,
        base=starts.tolist(),
        y=list(range(len(names))),
        orientation="h",
        marker={"color": [*colours, theme.ACCENT], "line_width": 0},
        text=numbers,
        textposition="outside",
        textfont={"size": 14},
        cliponaxis=False,
        customdata=[*map(list, zip(names, numbers, strict=True))],
        hovertemplate="%{customdata[0]}: %{customdata[1]}<extra></extra>",
        showlegend=False,
    )
    low, high = min(0.0, float(ends.min())), max(0.0, float(ends.max()))
    room = 0.14 * max(high - low, 1e-6)
    axis = "logit" if shares.against is None else "difference of logits"
    theme.plot_layout(fig, "", axis, "", 28 * len(names) + 60)
    fig.update_layout(bargap=0.22)
    fig.update_xaxes(range=[low - room, high + room], zeroline=True, zerolinecolor=theme.GRID)
    fig.update_yaxes(**theme.named_rows(names), tickfont={"size": 14})
    return fig


# ---- rows of a head ----

MOST_CELLS = 128  # rows and columns of the matrix that are drawn; of more, means of neighbours


def rows_figure(head: HeadRows) -> Figure:
    """Draw W_q, with a frame around the head's rows."""
    width, size = len(head.weight), head.end - head.start
    every = -(-width // MOST_CELLS)
    # The last cell is cut at the end of the matrix.
    pooled = avg_pool2d(head.weight.float()[None], every, ceil_mode=True)[0].numpy()
    fig = Figure()
    theme.plot_layout(fig, "", "", "", 430)
    fig.heat(
        pooled,
        theme.around_zero(float(np.abs(pooled).max())),
        "%{z:.3f}",
        colorbar=theme.bar_above("weight" if every == 1 else f"mean of {every} × {every} weights"),
    )
    top, bottom = head.start / every - 0.5, head.end / every - 0.5
    line = {"color": theme.ACCENT, "width": 3}
    fig.add_shape(type="rect", x0=-0.5, x1=len(pooled) - 0.5, y0=top, y1=bottom, line=line)
    names = [f"head {n}" for n in range(width // size)]
    names[head.head] = f"<b>head {head.head}: {head.start} to {head.end - 1}</b>"
    middles = [(n + 0.5) * size / every - 0.5 for n in range(len(names))]
    fig.update_yaxes(range=[len(pooled) - 0.5, -0.5], tickvals=middles, ticktext=names)
    numbers = f"{width} numbers of the input"
    fig.update_xaxes(title={"text": numbers, "standoff": 8}, showticklabels=False, ticks="")
    fig.update_layout(margin={"t": 54})
    return fig


# ---- toy head ----


def toy_figure(head: ToyHead) -> Figure:
    """Draw keys and query as lines from the middle, and the weights as bars."""
    fig = subplots(1, 2, subplot_titles=("Keys and query", "Weights"), column_widths=[0.45, 0.55])
    colours = theme.CATEGORICAL[: len(TOKENS)]
    # The query is drawn shorter, so that the longest is in sight.
    shown = head.query * 1.3 / MOST_LENGTH
    ends = [*zip(TOKENS, head.keys, colours, [2] * len(TOKENS), strict=True)]
    for name, end, colour, width in [*ends, ("query", shown, theme.ACCENT, 5)]:
        x, y = map(float, end)
        fig.add(
            "scatter",
            x=[0, x],
            y=[0, y],
            mode="lines+markers+text",
            text=["", f"<b>{name}</b>"],
            textposition="top center" if y >= 0 else "bottom center",
            line={"color": colour, "width": width},
            marker={"size": [0, 9], "color": colour},
            hovertemplate=f"{name}: %{{x:.2f}}, %{{y:.2f}}<extra></extra>",
            showlegend=False,
            row=1,
            col=1,
        )
    fig.add(
        "bar",
        x=head.weights,
        y=list(TOKENS),
        orientation="h",
        marker={"color": list(colours), "line_width": 0},
        text=[f"{weight:.1%} of {v:g}" for weight, v in zip(head.weights, VALUES, strict=True)],
        textposition="outside",
        cliponaxis=False,
        hovertemplate="weight of %{y}: %{x:.3%}<extra></extra>",
        showlegend=False,
        row=1,
        col=2,
    )
    theme.plot_layout(fig, "", "", "", 330)
    fig.update_layout(margin={"t": 42})
    square = {"range": [-1.45, 1.45], "visible": False}
    fig.update_xaxes(1, 1, **square)
    fig.update_yaxes(1, 1, **square, scaleanchor="x")
    fig.update_xaxes(1, 2, range=[0, 1.5], visible=False)
    fig.update_yaxes(1, 2, autorange="reversed", showgrid=False)
    return fig


def what_it_does(head: ToyHead) -> str:
    """Return what the head does with its values, as a sentence in Markdown."""
    first, second = np.argsort(-head.weights)[:2]
    if head.weights[first] >= COPIES:
        does = f"It **copies {TOKENS[first]}**"
    elif head.weights[second] >= HALF:
        both = sorted((TOKENS[first], TOKENS[second]))
        does = f"It **averages {both[0]} and {both[1]}**"
    elif np.ptp(head.weights) < 1e-9:
        does = "It **averages all four**"
    else:
        does = "It mixes the values"
    return f"{does}: the output is {head.output:.1f}."


# ---- views ----

LAYER = View(
    name="inside-layer",
    question="What does the layer do to this token?",
    of=token_in_layer,
    table=tensors("parts"),
    part=lambda token: COMPONENT.part(layer_sheet(token).message()),
    fills=about_token,
    needs=frozenset({"parts"}),
    how=(
        "One token passes through layer {layer}, from top to bottom. A strip is its vector: blue "
        "above zero, orange below.\n\n"
        "A cell is the mean of neighbouring dimensions; strips of one kind share a colour scale. "
        "Beside it are its length and its cosine with the vector before the block. A **query** is "
        "compared with the **key** of every token that it may see; the scores become weights, the "
        "weights mix the **values**, and the output projection turns the mix into what the head "
        "writes. A neuron **fires** if its input is above zero{below}. {words}"
    ),
)
ALL_TOKENS = View(
    name="all-tokens-in-layer",
    question="What does the layer do to all tokens?",
    of=layer_stages,
    table=cells(
        {"position": range, "token": "tokens", "firing_neurons": "firing"},
        {"stage": "stages"},
        norm="norms.T",
        cosine="cosines.T",
    ),
    part=lambda stages, selected=0: COMPONENT.part(stages_message(stages, selected)),
    fills=lambda stages: {"layer": stages.layer, "num_neurons": f"{stages.num_neurons:,}"},
    needs=frozenset({"parts"}),
    how=(
        "Each row is a token, each column a stage of layer {layer}. Click a token to follow it.\n\n"
        "Below a strip are the length of the vector and its cosine with the vector so far. On the "
        "right: how many of the {num_neurons} neurons fire."
    ),
)
STAIRCASE = View(
    name="who-wrote",
    question="Which parts wrote the word?",
    of=logit_attribution,
    figure=staircase,
    table=columns(**named("stairs.*", "part", "share")),
    fills=about_shares,
    needs=frozenset({"parts", "mlm"}),
    how=(
        "A token's vector is the sum of what all parts wrote. Blue ones raised {sum}, orange ones "
        "lowered it.\n\n"
        "The parts are embeddings, heads and neurons. Two things are fixed at their values in this "
        "run: the divisor of each LayerNorm, and the factor by which the masked-word head's "
        "activation scales each number. With these fixed, it is a sum too, and the shares add up "
        "to **{logit}**. A share is not what would be lost without that part, since the fixed "
        "factors would then change. What a part caused in later layers is credited to those layers."
    ),
)
BY_PART = View(
    name="who-wrote-by-part",
    question="Which heads wrote it?",
    of=logit_attribution,
    table=cells({"layer": range}, {"part": "part_names"}, share="by_part"),
    chart=Grid(
        row="layer",
        column="part",
        value="share",
        form="+.2f",
        title="share of the logit",
        titles=("layer", ""),
        is_signed=True,
    ),
    fills=about_shares,
    needs=frozenset({"parts", "mlm"}),
    how=(
        "The same shares of {sum}, head by head.\n\n"
        "The embeddings and the biases after the last layer are in the staircase above."
    ),
)
SOURCES = View(
    name="who-wrote-from-tokens",
    question="From which tokens did the heads take it?",
    of=logit_attribution,
    table=columns(position=range, token="tokens", share="of_tokens"),
    chart=Words(text="token", value="share", digits=2, scale_title="lowers ← share → raises"),
    needs=frozenset({"parts", "mlm"}),
    how=(
        "What the heads wrote, by the token that they took it from, summed over all layers.\n\n"
        "The boxes add up to the attention bars of the staircase. In later layers a token's vector "
        "already contains what it read from other tokens."
    ),
)
WORD_HEAD = View(
    name="masked-word-head",
    question="How does the last vector become a word?",
    of=masked_word_steps,
    table=tensors(),
    part=lambda steps: COMPONENT.part(word_sheet(steps).message()),
    needs=frozenset({"parts", "mlm"}),
    how=(
        "The last vector is changed once more and compared with every word of the vocabulary: the "
        "better a word fits, the more probable it is.\n\n"
        "It passes through a linear layer, the activation and a LayerNorm; the result is "
        "multiplied with the embedding of every word: the dot product plus the word's bias is its "
        "logit, and softmax turns the logits into probabilities."
    ),
)
POOLER = View(
    name="pooler",
    question="What does the pooler make of the first token?",
    of=pooler_steps,
    table=tensors(),
    part=lambda steps: COMPONENT.part(pooler_sheet(steps).message()),
    needs=frozenset({"parts", "pooler"}),
    how=(
        "The pooler reads only the first token: a linear layer and tanh.\n\n"
        "A head for sentence pairs reads the pooled vector, and so do fine-tuned classifiers."
    ),
)
HEAD_ROWS = View(
    name="head-rows",
    question="Which rows of W_q are a head's?",
    of=head_rows,
    figure=rows_figure,
    table=arrays(rows="rows", bias="bias"),
    fills=lambda head: {
        **{name: getattr(head, name) for name in ("name", "start", "end", "head", "num_stored")},
        "size": head.end - head.start,
        "fused": ", of which W_q is the first third" if head.num_stored > len(head.weight) else "",
    },
    needs=frozenset({"parts"}),
    how=(
        "The framed rows make head {head}'s queries, {size} numbers each; the other heads have the "
        "other rows.\n\n"
        "In `transformers` the matrix is `{name}.weight`, with {num_stored} rows{fused}. "
        "Rows {start} to {end} (without the last) are this head's, since a linear layer computes "
        "x Wᵀ. Of W_k and W_v they are the same rows; of the output projection, columns."
    ),
)
TOY_HEAD = View(
    name="toy-head",
    question="Which query copies one value, and which averages two?",
    of=toy_head,
    figure=toy_figure,
    table=columns(
        token=TOKENS,
        key_x="keys.T.0",
        key_y="keys.T.1",
        score="scores",
        weight="weights",
        value=VALUES,
        output="output",
    ),
    how=(
        "A made-up head of two dimensions, whatever the text: try to copy C, to average A and B, "
        "and to average all four.\n\n"
        "Four tokens have keys 1 long and the values 10, 20, 40 and 80; the query (pink, drawn "
        "shorter) is yours. The weights are softmax(q·k / √2), the output is the sum of weight "
        "times value."
    ),
)
