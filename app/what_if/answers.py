"""What a change does: the task's answer, words, the next sentence, and the vectors inside."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from bertcore.analysis.compare.task_shift import TaskShift

from ..plots import Figure, cell_table, plain, shorten, shorten_middle, theme
from ..plots.before_after import (
    AFTER,
    BEFORE,
    AnswerRows,
    Pairs,
    attention_grid,
    divergence_table,
    mask_pairs,
    next_table,
    pair_bars,
    thinned,
    word_table,
)
from ..shell import Picture, cache, frame
from ..shell.show import offer_json
from ..task_model.model import task_head
from .changes import LAYERS_SKIPPED, Case, EffectOfChanges, compare

TOP_WORDS = 5
MOST_NAMED = 8  # most words with another tag that are named

NO_CHANGES = "Nothing is changed yet: before and after are the same. Click a head, or"
NO_QUESTION = (
    "Nothing is hidden, and there is no pair that this checkpoint judges, so BERT has no question "
    "to answer. Click a token above to hide it. Below is what changes inside."
)
NO_MASKED_WORDS = (
    "This checkpoint has no masked-word (MLM) head, so no words can be compared. What changes "
    "inside is below; to compare words, choose a pretrained checkpoint such as `default` in the "
    "sidebar."
)

RUNS_CODE = """
from bertcore import Changes
from bertcore.analysis import compare_runs, masked_encoding

encoding = masked_encoding(bert, trace.text_a, trace.text_b, {masked})
changes = {changes}
before = bert.trace(trace.text_a, trace.text_b, encoding=encoding)
after = bert.trace(trace.text_a, trace.text_b, encoding=encoding, changes=changes)
comparison = compare_runs(bert, before, after)
"""
"""Python that makes both runs and compares them."""
TASK_CODE = """
from bertcore.analysis import compare_task
from bertcore.tasks import read_task_head

task = compare_task(bert, read_task_head(bert), before, after)
"""


NAMES = ("before", "after")
TOP_CHOICES = {"classes": 5, "labels": 5, "tags": 2, "span": 4}
"""Best choices of each run that are shown, by kind."""
MAX_ANSWERS = 5  # words whose tags are shown: those whose tags moved most
_TITLES = {"start": "Start of the answer", "end": "End of the answer"}


def task_figure(task: TaskShift) -> Figure:
    """Draw a task head's answers before (grey) and after (blue): bars in pairs, or of the score."""
    if task.kind == "score":
        return _score_bars([task.before.item(), task.after.item()])
    # Those that moved most, in the order of the text.
    answers = sorted(np.argsort(-task.divergence, kind="stable")[:MAX_ANSWERS].tolist())
    shifts = [_shift(task, answer) for answer in answers]
    return pair_bars(shifts, [_title(task, answer) for answer in answers], NAMES)


def task_table(task: TaskShift) -> pd.DataFrame:
    """Return a row for each answer and choice of a task head."""
    value = "score" if task.kind == "score" else "p"
    positions = task.positions or [None] * len(task.names)
    choices = {"choice": task.choices, "choice_number": range(len(task.choices))}
    values = {f"{value}_before": task.before, f"{value}_after": task.after}
    return cell_table({"answer": task.names, "position": positions}, choices, **values)


def _shift(task: TaskShift, answer: int) -> AnswerRows:
    before, after = task.before[answer], task.after[answer]
    count = TOP_CHOICES[task.kind]
    best = [np.argsort(-values, kind="stable")[:count].tolist() for values in (before, after)]
    ids = list(dict.fromkeys([*best[0], *best[1]]))
    words = [task.choices[i] for i in ids]
    if task.kind == "span":  # the same token may be there twice
        words = [f"{shorten(word, 18)} ({i})" for word, i in zip(words, ids, strict=True)]
    return AnswerRows(tuple(words), (before[ids], after[ids]))


def _title(task: TaskShift, answer: int) -> str:
    name = task.names[answer]
    divergence = f"KL {task.divergence[answer]:.3g} nats"
    if task.kind == "tags":
        return f"<b>{theme.escape(shorten(name, 24))}</b> at {task.positions[answer]}: {divergence}"
    if task.kind == "span":
        return f"{_TITLES[name]}: {divergence}"
    return f"{'Class' if task.kind == 'classes' else 'Labels'}: {divergence}"


