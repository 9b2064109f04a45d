"""Who wrote the word: its logit, share by share."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray
from streamlit.delta_generator import DeltaGenerator

from bertcore.analysis.words.logit_attribution import LogitAttribution, PartKind

from ..plots import Figure, numbered, plain, shorten, signed, tabulate, theme, token_flow
from ..shell import Field, Picture, frame
from .run import AskedWord, Run, attribution, best_words

BIASES: tuple[PartKind, ...] = (
    "embedding_bias",
    "attention_bias",
    "feed_forward_bias",
    "final_bias",
)
EMBEDDINGS: tuple[PartKind, ...] = ("token", "segment", "position")
NAMES = {
    "token": "token embedding",
    "segment": "segment embedding",
    "position": "position embedding",
    "embedding_bias": "bias of the embeddings",
    "attention_bias": "biases of attention",
    "feed_forward": "feed-forward",
    "feed_forward_bias": "biases of feed-forward",
    "final_bias": "biases of the head",
    "decoder_bias": "its own bias",
}


class Stair(NamedTuple):
    """A step of the staircase."""

    name: str
    share: float

    @property
    def colour(self) -> str:
        """Blue raises and orange lowers, as in the other pictures of the page."""
        return theme.SEGMENT_A if self.share >= 0 else theme.SEGMENT_B


def stairs(shares: LogitAttribution) -> list[Stair]:
    """Return the shares of the embeddings, each layer's two blocks, and the biases, in order."""
    steps = [Stair("embeddings", shares.total(*EMBEDDINGS))]
    for layer in range(len(shares.sources)):
        heads = shares.total("head", layer=layer)
        neurons = shares.total("feed_forward", layer=layer)
        steps.append(Stair(f"layer {layer}: attention", heads))
        steps.append(Stair(f"layer {layer}: feed-forward", neurons))
    steps.append(Stair("biases of the network", shares.total(*BIASES)))
    name = "its own bias" if shares.against is None else "their own biases"
    steps.append(Stair(name, shares.total("decoder_bias")))
    return steps


def staircase(shares: LogitAttribution) -> Figure:
    """Draw the shares one after another: each bar begins where the last one ended."""
    steps = stairs(shares)
    ends = np.cumsum([step.share for step in steps])
    starts = np.concatenate([[0.0], ends[:-1]])
    logit = Stair(name_of_sum(shares), shares.logit)
    rows = [*zip(steps, starts.tolist(), strict=True), (logit, 0.0)]
    names = [theme.escape(step.name) for step, _ in rows]
    fig = Figure()
    fig.add(
        "bar",
        x=[step.share for step, _ in rows],
        base=[start for _, start in rows],
        y=list(range(len(rows))),
        orientation="h",
        marker={"color": [*(step.colour for step in steps), theme.ACCENT], "line_width": 0},
        text=[signed(step.share) for step, _ in rows],
        textposition="outside",
        textfont={"size": 14},
        cliponaxis=False,
        customdata=[
            [name, signed(step.share)] for name, (step, _) in zip(names, rows, strict=True)
        ],
        hovertemplate="%{customdata[0]}: %{customdata[1]}<extra></extra>",
        showlegend=False,
    )
    reached = np.concatenate([[0.0], ends])
    low, high = float(reached.min()), float(reached.max())
    room = 0.14 * max(high - low, 1e-6)
    axis = "logit" if shares.against is None else "difference of logits"
    theme.plot_layout(fig, "", axis, "", 28 * len(rows) + 60)
    fig.update_layout(bargap=0.22)
    fig.update_xaxes(range=[low - room, high + room], zeroline=True, zerolinecolor=theme.GRID)
    fig.update_yaxes(
        tickvals=list(range(len(rows))),
        ticktext=names,
        tickfont={"size": 14},
        autorange="reversed",
        showgrid=False,
    )
    return fig


def name_of_sum(shares: LogitAttribution) -> str:
    """Return a short name for what the shares sum to."""
    word = f"“{shorten(shares.word)}”"
    return f"logit of {word}" if shares.against is None else f"{word} − “{shorten(shares.against)}”"


def grid_values(shares: LogitAttribution) -> tuple[list[str], list[str], NDArray[np.float64]]:
    """Return the columns, rows and shares of the grid; NaN where a row has no such part."""
    num_layers, num_heads = shares.sources.shape[:2]
    columns = [*(f"head {head}" for head in range(num_heads)), "feed-forward", "biases", "sum"]
    rows = [f"layer {layer}" for layer in range(num_layers)]
    values = np.array(
        [
            [
                *shares.heads(layer),
                shares.total("feed_forward", layer=layer),
                shares.total("attention_bias", "feed_forward_bias", layer=layer),
                0.0,
            ]
            for layer in range(num_layers)
        ]
    )
    values[:, -1] = values.sum(-1)
    return columns, rows, values


def grid(shares: LogitAttribution, *, is_dark: bool) -> Figure:
    """Draw the share of each head and feed-forward block, layer below layer.

    Args:
        is_dark: Whether the page is dark: shares near zero recede there too.
    """
    columns, rows, values = grid_values(shares)
    largest = float(np.abs(values).max()) or 1.0
    shades = theme.around_zero(largest, is_dark)
    text = [[signed(value) for value in row] for row in values.tolist()]
    size = 14 if len(columns) <= 9 else 11
    fig = Figure()
    data = [
        [f"{row}, {column}: {number}" for column, number in zip(columns, line, strict=True)]
        for row, line in zip(rows, text, strict=True)
    ]
    written = numbered(values, text, size, shades)
    fig.heat(values, shades, "%{customdata}", gap=2, customdata=data, **written)
    theme.plot_layout(fig, "", "", "", 34 * len(rows) + 70)
    # In two lines: beside the others there is no room for it on a narrow page.
    names = [column.replace("feed-", "feed-<br>") for column in columns]
    fig.update_xaxes(tickvals=list(range(len(columns))), ticktext=names, side="top", showgrid=False)
    fig.update_yaxes(
        tickvals=list(range(len(rows))), ticktext=rows, autorange="reversed", showgrid=False
    )
    return fig


