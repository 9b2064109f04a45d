"""Training example: a document, a pair, hidden pieces, guesses and losses."""

import math
from operator import attrgetter
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from bertcore.analysis.compare.weight_drift import WeightDrift, step_drift
from bertcore.analysis.words.training_example import (
    StepEffect,
    TrainingExample,
    one_step,
    training_example,
)

from ..epoch_masks.epochs import show_epochs
from ..plots import own_markdown, plain
from ..plots.before_after import AnswerRows, answer_bars, answer_table
from ..plots.drift import drift_grid, drift_table, other_bars, other_table
from ..shell import LAST_SEED, Field, Picture, draw_again, frame, one_of
from ..sources.documents import DOCUMENTS
from . import PAGE, drawing
from .phases import show_phases

PERCENTAGES = (15, 30, 50)
ACTIONS = {
    "80/10/10": (0.8, 0.1, 0.1),
    "100/0/0": (1.0, 0.0, 0.0),
    "80/0/20": (0.8, 0.0, 0.2),
    "80/20/0": (0.8, 0.2, 0.0),
    "0/20/80": (0.0, 0.2, 0.8),
}
"""Shares of [MASK], kept and random that BERT's paper compares (appendix C.2)."""
FATES = (
    ("**\\[MASK\\]**", "to predict a word from the words around it"),
    ("**kept**", "that a word it sees is often right: fine-tuning has no \\[MASK\\]"),
    ("a **random** piece", "that no word can be trusted, so that the words around it are read"),
)
"""What a chosen piece becomes, and what BERT learns by it."""

DOCUMENT = Field("document", DOCUMENTS[0].text)
SEED = Field("example_seed", 3)
PERCENTAGE = Field("example_share", 15, PERCENTAGES)
STEP = Field("example_step", False)
SHARES = Field("example_actions", "80/10/10", tuple(ACTIONS))


def _table(example: TrainingExample) -> pd.DataFrame:
    """Return a row for each token."""
    guesses = {
        guess.position: (guess.became, guess.best[0][0], guess.probability, guess.loss)
        for guess in example.guesses
    }
    no_guess = ("", "", float("nan"), float("nan"))
    tokens = zip(example.tokens, example.segment_ids, example.input_tokens, strict=True)
    rows = [(place, *token, *guesses.get(place, no_guess)) for place, token in enumerate(tokens)]
    names = ["position", "token", "segment", "input", "became", "guess", "p_right", "loss"]
    return pd.DataFrame(rows, columns=names)


EXAMPLE = Picture(
    name="training-example",
    needs=frozenset({"mlm"}),
    table=_table,
    how=(
        "What one example goes through, from top to bottom. Only the chosen places have a guess "
        "and a cost; a guess is green if it is the right piece. A cost of 0.69 means p = 50%, one "
        "of 2.3 p = 10%. BERT sees {num_tokens} tokens here and learns from {num_chosen} of them."
    ),
    code="""
from bertcore.analysis import training_example

example = training_example(
    bert, {text!r}, {others!r},
    seed={seed}, masked_lm_prob={masked_lm_prob}, actions={actions},
)
example.guesses, example.mlm_loss, example.nsp_loss, example.loss
""",
)


ONE_STEP = Picture(
    name="one-step",
    figure=answer_bars,
    table=answer_table,
    how=(
        "The probability of each right answer, before and after one step of Adam at BERT's peak "
        "learning rate, 0.0001, on this example alone. A real step averages the gradients of 256 "
        "examples, so no single one is learned so fast."
    ),
    code="""
from bertcore.analysis import one_step

effect = one_step(bert, example)
effect.probabilities, effect.loss
""",
)
_DRIFT = """
from bertcore.analysis import step_drift

drift = step_drift(bert, example)
"""
MOVED = Picture(
    name="step-layers",
    figure=drift_grid,
    table=drift_table,
    how=(
        "How far the step moved each matrix of each layer, with its bias, in percent of its "
        "length. Adam's first step moves every weight by the learning rate, whatever the size of "
        "its gradient: what has small weights moves furthest."
    ),
    code=_DRIFT + "drift.layers\n",
)
MOVED_OTHERS = Picture(
    name="step-others",
    figure=other_bars,
    table=other_table,
    how=(
        "The same outside the layers. Every row of the token table moves, since each piece is a "
        "wrong answer at each chosen place; of the position table, the rows that the example has."
    ),
    code=_DRIFT + "drift.others\n",
)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    with frame.guard():
        _show(page)


