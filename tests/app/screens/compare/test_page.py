"""The Compare page on tiny checkpoints, without a browser."""

import json
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from app.screens.compare import sides
from app.screens.compare.views import WEIGHTS
from app.shell import cache
from bertcore import Bert, Tokenizer, load
from bertcore.analysis.attribution import answer, task_input
from bertcore.analysis.compare.checkpoints import TextComparison, compare_text, questions
from bertcore.analysis.compare.decision import open_decisions
from bertcore.analysis.compare.texts import compare_layers
from bertcore.analysis.compare.weight_drift import weight_drift
from bertcore.data.texts import read_sentence_list
from bertcore.training.tasks import open_task_model
from tests.support.adapters import make_adapter
from tests.support.opened import named_charts, numbers, ok, page_of, said
from tests.support.rigged_models import LABELS, save_task_checkpoint
from tests.support.tiny import tiny_bert, tiny_config, tiny_network, tiny_vocabulary

A, B = "the film [MASK] very good", "she sat on the mat"
PASTED = "the cat sat on the mat\na dog runs ||| she sat\nno good film"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("checkpoints")
    start = tiny_bert().save(folder / "start")
    found = {"start": start, **{t: save_task_checkpoint(folder, t) for t in ("classify", "tag")}}
    broken = tiny_bert()
    broken.module.layers[0].attention.key.weight.data[0, 0] = torch.nan
    found["broken"] = broken.save(folder / "broken")
    pieces = [p for p in tiny_vocabulary() if p not in ("film", "very")]
    config = tiny_config(
        vocab_size=len(pieces), hidden_size=24, num_hidden_layers=3, num_attention_heads=2
    )
    tokenizer = Tokenizer(pieces, do_lower_case=True, model_max_length=64)
    found["other"] = Bert(tiny_network(config, seed=5), tokenizer).save(folder / "other")
    return found


@pytest.fixture
def page(folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(folders["start"]))
    with_it = str(folders["classify"])
    return page_of("compare", seconds=120, text_a=A, text_b=B, compare_with=with_it)


def with_chart(app: AppTest, name: str) -> AppTest:
    """Run the page until the work beside it is done and a figure is there."""
    deadline = time.monotonic() + 100
    while name not in charts(ok(app.run())) and time.monotonic() < deadline:
        time.sleep(0.3)
    return app


def charts(app: AppTest) -> dict[str, Any]:
    return named_charts(app, "compare")


def truth(one: Path, two: Path, text_b: str | None = B) -> tuple[Any, TextComparison]:
    """Return what the core says of both checkpoints."""
    berts = [load(folder, device="cpu") for folder in (one, two)]
    decisions = [open_decisions(b, f) for b, f in zip(berts, (one, two), strict=True)]
    asked = questions(*berts, tuple(decisions))  # type: ignore[arg-type]
    traces = tuple(bert.trace(A, text_b) for bert in berts)
    return (berts, asked, traces), compare_text(*berts, traces, asked)  # type: ignore[arg-type]


def test_answers_and_layers_are_the_cores(page: AppTest, folders: dict[str, Path]) -> None:
    page.query_params["compare_view"] = "layers"
    app = ok(page.run())
    found = charts(app)
    assert list(found) == ["answers", "layers"]
    _, true = truth(folders["start"], folders["classify"])
    _, one, two = true.answers[0]
    assert one is not None
    assert two is not None
    last = np.stack([one.probabilities[-1, 0], two.probabilities[-1, 0]])
    order = np.argsort(-last.max(0), kind="stable")
    for trace, side in zip(found["answers"][:2], (one, two), strict=True):
        np.testing.assert_allclose(numbers(trace["x"]), side.probabilities[-1, 0][order], atol=1e-6)
        assert trace["customdata"] == [LABELS["classify"][i] for i in order]
    best = int(last[1].argmax())
    for curve, side in zip(found["layers"], (one, two), strict=True):
        np.testing.assert_allclose(numbers(curve["y"]), side.probabilities[:, 0, best], atol=1e-5)
    assert "start has no head for this question" in said(app)
    assert two.settled[0] == 2  # of two layers
    sentence = f"classify decides {two.final[0]} only after the last layer"
    assert sentence in said(app).replace("*", "")


