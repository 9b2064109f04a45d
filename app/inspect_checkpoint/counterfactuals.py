"""Counterfactuals: the fewest words to swap for another answer."""

from collections.abc import Sequence

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
from ..shell import TEXT_A, TEXT_B, Compute, Picture, frame
from ..task_model import model as inspection
from ..task_model.model import Inputs, Query
from ..task_model.task_views import TaskView, view_of
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


def show(page: frame.Page, query: Query, word: int | None) -> None:
    """Draw the texts with another answer, each with a button that uses it on all pages.

    Args:
        page: The page.
        query: The text.
        word: For a tagger, the word whose tag is to change.
    """
    view = view_of(inspection.model(page.bert_key).task)
    with frame.guard():
        proposer = inspection.proposer(page.bert_key)
        if proposer != page.bert_key:
            st.caption(
                "This checkpoint no longer has a masked-word head, so the shipped checkpoint "
                "proposes the words."
            )
        score_change = view.choose_score_change()
        texts = query.texts
        # The label whose yes or no is explained; none if a text has one answer.
        label = query.target.label if isinstance(query.target, LabelTarget) else None
        compute = Compute(name=SWAPS.name, stage="Trying other words", stopped=STOPPED)
        search = compute(
            find_counterfactuals,
            inspection.TaskKey(texts.key),
            proposer,
            texts.text_a,
            texts.text_b,
            choices=texts.choices,
            word=word,
            label=label,
            score_change=score_change,
        )
        _draw(view, texts, search, word)
        SWAPS.offer(
            page,
            search,
            setup=inspection.setup(texts, query.target),
            limit=f"{MAX_FORWARDS:,}",
            choices=list(texts.choices),
            word=word,
            label=label,
            score_change=score_change,
        )


def _draw(view: TaskView, texts: Inputs, search: Search, word: int | None) -> None:
    ran = f"{search.forwards:,}"
    if not search.counterfactuals:
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
            _row(view, texts, search.closest, 0, word)
        return
    num_texts, count = len(search.counterfactuals), len(search.counterfactuals[0].swaps)
    swapped = "One swapped word is" if count == 1 else f"{count} swapped words are"
    ways = "one text" if num_texts == 1 else f"{num_texts} texts"
    below = "" if num_texts <= SHOWN else f", of which the {SHOWN} most probable are below"
    st.markdown(
        f"**{swapped} enough.** {ways.capitalize()} with another answer{below}; the model was run "
        f"{ran} times."
    )
    for number, one in enumerate(search.counterfactuals[:SHOWN]):
        _row(view, texts, one, number, word)


def _row(view: TaskView, texts: Inputs, one: Counterfactual, number: int, word: int | None) -> None:
    with st.container(border=True):
        st.markdown(_marked(texts, one))
        row = st.container(horizontal=True, vertical_alignment="center")
        row.markdown(view.in_words(one.answer, word), width="content")
        swaps = sorted(one.swaps, key=lambda swap: swap.word)
        usual = " · ".join(f"{plain(s.after)} {percent(s.probability)}" for s in swaps)
        row.caption(f"BERT's probability there: {usual}", width="stretch")
        row.button(
            "Use this text",
            key=f"swap_{number}",
            icon=":material/edit:",
            on_click=_use,
            args=(one.text, one.text_pair, texts.text_b is not None),
        )


def _use(text: str, pair: str | None, has_pair: bool) -> None:
    TEXT_A.put(text)
    if has_pair:
        TEXT_B.put(pair or "")


def _marked(texts: Inputs, one: Counterfactual) -> str:
    """Return both texts as Markdown with the swapped words marked; long ones around them only."""
    source = texts._replace(text_a=one.text, text_b=one.text_pair).source
    before_of = {swap.word: swap.before for swap in one.swaps}
    parts = []
    for text_id, text in enumerate((one.text, one.text_pair)):
        if text is None:
            continue
        cuts = [
            (
                source.encoding.offsets[source.words[place].start][0],
                source.encoding.offsets[source.words[place].end - 1][1],
                before,
            )
            for place, before in sorted(before_of.items())
            if source.words[place].text_id == text_id
        ]
        parts.append(_with_cuts(text, cuts))
    return "  \n".join(parts)


def _with_cuts(text: str, cuts: Sequence[tuple[int, int, str]]) -> str:
    done, last = "", 0
    for start, end, before in cuts:
        done += _short(text[last:start], head=last > 0)
        new = plain(text[start:end])
        done += f":orange-background[{plain(before)}] → :blue-background[**{new}**]"
        last = end
    if not cuts:
        return plain(shorten_middle(text, 3 * _AROUND))
    rest = text[last:]
    return done + plain(rest if len(rest) <= _AROUND else rest[:_AROUND] + "…")


def _short(text: str, *, head: bool) -> str:
    """Return the text before a swap, its beginning left out (`head`: behind another swap)."""
    if len(text) <= (2 if head else 1) * _AROUND:
        return plain(text)
    begin = text[:_AROUND] if head else ""
    return plain(f"{begin}…{text[-_AROUND:]}")
