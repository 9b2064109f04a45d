"""The best head for each habit and each relation, each with a link to it and an example."""

import math
import re

import streamlit as st

from bertcore.analysis.heads.measures import MEASURES
from bertcore.analysis.heads.report import HeadReport

from ..plots import own_text, plain
from ..shell import Field, Picture, cache, frame, one_of
from ..shell.links import address
from ..sources.head_texts import HeadTextSource
from . import job
from .answer import best, is_habit
from .grid_figures import measures_table, relations_table
from .names import DIRECTION_NAMES, HABITS, NamedMeasure, relation_title

LISTS = {"habits": "Habits", **DIRECTION_NAMES}
ORDERS = {"common": "commonest", "gain": "most above the baseline", "value": "highest"}
FEW_CASES = 5  # relations with fewer cases are left out of the list unless asked for
MAX_LETTERS = 90  # characters of an example that are shown around its words

LIST = Field("heads_list", "habits", tuple(LISTS))
ORDER = Field("heads_order", "common", tuple(ORDERS))
RARE = Field("heads_rare", False)

OWN_TREES = " of our own, which are short and simple; upload trees (.conllu) for a real test."

BEST_HABITS = Picture(
    name="heads-best",
    table=measures_table,
    how=(
        "For each habit, the head that has most of it. Heads are written layer.head; a click opens "
        "the head on the Attention page, in a new tab, with the sentence beside it. *All alike* is "
        "the value of a head without any habit. The mean is in bold if it reaches 15% of what is "
        "possible beyond that; otherwise, no head has this habit. In the last row, uniformity "
        "(100%: every token gets the same weight), it is bold from 80% on. *The same word* means "
        "other occurrences of the same piece. Clark et al. (2019) found such heads in BERT."
    ),
    code="""
layer, head = report.statistics.best("to_previous")
report.statistics.of("to_previous")     # mean, low, high: each [L, H]
""",
)
BEST_RELATIONS = Picture(
    name="heads-best-relations",
    table=relations_table,
    how=(
        "Each head is read as a parser: its answer is the word it attends to most, apart from "
        "itself, \\[CLS\\] and \\[SEP\\]. *Right* is how often that is the word at the other end "
        "of the relation (Clark et al. 2019, section 4), measured on {trees} sentences{whose} The "
        "baseline is the *fixed offset*: always the word that many places before (−) or after (+). "
        "A head that only equals it knows a position, not grammar; in bold are those whose "
        "interval is above it. The best of many heads is partly luck: expect slightly less on "
        "other sentences, and do not rely on wide intervals."
    ),
    code="""
best = report.scores.best("obj", "to_dependent")
best.layer, best.head, best.accuracy, best.baseline
""",
)


def show_ranked(page: frame.Page, chosen: HeadTextSource, report: HeadReport) -> None:
    """Draw the list and its controls."""
    st.header("The best head for each job", anchor=False)
    row = st.container(horizontal=True, vertical_alignment="bottom")
    kind = one_of("Jobs", LISTS, LIST, where=row)
    table, setup = st.container(key="heads_table"), job.setup_code(page, chosen)
    if kind == LIST.default:
        rows = [m for m in map(NamedMeasure, HABITS) if m.count(report)]
        table.markdown(_table(page, chosen, report, rows))
        BEST_HABITS.offer(page, report, setup=setup)
        return
    rows = _relations(row, report, kind)
    table.markdown(_table(page, chosen, report, rows))
    whose = OWN_TREES if chosen.has_own_trees else "."
    if report.scores.num_left_out:
        whose += (
            f" {report.scores.num_left_out:,} arcs are left out: a word was cut off, or shares its "
            "only piece with another."
        )
    trees = f"{len(chosen.trees.trees):,}"
    BEST_RELATIONS.offer(page, report, setup=setup, trees=trees, whose=whose)


def _relations(
    row: st.delta_generator.DeltaGenerator, report: HeadReport, kind: str
) -> list[NamedMeasure]:
    order = row.selectbox(
        "Order",
        list(ORDERS),
        format_func=ORDERS.__getitem__,
        key=ORDER.key(),
        width=200,
    )
    rare = row.toggle(f"Under {FEW_CASES} cases too", key=RARE.key())
    least = 1 if rare else FEW_CASES
    rows = [NamedMeasure(name, kind) for name in report.scores.relations]
    rows = [measured for measured in rows if measured.count(report) >= least]
    if order == "value":
        rows.sort(key=lambda m: -float(m.values(report).mean.max()))
    elif order == "gain":
        rows.sort(key=lambda m: m.baseline(report) - float(m.values(report).mean.max()))
    return rows


