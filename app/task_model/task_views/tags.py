"""The view of "tag": the tag of each word."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import streamlit as st

from bertcore.analysis.attribution import TagAnswer, TagTarget
from bertcore.data.read_tags import is_tag_table
from bertcore.data.tables import TABLE_FILES
from bertcore.tasks.model import TaskModel

from ...plots import percent, shorten_middle
from ...shell import Picture, cache, frame
from ...shell.uploads import read_apart
from ..answer_figures import tag_table, tagged_words
from ..choices import LABEL, PREDICTED, WORD
from ..model import ANSWER_CODE, Inputs, TaskPage
from .bars import named
from .view import ExplainedTarget, TaskView

TAGS = Picture(
    name="inspect-tags",
    figure=tagged_words,
    table=tag_table,
    how=(
        "The tag of each word, read at its first word piece as in fine-tuning, with its "
        "probability. Click a coloured word, or choose one in the list, to see why it has its tag. "
        "Words without a colour have the tag O, or are \\[CLS\\] and \\[SEP\\]."
    ),
    code=ANSWER_CODE,
)


def _pick(clicked: list[str]) -> None:
    WORD.put(int(clicked[0]))
    LABEL.put(PREDICTED)


class TagView(TaskView):
    """A tag for each word."""

    upload = "Tagged sentences: CoNLL columns, CoNLL-U, tables of words, or JSON with spans"
    marks = (b"\n\n", b"\n\r\n", b"\n{")
    files = f"CoNLL columns, CoNLL-U, or a table: {TABLE_FILES}"
    columns: ClassVar[Mapping[str, str]] = {"text": "Words", "label": "Tags"}
    quality = "right tags"
    errors = TaskView.errors._replace(is_long=True)

    def read(self, page: frame.Page, model: TaskModel) -> TaskPage:
        """Return text A alone."""
        if page.text_b is not None:
            st.caption("A tagger reads one text: sentence B is left out.")
        texts = Inputs(page.bert_key, page.text_a, None)
        return TaskPage(page, model, texts, texts.read_by(model))

    def show(self, task: TaskPage, answer: TagAnswer) -> ExplainedTarget:
        """Draw the words with their tags, and the choice of a word and a tag."""
        words, places = task.source.words, task.source.text_words
        labels = [shorten_middle(label) for label in answer.labels]
        tagged = [place for place in places if answer.labels[answer.tag(place)] != "O"]
        usual = (tagged or places)[0]
        word_key = WORD.key(options=[PREDICTED, *places])
        word = usual if WORD.value == PREDICTED else WORD.value
        label_key = LABEL.key(options=[PREDICTED, *range(len(labels))])
        TAGS.show(
            task.page,
            words,
            answer,
            drawn={"chosen": word},
            setup=task.setup(),
            on_select=_pick,
            with_caption=False,
        )

        def name(place: int) -> str:
            place = usual if place == PREDICTED else place
            p = percent(float(answer.probabilities[place].max()))
            return f"{shorten_middle(words[place].text)}: {labels[answer.tag(place)]}, {p}"

        row = st.container(horizontal=True, vertical_alignment="bottom")
        options = [PREDICTED, *places]
        row.selectbox("Explain the tag of", options, format_func=name, key=word_key, width=300)
        predicted = f"the one it has: {labels[answer.tag(word)]}"
        row.selectbox(
            "Explain the label",
            [PREDICTED, *range(len(labels))],
            format_func=lambda i: predicted if i == PREDICTED else labels[i],
            key=label_key,
            width=300,
        )
        TAGS.caption()
        label = answer.tag(word) if LABEL.value == PREDICTED else LABEL.value
        return ExplainedTarget(TagTarget(words[word].start, label), word)

    def in_words(self, answer: TagAnswer, word: int | None) -> str:
        """Return the tag of a word."""
        assert word is not None
        p = float(answer.probabilities[word].max())
        return named(answer.labels[answer.tag(word)], p)

    def column_names(self, path: Path) -> tuple[str, ...]:
        """Return the columns of a table; a file with a word per line has no names."""
        is_table: bool = cache.of_file(read_apart, path, is_tag_table)
        return super().column_names(path) if is_table else ()
