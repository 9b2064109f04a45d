"""What would change its mind: the fewest words to swap for another answer."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from app.inspect_checkpoint import model as inspection
from app.inspect_checkpoint.answer import setup
from app.inspect_checkpoint.model import Asked, Texts
from app.plots.formats import percent
from app.plots.untrusted_text import label_name, plain, shorten
from app.shell import frame, state, texts_lookup, waiting
from bertcore.analysis.attribution.counterfactual import MAX_FORWARDS, Counterfactual, Search
from bertcore.analysis.attribution.task_answers import TaskAnswer
from bertcore.finetuning.model import TaskModel

SHOWN = 6
_AROUND = 90
"""Letters that are shown on each side of a swap."""


def show(page: frame.Page, asked: Asked, word: int) -> None:
    """Draw the texts with another answer, each with a button that takes it over."""
    model = inspection.model(page.bert_key)
    with frame.guard():
        _, is_own = inspection.proposer(page.bert_key)
        if not is_own:
            st.caption(texts_lookup.TEXTS["inspect.shipped_proposes"])
        score_change = 1.0
        if model.task.name == "regress":
            score_change = st.number_input(
                "The score has to move by",
                0.1,
                100.0,
                step=0.1,
                key=state.keep("inspect_score", 1.0, low=0.1, high=100.0),
                width=220,
            )
        tagged = word if model.task.name == "tag" else None
        work = inspection.change_mind(asked, word=tagged, score_change=score_change)
        found: Search | None = waiting.result(
            work, "inspect-swaps", stopped=texts_lookup.TEXTS["inspect.stopped"]
        )
        if found is None:
            return
        code = setup(page, asked) + texts_lookup.CODE["inspect.swaps"].format(
            word=tagged, score_change=score_change
        )
        _draw(model, asked.texts, found, tagged)
        frame.downloads("inspect-swaps", _table(found, tagged), code)
        frame.how_to_read("inspect.swaps", limit=f"{MAX_FORWARDS:,}")


def _draw(model: TaskModel, read: Texts, found: Search, tagged: int | None) -> None:
    ran = f"{found.forwards:,}"
    if not found.found:
        key = "inspect.search_cut" if found.is_cut else "inspect.none_found"
        st.info(texts_lookup.TEXTS[key].format(ran=ran))
        if found.closest is not None:
            st.markdown("The text that came closest:")
            _row(read, found.closest, 0, tagged)
        return
    count = len(found.found[0].swaps)
    words = "One swapped word is" if count == 1 else f"{count} swapped words are"
    ways = "one text" if len(found.found) == 1 else f"{len(found.found)} texts"
    shown = "" if len(found.found) <= SHOWN else f", of which the {SHOWN} most usual are below"
    st.markdown(
        f"**{words} enough.** {ways.capitalize()} with another answer{shown}; the model was run "
        f"{ran} times."
    )
    for number, one in enumerate(found.found[:SHOWN]):
        _row(read, one, number, tagged)


def _row(read: Texts, one: Counterfactual, number: int, tagged: int | None) -> None:
    with st.container(border=True):
        st.markdown(_marked(read, one))
        row = st.container(horizontal=True, vertical_alignment="center")
        row.markdown(f"{said(one.answer, tagged)}", width="content")
        swaps = sorted(one.swaps, key=lambda swap: swap.word)
        usual = " · ".join(f"{plain(s.after)} {percent(s.probability)}" for s in swaps)
        row.caption(f"BERT expects it there with: {usual}", width="stretch")
        row.button(
            "Use this text",
            key=f"swap_{number}",
            icon=":material/edit:",
            on_click=_use,
            args=(one.text, one.text_pair, read.text_b is not None),
        )


def said(answer: TaskAnswer, tagged: int | None) -> str:
    """Return an answer as Markdown."""
    if answer.task == "regress":
        return f"Score **{answer.score:.3f}**"
    if answer.task == "qa":
        if not answer.spans:
            return "no answer"
        best = answer.spans[0]
        name = plain(shorten(best.text, 80))
        return f"**{name}** with {percent(best.probability)}"
    if answer.task == "tag":
        assert tagged is not None
        label, share = answer.tag(tagged), float(answer.probabilities[tagged].max())
    else:
        label, share = answer.best, float(answer.probabilities.max())
    name = label_name(answer.labels[label])
    return f"**{plain(shorten(name))}** with {percent(share)}"


def _use(text: str, pair: str | None, has_pair: bool) -> None:
    state.put("text_a", text)
    if has_pair:
        state.put("text_b", pair or "")


def _marked(read: Texts, one: Counterfactual) -> str:
    """Return both texts as Markdown with the swapped words marked; long ones around them only."""
    words = inspection.source(Texts(read.key, one.text, one.text_pair))
    old = {swap.word: swap.before for swap in one.swaps}
    parts = []
    for text_id, text in enumerate((one.text, one.text_pair)):
        if text is None:
            continue
        cuts = [
            (
                words.encoding.offsets[words.words[place].start][0],
                words.encoding.offsets[words.words[place].end - 1][1],
                before,
            )
            for place, before in sorted(old.items())
            if words.words[place].text_id == text_id
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
        return plain(shorten(text, 3 * _AROUND))
    rest = text[last:]
    return done + plain(rest if len(rest) <= _AROUND else rest[:_AROUND] + "…")


def _short(text: str, *, head: bool) -> str:
    """Return what stands before a swap, its beginning left out (`head`: behind another swap)."""
    if len(text) <= (2 if head else 1) * _AROUND:
        return plain(text)
    begin = text[:_AROUND] if head else ""
    return plain(f"{begin}…{text[-_AROUND:]}")


def _table(found: Search, tagged: int | None) -> pd.DataFrame:
    shown = found.found or ((found.closest,) if found.closest is not None else ())
    return pd.DataFrame(
        [
            {
                "text_a": one.text,
                "text_b": one.text_pair,
                "swaps": "; ".join(f"{s.before} -> {s.after}" for s in one.swaps),
                "ln_p_of_swaps": one.log_probability,
                "left_of_first_answer": one.measure,
                "answers_otherwise": bool(found.found),
            }
            for one in shown
        ]
    )
