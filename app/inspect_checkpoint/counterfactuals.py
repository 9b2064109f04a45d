"""Counterfactuals: the fewest words to swap for another answer."""

from typing import Any

import pandas as pd
import streamlit as st

from bertcore.analysis.attribution import (
    MAX_FORWARDS,
    Counterfactual,
    LabelTarget,
    Search,
    find_counterfactuals,
)

from ..plots import percent, plain, records, shorten_middle
from ..shell import TEXT_A, TEXT_B, Compute, Picture
from ..task_model.model import TaskPage, proposer
from ..task_model.task_views import ExplainedTarget, TaskView
from .words import STOPPED

SHOWN = 6
_AROUND = 90
"""Characters shown on each side of a swap."""


def swap_table(search: Search) -> pd.DataFrame:
    """Return a row for each text with another answer, or for the one that came closest."""
    closest = () if search.closest is None else (search.closest,)
    counterfactuals = search.counterfactuals or closest
    table = records(
        counterfactuals,
        "text_a=text",
        "text_b=text_pair",
        "ln_p_of_swaps=log_probability",
        "left_of_first_answer=measure",
    ).assign(answers_otherwise=bool(search.counterfactuals))
    swaps = ["; ".join(f"{s.before} -> {s.after}" for s in c.swaps) for c in counterfactuals]
    table.insert(2, "swaps", swaps)
    return table


SWAPS = Picture(
    name="inspect-swaps",
    table=swap_table,
    how=(
        "Each text is yours with some words, as few as the search found, swapped for words that "
        "BERT expects there, so that the answer changes. The most probable texts come first. The "
        "search swaps the most important words (by occlusion) one after the other; if one swap is "
        "not enough, a beam search looks for fewer swaps, with at most {limit} runs. Answers and "
        "choices keep their words. If swapping a word that should not matter changes the answer, "
        "the model has learned something that you may not want. *Use this text* puts the text on "
        "all pages."
    ),
    code="""
import bertcore
from bertcore.analysis.attribution import find_counterfactuals

proposer = bertcore.load("default")  # or the checkpoint itself, if it has a masked-word head
find_counterfactuals(
    model,
    proposer,
    source.text,
    source.text_pair,
    choices={choices},
    word={word},
    label={label},
    score_change={score_change},
)
""",
)


def show(task: TaskPage, view: TaskView, explained: ExplainedTarget) -> None:
    """Draw the texts with another answer, each with a button that uses it on all pages."""
    key, texts = task.texts.key, task.texts
    proposed_by = proposer(key)
    if proposed_by != key:
        st.caption(
            "This checkpoint no longer has a masked-word head, so the shipped checkpoint "
            "proposes the words."
        )
    # The label whose yes or no is explained; none if a text has one answer.
    label = explained.target.label if isinstance(explained.target, LabelTarget) else None
    options: dict[str, Any] = {
        "word": explained.word,
        "label": label,
        "score_change": view.choose_score_change(),
    }
    compute = Compute(name=SWAPS.name, stage="Trying other words", stopped=STOPPED)
    search = compute(
        find_counterfactuals,
        task.key,
        proposed_by,
        texts.text_a,
        texts.text_b,
        choices=texts.choices,
        **options,
    )
    _draw(task, view, search, explained.word)
    SWAPS.offer(
        task.page,
        search,
        setup=task.setup(explained.target),
        limit=f"{MAX_FORWARDS:,}",
        choices=list(texts.choices),
        **options,
    )


def _draw(task: TaskPage, view: TaskView, search: Search, word: int | None) -> None:
    ran, found = f"{search.forwards:,}", search.counterfactuals
    if not found:
        none = (
            f"No other answer was found in {ran} runs: none of the swaps tried (up to four words) "
            "changes the answer."
        )
        limit = (
            f"No other answer was found within the limit of {ran} runs. There may be one beyond it."
        )
        st.info(limit if search.is_cut else none)
        if search.closest is not None:
            st.markdown("The text that came closest:")
            _row(task, view, search.closest, 0, word)
        return
    count = len(found[0].swaps)
    swapped = "One swapped word is" if count == 1 else f"{count} swapped words are"
    texts = "One text" if len(found) == 1 else f"{len(found)} texts"
    below = "" if len(found) <= SHOWN else f", of which the {SHOWN} most probable are below"
    st.markdown(
        f"**{swapped} enough.** {texts} with another answer{below}; the model was run {ran} times."
    )
    for number, counterfactual in enumerate(found[:SHOWN]):
        _row(task, view, counterfactual, number, word)


def _row(
    task: TaskPage, view: TaskView, counterfactual: Counterfactual, number: int, word: int | None
) -> None:
    with st.container(border=True):
        st.markdown(_marked(task, counterfactual))
        row = st.container(horizontal=True, vertical_alignment="center")
        row.markdown(view.in_words(counterfactual.answer, word), width="content")
        swaps = sorted(counterfactual.swaps, key=lambda swap: swap.word)
        usual = " · ".join(f"{plain(s.after)} {percent(s.probability)}" for s in swaps)
        row.caption(f"BERT's probability there: {usual}", width="stretch")
        row.button(
            "Use this text",
            key=f"swap_{number}",
            icon=":material/edit:",
            on_click=_use,
            args=(counterfactual.text, counterfactual.text_pair, task.texts.text_b is not None),
        )


def _use(text: str, pair: str | None, has_pair: bool) -> None:
    TEXT_A.put(text)
    if has_pair:
        TEXT_B.put(pair or "")


def _marked(task: TaskPage, counterfactual: Counterfactual) -> str:
    """Return both texts as Markdown with the swapped words marked; long ones around them only."""
    texts = (counterfactual.text, counterfactual.text_pair)
    source = task.texts._replace(text_a=texts[0], text_b=texts[1]).read_by(task.model)
    lines = []
    for text_id, text in enumerate(texts):
        line, last = "", 0
        for swap in sorted(counterfactual.swaps, key=lambda swap: swap.word):
            word = source.words[swap.word]
            if text is not None and word.text_id == text_id:
                start, _ = source.encoding.offsets[word.start]
                line += plain(shorten_middle(text[last:start], 2 * _AROUND))
                _, last = source.encoding.offsets[word.end - 1]
                after = plain(text[start:last])
                line += f":orange-background[{plain(swap.before)}] → :blue-background[**{after}**]"
        if text is not None:
            lines.append(line + plain(shorten_middle(text[last:], 2 * _AROUND)))
    return "  \n".join(lines)
