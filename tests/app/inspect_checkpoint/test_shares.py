"""Who wrote the answer, on Inspect: the core's shares, for every task that has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from bertcore import load
from bertcore.analysis.attribution import task_input
from bertcore.analysis.attribution.class_shares import class_attribution
from bertcore.tasks import open_task_model
from bertcore.tasks.checkpoint_head import read_task_head
from tests.support.opened import named_charts, numbers, ok, page_of, said
from tests.support.rigged_models import LABELS, random_model

A, B = "the film was very good", "the man is in paris"
TASKS = ("classify", "pair", "multilabel", "tag", "regress", "qa", "choice")
CHOICES = {"choice_1": "it had rained", "choice_2": "the film was bad"}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    top = tmp_path_factory.mktemp("checkpoints")
    return {task: random_model(task).save(top / task) for task in TASKS}


def opened(folder: Path, monkeypatch: pytest.MonkeyPatch, **query: str) -> AppTest:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(folder))
    texts = {"text_a": A, "text_b": B, **CHOICES, "inspect_why": "shares"}
    return ok(page_of("inspect_checkpoint", seconds=120, **{**texts, **query}).run())


@pytest.mark.parametrize("task", TASKS)
def test_the_shares_are_the_cores(
    task: str, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = opened(folders[task], monkeypatch)
    drawn = named_charts(app, "inspect-who")
    why = next(group for group in app.button_group if group.key == "inspect_why")
    has_shares = task not in ("qa", "choice")  # whose logits are not of one class at one token
    assert any("Who wrote it" in str(option) for option in why.options) == has_shares
    if not has_shares:
        assert not any("wrote" in name for name in drawn)
        return
    assert {"wrote", "wrote-by-part", "wrote-from-tokens"} <= set(drawn)
    code = next(block.value for block in app.code if "class_attribution(" in block.value)
    names: dict[str, Any] = {}
    exec(code, names)  # what the visitor would run
    shown = float(numbers(drawn["wrote"][0]["x"])[-1])
    assert shown == pytest.approx(names["found"].logit, abs=1e-4)
    model = open_task_model(folders[task], device="cpu")
    source = task_input(model, A, B if task in ("pair",) else None)
    if task == "classify":
        bert = load(folders[task], device="cpu")
        reader = read_task_head(bert)
        assert reader is not None
        found = class_attribution(bert, reader, bert.trace(A, encoding=source.encoding))
        assert found.word in LABELS["classify"]
        assert shown == pytest.approx(found.logit, abs=1e-4)
    assert "tanh(z) / z" in said(app) or task == "tag"


def test_a_class_is_compared_with_another(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = LABELS["classify"][:2]
    app = opened(folders["classify"], monkeypatch, inspect_label="0", inspect_against=second)
    bert = load(folders["classify"], device="cpu")
    reader = read_task_head(bert)
    assert reader is not None
    found = class_attribution(bert, reader, bert.trace(A), first, second)
    drawn = named_charts(app, "inspect-who")
    assert float(numbers(drawn["wrote"][0]["x"])[-1]) == pytest.approx(found.logit, abs=1e-4)
