"""Association tests: effect size and p-value of each, and the words of one."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import pandas as pd
import streamlit as st

from bertcore.bias import (
    Association,
    AssociationTest,
    associate,
    association_tests,
    known_tests,
    left_out_note,
    note_on_pieces,
)
from bertcore.bias.associations import MOST_EXACT
from bertcore.model import Model

from ..plots import Figure, plain, shorten, subplots, tabulate, theme
from ..plots.charts import Intervals
from ..shell import Compute, Field, Picture, frame

TABLE = -1  # instead of a hidden state: the token table
LAYER = Field("bias_layer", TABLE)
TESTS = {test.name: test for test in association_tests()}
TEST = Field("bias_test", list(TESTS)[1], tuple(TESTS))
ROW_PIXELS = 44


class Outcome(NamedTuple):
    """A test with its known words, and its outcome."""

    test: AssociationTest
    found: Association
    note: str | None


def _figure(outcomes: Sequence[Outcome]) -> Figure:
    """Draw a row for each test: its effect size, with p above."""
    sizes = [outcome.found.effect_size for outcome in outcomes]
    p_values = [outcome.found.p_value for outcome in outcomes]
    fig = subplots(1, 1)
    fig.add(
        "scatter",
        x=sizes,
        y=list(range(len(sizes))),
        mode="markers+text",
        text=[f"p = {p:.3f}" if p >= 0.001 else "p < 0.001" for p in p_values],
        textposition="top center",
        marker={
            "color": [theme.SEGMENT_A if size > 0 else theme.SEGMENT_B for size in sizes],
            "size": 12,
        },
        hovertemplate="d = %{x:+.2f}<extra></extra>",
        showlegend=False,
    )
    theme.plot_layout(fig, "", "effect size d", "", ROW_PIXELS * len(outcomes) + 76)
    names = [theme.escape(shorten(outcome.test.name, 46)) for outcome in outcomes]
    fig.update_yaxes(**theme.named_rows(names), ticklen=0)
    fig.update_yaxes(range=[len(outcomes) - 0.4, -0.7])  # room for p above the first
    fig.update_xaxes(range=[-2.1, 2.1])
    fig.add_vline(0, line={"color": theme.SPECIAL, "width": 1, "dash": "dash"})
    fig.update_layout(dragmode=False)
    return fig


def _table(outcomes: Sequence[Outcome]) -> pd.DataFrame:
    return tabulate(
        "test first_targets second_targets first_attributes second_attributes effect_size p_value",
        (
            (test.name, *(group.name for group in test.sets), found.effect_size, found.p_value)
            for test, found, _ in outcomes
        ),
    )


ASSOCIATIONS = Picture(
    name="bias-associations",
    figure=_figure,
    table=_table,
    how=(
        "Is the first set of words closer to the first set of attributes, by cosine (WEAT, "
        "Caliskan et al. 2017)? d is the difference between the two sets' means divided by their "
        "standard deviation, −2 to 2. p is the share of all partitions of the words into two sets "
        "whose difference is at least this high (one-sided: for d below 0, look at 1 − p); if "
        f"there are more than {MOST_EXACT:,} partitions, that many are sampled. Vectors of "
        "{where}."
    ),
    code="""
from bertcore.bias import associate, association_tests, known_tests

for test in known_tests(bert, association_tests()):
    found = associate(bert, test, layer={layer})
    print(test.name, found.effect_size, found.p_value)
""",
)


def _words(outcome: Outcome) -> pd.DataFrame:
    """Return the score of each target word, the highest of each set first."""
    rows = [
        (word, group.name, len(group.words), score, math.nan, math.nan)
        for group, scores in zip(outcome.test.targets, outcome.found.scores, strict=True)
        for word, score in sorted(zip(group.words, scores, strict=True), key=lambda pair: -pair[1])
    ]
    return tabulate("word set words_of_set score low high", rows)


WORDS = Picture(
    name="bias-association-words",
    chart=Intervals(
        table=_words,
        name="word",
        number="words_of_set",
        value="score",
        by="set",
        line=0,
        is_fraction=False,
        x_title="← second attributes          cosine          first attributes →",
    ),
    how=(
        "Each word's mean cosine with one set of attributes minus that with the other. If the two "
        "colours are apart, there is an association. If a single word is far out, that word alone "
        "makes the effect."
    ),
    code="""
from bertcore.bias import associate, association_tests, known_tests

(test,) = [test for test in known_tests(bert, association_tests()) if test.name == {name!r}]
associate(bert, test, layer={layer}).scores
""",
)


def show(page: frame.Page) -> None:
    """Draw the tests on the chosen vectors, and the words of one of them."""
    options = [TABLE, *range(page.bert.config.num_hidden_layers + 1)]
    st.select_slider(
        "Vectors of",
        options,
        key=LAYER.key(options=options),
        format_func=lambda layer: (
            "token table" if layer == TABLE else "emb." if layer == 0 else str(layer)
        ),
        width=420,
        help="The token table, or a hidden state of each word as a text by itself: the mean over "
        "its tokens, [CLS] and [SEP] included.",
    )
    layer = None if LAYER.value == TABLE else LAYER.value
    compute = Compute(name="associations", stage="Association tests")
    outcomes = compute(_outcomes, page.bert_key, layer)
    known = [outcome.test for outcome in outcomes]
    if (note := left_out_note(_all_words([*TESTS.values()]), _all_words(known))) is not None:
        st.caption(plain(note))
    where = "the token table" if layer is None else f"hidden state {layer}, each word by itself"
    ASSOCIATIONS.show(page, outcomes, where=where, layer=layer)
    names = [test.name for test in known]
    widget = TEST.key(default=names[min(1, len(names) - 1)], options=names)
    st.selectbox("Words of", names, key=widget, width=460)
    chosen = outcomes[names.index(TEST.value)]
    WORDS.show(page, chosen, name=TEST.value, layer=layer)
    if chosen.note is not None:
        st.caption(plain(chosen.note))
    if chosen.test.source:
        st.caption(f"The names are those of {plain(chosen.test.source)}.")


def _outcomes(
    bert: Model, layer: int | None, on_fraction: Callable[[float], None]
) -> tuple[Outcome, ...]:
    known = known_tests(bert, [*TESTS.values()])
    outcomes = []
    for number, test in enumerate(known):
        on_fraction(number / len(known))
        found = associate(bert, test, layer=layer)
        outcomes.append(Outcome(test, found, note_on_pieces(bert, test)))
    return tuple(outcomes)


def _all_words(tests: Sequence[AssociationTest]) -> list[str]:
    return [word for test in tests for group in test.sets for word in group.words]
