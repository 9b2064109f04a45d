"""Static masks beside dynamic ones over the epochs of a run: a view of two pages."""

from typing import Any

from bertcore.analysis.words.epoch_masks import COPIES, BothMasks, both_masks

from ..plots import ON_AXIS, Figure, Shades, shorten, subplots, theme
from ..view import View, tidy_at

COLOURS = ("rgba(127, 134, 152, 0.12)", "#2F55D4", "#0B7A55", "#B45309")
"""For not hidden, [MASK], kept and random, as in the drawing of an example."""
ROW = 14  # pixels of an epoch


def epochs_figure(both: BothMasks) -> Figure:
    """Draw a row for each epoch, static masks above dynamic ones."""
    static = both.static
    num_epochs, num_tokens = static.fates.shape
    titles = (
        f"<b>Static</b>: {static.dupe_factor} copies of the data, each with its masks",
        "<b>Dynamic</b>: new masks in each epoch",
    )
    fig = subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.07, subplot_titles=titles)
    names = [theme.escape(name) for name in ("not hidden", both.mask, "kept", "random")]
    edges = [(place / 4, colour) for place, colour in enumerate(COLOURS)]
    scale = [[edge + extra, colour] for edge, colour in edges for extra in (0, 0.25)]
    for number, masks in enumerate((static, both.dynamic), 1):
        hover = [
            [f"{theme.escape(token)}: {names[fate]}" for token, fate in row]
            for row in (zip(masks.tokens, line, strict=True) for line in masks.fates)
        ]
        place: dict[str, Any] = {"row": number, "col": 1, "y": list(range(1, num_epochs + 1))}
        text = "epoch %{y}, %{customdata}"
        fig.heat(masks.fates, Shades(scale, -0.5, 3.5), text, gap=1, customdata=hover, **place)
    if static.dupe_factor < num_epochs:  # below the line they repeat
        fig.add_hline(static.dupe_factor + 0.5, 1, 1, line_width=2, line_color=theme.ACCENT)
    for name, colour in zip(names[1:], COLOURS[1:], strict=True):
        marker = {"symbol": "square", "size": 12, "color": colour}
        fig.add("scatter", 1, 1, x=[None], y=[None], mode="markers", name=name, marker=marker)
    theme.plot_layout(fig, "", "", "epoch", 190 + 2 * ROW * num_epochs)
    fig.update_layout(margin={"l": 8, "r": 8, "t": 64, "b": 8}, legend={"y": 1.04})
    fig.update_annotations(x=0, xanchor="left", font_size=15)
    fig.update_yaxes(autorange="reversed", tickvals=[1, 5, 10, 15, 20], showgrid=False)
    tokens = [theme.escape(shorten(token, ON_AXIS)) for token in static.tokens]
    ticks: dict[str, Any] = {
        "tickvals": list(range(num_tokens)),
        "ticktext": tokens,
        "tickangle": -60,
    }
    fig.update_xaxes(tickmode="array", showgrid=False, **ticks)
    return fig


EPOCHS = View(
    name="epoch-masks",
    question="Which tokens are hidden over 20 epochs?",
    of=both_masks,
    figure=epochs_figure,
    table=tidy_at("hidden"),
    fills=lambda both: {
        "copies": COPIES,
        "num_text": both.static.num_text,
        "static_never": both.static.num_never,
        "dynamic_never": both.dynamic.num_never,
    },
    needs=frozenset({"mlm"}),
    how=(
        "Each row is a pass over the text, each column a token; coloured ones must be guessed.\n\n"
        "Static masks repeat below the line, after {copies} epochs: {static_never} of {num_text} "
        "tokens are never predicted; with dynamic ones, {dynamic_never}. BERT used static masks, "
        "RoBERTa dynamic ones; on its own this changes little (SQuAD 2.0: 78.3 to 78.7 F1, MNLI: "
        "84.3 to 84.0; Liu et al. 2019, table 1). Drawn by the code that trains (dupe_factor)."
    ),
)
