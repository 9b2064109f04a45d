"""What the page shows: each view is a function of the core, a chart, and how to read it."""

import pandas as pd

from bertcore.analysis.space.position_table import PositionTables, position_tables
from bertcore.analysis.words.continuation import (
    Continuation,
    MaskWriting,
    WrittenTexts,
    write_both,
)
from bertcore.analysis.words.leakage import Leakage, Returned, leakage, words_returned
from bertcore.analysis.words.readings import ApartReading, Reading, Sights, read_three_ways
from bertcore.configs.data import MASKED_LM_PROB

from ..plots import ON_AXIS, Figure, heatmap, plain, shorten, subplots, tabulate, theme
from ..view import View

BERT, GPT, ELMO = ("BERT", "GPT", "ELMo")
LEAST = 1e-4  # a share below this is only rounding residue
MOST_NAMED = 60  # above this many tokens an axis shows places instead of words


def sights_table(sights: Sights) -> pd.DataFrame:
    """Return a row for each token of each network: whether the guess sees it."""
    readings = {BERT: sights.both}
    if isinstance(sights.left, Reading):
        readings[GPT] = sights.left
    if isinstance(sights.apart, ApartReading):
        readings |= {f"{ELMO}, left": sights.apart.left, f"{ELMO}, right": sights.apart.right}
    tables = [
        pd.DataFrame(
            {
                "network": name,
                "token": reading.tokens,
                "sees": reading.sees,
                "weight_in_the_last_layer": reading.weights[-1, reading.reader],
                "is_guessed": [place == reading.position for place in range(len(reading.tokens))],
            }
        )
        for name, reading in readings.items()
    ]
    return pd.concat(tables, ignore_index=True)


def returned_table(returned: Returned) -> pd.DataFrame:
    """Return a row for each token of each network: its share that comes back."""
    networks = [(BERT, returned.both.tokens, returned.both.shares.returned)]
    if returned.left is not None:
        left = returned.left
        networks.append((GPT, left.tokens, left.shares.reaches_the_one_before))
    tables = [
        pd.DataFrame({"network": name, "token": tokens, "comes_back": shares})
        for name, tokens, shares in networks
    ]
    return pd.concat(tables, ignore_index=True)


def returned_bars(returned: Returned, place: int = -1) -> Figure:
    """Draw how much of each token comes back, a bar for each network; name the place in bold."""
    fig, colours = Figure(), {BERT: theme.SEGMENT_A, GPT: theme.SEGMENT_B}
    for name, rows in returned_table(returned).groupby("network", sort=False):
        fig.add(
            "bar",
            x=list(range(len(rows))),
            y=rows["comes_back"].to_numpy(),
            name=f"{name}: nothing" if rows["comes_back"].max() < LEAST else name,
            marker_color=colours[str(name)],
            customdata=[theme.escape(shorten(token)) for token in rows["token"]],
            hovertemplate=f"{name}: %{{y:.1%}} of %{{customdata}} comes back<extra></extra>",
        )
    theme.plot_layout(fig, "", "", "comes back over two layers", 330)
    fig.update_layout(barmode="group", showlegend=True, legend_font={"size": 14})
    fig.update_yaxes(tickformat=".0%", rangemode="tozero")
    names = [theme.escape(shorten(token, ON_AXIS)) for token in returned.both.tokens]
    if len(names) <= MOST_NAMED:
        named = [f"<b>{name}</b>" if at == place else name for at, name in enumerate(names)]
        fig.update_xaxes(
            tickvals=list(range(len(named))),
            ticktext=named,
            tickangle=-50,
            tickfont={"size": 14},
        )
    return fig


def helped_table(leaked: Leakage) -> pd.DataFrame:
    """Return a row for each number of layers."""
    table = pd.DataFrame({"probability": leaked.probabilities, "best": leaked.best})
    return table.rename_axis("layers_read").reset_index()


def helped_lines(leaked: Leakage) -> Figure:
    """Draw the probability of the word against the layers in which the others had read it."""
    guesses = [theme.escape(shorten(best, 12)) for best in leaked.best]
    is_right = [best == leaked.token for best in leaked.best]
    fig = Figure()
    fig.add(
        "scatter",
        x=list(range(len(guesses))),
        y=leaked.probabilities,
        mode="lines+markers+text",
        text=["✓" if right else name for right, name in zip(is_right, guesses, strict=True)],
        textposition="top center",
        cliponaxis=False,
        line={"color": theme.ACCENT, "width": 3},
        marker={"size": 10, "color": theme.ACCENT},
        customdata=guesses,
        hovertemplate="%{y:.2%}; best guess %{customdata}<extra></extra>",
        showlegend=False,
    )
    word = theme.escape(shorten(leaked.token, 16))
    theme.plot_layout(fig, "", "layers in which the others had read it", f"p({word})", 300)
    fig.update_layout(margin={"t": 34})
    fig.update_xaxes(dtick=1)
    form = ".0%" if leaked.probabilities.max() > 0.05 else ".1%"
    fig.update_yaxes(tickformat=form, rangemode="tozero")
    return fig


def written_table(written: WrittenTexts) -> pd.DataFrame:
    """Return a row for each written token, in the order of writing."""
    rows: list[tuple[str, int, int, str, float]] = []
    if isinstance(written.following, Continuation):
        rows += [
            (GPT, step, len(written.before) + step - 1, token.token, token.probability)
            for step, token in enumerate(written.following.written, start=1)
        ]
    if isinstance(written.masks, MaskWriting):
        rows += [
            (BERT, number, step.position, step.word, step.probability)
            for number, step in enumerate(written.masks.steps, start=1)
        ]
    return tabulate("network step position token probability", rows)