def test_a_word_is_followed_where_its_head_is(page: AppTest, folders: dict[str, Path]) -> None:
    page.query_params["compare_question"] = "word"
    page.query_params["compare_view"] = "layers"
    app = ok(page.run())
    _, true = truth(folders["start"], folders["classify"])
    _, one, two = next(a for a in true.answers if a[0].kind == "word")
    assert one is not None
    assert two is not None
    curves = charts(app)["layers"]
    word = int(one.answers[-1, 0])
    np.testing.assert_allclose(numbers(curves[0]["y"]), one.probabilities[:, 0, word], atol=1e-5)
    np.testing.assert_allclose(numbers(curves[1]["y"]), two.probabilities[:, 0, word], atol=1e-5)


def test_heads_are_the_cores_and_one_opens(page: AppTest, folders: dict[str, Path]) -> None:
    page.query_params["compare_view"] = "heads"
    app = ok(page.run())
    _, true = truth(folders["start"], folders["classify"])
    assert true.divergence is not None
    np.testing.assert_allclose(numbers(charts(app)["heads"][0]["z"]), true.divergence, atol=1e-6)
    layer, head = np.unravel_index(true.divergence.argmax(), (2, 4))
    assert app.subheader[0].value.startswith(f"Layer {layer} head {head} in both")
    app.session_state["compare_head"] = "1.2"
    assert ok(app.run()).subheader[0].value.startswith("Layer 1 head 2 in both")


def test_weights_are_the_cores(page: AppTest, folders: dict[str, Path]) -> None:
    page.query_params["compare_view"] = "weights"
    app = ok(page.run())
    first, second = (load(folders[name], device="cpu") for name in ("start", "classify"))
    drift = weight_drift(first, second)
    grid = charts(app)["weights"][0]
    expected = [[drift.layers[layer, kind].relative for kind in _kinds()] for layer in range(2)]
    np.testing.assert_allclose(numbers(grid["z"]), expected, atol=1e-6)
    assert "Only start has: masked-word head, next-sentence head." in said(app)
    turned = [1 - part.cosine for part in drift.layers.values()]
    np.testing.assert_allclose(WEIGHTS.table(drift)["turn"], turned, atol=1e-6)


def _kinds() -> list[str]:
    from bertcore.analysis.compare.weight_drift import LAYER_KINDS

    # BERT's layers have queries, keys and values apart; ModernBERT's are one matrix.
    return [kind for part, kind in LAYER_KINDS.items() if part != "attention.qkv"]


def test_many_texts_are_the_cores(page: AppTest, folders: dict[str, Path]) -> None:
    page.query_params["compare_view"] = "texts"
    page.query_params["heads_source"] = "pasted"
    page.session_state["_my_sentences"] = PASTED
    app = with_chart(page, "cka")
    found = charts(app)
    berts = [load(folders[name], device="cpu") for name in ("start", "classify")]
    true = compare_layers(*berts, read_sentence_list(PASTED).sentences)
    np.testing.assert_allclose(numbers(found["cka"][0]["z"]), true.similarity.cka, atol=1e-6)
    diagonal = np.diagonal(true.similarity.cka)
    np.testing.assert_allclose(numbers(found["cka-diagonal"][0]["y"]), diagonal, atol=1e-6)
    chance = np.diagonal(true.similarity.chance)
    np.testing.assert_allclose(numbers(found["cka-diagonal"][1]["y"]), chance, atol=1e-6)
    assert f"the vectors of {true.similarity.num_examples} tokens" in said(app)


