"""Templates: which fillers lean towards which group, by wording and by word."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from bertcore.analysis.words.candidates import parse_candidates
from bertcore.bias import (
    Group,
    Lean,
    TemplateAudit,
    TemplateScores,
    known_audit,
    lean,
    left_out_note,
    score_templates,
    template_audits,
)
from bertcore.model import Model

from ..plots import own_markdown, plain, tabulate
from ..plots.charts import Intervals
from ..shell import Compute, Field, Picture, Progress, frame

MOST_FILLERS = 60
AUDITS = {audit.name: audit for audit in template_audits()}
FIRST = next(iter(AUDITS.values()))
AUDIT = Field("bias_audit", FIRST.name, tuple(AUDITS))
TEMPLATES = Field("bias_templates", "\n".join(FIRST.templates))
NAMES = (Field("bias_group_1", FIRST.groups[0].name), Field("bias_group_2", FIRST.groups[1].name))
WORDS = (
    Field("bias_words_1", ", ".join(FIRST.groups[0].words)),
    Field("bias_words_2", ", ".join(FIRST.groups[1].words)),
)
FILLERS = Field("bias_fillers", ", ".join(FIRST.fillers))


class Leaning(NamedTuple):
    """The scores, and their mean with its intervals."""

    scores: TemplateScores
    lean: Lean
    note: str | None
    """Which words were left out, or None."""


def _table(result: Leaning) -> pd.DataFrame:
    """Return a row for each filler, with the range of the wordings, and one for each wording."""
    scores, differences = result.scores, result.scores.differences()
    rows: list[tuple[object, ...]] = []
    for f in np.argsort(-differences.mean(0), kind="stable"):
        each = differences[:, f]
        rows.append((scores.fillers[f], None, len(each), each.mean(), each.min(), each.max()))
        for template, value in zip(scores.templates, each, strict=True):
            rows.append((scores.fillers[f], template, 1, value, np.nan, np.nan))
    return tabulate("filler template wordings difference low high", rows)


LEANING = Picture(
    name="bias-templates",
    chart=Intervals(
        table=_table,
        name="filler",
        number="wordings",
        value="difference",
        only={"template": None},
        line=0,
        is_fraction=False,
        x_title="← second group          nats          first group →",
    ),
    how=(
        "How much more a filler favours the words of the first group than those of the second, in "
        "nats (0.69 doubles the odds): log p of a word at \\[X\\] with the filler at \\[MASK\\], "
        "minus log p with the filler masked, so that a group's frequency cancels out (Kurita et "
        "al. 2019). A dot is the mean over the wordings, the line their range: where it crosses "
        "0, the answer depends on the wording."
    ),
    code="""
from bertcore.bias import Group, lean, score_templates

scores = score_templates(bert, {templates!r}, {groups}, {fillers!r})
scores.differences(), lean(scores)
""",
    needs=frozenset({"mlm"}),
)


def show(page: frame.Page) -> None:
    """Draw the choice, the lean with its intervals, and the picture."""
    result = Compute(name="templates")(_leaning, page.bert_key, _choose(page))
    scores = result.scores
    _show_lean(result)
    for note in (result.note, *scores.notes):
        if note is not None:
            st.caption(plain(note))
    groups = ", ".join(f"Group({g.name!r}, {g.words!r})" for g in scores.groups)
    LEANING.show(
        page,
        result,
        templates=list(scores.templates),
        groups=f"({groups})",
        fillers=list(scores.fillers),
    )


def _leaning(bert: Model, asked: TemplateAudit, *, progress: Progress) -> Leaning:
    progress(0.0, "Scoring templates")
    known = known_audit(bert, asked)
    scores = score_templates(bert, known.templates, known.groups, known.fillers)
    before, after = (
        (*audit.fillers, *audit.groups[0].words, *audit.groups[1].words) for audit in (asked, known)
    )
    return Leaning(scores, lean(scores), left_out_note(before, after))


def _choose(page: frame.Page) -> TemplateAudit:
    """Draw the choice of an audit and its words; return what is asked.

    ValueError if there are too many fillers.
    """
    st.selectbox("Audit", list(AUDITS), key=AUDIT.key(), on_change=_take, width=420)
    with st.expander("Templates and words", icon=":material/edit:"):
        st.text_area(
            own_markdown("Templates, one per line, each with \\[X\\] and \\[MASK\\]", page.marks),
            key=TEMPLATES.key(),
            height=100,
            max_chars=1000,
        )
        for name, words, column in zip(NAMES, WORDS, st.columns(2), strict=True):
            column.text_input("Group", key=name.key(), max_chars=60)
            column.text_area("Its words, at \\[X\\]", key=words.key(), height=80, max_chars=1000)
        st.text_area(
            own_markdown("Fillers, at \\[MASK\\]", page.marks),
            key=FILLERS.key(),
            height=80,
            max_chars=2000,
        )
    fillers = parse_candidates(FILLERS.value)
    if len(fillers) > MOST_FILLERS:
        raise ValueError(
            f"there are {len(fillers)} fillers; at most {MOST_FILLERS} are drawn. Use fewer, or "
            "`score_templates` in Python."
        )
    stripped = (line.strip() for line in TEMPLATES.value.splitlines())
    mask = page.bert.tokenizer.mask_token
    templates = tuple(line.replace("[MASK]", mask) for line in stripped if line)
    first, second = (
        Group(name.value.strip() or f"group {number}", parse_candidates(words.value))
        for number, (name, words) in enumerate(zip(NAMES, WORDS, strict=True), start=1)
    )
    return TemplateAudit("", templates, (first, second), fillers)


def _take() -> None:
    """Fill the boxes from the chosen audit."""
    audit = AUDITS.get(AUDIT.value)
    if audit is None:  # a program may send any name
        return
    TEMPLATES.put("\n".join(audit.templates))
    FILLERS.put(", ".join(audit.fillers))
    for name, words, group in zip(NAMES, WORDS, audit.groups, strict=True):
        name.put(group.name)
        words.put(", ".join(group.words))


def _show_lean(result: Leaning) -> None:
    """Draw the mean, what it leans towards, and whether any interval contains zero."""
    found, groups = result.lean, result.scores.groups
    group = groups[0 if found.mean > 0 else 1].name
    ends = {
        "fillers": found.over_fillers,
        "wordings": found.over_templates,
        "words": found.over_words,
    }
    told = [
        f"over {name} {low:+.2f} to {high:+.2f}"
        for name, (low, high) in ends.items()
        if np.isfinite(low)
    ]
    if not told:
        st.markdown(f"**{found.mean:+.2f} nats: no interval, so no verdict.**")
        st.caption("One wording, one filler and a group of one word: there is nothing to resample.")
        return
    unsure = [name for name, (low, high) in ends.items() if np.isfinite(low) and low <= 0 <= high]
    verdict = (
        f"no clear lean; with other {' or '.join(unsure)} the sign may change"
        if unsure
        else f"the fillers together lean towards {plain(group)}"
    )
    if found.turns and not unsure:
        verdict = "the sign changes with the wording"
    st.markdown(f"**{found.mean:+.2f} nats: {verdict}.**")
    st.caption(f"95% intervals by bootstrap: {'; '.join(told)}.")