def cosine_maps(tables: PositionTables) -> Figure:
    """Draw the cosines of all pairs of rows, learned and by formula, and their means."""
    fig = subplots(
        2,
        2,
        specs=[[{}, {}], [{"colspan": 2}, None]],
        row_heights=[0.7, 0.3],
        vertical_spacing=0.17,
        horizontal_spacing=0.08,
        subplot_titles=("learned", "sinusoids", "mean cosine at each distance"),
    )
    parts = (
        ("learned", tables.learned_cosines, tables.learned_by_distance, theme.SEGMENT_A),
        ("sinusoids", tables.sinusoid_cosines, tables.sinusoids_by_distance, theme.SEGMENT_B),
    )
    for column, (name, cosines, mean, colour) in enumerate(parts, start=1):
        hover = "%{y} and %{x}: %{z:.2f}<extra></extra>"
        heat = heatmap(z=cosines.round(3), coloraxis="coloraxis", hovertemplate=hover)
        fig.add_trace(heat, 1, column)
        fig.add(
            "scatter",
            2,
            1,
            x=list(range(len(mean))),
            y=mean,
            name=name,
            line={"color": colour, "width": 3},
            hovertemplate=f"{name}, %{{x}} apart: %{{y:.2f}}<extra></extra>",
        )
    theme.plot_layout(fig, "", "", "", 680)
    fig.update_layout(
        coloraxis={
            "colorscale": theme.DIVERGING,
            "cmin": -1,
            "cmax": 1,
            "colorbar": theme.bar_beside("cosine", len=0.62, y=1, yanchor="top"),
        },
        margin={"t": 40},
        legend={"orientation": "h", "y": 0.24, "x": 0.75, "yanchor": "bottom"},
    )
    fig.update_annotations(font={"size": 16})
    for column in (1, 2):
        fig.update_xaxes(1, column, title_text="position", constrain="domain")
        fig.update_yaxes(1, column, autorange="reversed", showgrid=False)
    fig.update_xaxes(2, 1, title_text="places apart")
    return fig


def cosine_table(tables: PositionTables) -> pd.DataFrame:
    """Return a row for each position: cosine with the formula's row, means at that distance."""
    columns = {
        "position": range(len(tables.cosines)),
        "cosine_with_sinusoid": tables.cosines,
        "learned_mean_at_this_distance": tables.learned_by_distance,
        "sinusoid_mean_at_this_distance": tables.sinusoids_by_distance,
    }
    return pd.DataFrame(columns)


SIGHTS = View(
    name="who-sees-whom",
    question="Who sees whom, and what does each guess?",
    of=read_three_ways,
    table=sights_table,
    needs=frozenset({"mlm"}),
    how=(
        "Rows are tokens; columns are the input and each layer's output. A line leads from a token "
        "that is read to the vector that reads it; the darker the line, the larger the weight (the "
        "mean over the heads). In colour: what the guess can depend on. Point at a vector to see "
        "what it reads; click a token to guess it."
    ),
)
LEAK = View(
    name="two-layers",
    question="How much of each word comes back to its own place?",
    of=words_returned,
    figure=returned_bars,
    table=returned_table,
    fills=lambda returned: {
        "num_left": len(returned.both.tokens) - 1,
        "num_hidden": max(1, round(MASKED_LM_PROB * len(returned.both.tokens))),
    },
    needs=frozenset({"parts"}),
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
)
HELPED = View(
    name="leak-helps",
    question="How does the network use the trace?",
    of=leakage,
    figure=helped_lines,
    table=helped_table,
    fills=lambda leaked: {"token": plain(leaked.token)},
    needs=frozenset({"parts", "mlm"}),
    how=(
        "The place of **{token}** starts as \\[MASK\\] each time. In the given number of layers, "
        "the other tokens keep their states from a run that sees the word. Up to 1 layer this "
        "changes nothing, since no token has read the word yet; from 2 on, the word leaves a "
        "trace. BERT was trained without such a trace and uses it as best it can; a network "
        "trained with it would learn to copy."
    ),
)
WRITTEN = View(
    name="let-it-write",
    question="What does each of them write?",
    of=write_both,
    table=written_table,
    needs=frozenset({"mlm"}),
    how=(
        "The darker a word, the more probable it was. GPT predicts only the next token, which is "
        "what it was trained to do. BERT needs the number of words beforehand, runs over the whole "
        "text again for each, and meets what it never saw in training: a row of masks with nothing "
        "after it. A mask is filled while its neighbours may still be masks, so words are "
        "repeated; and no product of its guesses is the probability of a text. Both are small "
        "networks: how they write says more than what they write."
    ),
)
POSITION_TABLES = View(
    name="positions-beside-sinusoids",
    question="How do learned positions compare with sinusoids?",
    of=position_tables,
    figure=cosine_maps,
    table=cosine_table,
    fills=lambda tables: {
        "num": len(tables.learned),
        "mean": f"{tables.cosines.mean():.2f}",
    },
    needs=frozenset({"positions"}),
    how=(
        "Each cell is the cosine of two of the first {num} rows. Left: learned, as in BERT and "
        "GPT. Right: sines and cosines of decreasing frequency, as in the Transformer, where the "
        "cosine depends only on the distance. Below: the mean at each distance. The mean of the "
        "{num} cosines between a learned row and the formula's row of the same position is "
        "**{mean}**."
    ),
)