def _score_bars(scores: Sequence[float]) -> Figure:
    """Draw the score of a regression in two runs as bars from 0."""
    change = scores[1] - scores[0]
    texts = [f"{scores[0]:.4g}", f"<b>{scores[1]:.4g}</b>  ({change:+.3g})"]
    fig = Figure()
    fig.add(
        "bar",
        x=list(scores),
        y=list(NAMES),
        orientation="h",
        marker={"color": [BEFORE, AFTER], "line_width": 0},
        text=texts,
        textposition="outside",
        cliponaxis=False,
        hovertemplate="%{y}: %{x:.6g}<extra></extra>",
    )
    theme.plot_layout(fig, "", "score", "", 150)
    low, high = min(0.0, *scores), max(0.0, *scores)
    room = 0.3 * max(high - low, 1e-6)  # for the numbers at the ends
    fig.update_xaxes(range=[low - (room if low < 0 else 0), high + room])
    fig.update_yaxes(autorange="reversed", showgrid=False)
    return fig


WORDS = Picture(
    name="what-if-words",
    chart=mask_pairs(*NAMES),
    how=(
        "The best words before (grey) and after (blue) at each \\[MASK\\]: the five best of both "
        "runs. The number after the probabilities is the difference in percentage points. KL "
        "measures how far the probabilities of the whole vocabulary moved: 0 means not at all."
    ),
    code=RUNS_CODE,
)
NEXT_SENTENCE = Picture(
    name="what-if-next-sentence",
    chart=Pairs(name="answer"),
    how=(
        "The next-sentence head's probability that B follows A, before (grey) and after (blue), "
        "and the difference in percentage points."
    ),
    code=RUNS_CODE,
)
TASK = Picture(
    name="what-if-task",
    figure=task_figure,
    table=task_table,
    how="The answer of the fine-tuned head before (grey) and after (blue). {details}",
    code=RUNS_CODE + TASK_CODE,
)
TASK_DETAILS = {
    "classes": (
        "The five best classes of both runs, with the difference in percentage points. The "
        "probabilities of all classes sum to 1. KL measures how far they moved overall."
    ),
    "labels": (
        "Each label on its own, yes above 50%; they do not sum to 1. KL is summed over all labels."
    ),
    "tags": (
        "The five words whose tags moved most, each with its two best tags. A word is tagged at "
        "its first piece, as taggers are trained. The CSV has all words."
    ),
    "span": (
        "For start and end of the answer, the four best tokens of both runs. The question is text "
        "A, the text to search is B; \\[CLS\\] means no answer, if the model was trained that way."
    ),
    "score": "The bars are the score of the regression, with the difference in brackets.",
}
"""What is drawn of a task's answers, by `TaskShift.kind`."""


def _offer_change(layer: int) -> None:
    """Note that nothing is changed, and offer a layer to skip."""
    row = st.container(horizontal=True, vertical_alignment="center")
    row.markdown(NO_CHANGES)
    row.button(f"Skip layer {layer}", on_click=LAYERS_SKIPPED.put, args=([layer],))


