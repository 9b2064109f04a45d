"""Figures of a vocabulary that grows, and of its size."""

from __future__ import annotations

import pandas as pd

from bertcore.analysis.words.vocabulary_size import VocabularySize, token_table_share
from bertcore.architecture.config import bert_base, bert_mini
from bertcore.tokenizer.growth import NUM_CANDIDATES, Growth, Pair, Rule

from ..plots import theme
from ..plots.figure import Figure, subplots

ALL_SIZES = (250, 500, 1000, 2000, 4000, 8000, 16_000, 30_522, 60_000, 100_000)
"""Rows of the token table for which its share is drawn; BERT's own is among them."""
SHAPES = {"BERT Base": bert_base(), "4 layers, 256 wide": bert_mini()}
_ROW = 30


def candidate_bars(growth: Growth, step: int, rule: Rule) -> Figure:
    """Draw the candidates of the next merge by both rules, the chosen one coloured.

    Args:
        growth: Growth of the vocabulary.
        step: Merges that are done.
        rule: Rule by which the next pair is chosen.
    """
    now = growth.steps[step]
    panels = (
        ("count", "BPE: count", now.by_count),
        ("likelihood", "WordPiece: likelihood", now.by_likelihood),
    )
    titles = [f"<b>{title}</b>" for _, title, _ in panels]
    fig = subplots(1, 2, subplot_titles=titles, horizontal_spacing=0.24)
    for column, (name, _, pairs) in enumerate(panels, 1):
        values = [
            pair.count if name == "count" else pair.likelihood * now.num_pieces for pair in pairs
        ]
        colours = [theme.SPECIAL] * len(pairs)
        if name == rule and colours:
            colours[0] = theme.ACCENT
        fig.add(
            "bar",
            row=1,
            col=column,
            x=values,
            y=list(range(len(pairs))),
            orientation="h",
            marker={"color": colours, "line_width": 0},
            customdata=[_in_words(pair, now.num_pieces) for pair in pairs],
            hovertemplate="%{customdata}<extra></extra>",
            showlegend=False,
        )
        fig.update_yaxes(
            row=1,
            col=column,
            tickvals=list(range(len(pairs))),
            ticktext=[theme.escape(f"{pair.left} + {pair.right}") for pair in pairs],
            range=[NUM_CANDIDATES - 0.4, -0.6],
        )
    if not now.by_count:
        fig.add_annotation(
            text="No pair is left that occurs twice in the text.",
            x=0.5,
            y=0.5,
            xref="paper",
            yref="paper",
            showarrow=False,
        )
    theme.plot_layout(fig, "", "", "", _ROW * NUM_CANDIDATES + 90)
    fig.update_layout(margin={"l": 0, "r": 8, "t": 30, "b": 4})
    fig.update_xaxes(nticks=4, rangemode="tozero")
    for column, title in enumerate(("times in the text", "× chance"), 1):
        fig.update_xaxes(row=1, col=column, title_text=title)
    fig.update_annotations(font={"size": 14})
    fig.update_yaxes(showgrid=False, tickfont={"size": 14})
    return fig


def growth_table(growth: Growth) -> pd.DataFrame:
    """Return the merges in order, with their counts and the pieces per word after each."""
    return pd.DataFrame(
        [
            {
                "merge": number,
                "left": pair.left,
                "right": pair.right,
                "merged": pair.merged,
                "count": pair.count,
                "count_left": pair.count_left,
                "count_right": pair.count_right,
                "likelihood": pair.likelihood,
                "pieces_per_word": step.num_pieces / growth.num_words,
            }
            for number, (pair, step) in enumerate(
                zip(growth.merges, growth.steps[1:], strict=True), 1
            )
        ],
        columns=[
            "merge",
            "left",
            "right",
            "merged",
            "count",
            "count_left",
            "count_right",
            "likelihood",
            "pieces_per_word",
        ],
    )