def test_the_same_twice_is_zero_and_said(page: AppTest, folders: dict[str, Path]) -> None:
    page.query_params["compare_with"] = str(folders["start"])
    page.query_params["compare_view"] = "heads"
    app = ok(page.run())
    assert "Both have the same weights" in said(app)
    assert (numbers(charts(app)["heads"][0]["z"]) == 0).all()


def test_nothing_chosen_suggests_what_it_came_from(
    page: AppTest, folders: dict[str, Path], tmp_path: Path
) -> None:
    def suggestion(folder: Path | str) -> str:
        return sides.suggested(cache.bert_key(str(folder)))

    del page.query_params["compare_with"]
    app = ok(page.run())
    assert "untrained has the shape and the vocabulary of start" in said(app).replace("*", "")
    settings = json.dumps({"checkpoint": str(folders["start"])})
    (tmp_path / "finetune.json").write_text(settings, encoding="utf-8")
    kept = tmp_path / "runs" / "lr-0.0003-seed-1" / "checkpoints" / "epoch-1"
    shutil.copytree(folders["classify"], kept)
    assert suggestion(tmp_path) == suggestion(kept) == str(folders["start"])
    for wrong in ("[]", "{", json.dumps({"checkpoint": str(tmp_path / "gone")})):
        (tmp_path / "finetune.json").write_text(wrong, encoding="utf-8")
        assert suggestion(tmp_path) == sides.UNTRAINED
    assert suggestion("causal") == "default"


def test_other_shapes_are_said_and_the_rest_is_shown(
    page: AppTest, folders: dict[str, Path]
) -> None:
    page.query_params["compare_with"] = str(folders["other"])
    page.query_params["compare_view"] = ["layers", "heads", "weights", "texts"]
    app = with_chart(page, "cka")
    assert "Their vocabularies differ" in said(app)
    assert "words are compared" in said(app)
    assert set(charts(app)) == {"answers", "layers", "cka", "cka-diagonal"}
    assert numbers(charts(app)["cka"][0]["z"]).shape == (3, 4)


def test_nan_is_marked(page: AppTest, folders: dict[str, Path]) -> None:
    page.query_params["compare_with"] = str(folders["broken"])
    page.query_params["compare_view"] = "weights"
    app = page.run()
    assert not app.exception
    answers, weights = (e.value.replace("\\", "") for e in app.error)
    assert "contain NaN or infinity" in answers
    assert weights.startswith("NaN or infinity in 1 tensor: ")
    grid = numbers(charts(app)["weights"][0]["z"])
    assert np.isnan(grid[0, 1])
    assert np.isfinite(np.delete(grid.ravel(), 1)).all()


def test_tags_of_each_token(page: AppTest, folders: dict[str, Path]) -> None:
    page.query_params["compare_with"] = str(folders["tag"])
    page.query_params["compare_place"] = "2"
    page.query_params["compare_view"] = "layers"
    app = ok(page.run())
    assert app.selectbox(key="compare_question").value == "tag"
    (table,) = app.dataframe
    _, true = truth(folders["start"], folders["tag"])
    _, one, two = true.answers[0]
    assert one is not None
    assert two is not None
    units = [u.first[0] for u in true.units.units if not u.is_special]
    assert sorted(zip(table.value["tag_0"], table.value["tag_1"], strict=True)) == sorted(
        (one.final[place], two.final[place]) for place in units
    )
    curve = charts(app)["layers"][0]
    place = units[2]
    answer = int(two.answers[-1, place])
    np.testing.assert_allclose(numbers(curve["y"]), one.probabilities[:, place, answer], atol=1e-5)