def _table(
    page: frame.Page, chosen: HeadTextSource, report: HeadReport, rows: list[NamedMeasure]
) -> str:
    """Return the list as a table in Markdown."""
    key, marks = page.bert_key, page.marks
    if not rows:
        return "No relation has that many cases. Switch the rare ones on."
    is_habits = not rows[0].direction
    titles = ("attends to", "best head", "mean", "95%", "all alike", "for example")
    if not is_habits:
        titles = ("relation", "best head", "right", "95%", "fixed offset", "for example")
    lines = ["| " + " | ".join(titles) + " |", "|:--|:--|--:|:--|--:|:--|"]
    for measured in rows:
        head = best(report, measured)
        if head is None:
            continue
        mean, low, high = (float(part[head]) for part in measured.values(report))
        sentence, markdown = example(chosen, report, measured, head)
        name = f"{head[0]}.{head[1]}"
        if sentence is not None:
            name = f"[**{name}**]({link(key, sentence, head)})"
        title = own_text(HABITS.get(measured.name) or relation_title(measured.name), marks)
        between = "too few" if math.isnan(low) else f"{100 * low:.0f}–{100 * high:.0f}%"
        rival = measured.baseline(report)
        value, base = f"{mean:.0%}", f"{rival:.0%}"
        if low > rival if measured.direction else is_habit(measured, mean, rival):
            value = f"**{value}**"
        if not is_habits:
            offset = report.scores.baseline(measured.name, measured.direction)[0]
            base += f" ({offset:+d})"
        cells = (plain(title), name, value, between, base, markdown)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def example(
    chosen: HeadTextSource, report: HeadReport, measured: NamedMeasure, head: tuple[int, int]
) -> tuple[tuple[str, str | None] | None, str]:
    """Return a sentence that shows what a head does, and the same as Markdown; None, "" if none.

    For a habit it is the sentence in which the head has most of it; for a relation the shortest
    one in which it is right, with the two words coloured. Words that are not neighbours come first:
    a pair of neighbours looks the same in a head that knows only a position.
    """
    if not measured.direction:
        number = int(report.statistics.examples[(*head, MEASURES.index(measured.name))])
        if number < 0:
            return None, ""
        sentence = chosen.texts.sentences[number]
        both = _one_line(" / ".join(filter(None, (sentence.text, sentence.text_pair))))
        return (sentence.text, sentence.text_pair), plain(_cut(both, 0, MAX_LETTERS))
    right = report.scores.examples(measured.name, measured.direction, *head)
    trees = chosen.trees.trees
    if not right:
        return None, ""
    number, dependent, governor = min(
        right, key=lambda arc: (abs(arc[1] - arc[2]) < 2, len(trees[arc[0]].text))
    )
    tree = trees[number]
    first, second = sorted((tree.spans[dependent], tree.spans[governor]))
    start = max(0, first[0] - MAX_LETTERS // 3)
    text = _one_line(tree.text)
    parts = (
        _cut(text[start : first[0]], 0, MAX_LETTERS),
        _cut(text[first[1] : second[0]], 0, MAX_LETTERS),
        _cut(text[second[1] :], 0, MAX_LETTERS // 3),
    )
    words = [plain(text[a:b]) for a, b in (first, second)]
    before, between, after = map(plain, parts)
    dots = "…" if start else ""
    # Streamlit's colours, not asterisks: these do not make "'s" bold after a letter.
    first_word, second_word = (f":blue-background[{word}]" for word in words)
    return (tree.text, None), f"{dots}{before}{first_word}{between}{second_word}{after}"


def link(key: cache.BertKey, sentence: tuple[str, str | None], head: tuple[int, int]) -> str:
    """Return the address of a head on the Attention page, with a sentence."""
    return address("attention", key, *sentence, layer=head[0], heads=head[1])


def _one_line(text: str) -> str:
    """Return a text of the same length whose line breaks, which end a row, are spaces."""
    return re.sub(r"\s", " ", text)


def _cut(text: str, start: int, end: int) -> str:
    return text if len(text) <= end - start else text[start:end].rstrip() + "…"
