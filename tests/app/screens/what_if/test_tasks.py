"""The what-if page on fine-tuned checkpoints, and the Python and JSON that it hands out."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from bertcore import load
from bertcore.analysis.compare.task_shift import TaskShift, compare_task
from bertcore.analysis.heads.importance import rank_heads
from bertcore.model.interventions import Changes
from bertcore.training.tasks.model import read_task_head
from tests.app.screens.what_if.test_page import B, ranked
from tests.support.opened import charts, numbers, ok, page_of, said, shown_names
from tests.support.tiny_tasks import make_task

A = "the river bank was steep"
OFF = ["0.1", "1.3"]
CHANGES = Changes(heads_off=frozenset({(0, 1), (1, 3)}))


def page(folder: Path, monkeypatch: pytest.MonkeyPatch, **query: str | list[str]) -> AppTest:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(folder))
    return page_of("what_if", **{"text_a": A, "text_b": B, "off": OFF, **query})


def expected(folder: Path) -> TaskShift:
    bert = load(folder, device="cpu")
    reader = read_task_head(bert)
    assert reader is not None
    return compare_task(bert, reader, bert.trace(A, B), bert.trace(A, B, changes=CHANGES))


def bars(chart: dict[str, Any]) -> list[dict[str, tuple[float, float]]]:
    """Return for each answer of a picture: choice -> p before and after."""
    traces = [trace for trace in chart["data"] if trace["type"] == "bar"]
    pairs = zip(traces[::2], traces[1::2], strict=True)
    return [
        {
            name: (float(p), float(q))
            for name, p, q in zip(
                old["customdata"], numbers(old["x"]), numbers(new["x"]), strict=True
            )
        }
        for old, new in pairs
    ]


def test_classes_before_and_after(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_task(tmp_path)
    app = ok(page(tmp_path, monkeypatch).run())
    found = expected(tmp_path)
    (drawn,) = bars(charts(app)[0])
    assert set(drawn) == {"bad", "good", "so-so"}
    for place, label in enumerate(found.choices):
        assert drawn[label] == pytest.approx(
            (found.before[0, place], found.after[0, place]), abs=1e-6
        )
    assert "five best classes" in said(app)
    assert "no masked-word" not in said(app)
    again = shown_names(app, "what_if(")["result"].task
    np.testing.assert_allclose(again.after, found.after, atol=1e-6)


def test_the_heads_are_ranked_by_a_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_task(tmp_path)
    app = ranked(page(tmp_path, monkeypatch, rank="1", rank_label="good").run())
    assert "Change of the probability of **good** without the head" in said(app)
    bert = load(tmp_path, device="cpu")
    wanted = rank_heads(bert, A, B, changes=CHANGES, label="good")
    names = shown_names(app, "rank_heads")
    np.testing.assert_allclose(names["result"].label, wanted.label, atol=1e-6)
    np.testing.assert_allclose(numbers(charts(app)[-1]["data"][0]["z"]), wanted.label, atol=1e-6)
    app = ok(app.button_group(key="rank_by").set_value("answer").run())
    assert "probabilities of all classes move" in said(app)
    app = ranked(app.selectbox(key="rank_label").set_value("bad").run())
    assert shown_names(app, "rank_heads")["result"].chosen_label == "bad"
    assert app.query_params["rank_label"] == "bad"


def test_tags_and_the_words_that_get_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_task(tmp_path, "TokenClassification")
    app = ok(page(tmp_path, monkeypatch).run())
    found = expected(tmp_path)
    assert len(bars(charts(app)[0])) == 5
    changed = found.changed()
    total = (
        f"{len(changed)} of {len(found.names)} words get another tag" if changed else "keeps its"
    )
    assert total in said(app)
    for i in changed[:8]:
        assert f"**{found.names[i]}** ({found.positions[i]})" in said(app)
    app = ranked(app)
    assert "How far the tags move" in said(app)


@pytest.mark.parametrize(
    ("task", "labels", "words"),
    [
        ("QuestionAnswering", ("a", "b"), "start and end"),
        ("SequenceClassification", ("score",), None),
    ],
)
def test_spans_and_scores(
    task: str,
    labels: tuple[str, ...],
    words: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make_task(tmp_path, task, labels=labels)
    app = ok(page(tmp_path, monkeypatch).run())
    found = expected(tmp_path)
    if words is None:
        ((drawn,),) = (each.values() for each in bars(charts(app)[0]))
        assert drawn == pytest.approx((found.before.item(), found.after.item()), abs=1e-5)
    else:
        assert words in said(app)
        start, end = bars(charts(app)[0])
        best = int(found.before[0].argmax())
        assert start[f"{found.choices[best]} ({best})"][0] == pytest.approx(found.before[0].max())
        assert len(end) >= 4
    app = ranked(app)
    assert "without the head" in said(app)


def test_a_head_that_cannot_be_read_is_told_and_the_rest_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_task(tmp_path, "MultipleChoice")
    app = ok(page(tmp_path, monkeypatch).run())
    assert "A multiple-choice head compares several texts" in said(app)
    assert len(charts(app)) == 1  # what changed inside
    app = ranked(app)
    assert "vectors turn without the head" in said(app)