def _show(page: frame.Page) -> None:
    if not EXAMPLE.is_available(page):
        return
    text, seed, share, actions = _choose()
    if not text.strip():
        st.info("The document is empty. Write some sentences, or choose another document.")
        return
    _note_unknown(page, text)
    others = tuple(one.text for one in DOCUMENTS if one.text != text)
    drawn: dict[str, Any] = {"seed": seed, "masked_lm_prob": share, "actions": ACTIONS[actions]}
    example = page.compute(training_example, text, others, **drawn)
    message = drawing.message(example, page.marks.mask)
    drawing.COMPONENT(key="training_example", data=message)
    values = {"text": text, "others": others, **drawn}
    EXAMPLE.offer(
        page,
        example,
        record=example,
        num_tokens=len(example.tokens),
        num_chosen=len(example.guesses),
        **values,
    )
    _show_losses(example, page.bert.config.vocab_size)
    _show_step(page, example, EXAMPLE.python(page, None, **values))
    _show_fates(page, actions)
    st.header("Masks over 20 epochs", anchor=False)
    with frame.guard():
        show_epochs(page, text, seed=seed, share=share, actions=ACTIONS[actions])
    st.header("Pretraining, then fine-tuning", anchor=False)
    with frame.guard():
        show_phases(text, others, drawn)


def _note_unknown(page: frame.Page, text: str) -> None:
    """Warn if the vocabulary has no pieces for most of the document."""
    tokenizer = page.bert.tokenizer
    (ids,) = tokenizer.encode_ids([text])
    number = ids.count(tokenizer.unk_id)
    if number > len(ids) / 2:
        st.warning(
            f"{number} of {len(ids)} tokens are {plain(tokenizer.unk_token)}: the vocabulary of "
            "this checkpoint cannot read the document, so the guesses are of unknown words."
        )


