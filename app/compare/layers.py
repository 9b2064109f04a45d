"""The layers, heads and answers of both over many texts: CKA, divergences, changed answers."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from app.compare import case as compare
from app.compare import grid_figures as figures
from app.compare import heads as compare_heads
from app.heads import sources as head_sources
from app.heads.sources import Chosen
from app.plots.before_after import head_table
from app.plots.untrusted_text import plain
from app.shell import background, frame, state, texts_lookup, waiting
from app.shell.background import Work
from bertcore.analysis.compare.decision import KINDS
from bertcore.analysis.compare.texts import TextsComparison, compare_texts

MOST_ROWS = 40
"""Texts in the table, those that differ most."""
_TEXT_WIDTH = 310
"""Pixels: the distance, by which the rows are ordered, is seen at a window of 1,280."""
ESTIMATES = {"plain": "CKA", "debiased": "Debiased CKA"}


def show(case: compare.Case) -> None:
    """Draw the comparison over many texts."""
    chosen = head_sources.choose()
    if chosen is None:
        return
    found = _found(case, chosen)
    if found is None:
        return
    code = compare.code_of(case) + texts_lookup.CODE["compare.texts"].format(chosen=chosen.code)
    _say(found)
    _show_similarity(case, found, code)
    _show_heads(case, found, code)
    _show_answers(case, found, code)


def _found(case: compare.Case, chosen: Chosen) -> TextsComparison | None:
    """Return the comparison; None while it is at work, and its progress is drawn."""
    first, second = case.sides

    def work(progress: background.Progress) -> TextsComparison:
        return compare_texts(
            first.bert,
            second.bert,
            chosen.texts.sentences,
            case.questions,
            progress=progress,
        )

    found: TextsComparison | None = waiting.result(
        Work(("compare", first, second, chosen.key), work),
        "compare",
        stopped=texts_lookup.TEXTS["compare.stopped"],
    )
    return found


def _say(found: TextsComparison) -> None:
    """Say what was left out."""
    if found.num_left_out:
        st.caption(f"{found.num_left_out:,} texts are left out: at most {found.num_sentences:,}.")
    if found.num_cut:
        st.caption(f"{found.num_cut:,} texts are longer than a checkpoint reads and were cut.")


def _show_similarity(case: compare.Case, found: TextsComparison, code: str) -> None:
    """Draw the map of CKA and its diagonal."""
    similarity = found.similarity
    what = "tokens" if found.are_tokens else "words"
    picture = st.container()
    is_few = similarity.num_examples < 2 * similarity.width
    estimate = st.segmented_control(
        "Estimate",
        list(ESTIMATES),
        format_func=ESTIMATES.__getitem__,
        key=state.keep("compare_cka", "plain", options=list(ESTIMATES)),
        required=True,
        label_visibility="collapsed",
    )
    values = similarity.plain if estimate == "plain" else similarity.debiased
    table = figures.similarity_table(similarity)
    with picture:
        pair = st.container(horizontal=True, key="compare_cka_pair")
        with pair.container():
            fig = figures.similarity_map(values, case.names)
            frame.figure(fig, "compare-cka", table, code)
        with pair.container():
            fig = figures.similarity_curve(values)
            same = table[table["layer_first"] == table["layer_second"]]
            frame.figure(fig, "compare-cka-diagonal", same, code)
    count = f"{similarity.num_examples:,}"
    if is_few:
        st.warning(
            texts_lookup.TEXTS["compare.few"].format(
                examples=count, what=what, width=similarity.width
            )
        )
    frame.how_to_read("compare.cka", examples=count, what=what)


def _show_heads(case: compare.Case, found: TextsComparison, code: str) -> None:
    """Draw how differently each head looks, on average over the texts."""
    if found.divergence is None:
        return
    st.subheader("Heads over these texts", anchor=False)
    best = figures.most_changed(found.divergence, 1)
    fig = figures.divergence_grid(found.divergence, best[0] if best else None)
    table = head_table({"divergence_bits": found.divergence})
    name = "compare-heads-texts"
    frame.figure(fig, name, table, code, on_select=compare_heads.pick(name, opens=True))
    frame.how_to_read("compare.heads_texts", sentences=f"{found.num_sentences:,}")


def _show_answers(case: compare.Case, found: TextsComparison, code: str) -> None:
    """Draw how many answers changed, and the texts on which both differ most."""
    if not found.answers:
        return
    st.subheader("Answers over these texts", anchor=False)
    table = _answer_table(found)
    compared = [a for a in found.answers if a.kind != "score" and all(a.answers)]
    both = " and ".join(plain(name) for name in case.names)
    if compared:
        changed = sum(answer.is_changed for answer in compared)
        st.markdown(f"**{changed:,} of {len(compared):,}** answers differ between {both}.")
    shown = pd.DataFrame(
        {
            "Text": table["text"] + table["text_b"].map(lambda b: f" ||| {b}" if b else ""),
            "Question": table["question"].map(KINDS),
            case.names[0]: _with_share(table, "first"),
            f"{case.names[1]} ": _with_share(table, "second"),  # the two may have one name
            "Distance": table["distance"],
        }
    )
    columns = {
        "Text": st.column_config.TextColumn(width=_TEXT_WIDTH),
        "Distance": st.column_config.NumberColumn(format="%.3f", width="small"),
    }
    height = min(38 + 35 * len(table), 400)
    st.dataframe(shown.head(MOST_ROWS), hide_index=True, height=height, column_config=columns)
    frame.downloads("compare-texts", table, code)
    frame.how_to_read("compare.changed")


def _with_share(table: pd.DataFrame, which: str) -> list[str]:
    """Return each answer with its probability behind it, as the table on the page shows it."""
    return [
        answer if kind == "score" or not answer else f"{answer} ({100 * p:.0f}%)"
        for answer, p, kind in zip(
            table[which], table[f"p_{which}"], table["question"], strict=True
        )
    ]


def _answer_table(found: TextsComparison) -> pd.DataFrame:
    """Return a row for each text and question, those that differ most first."""
    return pd.DataFrame(
        [
            {
                "text": answer.sentence.text,
                "text_b": answer.sentence.text_pair or "",
                "question": answer.kind,
                "first": answer.answers[0],
                "p_first": answer.probabilities[0],
                "second": answer.answers[1],
                "p_second": answer.probabilities[1],
                "distance": answer.distance,
                "changed": answer.is_changed,
            }
            for answer in found.answers
        ]
    ).sort_values("distance", ascending=False, kind="stable")