def test_what_does_not_open_is_one_sentence_and_a_link_fetches_nothing(
    page: AppTest, tmp_path: Path
) -> None:
    page.query_params["compare_with"] = str(tmp_path / "none")
    app = page.run()
    assert not app.exception
    assert len(app.error) == 1
    assert "There is no folder" in app.error[0].value.replace("\\", "")
    assert charts(app) == {}
    app = page_of("compare", text_a=A, compare_with="someone/some-bert").run()
    assert "Nothing is fetched" in said(ok(app))
    assert any(b.label == "Look it up on the hub" for b in app.button)
    assert charts(app) == {}


def test_what_it_began_with_stands_first(page: AppTest, folders: dict[str, Path]) -> None:
    began = {"checkpoint": str(folders["start"])}
    (folders["classify"] / "finetune.json").write_text(json.dumps(began), encoding="utf-8")
    page.query_params["checkpoint"] = str(folders["classify"])
    del page.query_params["compare_with"]
    app = ok(page.run())
    assert [bars["name"] for bars in charts(app)["answers"][:2]] == ["start", "classify"]
    assert "classify was trained from start" in said(app)
    app = ok(next(b for b in app.button if b.label == "Swap").click().run())
    assert [bars["name"] for bars in charts(app)["answers"][:2]] == ["classify", "start"]
    assert "was trained from" not in said(app)
    assert app.session_state["checkpoint"] == str(folders["classify"])
    assert app.session_state["compare_with"] == str(folders["start"])


def test_an_adapter_is_compared_with_its_base(page: AppTest, folders: dict[str, Path]) -> None:
    folder = folders["start"].parent / "adapter"
    make_adapter(folders["start"], folder, target_modules=["query"])
    page.query_params["checkpoint"] = str(folder)
    del page.query_params["compare_with"]
    app = ok(page.run())
    assert [bars["name"] for bars in charts(app)["answers"][:2]] == ["start", "adapter"]
    assert "adapter was trained from start" in said(app)


def test_labels_without_names_may_mean_something_else(page: AppTest, tmp_path: Path) -> None:
    for name in ("one", "two"):
        folder = save_task_checkpoint(tmp_path / name, "classify")
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        config["id2label"] = {number: number for number in config["id2label"]}
        config.pop("label2id", None)
        (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    page.query_params["checkpoint"] = str(tmp_path / "one" / "classify")
    page.query_params["compare_with"] = str(tmp_path / "two" / "classify")
    app = ok(page.run())
    assert "Both use numbers as labels" in said(app)
    assert "label 0" in charts(app)["answers"][0]["customdata"]


def test_several_labels_are_compared_one_by_one(page: AppTest, tmp_path: Path) -> None:
    folder = save_task_checkpoint(tmp_path, "multilabel")
    page.query_params["compare_with"] = str(folder)
    page.query_params["compare_view"] = "layers"
    app = ok(page.run())
    found = charts(app)
    model = open_task_model(folder, device="cpu")
    given = answer(model, task_input(model, A, B)).probabilities
    order = np.argsort(-given, kind="stable")
    labels = LABELS["multilabel"]
    assert found["answers"][1]["customdata"] == [labels[i] for i in order]
    np.testing.assert_allclose(numbers(found["answers"][1]["x"]), given[order], atol=1e-6)
    assert "layers" in found
    app = ok(app.selectbox(key="compare_place").set_value(2).run())
    said_now = said(app).replace("*", "")
    assert f"multilabel decides {labels[2]}: {'yes' if given[2] > 0.5 else 'no'}" in said_now


def test_a_text_without_a_word_and_one_text_for_a_model_of_pairs(
    page: AppTest, folders: dict[str, Path], tmp_path: Path
) -> None:
    tags = page_of("compare", text_a="\u200b", compare_with=str(folders["tag"]))
    assert "The text has no word to tag" in said(ok(tags.run()))
    page.query_params["compare_with"] = str(save_task_checkpoint(tmp_path, "pair"))
    warning = "pair was fine-tuned on pairs, but here is only one text"
    assert warning not in said(ok(page.run()))
    app = ok(page.text_area(key="text_b").set_value("").run())
    assert warning in said(app)