def size_curves(measured: tuple[VocabularySize, ...]) -> Figure:
    """Draw pieces per word, unknown words and the token table's share against the size."""
    titles = (
        "Pieces per word",
        "Unknown words",
        "Share of the parameters in the token table",
    )
    fig = subplots(
        3,
        1,
        subplot_titles=[f"<b>{title}</b>" for title in titles],
        shared_xaxes=True,
        vertical_spacing=0.09,
    )
    sizes = [one.vocab_size for one in measured]
    lines = (
        (
            1,
            "WordPiece",
            sizes,
            [one.pieces_per_word for one in measured],
            theme.SEGMENT_A,
            "%{y:.2f}",
        ),
        (2, "WordPiece", sizes, [one.unknown for one in measured], theme.SEGMENT_A, "%{y:.1%}"),
        (
            2,
            "whole words",
            sizes,
            [one.unknown_whole for one in measured],
            theme.SEGMENT_B,
            "%{y:.1%}",
        ),
        *(
            (3, name, list(ALL_SIZES), _shares(name), colour, "%{y:.0%}")
            for name, colour in zip(SHAPES, (theme.ACCENT, theme.CATEGORICAL[2]), strict=True)
        ),
    )
    for row, name, x, y, colour, shown in lines:
        fig.add(
            "scatter",
            row=row,
            col=1,
            x=x,
            y=y,
            mode="lines+markers",
            name=name,
            line={"color": colour, "width": 3},
            marker={"size": 8},
            cliponaxis=False,
            hovertemplate=f"{name}, %{{x:,}} pieces: <b>{shown}</b><extra></extra>",
            showlegend=row > 1,
        )
    theme.plot_layout(fig, "", "", "", 620)
    fig.update_layout(
        margin={"l": 0, "r": 12, "t": 84, "b": 4},
        legend={"y": 1, "yanchor": "top", "yref": "container", "x": 0, "font": {"size": 13}},
    )
    fig.update_annotations(x=0, xanchor="left", font={"size": 14})
    fig.update_xaxes(
        type="log",
        range=[2.3, 5.1],
        tickvals=[250, 1000, 4000, 16_000, 30_522, 100_000],
        ticktext=["250", "1,000", "4,000", "16,000", "30,522", "100,000"],
    )
    fig.update_xaxes(row=3, col=1, title_text="pieces in the vocabulary")
    fig.update_yaxes(row=1, col=1, rangemode="tozero")
    for row in (2, 3):
        fig.update_yaxes(row=row, col=1, tickformat=".0%", rangemode="tozero")
    return fig


def size_table(measured: tuple[VocabularySize, ...]) -> pd.DataFrame:
    """Return what was measured, and the shares of the token table."""
    of_size = {one.vocab_size: one for one in measured}
    nothing = float("nan")
    rows = []
    for size in sorted({*of_size, *ALL_SIZES}):
        one = of_size.get(size)
        rows.append(
            {
                "vocab_size": size,
                "pieces_per_word": nothing if one is None else one.pieces_per_word,
                "unknown_words": nothing if one is None else one.unknown,
                "unknown_words_of_whole_words": nothing if one is None else one.unknown_whole,
                **{
                    f"token_table_of_{name}": token_table_share(shape, size)
                    for name, shape in SHAPES.items()
                },
            }
        )
    return pd.DataFrame(rows)


def _shares(name: str) -> list[float]:
    return [token_table_share(SHAPES[name], size) for size in ALL_SIZES]


def _in_words(pair: Pair, num_pieces: int) -> str:
    left, right, merged = (theme.escape(part) for part in (pair.left, pair.right, pair.merged))
    return (
        f"<b>{left} + {right} → {merged}</b><br>side by side {pair.count:,} times<br>"
        f"{left}: {pair.count_left:,} times, {right}: {pair.count_right:,} times<br>"
        f"{pair.likelihood * num_pieces:,.1f} times as often as by chance"
    )
