"""Association tests: effect size, p-value, and what random words of the same frequency give."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from bertcore.bias import (
    AssociationOutcome,
    NamedAssociation,
    association_tests,
    known_tests,
    left_out_note,
    run_association_tests,
)
from bertcore.bias.associations import LEAST_WORDS
from bertcore.bias.word_association import MOST_EXACT
from bertcore.model import Model

from ..plots import Figure, plain, shorten, subplots, theme
from ..shell import Compute, Field, Picture, frame

TABLE = -1  # instead of a hidden state: the token table
LAYER = Field("bias_layer", TABLE)
TESTS = {each.name: each for each in association_tests()}
TEST = Field("bias_test", list(TESTS)[1], tuple(TESTS))
ROW_PIXELS = 44
Outcomes = list[AssociationOutcome]


def _figure(outcomes: Outcomes) -> Figure:
    """Draw a row for each test: its effect size and, in grey, the effects of chance sets."""
    fig = subplots(1, 1)
    for place, outcome in enumerate(outcomes):
        if outcome.chance is not None:
            low, high = np.percentile(outcome.chance, (2.5, 97.5))
            fig.add(
                "scatter",
                x=[low, high],
                y=[place, place],
                mode="lines",
                line={"color": theme.SPECIAL, "width": 10},
                opacity=0.35,
                hovertemplate="95% of chance sets: %{x:+.2f}<extra></extra>",
                showlegend=False,
            )
        size, p = outcome.association.effect_size, outcome.association.p_value
        fig.add(
            "scatter",
            x=[size],
            y=[place],
            mode="markers+text",
            text=[f"p = {p:.3f}" if p >= 0.001 else "p < 0.001"],
            textposition="top center",
            marker={
                "color": theme.SEGMENT_A if size > 0 else theme.SEGMENT_B,
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


def _table(outcomes: Outcomes) -> pd.DataFrame:
    return pd.DataFrame([outcome.row() for outcome in outcomes])


ASSOCIATIONS = Picture(
    name="bias-associations",
    figure=_figure,
    table=_table,
    how=(
        "Is the first set of words closer to the first set of attributes, by cosine (WEAT, "
        "Caliskan et al. 2017)? d is the difference between the two sets' means divided by their "
        "standard deviation, −2 to 2. p is the share of all partitions of the words into two sets "
        "whose difference is at least this high (one-sided: for d below 0, look at 1 − p); if "
        "there are more than {most} partitions, that many are sampled.{chance} Here, vectors of "
        "{where}."
    ),
    code="""
from bertcore.bias import (
    association, association_tests, known_part, table_vectors, text_vectors,
)

for each in association_tests():
    test = known_part(bert, each.test)
    sets = (*test.targets, *test.attributes)
    if min(map(len, sets)) < {least}:
        continue
    outcome = association(*({vectors} for words in sets))
    print(each.name, outcome.effect_size, outcome.p_value)
""",
)
CHANCE = " Grey: 95% of the effects of random words of the same frequency."


def _words_figure(outcome: AssociationOutcome) -> Figure:
    """Draw each target word's score, those of the second set below."""
    fig = subplots(1, 1)
    test, scores = outcome.test.test, outcome.association.scores
    labels: list[str] = []
    for number, colour in enumerate((theme.SEGMENT_A, theme.SEGMENT_B)):
        words = test.targets[number]
        order = np.argsort(-np.array(scores[number]), kind="stable").tolist()
        places = [len(labels) + i for i in range(len(order))]
        labels += [words[i] for i in order]
        fig.add(
            "scatter",
            x=[scores[number][i] for i in order],
            y=places,
            mode="markers",
            name=theme.escape(test.names[number]),
            marker={"color": colour, "size": 10},
            customdata=[[theme.escape(words[i])] for i in order],
            hovertemplate="%{customdata[0]}: %{x:+.3f}<extra></extra>",
        )
    theme.plot_layout(fig, "", "", "", 20 * len(labels) + 96)
    fig.update_yaxes(**theme.named_rows([*map(theme.escape, labels)], 0.4), ticklen=0)
    first, second = (theme.escape(name) for name in test.names[2:])
    fig.update_xaxes(title_text=f"← {second}          cosine          {first} →")
    fig.add_vline(0, line={"color": theme.SPECIAL, "width": 1, "dash": "dash"})
    fig.update_layout(dragmode=False)
    return fig


def _words_table(outcome: AssociationOutcome) -> pd.DataFrame:
    test, scores = outcome.test.test, outcome.association.scores
    return pd.DataFrame(
        [
            {"word": word, "set": test.names[number], "score": score}
            for number in (0, 1)
            for word, score in zip(test.targets[number], scores[number], strict=True)
        ]
    )


WORDS = Picture(
    name="bias-association-words",
    figure=_words_figure,
    table=_words_table,
    how=(
        "Each word's mean cosine with one set of attributes minus that with the other. If the two "
        "colours are apart, there is an association. If a single word is far out, that word alone "
        "makes the effect."
    ),
    code="""
from bertcore.bias import (
    association, association_tests, known_part, table_vectors, text_vectors,
)

named = next(each for each in association_tests() if each.name == {name!r})
test = known_part(bert, named.test)
sets = [{vectors} for words in (*test.targets, *test.attributes)]
association(*sets).scores
""",
)


def show(page: frame.Page) -> None:
    """Draw the tests on the chosen vectors, and the words of one of them."""
    num_layers = page.bert.config.num_hidden_layers
    options = [TABLE, *range(num_layers + 1)]
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
    layer = LAYER.value
    tests = tuple(TESTS.values())
    compute = Compute(name="associations", stage="Association tests")
    outcomes = compute(_outcomes, page.bert_key, None if layer == TABLE else layer)
    vectors = (
        "table_vectors(bert, words)"
        if layer == TABLE
        else f"text_vectors(bert, words, layer={layer}, pooling='mean')"
    )
    note = left_out_note(_words(tests), _words([outcome.test for outcome in outcomes]))
    if note is not None:
        st.caption(plain(note))
    ASSOCIATIONS.show(
        page,
        outcomes,
        chance="" if outcomes[0].chance is None else CHANCE,
        where="the token table" if layer == TABLE else f"hidden state {layer}, each word by itself",
        vectors=vectors,
        most=f"{MOST_EXACT:,}",
        least=LEAST_WORDS,
    )
    names = [outcome.test.name for outcome in outcomes]
    widget = TEST.key(default=names[min(1, len(names) - 1)], options=names)
    st.selectbox("Words of", names, key=widget, width=460)
    chosen = outcomes[names.index(TEST.value)]
    WORDS.show(page, chosen, name=TEST.value, vectors=vectors)
    if chosen.association.note:
        st.caption(plain(chosen.association.note))
    if chosen.test.source:
        st.caption(f"The names are those of {plain(chosen.test.source)}.")


def _outcomes(bert: Model, layer: int | None, on_fraction: Callable[[float], None]) -> Outcomes:
    tests = known_tests(bert, tuple(TESTS.values()))
    return run_association_tests(bert, tests, layer=layer, on_fraction=on_fraction)


def _words(tests: Sequence[NamedAssociation]) -> list[str]:
    return [
        word
        for test in tests
        for set_ in (*test.test.targets, *test.test.attributes)
        for word in set_
    ]
