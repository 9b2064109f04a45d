"""How a word comes back to its own place over two layers, and how the network uses it."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from bertcore import Model
from bertcore.analysis.words.leakage import Leakage, PathsBack, leakage, paths_back
from bertcore.configs.data import MASKED_LM_PROB

from ..plots import ON_AXIS, Figure, plain, shorten, theme
from ..shell import Compute, Picture, cache, capabilities, frame
from . import drawing
from .sights import BERT, GPT, PLACE, Readers, name_of

AT_ONCE = 40  # most tokens of a text that is measured within the page's run; a longer one is queued
MOST_NAMED = 60  # above this many tokens an axis shows places instead of words
LEAST = 1e-4  # A share below this is only rounding residue


class Paths(NamedTuple):
    """The paths of a text through one network."""

    tokens: tuple[str, ...]
    shares: PathsBack


class Returned(NamedTuple):
    """What comes back to the vector that would guess each token, in two networks."""

    both: Paths
    left: Paths | None

    def networks(self) -> dict[str, tuple[tuple[str, ...], NDArray[np.float32]]]:
        """Return the tokens and the share of each that comes back, by network."""
        networks = {BERT: (self.both.tokens, self.both.shares.returned)}
        if self.left is not None:
            networks[GPT] = (self.left.tokens, self.left.shares.reaches_the_one_before)
        return networks


def _returned_bars(returned: Returned, place: int) -> Figure:
    """Draw how much of each token comes back, a bar for each network; name the place in bold."""
    fig = Figure()
    colours = (theme.SEGMENT_A, theme.SEGMENT_B)
    for (name, (tokens, shares)), colour in zip(returned.networks().items(), colours, strict=False):
        fig.add(
            "bar",
            x=list(range(len(tokens))),
            y=shares,
            name=f"{name}: nothing" if float(shares.max()) < LEAST else name,
            marker_color=colour,
            customdata=[theme.escape(shorten(token)) for token in tokens],
            hovertemplate=f"{name}: %{{y:.1%}} of %{{customdata}} comes back<extra></extra>",
        )
    theme.plot_layout(fig, "", "", "comes back over two layers", 330)
    fig.update_layout(barmode="group", showlegend=True, legend_font={"size": 14})
    fig.update_yaxes(tickformat=".0%", rangemode="tozero")
    tokens = returned.both.tokens
    if len(tokens) <= MOST_NAMED:
        names = [theme.escape(shorten(token, ON_AXIS)) for token in tokens]
        names[place] = f"<b>{names[place]}</b>"
        fig.update_xaxes(
            tickmode="array",
            tickvals=list(range(len(names))),
            ticktext=names,
            tickangle=-50,
            tickfont={"size": 14},
        )
    return fig


def _returned_table(returned: Returned) -> pd.DataFrame:
    """Return a row for each token of each network."""
    tables = [
        pd.DataFrame({"network": name, "token": tokens, "comes_back": shares})
        for name, (tokens, shares) in returned.networks().items()
    ]
    return pd.concat(tables, ignore_index=True)


def _helped_lines(leaked: Leakage) -> Figure:
    """Draw the probability of the word against the layers in which the others had read it."""
    is_right = [best == leaked.token for best in leaked.best]
    names = [theme.escape(shorten(best, 12)) for best in leaked.best]
    fig = Figure()
    fig.add(
        "scatter",
        x=list(range(len(leaked.probabilities))),
        y=leaked.probabilities,
        mode="lines+markers+text",
        text=["✓" if right else name for right, name in zip(is_right, names, strict=True)],
        textposition="top center",
        cliponaxis=False,
        line={"color": theme.ACCENT, "width": 3},
        marker={"size": 10, "color": theme.ACCENT},
        customdata=[theme.escape(shorten(best)) for best in leaked.best],
        hovertemplate="%{y:.2%}; best guess %{customdata}<extra></extra>",
        showlegend=False,
    )
    word = theme.escape(shorten(leaked.token, 16))
    theme.plot_layout(fig, "", "layers in which the others had read it", f"p({word})", 300)
    fig.update_layout(margin={"t": 34})
    fig.update_xaxes(dtick=1)
    top = float(leaked.probabilities.max())
    fig.update_yaxes(tickformat=".0%" if top > 0.05 else ".1%", rangemode="tozero")
    return fig


def _helped_table(leaked: Leakage) -> pd.DataFrame:
    """Return a row for each number of layers."""
    table = pd.DataFrame({"probability": leaked.probabilities, "best": leaked.best})
    return table.rename_axis("layers_read").reset_index()


LEAK = Picture(
    name="two-layers",
    figure=_returned_bars,
    table=_returned_table,
    how=(
        "If a network that sees both sides had to guess **each** token, as a language model does, "
        "it would see the token itself: in the first layer the other tokens read it, and in the "
        "second its own place reads them. Shares are measured by value zeroing (Mohebbi et al. "
        "2023): how much a vector changes without a token, divided by the sum over all tokens. "
        "Paths through the token's own place are left out. With attention to the left only, "
        "nothing comes back, so GPT learns from {num_left} places of this text at once, and BERT "
        "only from the 15% that it hides, about {num_hidden}. Per step, BERT learns a little more "
        "slowly, but it is better almost from the start (Devlin et al. 2019)."
    ),
    code="""
