"""The layers and answers of both over many texts: CKA, changed answers."""

from typing import Any

import pandas as pd
import streamlit as st

from bertcore.analysis.compare.cka import LayerSimilarity
from bertcore.analysis.compare.decision import KINDS
from bertcore.analysis.compare.texts import TextsComparison, compare_texts

from ..plots import plain, tabulate
from ..plots.cells import map_height, similarity_map, similarity_table
from ..plots.charts import Curve, LayerCurves
from ..shell import Compute, Picture, Progress
from ..sources import head_texts as sources
from ..sources.head_texts import HeadTextSource
from .case import Case, code_of, questions_of
from .sides import Side

MOST_ROWS = 40  # most texts in the table: those that differ most
_TEXT_WIDTH = 310
"""Pixels: the distance, by which the rows are sorted, is visible in a window of 1,280."""
FEW_EXAMPLES = (
    "Only {examples} {what} for vectors of {width} numbers: plain CKA is too high with so few. "
    "Give more text; the table has the debiased estimate too."
)


def _diagonal_table(similarity: LayerSimilarity) -> pd.DataFrame:
    table = similarity_table(similarity)
    return table[table["layer_first"] == table["layer_second"]]


def _answer_table(comparison: TextsComparison) -> pd.DataFrame:
    """Return a row for each text and question, those that differ most first."""
    rows = []
    for answer in comparison.answers:
        (first, second), (p_first, p_second) = answer.answers, answer.probabilities
        texts = (answer.sentence.text, answer.sentence.text_pair or "", answer.kind)
        both = (first, p_first, second, p_second, answer.distance, answer.is_changed)
        rows.append((*texts, *both))
    columns = "text text_b question first p_first second p_second distance changed"
    return tabulate(columns, rows).sort_values("distance", ascending=False, kind="stable")


_CODE = """
from pathlib import Path

from bertcore.analysis import HeadTexts, bundled_sentences, bundled_trees, compare_texts, read_texts
from bertcore.data import read_sentence_list

{chosen}
many = compare_texts(first, second, texts.sentences, all_questions)
many.similarity.plain, many.similarity.debiased         # [L+1, L+1]
many.answers
"""
CKA = Picture(
    name="compare-cka",
    figure=lambda similarity, *, names: similarity_map(similarity.plain, names),
    table=similarity_table,
    how=(
        "Linear CKA of the vectors of {examples} {what}: 1 means that both layers place them in "
        "the same geometry, up to rotation and scale; 0 means that they have nothing in common. "
        "The cells show hundredths. The dashed line in the curve is the highest of 19 tries with "
        "the {what} of one side shuffled: what is not above it may be chance. A bright diagonal "
        "that fades towards the right end means that training changed the last layers most."
    ),
    code=_CODE,
)
CKA_DIAGONAL = Picture(
    name="compare-cka-diagonal",
    chart=LayerCurves(
        table=_diagonal_table,
        x="layer_first",
        curves=(
            Curve("cka", "CKA", 0),
            Curve("cka_chance", "chance", None, "dash", is_optional=True),
        ),
        title="",
        unit="CKA of equal layers",
    ),
    how=(
        "Linear CKA of each layer with the layer of the same number, over the vectors of "
        "{examples} {what}: where the curve drops, training changed the geometry of that layer. "
        "Dashed: the highest of 19 tries with the {what} of one side shuffled."
    ),
    code=_CODE,
)
CHANGED_ANSWERS = Picture(
    name="compare-texts",
    table=_answer_table,
    how=(
        "The texts on which the two differ most. Distance: half the sum of all absolute "
        "differences of probability (total variation), where 0 means the same and 1 nothing in "
        "common; for several labels, the mean over labels; for a score, the difference."
    ),
    code=_CODE,
)


def show_layers(case: Case) -> None:
    """Draw the comparison over many texts."""
    chosen = sources.choose()
    if chosen is None:
        return
    compute = Compute(name="compare", stopped="The comparison was stopped.")
    comparison = compute(_compared, case.first, case.second, chosen)
    if comparison.num_left_out:
        st.caption(
            f"{comparison.num_left_out:,} texts are left out: at most {comparison.num_sentences:,} "
            "are compared."
        )
    if comparison.num_cut:
        st.caption(
            f"{comparison.num_cut:,} texts are longer than a checkpoint can read and were cut."
        )
    code = chosen.code.rstrip()
    _show_similarity(case, comparison, code)
    _show_answers(case, comparison, code)


def _compared(
    first: Side, second: Side, chosen: HeadTextSource, *, progress: Progress
) -> TextsComparison:
    questions = questions_of(first, second)
    sentences = chosen.texts.sentences
    return compare_texts(first.bert, second.bert, sentences, questions, progress=progress)


def _show_similarity(case: Case, comparison: TextsComparison, code: str) -> None:
    """Draw the map of CKA and its diagonal."""
    similarity = comparison.similarity
    examples = f"{similarity.num_examples:,}"
    what = "tokens" if comparison.are_tokens else "words"
    arguments: dict[str, Any] = {
        "setup": code_of(case),
        "with_caption": False,
        "chosen": code,
        "examples": examples,
        "what": what,
    }
    pair = st.container(horizontal=True, key="compare_cka_pair")
    with pair.container():
        CKA.show(None, similarity, drawn={"names": case.names}, **arguments)
    with pair.container():
        drawn = {"height": map_height(len(similarity.plain))}
        CKA_DIAGONAL.show(None, similarity, drawn=drawn, **arguments)
    if similarity.num_examples < 2 * similarity.width:
        width = similarity.width
        st.warning(FEW_EXAMPLES.format(examples=examples, what=what, width=width))
    CKA.caption(examples=examples, what=what)


def _show_answers(case: Case, comparison: TextsComparison, code: str) -> None:
    """Draw how many answers changed, and the texts on which both differ most."""
    if not comparison.answers:
        return
    st.header("Answers over these texts", anchor=False)
    table = _answer_table(comparison)
    compared = [a for a in comparison.answers if a.kind != "score" and all(a.answers)]
    both = " and ".join(plain(name) for name in case.names)
    if compared:
        changed = sum(answer.is_changed for answer in compared)
        st.markdown(f"**{changed:,} of {len(compared):,}** answers differ between {both}.")
    shown = pd.DataFrame(
        {
            "Text": table["text"] + table["text_b"].map(lambda b: f" ||| {b}" if b else ""),
            "Question": table["question"].map(KINDS),
            case.names[0]: _with_probability(table, "first"),
            f"{case.names[1]} ": _with_probability(table, "second"),  # the two may have one name
            "Distance": table["distance"],
        }
    )
    columns = {
        "Text": st.column_config.TextColumn(width=_TEXT_WIDTH),
        "Distance": st.column_config.NumberColumn(format="%.3f", width="small"),
    }
    height = min(38 + 35 * len(table), 400)
    st.dataframe(shown.head(MOST_ROWS), hide_index=True, height=height, column_config=columns)
    CHANGED_ANSWERS.offer(None, comparison, setup=code_of(case), chosen=code)


def _with_probability(table: pd.DataFrame, which: str) -> list[str]:
    """Return each answer followed by its probability, as the table on the page shows it."""
    return [
        answer if kind == "score" or not answer else f"{answer} ({100 * p:.0f}%)"
        for answer, p, kind in zip(
            table[which], table[f"p_{which}"], table["question"], strict=True
        )
    ]
