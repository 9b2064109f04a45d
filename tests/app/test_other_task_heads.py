"""Fine-tuned checkpoints of other architectures on the pages that explain and compare them."""

import pytest

from app.access.policy import CHECKPOINT_VARIABLE
from bertcore.analysis.attribution import run_file
from bertcore.tasks import open_task_model
from tests.support.exhaustive import spread
from tests.support.finetuning_files import (
    write_choices,
    write_questions,
    write_reviews,
    write_tags,
)
from tests.support.labelled_upload import ran, with_file
from tests.support.opened import named_charts, ok, opener, page_of, said, with_results
from tests.support.tiny_others import make_other_task

HEADS = {
    "SequenceClassification": ("bad", "good", "so-so"),
    "TokenClassification": ("O", "B-X", "I-X"),
    "QuestionAnswering": ("start", "end"),
    "MultipleChoice": ("one", "two"),
}
MADE = {
    "deberta-v2 classifier": ("deberta-v2", "SequenceClassification"),
    "mobilebert tagger": ("mobilebert", "TokenClassification"),
    "xlnet answers": ("xlnet", "QuestionAnswering"),
    "mpnet classifier": ("mpnet", "SequenceClassification"),
    "xlnet choices": ("xlnet", "MultipleChoice"),
}
CHOICES = {"choice_1": "It had rained.", "choice_2": "The river was not steep at all."}
FILES = {
    "deberta-v2 classifier": (write_reviews, "a.tsv"),
    "mobilebert tagger": (write_tags, "a.txt"),
    "xlnet answers": (write_questions, "a.json"),
    "xlnet choices": (write_choices, "a.csv"),
}
"""For some checkpoints: what writes a labelled file for them, and its name."""


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    made = {}
    for name, (family, head) in MADE.items():
        made[name] = tmp_path_factory.mktemp("fine-tuned") / family
        make_other_task(made[name], head, family, HEADS[head])
    return made


@pytest.mark.parametrize(("why", "name"), spread(["words", "layers", "swaps"], MADE))
def test_inspect(folders, monkeypatch, name, why):
    at = opener(folders, monkeypatch)(name, "inspect_checkpoint", inspect_why=why, **CHOICES)
    assert len(at.get("plotly_chart")) == 1 + (why != "swaps")
    assert "Example" not in said(at)
    if name == "xlnet answers":
        bars = named_charts(at, "inspect")["answer"][0]
        assert bars["customdata"][-1] == "no answer"


@pytest.mark.parametrize("name", FILES)
def test_a_labelled_file(folders, monkeypatch, tmp_path, name):
    """The page's metrics are those of the core, and it shows the wrong answers."""
    write, file_name = FILES[name]
    path = write(tmp_path / file_name, 24)
    if name == "mobilebert tagger":
        path.write_text(path.read_text().replace("LOC", "X"))
    monkeypatch.setenv(CHECKPOINT_VARIABLE, str(folders[name]))
    at = with_file(page_of("inspect_checkpoint"), monkeypatch, path.name, path.read_bytes())
    at = ok(with_results(ran(ok(at))))
    model = open_task_model(folders[name], device="cpu")
    expected = run_file(model, path)
    assert expected.num_examples == 24
    shown = [float(metric.value) for metric in at.metric]
    assert shown == pytest.approx(list(expected.metrics().metrics.values()), abs=2e-3)
    assert len(at.get("plotly_chart")) == (2 if name.endswith(("classifier", "tagger")) else 1)
    assert at.dataframe[0].value["row"].tolist() == [error.row for error in expected.errors]


def test_compare_two_classifiers(folders, monkeypatch):
    """With itself: the same answers, and the layers in which they appear."""
    second = str(folders["deberta-v2 classifier"])
    at = opener(folders, monkeypatch)("deberta-v2 classifier", "compare", compare_with=second)
    assert at.get("plotly_chart")
    assert "In which layer does the answer appear" in said(at)
