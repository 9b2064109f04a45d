"""What the page shows: each view is a function of the core, a chart, and how to read it."""

from __future__ import annotations

from bertcore.analysis.space.position_table import position_tables
from bertcore.analysis.words.continuation import Continuation, MaskWriting, WrittenTexts, write_both
from bertcore.analysis.words.leakage import Returned, words_returned
from bertcore.analysis.words.readings import read_three_ways
from bertcore.model.architecture.objectives import MASKED_LM_PROB

from ...on_demand import pd
from ...plots import ON_AXIS, Figure, shorten, tabulate, theme
from ...plots.charts import Grid, Lines
from ...plots.tables import cells, columns, stacked
from ...view import View

BERT, GPT, ELMO = ("BERT", "GPT", "ELMo")
LEAST = 1e-4  # a share below this is only rounding residue
MOST_NAMED = 60  # above this many tokens an axis shows places instead of words


RETURNED = stacked(
    "network",
    {
        BERT: columns(token="both.tokens", comes_back="both.shares.returned"),
        GPT: columns(token="left.tokens", comes_back="left.shares.reaches_the_one_before"),
    },
)


def returned_bars(returned: Returned, place: int = -1) -> Figure:
    """Draw how much of each token comes back, a bar for each network; name the place in bold."""
    fig, colours = Figure(), {BERT: theme.SEGMENT_A, GPT: theme.SEGMENT_B}
    for name, rows in RETURNED(returned).groupby("network", sort=False):
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
            tickvals=list(range(len(named))), ticktext=named, tickangle=-50, tickfont={"size": 14}
        )
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


SIGHTS = View(
    name="who-sees-whom",
    question="Who sees whom, and what does each guess?",
    of=read_three_ways,
    table=stacked(
        "network",
        {
            name: columns(
                token=f"readings.{name}.tokens",
                sees=f"readings.{name}.sees",
                weight_in_the_last_layer=f"readings.{name}.last_weights",
                is_guessed=f"readings.{name}.is_guessed",
            )
            for name in (BERT, GPT, f"{ELMO}, left", f"{ELMO}, right")
        },
    ),
    needs=frozenset({"mlm"}),
    how=(
        "Each line leads from a token to the vector that reads it. Coloured: what the guess can "
        "depend on. Click a token to guess it.\n\n"
        "Rows are tokens; columns are the input and each layer's output. The darker a line, the "
        "larger the weight (the mean over the heads). Point at a vector to see what it reads."
    ),
)
LEAK = View(
    name="two-layers",
    question="How much of each word comes back to its own place?",
    of=words_returned,
    figure=returned_bars,
    table=RETURNED,
    fills=lambda returned: {
        "num_left": len(returned.both.tokens) - 1,
        "num_hidden": max(1, round(MASKED_LM_PROB * len(returned.both.tokens))),
    },
    needs=frozenset({"parts"}),
    how=(
        "Each bar is how much of a word comes back to its own place: what it would give away if it "
        "were not hidden.\n\n"
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
WRITTEN = View(
    name="let-it-write",
    question="What does each of them write?",
    of=write_both,
    table=written_table,
    needs=frozenset({"mlm"}),
    how=(
        "Both go on with the text; the darker a word, the surer the network was.\n\n"
        "GPT predicts only the next token, which is what it was trained to do. BERT needs the "
        "number of words beforehand, runs over the whole text again for each, and meets what it "
        "never saw in training: a row of masks with nothing after it. A mask is filled while its "
        "neighbours may still be masks, so words are repeated; and no product of its guesses is "
        "the probability of a text. Both are small networks: how they write says more than what "
        "they write."
    ),
)
POSITION_TABLES = View(
    name="positions-beside-sinusoids",
    question="How do learned positions compare with sinusoids?",
    of=position_tables,
    table=stacked(
        "table",
        {
            f"{name}: position ": cells({"position": range}, {"other": range}, cosine=of)
            for name, of in (("learned", "learned_cosines"), ("sinusoids", "sinusoid_cosines"))
        },
    ),
    chart=Grid(
        row="position",
        column="other",
        value="cosine",
        form=".2f",
        is_written=False,
        title="cosine",
        titles=("position", ""),
        by="table",
        is_signed=True,
    ),
    fills=lambda tables: {"num": len(tables.learned)},
    needs=frozenset({"positions"}),
    how=(
        "Each cell compares two places in the text; the bluer it is, the more alike their position "
        "vectors are.\n\n"
        "The number is the cosine of two of the first {num} rows. Left: learned, as in BERT and "
        "GPT. Right: sines and cosines of decreasing frequency, as in the Transformer, where the "
        "cosine depends only on the distance."
    ),
)
POSITION_DISTANCES = View(
    name="positions-by-distance",
    question="How alike are positions that are far apart?",
    of=position_tables,
    table=stacked(
        "table",
        {
            name: columns(places_apart=range, mean_cosine=f"{name}_by_distance")
            for name in ("learned", "sinusoids")
        },
    ),
    chart=Lines(
        x="places_apart",
        y="mean_cosine",
        by="table",
        form=".2f",
        x_title="places apart",
        y_title="mean cosine",
    ),
    fills=lambda tables: {"num": len(tables.learned), "mean": f"{tables.cosines.mean():z.2f}"},
    needs=frozenset({"positions"}),
    how=(
        "Each dot is how alike two positions are that lie so far apart.\n\n"
        "The mean cosine of two rows at each distance. The mean of the {num} cosines between a "
        "learned row and the formula's row of the same position is **{mean}**."
    ),
)