class TokenShares(NamedTuple):
    """What the heads took from each of T tokens."""

    tokens: list[str]
    shares: NDArray[np.float64]
    """Sum over layers and heads, [T]."""


def token_shares(shares: LogitAttribution, tokens: list[str]) -> TokenShares:
    """Return the share that all heads together took from each token."""
    return TokenShares(tokens, shares.sources.sum((0, 1)).numpy())


def token_boxes(result: TokenShares, *, is_dark: bool) -> Figure:
    """Draw the tokens as a text, coloured by what was taken from them."""
    numbers = [signed(share) for share in result.shares.tolist()]
    title = "lowers ← share → raises"
    return token_flow.word_boxes(
        result.tokens, result.shares, numbers, is_dark=is_dark, scale_title=title
    )


def tokens_table(result: TokenShares) -> pd.DataFrame:
    """Return a row for each token."""
    shares = result.shares.tolist()
    rows = zip(range(len(shares)), result.tokens, shares, strict=True)
    return tabulate("position token share", rows)


def shares_table(shares: LogitAttribution) -> pd.DataFrame:
    """Return a row for each part."""
    return tabulate(
        "part layer head share",
        (
            (NAMES.get(part.kind, f"head {part.head}"), part.layer, part.head, part.logit)
            for part in shares.parts
        ),
    )


NUM_CHOICES = 8  # words that can be chosen: the most probable ones
NOTHING = ""

WORD = Field("layer_word", NOTHING)  # empty for the most probable
AGAINST = Field("layer_against", NOTHING)  # empty for no other word

HOW = (
    "A token's vector is a sum of what embeddings, heads and neurons wrote. Two things are fixed "
    "at their values in this run: the divisor of each LayerNorm, and the factor by which the "
    "masked-word head's activation scales each number. With these fixed, {sum} is a sum too, and "
    "the shares add up to **{logit}**. "
)
LIMITS = (
    "Blue raised it, orange lowered it. A share is not what would be lost without that part, since "
    "the fixed factors would then change. What a part caused in later layers is credited to those "
    "layers."
)
_CODE = """{run}
from bertcore.analysis import logit_attribution

found = logit_attribution(bert, trace, {position}, {word!r}, {against!r})
"""
STAIRCASE = Picture(
    name="who-wrote",
    figure=staircase,
    table=shares_table,
    needs=frozenset({"parts", "mlm"}),
    how=HOW + LIMITS,
    code=_CODE
    + """[(part.kind, part.layer, part.head, part.logit) for part in found.parts]
found.logit                                        # their sum
""",
)
GRID = Picture(
    name="who-wrote-by-part",
    figure=grid,
    table=shares_table,
    needs=frozenset({"parts", "mlm"}),
    how=(
        "The same shares of {sum}, head by head; the embeddings and the biases after the last "
        "layer are in the staircase above."
    ),
    code=_CODE
    + """found.heads(0), found.total("feed_forward", layer=0)
found.sources                                      # from which token, [L, H, T]
""",
)

SOURCES = Picture(
    name="who-wrote-from-tokens",
    figure=token_boxes,
    table=tokens_table,
    needs=frozenset({"parts", "mlm"}),
    how=(
        "What the heads wrote, by the token that they took it from, summed over all layers: the "
        "boxes add up to the attention bars of the staircase. In later layers a token's vector "
        "already contains what it read from other tokens."
    ),
    code=_CODE + "found.sources.sum((0, 1))                          # [T]\n",
)


def choose_word(page: frame.Page, run: Run, position: int, where: DeltaGenerator) -> AskedWord:
    """Draw the choice of a word among the most probable; return what is asked.

    Without a masked-word head there is no word.
    """
    if "mlm" not in page.bert.capabilities:
        return AskedWord(position, None, None)
    words = best_words(run, position, NUM_CHOICES)
    word = where.selectbox(
        "Word",
        words,
        key=WORD.key(default=words[0], options=words),
        width=150,
        help="The word whose logit is split into shares. The first is BERT's prediction.",
    )
    others = [NOTHING, *(other for other in words if other != word)]
    against = where.selectbox(
        "Compared with",
        others,
        format_func=lambda name: name or "no other word",
        key=AGAINST.key(options=others),
        width=170,
        help="The shares are then of the difference between the two logits. What raises all words "
        "equally cancels out.",
    )
    return AskedWord(position, word, against or None)


def show_who_wrote(page: frame.Page, run: Run, asked: AskedWord) -> None:
    """Draw the shares of the word's logit."""
    shares = attribution(run, asked)
    against = "" if asked.against is None else f", not “{plain(asked.against)}”"
    st.header(f"Who wrote “{plain(shares.word)}”{against}?", anchor=False)
    values: dict[str, Any] = {
        "run": run.python,
        "position": asked.position,
        "word": asked.word,
        "against": asked.against,
        "sum": asked.sum,
    }
    logit = f"{shares.logit:.2f}".replace("-", "−")
    STAIRCASE.show(page, shares, logit=logit, **values)
    st.subheader("Head by head", anchor=False)
    on_ground = {"is_dark": page.is_dark}
    GRID.show(page, shares, drawn=on_ground, **values)
    st.subheader("From which tokens", anchor=False)
    taken = token_shares(shares, run.trace.tokens)
    SOURCES.show(page, taken, drawn=on_ground, **values)
