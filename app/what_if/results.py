"""Before and after a change: task, words, next sentence, vectors, attention."""

from __future__ import annotations

import numpy as np
import streamlit as st

from app.plots import before_after as figures
from app.plots import before_after_tables as tables
from app.plots.untrusted_text import plain, shorten
from app.shell import frame, texts_lookup
from app.what_if import changes as what_if
from app.what_if import task_answer_figures as task_figures
from bertcore.analysis.compare.task_shift import TaskShift

TOP_WORDS = 5
MAX_SAID = 8
"""Words with another tag that are named."""


def show_answers(page: frame.Page, case: what_if.Case) -> what_if.Compared:
    """Draw the answers of both runs: task, words, next sentence; return the comparison."""
    compared = what_if.compare(page.bert_key, case, TOP_WORDS)
    found = compared.runs
    code = run_code(page, case)
    if not case.changes:
        st.info(texts_lookup.TEXTS["what-if.unchanged"])
    is_tuned = _show_task(page, compared, code)
    if found.shifts:
        kept = page.trace.tokens
        originals = [kept[s.position] if s.position in case.masked else None for s in found.shifts]
        fig = figures.word_bars(found.shifts, originals, mask=page.marks.mask)
        table, how = tables.word_table(found.shifts), frame.reading("what-if.words")
        frame.figure(fig, "what-if-words", table, code, how=how)
        frame.how_to_read("what-if.words")
    if found.next_before is not None and found.next_after is not None:
        is_next = (found.next_before.is_next, found.next_after.is_next)
        table = tables.answer_table(is_next)
        frame.figure(figures.answer_bars(is_next), "what-if-next-sentence", table, code)
    if not found.shifts and not is_tuned and page.bert.module.mlm is None:
        st.warning(texts_lookup.TEXTS["what-if.no_head"])
    elif not found.shifts and not is_tuned and found.next_before is None:
        st.info(frame.reading("what-if.no_answer"))
    return compared


def _show_task(page: frame.Page, compared: what_if.Compared, code: str) -> bool:
    """Draw what the task head answers, or say why it cannot be read; return whether there is one.

    Without a task head nothing is drawn.
    """
    task = compared.task
    if task is None:
        try:
            what_if.task_head(page.bert_key)
        except (ValueError, RuntimeError) as error:
            st.warning(plain(frame.sentence_of(error)))
            return True
        return False
    table = tables.task_table(task)
    if task.kind == "score":
        fig = task_figures.score_bars([task.before.item(), task.after.item()])
        frame.figure(fig, "what-if-task", table, code)
    elif len(task.names):
        how = frame.reading(f"what-if.task_{task.kind}")
        frame.figure(task_figures.task_bars(task), "what-if-task", table, code, how=how)
        if task.kind == "tags":
            _say_tags(task)
        frame.how_to_read(f"what-if.task_{task.kind}")
    return True


def _say_tags(task: TaskShift) -> None:
    """Say which words get another tag."""
    changed = task.changed()
    if not changed:
        st.markdown(f"Each of the {len(task.names)} words keeps its tag.")
        return

    def tag(values: np.ndarray) -> str:
        return plain(shorten(task.choices[int(values.argmax())], 20))

    said = [
        f"**{plain(shorten(task.names[i], 20))}** ({task.positions[i]}): "
        f"{tag(task.before[i])} → {tag(task.after[i])}"
        for i in changed[:MAX_SAID]
    ]
    more = f"; and {len(changed) - MAX_SAID} more" if len(changed) > MAX_SAID else ""
    st.markdown(
        f"{len(changed)} of {len(task.names)} words get another tag: {'; '.join(said)}{more}."
    )


def show_inside(page: frame.Page, case: what_if.Case, compared: what_if.Compared) -> None:
    """Draw how much each layer's vectors and each head's attention changed; offer all of it."""
    found = compared.runs
    tokens, code = what_if.before(page.bert_key, case).tokens, run_code(page, case)
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("What changed after each layer", anchor=False)
        table = tables.hidden_table(found, tokens)
        fig, how = figures.hidden_bars(found, tokens), frame.reading("what-if.hidden")
        frame.figure(fig, "what-if-hidden", table, code, how=how)
        frame.how_to_read("what-if.hidden")
    with right:
        st.subheader("What changed in each head's attention", anchor=False)
        table = tables.head_table({"divergence_bits": found.attention_change})
        fig = figures.attention_grid(found.attention_change, case.changes.heads_off)
        how = frame.reading("what-if.attention")
        frame.figure(fig, "what-if-attention", table, code, how=how)
        frame.how_to_read("what-if.attention")
    row = st.container(horizontal=True, vertical_alignment="center", gap="small")
    row.caption(texts_lookup.TEXTS["what-if.all"])
    everything = {**about(page, case), "tokens": tokens, "found": found, "task": compared.task}
    frame.json_button(row, "what-if", everything)


def about(page: frame.Page, case: what_if.Case) -> dict[str, object]:
    """Return what a file says of the input and the changes that its numbers belong to."""
    report = page.bert.report
    return {
        "checkpoint": page.bert_key.source,
        "fingerprint": None if report is None else report.fingerprint,
        "text_a": case.text_a,
        "text_b": case.text_b,
        "masked": case.masked,
        "changes": case.changes,
    }


def run_code(page: frame.Page, case: what_if.Case) -> str:
    """Return Python that makes both runs and compares them."""
    code = texts_lookup.CODE["what-if.runs"].format(masked=case.masked, changes=case.changes)
    if what_if.readable_task_head(page.bert_key) is not None:
        code += texts_lookup.CODE["what-if.task"]
    return page.setup_code + code
