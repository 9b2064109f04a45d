"""The view Probe: which layer's vectors encode a label of words, beside a control task."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pandas as pd
import streamlit as st

from bertcore import Model
from bertcore.data.files import BadRows, kind_of
from bertcore.data.texts import shown_name
from bertcore.probes import (
    TASKS,
    ProbeData,
    ProbeReport,
    ProbeSettings,
    Task,
    bundled_data,
    read_probe_data,
    run_probes,
)

from ..plots import plain
from ..plots.charts import Curve, LayerCurves
from ..shell import Compute, Field, Picture, Progress, UploadSource, frame, one_of
from ..shell.uploads import Copy

SOURCES = {"own": "Our treebank", "file": "Your file"}
SOURCE = Field("probe_source", "own", tuple(SOURCES))
TASK_NAMES = {"pos": "Part of speech, or tag", "dep": "Relation to the head"}
TASK = Field("probe_task", "pos", tuple(TASK_NAMES))
COUNTS = (100, 200, 300, 500, 1000, 2000, 0)  # 0 stands for all
COUNT = Field("probe_sentences", 300, COUNTS)
MOST_SENTENCES = 10_000
"""Most sentences whose vectors the page reads; `bertscope probe` takes all."""
ABOUT = (
    "A treebank in CoNLL-U, such as one of [Universal "
    "Dependencies](https://universaldependencies.org), or words with tags: a word and its tag per "
    "line with an empty line after each sentence, or a table with lists of words and tags."
)
SEEN = (
    "The training of `pos` was monitored on these sentences: its scores are not those of new text."
)


@dataclass(frozen=True, slots=True)
class Labelled:
    """Sentences whose words have labels, and how many of them are used."""

    key: str
    """Equal for equal files."""
    task: Task
    most: int | None
    data: ProbeData = field(compare=False)
    code: str = field(compare=False)
    """Python that reads them: `data`."""


@dataclass(frozen=True, slots=True)
class _File:
    copy: Copy
    data: dict[Task, ProbeData]
    """Of the tasks that it can be read for."""


def _read(copies: Sequence[Copy]) -> _File:
    (copy,) = copies
    data: dict[Task, ProbeData] = {}
    problem: ValueError | None = None
    for task in TASKS if kind_of(copy.path) == ".conllu" else TASKS[:1]:
        bad_rows = BadRows(skip=True)
        try:
            read = copy.apart(read_probe_data, task, bad_rows=bad_rows)
            data[task] = replace(read, notes=tuple(map(copy.named, read.notes)))
        except ValueError as error:
            problem = problem or error
    if problem is not None and not data:
        raise problem
    return _File(copy, data)


FILE = UploadSource(
    key="probe_upload",
    label="A treebank (CoNLL-U) or a file of words with tags",
    read=_read,
    about=lambda file: shown_name(file.copy.name),
    most=50_000_000,
    instead="Probe it with `bertscope probe --data`.",
)


def _scores(report: ProbeReport) -> pd.DataFrame:
    """Return a row for each layer, each score with the ends of its interval."""
    rows: list[dict[str, Any]] = []
    for result in report.layers:
        scores = {
            "accuracy": result.accuracy,
            "control": result.control,
            "selectivity": result.selectivity,
            "by_word": report.by_word,
            "majority": report.majority,
        }
        row: dict[str, Any] = {"layer": result.layer}
        for name, score in scores.items():
            row |= {name: score.value, f"{name}_low": score.low, f"{name}_high": score.high}
        rows.append(row)
    return pd.DataFrame(rows)


PROBES = Picture(
    name="layer-map-probe",
    chart=LayerCurves(
        table=_scores,
        curves=(
            Curve("accuracy", "probe", 0),
            Curve("control", "control task", 1, "dash"),
            Curve("by_word", "each word's most common label, without vectors", None, "dot"),
        ),
        title="Which layer's vectors encode the label?",
        unit="fraction of words right",
        height=400,
        chance_name="always the most common label",
    ),
    how=(
        "A linear probe of each layer learns the labels on {train:,} words and answers {test:,} "
        "words of other sentences; bars are 95% intervals over sentences. In the control task each "
        "word has a random label of its own: what a probe reaches there it has memorised (Hewitt "
        "and Liang 2019), so the distance between the two lines, the selectivity, is what counts. "
        "A probe shows what can be read from the vectors, not what the network uses: to see that, "
        "change them on *What if?* or *Minimal pair*."
    ),
    code="""
from bertcore.probes import ProbeSettings, run_probes
{data}
report = run_probes(bert, data, ProbeSettings({settings}))
[(one.layer, one.accuracy, one.control, one.selectivity) for one in report.layers]
""",
)


def show_probe(page: frame.Page, source: str) -> None:
    """Draw the choices of the view, and the scores by layer once they are computed."""
    chosen = _choose(source)
    if chosen is None:
        st.info(ABOUT)
        return
    with frame.guard():
        report = Compute(name="probes")(_probed, page.bert_key, chosen)
        sentences, notes = report.num_sentences, (*report.notes,)
        st.caption(
            f"{sum(sentences.values()):,} sentences: {sentences['train']:,} for training, "
            f"{sentences['dev']:,} for selection, {sentences['test']:,} for testing. "
            f"{plain(' '.join(notes))}"
        )
        if source == "own" and page.bert_key.source == "pos":
            st.caption(SEEN)
        PROBES.show(
            page,
            report,
            drawn={"chance": report.majority.value},
            record=report,
            data=chosen.code,
            settings="" if chosen.most is None else f"max_sentences={chosen.most}",
            train=report.num_words["train"],
            test=report.num_words["test"],
        )


def _choose(source: str) -> Labelled | None:
    file = None
    with frame.guard(stop=True):
        if source == "file":
            file = FILE.choose()
            if file is None:
                return None
    row = st.container(horizontal=True, vertical_alignment="bottom", key="map_controls")
    offered: dict[str, str] = {
        task: TASK_NAMES[task] for task in (TASKS if file is None else file.data)
    }
    task = cast(Task, one_of("Label", offered, TASK, where=row, with_label=True))
    count = row.selectbox(
        "Sentences",
        COUNTS,
        key=COUNT.key(),
        format_func=lambda number: f"{number:,}" if number else "all",
        width=110,
    )
    if file is None:
        code = f"from bertcore.probes import bundled_data\n\ndata = bundled_data({task!r})"
        return Labelled("own", task, count or None, bundled_data(task), code)
    name = file.copy.name
    code = (
        "from pathlib import Path\n\nfrom bertcore.probes import read_probe_data\n\n"
        f"data = read_probe_data(Path({name!r}), {task!r})"
    )
    most = min(count or MOST_SENTENCES, MOST_SENTENCES)
    return Labelled(file.copy.digest, task, most, file.data[task], code)


def _probed(bert: Model, chosen: Labelled, *, progress: Progress) -> ProbeReport:
    settings = ProbeSettings(max_sentences=chosen.most)
    return run_probes(bert, chosen.data, settings, progress=progress)