from bertcore.analysis import paths_back

paths = paths_back(bert, trace)
paths.out, paths.back, paths.returned
""",
)
HELPED = Picture(
    name="leak-helps",
    figure=_helped_lines,
    table=_helped_table,
    how=(
        "The place of **{token}** starts as \\[MASK\\] each time. In the given number of layers, "
        "the other tokens keep their states from a run that sees the word. Up to 1 layer this "
        "changes nothing, since no token has read the word yet; from 2 on, the word leaves a "
        "trace. BERT was trained without such a trace and uses it as best it can; a network "
        "trained with it would learn to copy."
    ),
    code="""
from bertcore.analysis import leakage

leaked = leakage(bert, trace.text_a, trace.text_b, {place})
leaked.probabilities, leaked.best
""",
)


def show_leak(page: frame.Page, readers: Readers, place: int) -> None:
    """Draw a token's paths over two layers, how much of each token comes back, and how it helps."""
    if capabilities.tells_of(readers.bert, "parts"):
        return
    trace = readers.trace
    compute = Compute(name="two-layers", stage="Zeroing values in two layers")
    if trace.num_tokens <= AT_ONCE:
        returned = cache.computed(returned_paths, readers)
    else:
        returned = compute(returned_paths, readers)
    rule = "Each place reads both sides"
    panels = [_panel(BERT, rule, readers.both, returned.both, place, place)]
    left = returned.left
    if left is not None and readers.left is not None and place > 0:
        rule = "Each place reads the left; the one before it guesses"
        if left.tokens == returned.both.tokens:  # else it is another token there
            panels.append(_panel(GPT, rule, readers.left, left, place, place - 1))

    def pick(picked: drawing.PickedToken) -> None:
        if picked.panel == 0 and trace.text_ids[picked.token] >= 0:
            PLACE.put(picked.token)

    PLACE.key(default=0, low=0, high=len(trace.tokens))
    st.markdown(
        f"Where **{plain(trace.tokens[place])}** goes in layer 0, and what the vector "
        "that would guess it reads in layer 1."
    )
    drawing.draw(panels, key="paths", on_pick=pick)
    num_tokens = len(returned.both.tokens)
    LEAK.show(
        page,
        returned,
        drawn={"place": place},
        setup=readers.setup,
        num_left=num_tokens - 1,
        num_hidden=max(1, round(MASKED_LM_PROB * num_tokens)),
    )
    if trace.input_ids[place] != readers.bert.tokenizer.mask_id:
        st.header("How does the network use the trace?", anchor=False)
        leaked = cache.computed(leakage, readers.both, readers.text_a, readers.text_b, place)
        HELPED.show(page, leaked, setup=readers.setup, place=place, token=plain(leaked.token))


def _panel(
    name: str, rule: str, key: cache.BertKey, paths: Paths, place: int, reader: int
) -> dict[str, object]:
    share = float(paths.shares.back[reader] @ paths.shares.out[:, place])
    result = "Nothing comes back"
    if share >= LEAST:
        result = f"{share:.1%} of what it reads comes from the word itself"
    heading = drawing.Heading(name, rule, f"Checkpoint: {name_of(key)}")
    return drawing.paths_panel(heading, paths.tokens, paths.shares, place, reader, result)


def returned_paths(
    readers: Readers, *, on_fraction: Callable[[float], None] = lambda fraction: None
) -> Returned:
    """Return the paths in both networks; the second is left out if it cannot be taken apart."""

    def paths(model: Model, key: cache.BertKey, start: float) -> Paths:
        trace = cache.trace(key, readers.text_a, readers.text_b)
        shares = paths_back(model, trace, lambda fraction: on_fraction(start + fraction / 2))
        return Paths(tuple(trace.tokens), shares)

    both, left = paths(readers.bert, readers.both, 0.0), None
    if readers.left is not None:
        twin = cache.opened(readers.left)
        if "parts" in twin.capabilities and twin.config.num_hidden_layers > 1:
            left = paths(twin, readers.left, 0.5)
    return Returned(both, left)
