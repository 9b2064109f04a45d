"""The pieces of the vocabulary nearest to the chosen token in the token table."""

from collections.abc import Sequence

import pandas as pd

from bertcore.analysis.space import embeddings

from ..plots import theme
from ..plots.figure import Figure, bar
from ..shell import frame
from ..shell.picture import Picture


def nearest_words(neighbours: Sequence[tuple[str, float]], *, word: str) -> Figure:
    """Draw the pieces of the token table nearest to `word` as bars, the nearest on top."""
    rows, cosines = list(range(len(neighbours))), [cosine for _, cosine in neighbours]
    names = [theme.escape(name) for name, _ in neighbours]
    fig = Figure(
        bar(
            x=cosines,
            y=rows,
            orientation="h",
            marker={"color": theme.SEGMENT_A},
            text=[f"{cosine:.2f}" for cosine in cosines],
            textposition="auto",
            customdata=names,
            hovertemplate="%{customdata}: cosine %{x:.4f}<extra></extra>",
        )
    )
    title = f"cosine to {theme.escape(word)} in the token table"
    theme.plot_layout(fig, "", title, "", 60 + 27 * len(rows))
    fig.update_yaxes(tickvals=rows, ticktext=names, autorange="reversed", showgrid=False)
    fig.update_xaxes(rangemode="tozero")
    return fig


def _nearest_table(neighbours: Sequence[tuple[str, float]]) -> pd.DataFrame:
    """Return a row for each piece, the nearest first."""
    return pd.DataFrame(neighbours, columns=["piece", "cosine"])


NEAREST = Picture(
    name="nearest-words",
    figure=nearest_words,
    table=_nearest_table,
    how=(
        "The pieces whose rows in the token table point most in the direction of the chosen "
        "token's row: what the model treats as similar before it has read any context."
    ),
    code="""
from bertcore.analysis.space.embeddings import nearest_words

nearest_words(bert, trace.input_ids[{index}], top_k=12)
""",
)


def show_nearest(page: frame.Page, index: int) -> None:
    """Draw the nearest rows of the token table."""
    nearest = page.compute(embeddings.nearest_words, page.trace.input_ids[index])
    NEAREST.show(page, nearest, drawn={"word": page.trace.tokens[index]}, index=index)