def show_answers(page: frame.Page, case: Case) -> EffectOfChanges:
    """Draw the answers of both runs: task, words, next sentence; return the comparison."""
    compared = cache.computed(compare, case, TOP_WORDS)
    runs = compared.runs
    if not case.changes:
        _offer_change(page.bert.config.num_hidden_layers // 2)
    is_tuned = _show_task(page, case, compared)
    code: dict[str, Any] = {"masked": case.masked, "changes": case.changes}
    if runs.shifts:
        hidden = {position: page.trace.tokens[position] for position in case.masked}
        WORDS.show(page, word_table(runs.shifts, page.marks.mask, hidden), **code)
    if runs.next_before is not None:
        NEXT_SENTENCE.show(page, next_table(runs.next_before, runs.next_after), **code)
    if not runs.shifts and not is_tuned and "mlm" not in page.bert.capabilities:
        st.warning(NO_MASKED_WORDS)
    elif not runs.shifts and not is_tuned and runs.next_before is None:
        st.info(NO_QUESTION)
    return compared


def _show_task(page: frame.Page, case: Case, compared: EffectOfChanges) -> bool:
    """Draw the answer of the task head, or say why it cannot be read; return whether there is one.

    Without a task head nothing is drawn.
    """
    task = compared.task
    if task is None:
        try:
            task_head(page.bert_key)
        except (ValueError, RuntimeError) as error:
            st.warning(plain(frame.sentence_of(error)))
            return True
        return False
    if not len(task.names):
        return True
    details = frame.own_tokens(TASK_DETAILS[task.kind])
    TASK.show(
        page,
        task,
        with_caption=False,
        masked=case.masked,
        changes=case.changes,
        details=details,
    )
    if task.kind == "tags":
        _list_changed_tags(task)
    TASK.caption(details=details)
    return True


def _list_changed_tags(task: TaskShift) -> None:
    """Name the words that get another tag."""
    changed = task.changed()
    if not changed:
        st.markdown(f"Each of the {len(task.names)} words keeps its tag.")
        return

    def tag(values: np.ndarray) -> str:
        return plain(shorten_middle(task.choices[int(values.argmax())], 20))

    named = [
        f"**{plain(shorten_middle(task.names[i], 20))}** ({task.positions[i]}): "
        f"{tag(task.before[i])} → {tag(task.after[i])}"
        for i in changed[:MOST_NAMED]
    ]
    more = f"; and {len(changed) - MOST_NAMED} more" if len(changed) > MOST_NAMED else ""
    st.markdown(
        f"{len(changed)} of {len(task.names)} words get another tag: {'; '.join(named)}{more}."
    )


def hidden_bars(change: NDArray[np.float32], tokens: Sequence[str]) -> Figure:
    """Draw how much the vectors of each layer changed: the mean as a bar, the maximum as a mark.

    Args:
        change: 1 - cosine, [L+1, T].
        tokens: [T]
    """
    layers = list(range(len(change)))
    most = change.argmax(1)
    worst = [
        f"most: {theme.escape(shorten(tokens[token], 24))} at {token}: {change[layer, token]:.3g}"
        for layer, token in enumerate(most)
    ]
    fig = Figure()
    fig.add(
        "bar",
        x=layers,
        y=change.mean(1),
        marker={"color": AFTER, "line_width": 0},
        name="mean of the tokens",
        customdata=worst,
        hovertemplate="layer %{x}: %{y:.3g}<br>%{customdata}<extra></extra>",
    )
    fig.add(
        "scatter",
        x=layers,
        y=change.max(1),
        mode="markers",
        marker={"symbol": "line-ew", "size": 14, "line": {"width": 2, "color": BEFORE}},
        name="the token that changed most",
        hoverinfo="skip",
    )
    theme.plot_layout(fig, "", "layer (0: embeddings)", "1 − cosine", 230)
    fig.update_xaxes(tickvals=thinned(layers), showgrid=False)
    fig.update_yaxes(range=[0, max(1e-3, float(change.max()) * 1.12)])
    return fig


def hidden_table(change: NDArray[np.float32], tokens: Sequence[str]) -> pd.DataFrame:
    """Return a row for each layer (0: embeddings) and token."""
    columns = {"position": range(len(tokens)), "token": tokens}
    return cell_table({"layer": range(len(change))}, columns, one_minus_cosine=change)


HIDDEN = Picture(
    name="what-if-hidden",
    figure=hidden_bars,
    table=hidden_table,
    how=(
        "How much the tokens' vectors turned after each layer, 1 − cosine: the mean as a bar, the "
        "token that turned most as a line; 0 means the same direction. Layers below the lowest "
        "change stay the same. Layer 1 is the output of the layer with the heads of layer 0."
    ),
    code=RUNS_CODE,
)
ATTENTION = Picture(
    name="what-if-attention",
    figure=attention_grid,
    table=divergence_table,
    how=(
        "How much each head's attention changed: Jensen-Shannon divergence of its rows; 0 means "
        "the same, 1 bit nothing in common. Crosses are heads that are off or in a skipped layer: "
        "their attention is computed, but contributes nothing."
    ),
    code=RUNS_CODE,
)


def show_inside(page: frame.Page, case: Case, compared: EffectOfChanges) -> None:
    """Draw how much each layer's vectors and each head's attention changed; offer all as JSON."""
    runs = compared.runs
    tokens = case.before.tokens
    silent = case.changes.silent_heads(page.bert.config)
    code: dict[str, Any] = {"masked": case.masked, "changes": case.changes}
    left, right = st.columns(2, gap="large")
    with left:
        st.header("What changed after each layer", anchor=False)
        HIDDEN.show(page, runs.hidden_change, tokens, **code)
    with right:
        st.header("What changed in each head's attention", anchor=False)
        ATTENTION.show(page, runs.attention_change, drawn={"off": silent}, **code)
    row = st.container(horizontal=True, vertical_alignment="center", gap="small")
    row.caption("Everything above, before and after, in one file:")
    everything = {**about(page, case), "tokens": tokens, "found": runs, "task": compared.task}
    offer_json(row, "what-if", everything)


def about(page: frame.Page, case: Case) -> dict[str, Any]:
    """Return the input and the changes that the numbers of a file belong to."""
    report = page.bert.report
    return {
        "checkpoint": page.bert_key.source,
        "fingerprint": None if report is None else report.fingerprint,
        "text_a": case.text_a,
        "text_b": case.text_b,
        "masked": case.masked,
        "changes": case.changes,
    }
