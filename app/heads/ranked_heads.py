"""The best head for each habit and each relation, each with a link to it and an example."""

from __future__ import annotations

import math
from urllib.parse import urlencode

import streamlit as st

from app.heads import answer as head_answer
from app.heads import grid_figures
from app.heads import job as head_job
from app.heads.names import DIRECTION_NAMES, HABITS, Measured, relation_title
from app.heads.sources import Chosen
from app.plots.special_tokens import own
from app.plots.untrusted_text import plain
from app.shell import cache, frame, state, texts_lookup
from bertcore.analysis.heads.report import HeadReport
from bertcore.analysis.heads.statistics import measure_index

LISTS = {"habits": "Habits", **DIRECTION_NAMES}
ORDERS = {"common": "commonest", "gain": "most above the baseline", "value": "highest"}
FEW_CASES = 5
"""Relations with fewer cases are left out of the list unless asked for."""
MAX_LETTERS = 90
"""Of an example that is shown around its words."""


def show(page: frame.Page, chosen: Chosen, report: HeadReport) -> None:
    """Draw the list and its controls."""
    st.subheader("The best head for each job", anchor=False)
    row = st.container(horizontal=True, vertical_alignment="bottom")
    kind = row.segmented_control(
        "Jobs",
        list(LISTS),
        format_func=LISTS.__getitem__,
        key=state.keep("heads_list", "habits", options=list(LISTS)),
        label_visibility="collapsed",
        required=True,
    )
    if kind == "habits":
        rows = [m for m in map(Measured, HABITS) if m.count(report)]
    else:
        rows = _relations(row, report, kind)
    st.container(key="heads_table").markdown(_table(page, chosen, report, rows))
    if kind == "habits":
        data, more = grid_figures.measures_table(report), texts_lookup.CODE["heads.habits"]
    else:
        data, more = grid_figures.relations_table(report), texts_lookup.CODE["heads.relations"]
    frame.downloads("heads-best", data, head_job.code(page, chosen, more))
    if kind == "habits":
        frame.how_to_read("heads.habits")
        return
    whose = texts_lookup.TEXTS["heads.own_trees"] if chosen.has_own_trees else "."
    left_out = report.scores.num_left_out
    if left_out:
        whose += " " + texts_lookup.TEXTS["heads.left_out"].format(count=f"{left_out:,}")
    frame.how_to_read("heads.relations", trees=f"{len(chosen.trees.trees):,}", whose=whose)


def _relations(
    row: st.delta_generator.DeltaGenerator, report: HeadReport, kind: str
) -> list[Measured]:
    order = row.selectbox(
        "Order",
        list(ORDERS),
        format_func=ORDERS.__getitem__,
        key=state.keep("heads_order", "common", options=list(ORDERS)),
        width=200,
    )
    rare = row.toggle(f"Under {FEW_CASES} cases too", key=state.keep("heads_rare", False))
    least = 1 if rare else FEW_CASES
    rows = [Measured(name, kind) for name in report.scores.relations]
    rows = [measured for measured in rows if measured.count(report) >= least]
    if order == "value":
        rows.sort(key=lambda m: -float(m.values(report).mean.max()))
    elif order == "gain":
        rows.sort(key=lambda m: m.baseline(report) - float(m.values(report).mean.max()))
    return rows


def _table(page: frame.Page, chosen: Chosen, report: HeadReport, rows: list[Measured]) -> str:
    """Return the list as a table in Markdown."""
    key, marks = page.bert_key, page.marks
    if not rows:
        return texts_lookup.TEXTS["heads.no_rows"]
    is_habits = not rows[0].direction
    titles = ("looks at", "best head", "mean", "95%", "all alike", "for example")
    if not is_habits:
        titles = ("relation", "best head", "right", "95%", "fixed offset", "for example")
    lines = ["| " + " | ".join(titles) + " |", "|:--|:--|--:|:--|--:|:--|"]
    for measured in rows:
        head = head_answer.best(report, measured)
        if head is None:
            continue
        mean, low, high = (float(part[head]) for part in measured.values(report))
        sentence, shown = example(chosen, report, measured, head)
        name = f"{head[0]}.{head[1]}"
        if sentence is not None:
            name = f"[**{name}**]({link(key, *sentence, head)})"
        title = own(HABITS.get(measured.name) or relation_title(measured.name), marks)
        between = "too few" if math.isnan(low) else f"{100 * low:.0f}–{100 * high:.0f}%"
        rival = measured.baseline(report)
        value, base = f"{mean:.0%}", f"{rival:.0%}"
        if low > rival if measured.direction else head_answer.is_habit(measured, mean, rival):
            value = f"**{value}**"
        if not is_habits:
            offset = report.scores.baseline(measured.name, measured.direction)[0]
            base += f" ({offset:+d})"
        cells = (plain(title), name, value, between, base, shown)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def example(
    chosen: Chosen, report: HeadReport, measured: Measured, head: tuple[int, int]
) -> tuple[tuple[str, str | None] | None, str]:
    """Return a sentence that shows what a head does, and the same as Markdown; None, "" if none.

    For a habit it is the sentence in which the head has most of it; for a relation the shortest
    one in which it is right, with the two words coloured.
    """
    if not measured.direction:
        number = int(report.statistics.examples[(*head, measure_index(measured.name))])
        if number < 0:
            return None, ""
        sentence = chosen.texts.sentences[number]
        both = " / ".join(filter(None, (sentence.text, sentence.text_pair)))
        return (sentence.text, sentence.text_pair), plain(_cut(both, 0, MAX_LETTERS))
    right = report.scores.examples(measured.name, measured.direction, *head)
    trees = chosen.trees.trees
    if not right:
        return None, ""
    number, dependent, governor = min(right, key=lambda arc: len(trees[arc[0]].text))
    tree = trees[number]
    first, second = sorted((tree.spans[dependent], tree.spans[governor]))
    start = max(0, first[0] - MAX_LETTERS // 3)
    parts = (
        _cut(tree.text[start : first[0]], 0, MAX_LETTERS),
        _cut(tree.text[first[1] : second[0]], 0, MAX_LETTERS),
        _cut(tree.text[second[1] :], 0, MAX_LETTERS // 3),
    )
    words = [plain(tree.text[a:b]) for a, b in (first, second)]
    before, between, after = map(plain, parts)
    dots = "…" if start else ""
    # Streamlit's colours, not asterisks: these do not make "'s" bold after a letter.
    first_word, second_word = (f":blue-background[{word}]" for word in words)
    return (tree.text, None), f"{dots}{before}{first_word}{between}{second_word}{after}"


def link(key: cache.BertKey, text_a: str, text_b: str | None, head: tuple[int, int]) -> str:
    """Return the address of a head on the Attention page, with a sentence."""
    asked = {"text_a": text_a, "text_b": text_b or "", "layer": head[0], "heads": head[1]}
    if key.source != state.default_source():
        asked["checkpoint"] = key.source
    # A parenthesis would end the link in Markdown; urlencode writes it as %28.
    return f"attention?{urlencode(asked)}"


def _cut(text: str, start: int, end: int) -> str:
    return text if len(text) <= end - start else text[start:end].rstrip() + "…"
