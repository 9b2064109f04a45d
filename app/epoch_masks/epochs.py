"""Static masks beside dynamic ones over the epochs of a run."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bertcore import Model
from bertcore.analysis.words.epoch_masks import COPIES, FATES, EpochMasks, epoch_masks
from bertcore.objectives.row import ACTIONS, Actions

from ..plots import ON_AXIS, Figure, Shades, shorten, subplots, theme
from ..shell import Picture, frame

COLOURS = ("rgba(127, 134, 152, 0.12)", "#2F55D4", "#0B7A55", "#B45309")
"""For not hidden, [MASK], kept and random, as in the drawing of an example."""
ROW = 14  # pixels of an epoch


class BothMasks(NamedTuple):
    """The masks of one row, drawn in both ways."""

    static: EpochMasks
    dynamic: EpochMasks


def _epochs_figure(both: BothMasks, mask: str) -> Figure:
    """Draw a row for each epoch, static masks above dynamic ones."""
    static = both.static
    num_epochs, num_tokens = static.fates.shape
    titles = (
        f"<b>Static</b>: {static.dupe_factor} copies of the data, each with its masks",
        "<b>Dynamic</b>: new masks in each epoch",
    )
    fig = subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.07, subplot_titles=titles)
    names = ("not hidden", mask, "kept", "random")
    edges = [(place / 4, colour) for place, colour in enumerate(COLOURS)]
    scale = [[edge + extra, colour] for edge, colour in edges for extra in (0, 0.25)]
    for number, masks in enumerate(both, 1):
        hover = [
            [f"{theme.escape(token)}: {theme.escape(names[fate])}" for token, fate in row]
            for row in (zip(masks.tokens, line, strict=True) for line in masks.fates)
        ]
        place: dict[str, Any] = {"row": number, "col": 1, "y": list(range(1, num_epochs + 1))}
        text = "epoch %{y}, %{customdata}"
        fig.heat(masks.fates, Shades(scale, -0.5, 3.5), text, gap=1, customdata=hover, **place)
    if static.dupe_factor < num_epochs:  # below the line they repeat
        fig.add_hline(
            y=static.dupe_factor + 0.5, row=1, col=1, line_width=2, line_color=theme.ACCENT
        )
    for name, colour in zip(names[1:], COLOURS[1:], strict=True):
        marker = {"symbol": "square", "size": 12, "color": colour}
        name = theme.escape(name)
        fig.add("scatter", 1, 1, x=[None], y=[None], mode="markers", name=name, marker=marker)
    theme.plot_layout(fig, "", "", "epoch", 190 + 2 * ROW * num_epochs)
    fig.update_layout(margin={"l": 8, "r": 8, "t": 64, "b": 8}, legend={"y": 1.04})
    fig.update_annotations(x=0, xanchor="left", font_size=15)
    fig.update_yaxes(autorange="reversed", tickvals=[1, 5, 10, 15, 20], showgrid=False)
    fig.update_xaxes(
        tickmode="array",
        tickvals=list(range(num_tokens)),
        ticktext=[theme.escape(shorten(token, ON_AXIS)) for token in static.tokens],
        tickangle=-60,
        showgrid=False,
    )
    return fig


def _epochs_table(both: BothMasks) -> pd.DataFrame:
    """Return a row for each way, epoch and hidden token."""
    rows = [
        (name, epoch + 1, place, masks.tokens[place], FATES[masks.fates[epoch, place]])
        for name, masks in zip(("static", "dynamic"), both, strict=True)
        for epoch, place in np.argwhere(masks.fates > 0).tolist()
    ]
    return pd.DataFrame(rows, columns=["masks", "epoch", "position", "token", "became"])


EPOCHS = Picture(
    name="epoch-masks",
    needs=frozenset({"mlm"}),
    figure=_epochs_figure,
    table=_epochs_table,
    how=(
        "Each row is an epoch, each column a token; coloured places are to be predicted. Static "
        "masks repeat below the line, after {copies} epochs: {static_never} of {num_text} tokens "
        "are never predicted; with dynamic ones, {dynamic_never}. BERT used static masks, RoBERTa "
        "dynamic ones; on its own this changes little (SQuAD 2.0: 78.3 to 78.7 F1, MNLI: 84.3 to "
        "84.0; Liu et al. 2019, table 1). Drawn by the code that trains (dupe_factor)."
    ),
    code="""
from bertcore.analysis import epoch_masks

text = {text!r}
masking = dict(seed={seed}, masked_lm_prob={share}, actions={actions})
static = epoch_masks(bert, text, dupe_factor={copies}, **masking)
dynamic = epoch_masks(bert, text, dupe_factor=0, **masking)
static.fates > 0, dynamic.fates > 0                # [epochs, T]
""",
)


def show_epochs(
    page: frame.Page, text: str, *, seed: int, share: float, actions: Actions = ACTIONS
) -> None:
    """Draw which tokens of a document are hidden in each epoch; arguments as of `epoch_masks`."""
    both = page.compute(_both, text, seed, share, actions)
    EPOCHS.show(
        page,
        both,
        drawn={"mask": page.marks.mask},
        text=text,
        seed=seed,
        share=share,
        copies=COPIES,
        num_text=both.static.num_text,
        static_never=both.static.num_never,
        dynamic_never=both.dynamic.num_never,
        actions=actions,
    )


def _both(bert: Model, text: str, seed: int, share: float, actions: Actions) -> BothMasks:
    static, dynamic = (
        epoch_masks(
            bert, text, seed=seed, masked_lm_prob=share, actions=actions, dupe_factor=copies
        )
        for copies in (COPIES, 0)
    )
    return BothMasks(static, dynamic)