def _choose() -> tuple[str, int, float, str]:
    """Draw the document and the draw; return text, seed, share and the name of the actions."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    text = row.text_area("Document", key=DOCUMENT.key(), height=90, max_chars=5000)
    with row.popover("Another document", icon=":material/article:"):
        for document in DOCUMENTS:
            st.button(
                document.title,
                key=f"document_{document.title}",
                on_click=DOCUMENT.put,
                args=(document.text,),
                width="stretch",
            )
    row = st.container(horizontal=True, vertical_alignment="bottom")
    SEED.key(low=0, high=LAST_SEED)
    draw_again(SEED, row, type="primary")
    names = {percentage: f"{percentage}%" for percentage in PERCENTAGES}
    percentage = one_of("Chosen", names, PERCENTAGE, where=row, with_label=True)
    actions = one_of(
        "Of these, masked / kept / random",
        {name: name for name in ACTIONS},
        SHARES,
        where=row,
        with_label=True,
    )
    return text, SEED.value, percentage / 100, actions


def _show_losses(example: TrainingExample, size: int) -> None:
    """Draw the two losses as formulas, with their numbers to add up; `size` is V."""
    st.header("The loss", anchor=False)
    costs = [f"{guess.loss:.3f}" for guess in example.guesses]
    shown = " + ".join(costs if len(costs) <= 8 else [*costs[:7], r"\ldots"])
    st.latex(
        r"L_{\mathrm{words}} = -\frac{1}{|M|}\sum_{i \in M} \ln p(x_i \mid \tilde x)"
        # A strut: Streamlit cuts the top of a formula off.
        rf" = \frac{{\rule{{0pt}}{{2.4ex}}{shown}}}{{{len(costs)}}} \approx {example.mlm_loss:.3f}"
    )
    if example.nsp_loss is None:
        return
    answer = "random" if example.is_random else "follows"
    st.latex(
        r"L_{\mathrm{pair}} = -\ln p(\mathrm{" + answer + r"} \mid h_1)"
        rf" \approx {example.nsp_loss:.3f}"
    )
    st.latex(
        r"L = L_{\mathrm{words}} + L_{\mathrm{pair}}"
        rf" \approx {example.mlm_loss:.3f} + {example.nsp_loss:.3f}"
        rf" \approx {example.loss:.3f}"
        r"\ \mathrm{nats}"
    )
    st.caption(
        "M is the set of chosen places, x the right pieces, x̃ what BERT reads, h₁ the pooled "
        f"vector of the first token. A model that knows nothing pays ln V = ln {size:,} = "
        f"{math.log(size):.2f} nats for a word, and ln 2 = {math.log(2):.2f} for the pair."
    )


def _show_step(page: frame.Page, example: TrainingExample, setup: str) -> None:
    """Draw what one optimizer step on this example does to the answers to it.

    Args:
        setup: Python that draws the example.
    """
    if "parts" not in page.bert.capabilities:
        return
    st.header("One step", anchor=False)
    if not st.toggle("Train on this example once", key=STEP.key()):
        return
    effect = page.compute(one_step, example)
    st.markdown(
        f"The loss goes from **{example.loss:.3f}** to **{effect.loss:.3f}** nats. The app's "
        "network is unchanged: a copy was trained."
    )
    drawn = {"names": ("before", "after"), "kind": "word"}
    ONE_STEP.show(page, _answers(example, effect), drawn=drawn, setup=setup)
    st.subheader("What the step moved", anchor=False)
    drift = page.compute(step_drift, example)
    st.markdown(_moved(drift, is_pair_judged=example.pair_logits is not None))
    MOVED.show(page, drift, setup=setup)
    MOVED_OTHERS.show(page, drift, setup=setup)


def _moved(drift: WeightDrift, *, is_pair_judged: bool) -> str:
    """Return how many weights a step moved, and why, as Markdown."""
    parts = [*drift.layers.values(), *drift.others.values()]
    moved, total = (sum(map(attrgetter(name), parts)) for name in ("num_changed", "num_weights"))
    num_moved = sum(part.num_changed > 0 for part in parts)
    told = f"**{moved:,}** of {total:,} weights moved, in {num_moved} of {len(parts)} parts."
    if not is_pair_judged or num_moved < len(parts):
        return told
    return (
        f"{told} The loss is the sum of both objectives, so that one gradient reaches every part: "
        "that of the words alone would miss the pooler and the head of the pair, that of the pair "
        "alone the head of the words."
    )


def _answers(example: TrainingExample, effect: StepEffect) -> AnswerRows:
    """Return the probability of each right answer before and after a step."""
    names = [f"{guess.token} ({guess.position})" for guess in example.guesses]
    before = [guess.probability for guess in example.guesses]
    after = list(effect.probabilities)
    if example.pair_probabilities is not None and effect.pair_probability is not None:
        names.append("B is random" if example.is_random else "B follows A")
        before.append(example.pair_probabilities[int(example.is_random)])
        after.append(effect.pair_probability)
    return AnswerRows(tuple(names), (np.array(before), np.array(after)))


def _show_fates(page: frame.Page, actions: str) -> None:
    """State what each of the three fates is for."""
    st.header("Why three fates?", anchor=False)
    rows = [
        f"| {share:.0%} | {fate} | {lesson} |"
        for share, (fate, lesson) in zip(ACTIONS[actions], FATES, strict=True)
        if share
    ]
    head = "| of the chosen | become | so that BERT learns |\n|---|---|---|"
    st.markdown(own_markdown("\n".join([head, *rows]), page.marks))
    st.caption(
        "After fine-tuning, the shares hardly matter: 80/10/10 and 100/0/0 both reach about 84% on "
        "MNLI (84.2 and 84.3). If BERT's vectors are used as they are, without fine-tuning, "
        "100/0/0 loses 0.9 points of F1 on named entities (94.9 and 94.0; Devlin et al. 2019, "
        "appendix C.2)."
    )
