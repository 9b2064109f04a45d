"""The page Inside a layer: the numbers of the core, every family, choices and links."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from app.plots import theme
from app.screens.inside_layer.drawing import (
    Sheet,
    layer_sheet,
    pooler_sheet,
    stages_message,
    word_sheet,
)
from app.screens.inside_layer.views import BY_PART, HEAD_ROWS, SOURCES, what_it_does
from bertcore import Bert, Model, Trace, load
from bertcore.analysis import (
    head_rows,
    layer_parts,
    layer_stages,
    logit_attribution,
    masked_encoding,
    masked_word_steps,
    pooler_steps,
    token_in_layer,
    toy_head,
)
from bertcore.analysis.words.logit_attribution import PartKind
from tests.support.opened import PAIR, named_charts, numbers, ok, page_of, said, shown_names
from tests.support.rigged_models import save_task_checkpoint
from tests.support.tiny import tiny_bert, tiny_config
from tests.support.tiny_families import make
from tests.support.tiny_others import make_other

TEXT = "the river [MASK] was steep ."
MASK = 3
OPEN = dict.fromkeys(("who_wrote", "last_vectors", "toy"), "1")


@pytest.fixture
def page(checkpoint: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", checkpoint)

    def opened(**query: str) -> AppTest:
        return ok(page_of("inside_layer", **{"text_a": TEXT, **query}).run())

    return opened


def header(message: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(message[4 : 4 + int.from_bytes(message[:4], "little")])
    return found


def family(name: str, folder: Path) -> tuple[Model, Trace]:
    make(name, folder)
    bert = load(folder, device="cpu")
    return bert, bert.trace("The river bank was steep.")


def titles(sheet: Sheet) -> list[str]:
    return [row["title"] for row in sheet.rows if row["title"]]


def test_rows_are_the_cores_numbers(bert: Bert) -> None:
    trace = bert.trace(TEXT)
    sheet = layer_sheet(token_in_layer(bert, trace, 1))
    parts, found = layer_parts(bert, trace, 1), logit_attribution(bert, trace, MASK)
    heads = [row for row in sheet.rows if row.get("head", -1) >= 0]
    assert [row["share"] for row in heads] == pytest.approx(found.heads(1))
    for head, row in enumerate(heads):
        written = parts.head_outputs[head, MASK]
        torch.testing.assert_close(sheet.vectors[row["vector"]], written)
        assert row["norm"] == pytest.approx(float(written.norm()))
        weights = [source["weight"] for source in row["sources"]]
        assert weights == sorted(parts.weights[head, MASK].tolist(), reverse=True)[:6]
        for source in row["sources"]:
            key = sheet.vectors[source["key"]]
            product = float(sheet.vectors[row["query"]] @ key) / len(key) ** 0.5
            assert source["score"] == pytest.approx(product, abs=1e-5)
            assert source["token"] == trace.tokens[source["position"]]
    neurons = next(row for row in sheet.rows if row["kind"] == "neurons")
    firing = int((parts.pre_activations[MASK] > 0).sum())
    assert neurons["label"] == f"{firing} of 64 fire"
    shares = [abs(card["share"]) for card in neurons["cards"]]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] == pytest.approx(float(found.neurons[1].abs().max()))
    assert all(card["words"] for card in neurons["cards"])
    torch.testing.assert_close(sheet.vectors[sheet.rows[-1]["vector"]], parts.output[MASK])
    said_last, best = sheet.rows[-1]["said"], bert.fill_mask(TEXT, top_k=4)[0]
    assert list(said_last["words"]) == [word for word, _ in best]
    assert said_last["probabilities"] == pytest.approx([p for _, p in best], abs=1e-6)


def test_the_shares_of_all_layers_and_the_rest_sum_to_the_logit(bert: Bert) -> None:
    trace = bert.trace(TEXT)
    found = logit_attribution(bert, trace, MASK)
    shown = 0.0
    for layer in range(2):
        rows = layer_sheet(token_in_layer(bert, trace, layer)).rows
        parts = [row for row in rows if row.get("head") != -1]
        shown += sum(row.get("share") or 0.0 for row in parts)
    ends: tuple[PartKind, ...] = ("embedding_bias", "final_bias", "decoder_bias")
    rest = found.total("token", "segment", "position", *ends)
    assert shown + rest == pytest.approx(found.logit)
    assert SOURCES.table(found)["share"].sum() == pytest.approx(found.total("head"))


def test_the_message_holds_each_vector_once(bert: Bert) -> None:
    token = token_in_layer(bert, bert.trace(TEXT), 0, MASK, "river", "the")
    sheet = layer_sheet(token)
    message = sheet.message()
    found = header(message)
    assert (found["word"], found["against"]) == ("river", "the")
    start = 4 + int.from_bytes(message[:4], "little")
    first, size = found["blocks"][0]
    flat = np.frombuffer(message[start + first : start + first + size], np.float16)
    assert len(flat) == sum(found["widths"])
    named = [row["vector"] for row in found["rows"] if "vector" in row]
    assert max(named) < len(found["widths"])
    assert np.array_equal(flat[: found["widths"][0]], sheet.vectors[0].numpy().astype(np.float16))


def test_the_head_after_the_last_layer_ends_in_the_words(bert: Bert) -> None:
    entries = word_sheet(masked_word_steps(bert, bert.trace(TEXT))).rows[-1]["entries"]
    best = dict(bert.fill_mask(TEXT, top_k=8)[0])
    found = {entry["word"]: entry["probability"] for entry in entries}
    assert [*found] == [*best]
    assert found == pytest.approx(best, abs=1e-6)
    for entry in entries:
        assert entry["product"] + entry["bias"] == pytest.approx(entry["logit"], abs=1e-5)


def test_the_pooler_ends_in_the_pair_if_there_is_one(bert: Bert) -> None:
    pair = tuple(PAIR.values())
    rows = pooler_sheet(pooler_steps(bert, bert.trace(*pair))).rows
    expected = bert.next_sentence(*pair).is_next
    assert rows[-1]["entries"][0]["probability"] == pytest.approx(expected, abs=1e-6)
    assert titles(pooler_sheet(pooler_steps(bert, bert.trace(TEXT))))[-1] == "tanh"


def test_a_head_reads_no_token_that_is_masked() -> None:
    causal = tiny_bert(tiny_config(is_decoder=True), heads=frozenset({"mlm"}))
    trace = causal.trace("the river bank was steep")
    rows = layer_sheet(token_in_layer(causal, trace, 1, 2)).rows
    heads = [row for row in rows if row.get("head", -1) >= 0]
    weights = trace.attentions[1, :, 2]
    for head, row in enumerate(heads):
        assert sorted(source["position"] for source in row["sources"]) == [0, 1, 2]
        for source in row["sources"]:
            assert source["weight"] == pytest.approx(float(weights[head, source["position"]]))


def test_all_tokens_are_the_cores(bert: Bert) -> None:
    trace = bert.trace(TEXT)
    stages, parts = layer_stages(bert, trace, 1), layer_parts(bert, trace, 1)
    torch.testing.assert_close(stages.norms[3], parts.feed_forward_output.norm(dim=-1))
    torch.testing.assert_close(stages.cosines[0], torch.ones(trace.num_tokens))
    sent = header(stages_message(stages, 2))
    assert sent["firing"] == (parts.pre_activations > 0).sum(-1).tolist()
    assert sent["positions"] == list(range(trace.num_tokens))
    assert sent["tokens"] == trace.tokens


def test_the_page_shows_shares_that_sum(page: Callable[..., AppTest], bert: Bert) -> None:
    app = page(layer="1", **OPEN)
    found = logit_attribution(bert, bert.trace(TEXT), MASK)
    assert f"add up to **{found.logit:.2f}**".replace("-", "−") in said(app)
    assert f"raised the logit of **{found.word}**" in said(app)
    bars = named_charts(app, "who")["wrote"][0]
    widths, starts = numbers(bars["x"]), numbers(bars["base"])
    assert widths[:-1].sum() == pytest.approx(found.logit)
    assert widths[-1] == pytest.approx(found.logit)
    assert starts[1:-1] == pytest.approx(np.cumsum(widths[:-2]))
    by_sign = [theme.SEGMENT_A if width >= 0 else theme.SEGMENT_B for width in widths[:-1]]
    assert bars["marker"]["color"] == [*by_sign, theme.ACCENT]
    cells = BY_PART.table(found).pivot(index="layer", columns="part", values="share")
    heads = [f"head {head}" for head in range(4)]
    assert cells[heads].to_numpy() == pytest.approx(np.array([found.heads(0), found.heads(1)]))
    np.testing.assert_allclose(cells["sum"], cells.drop(columns="sum").sum(axis=1))


def test_the_shown_python_has_the_choices(page: Callable[..., AppTest], bert: Bert) -> None:
    words = [word for word, _ in bert.fill_mask(TEXT, top_k=2)[0]]
    app = page(layer="1", layer_against=words[1], **OPEN)
    token = shown_names(app, "result = token_in_layer(")["result"]
    expected = logit_attribution(bert, bert.trace(TEXT), MASK, *words)
    assert (token.layer, token.position) == (1, MASK)
    assert token.shares.logit == shown_names(app, "result = logit_attribution(")["result"].logit
    assert token.shares.logit == pytest.approx(expected.logit)
    assert shown_names(app, "result = masked_word_steps(")["result"].token == "[MASK]"
    assert shown_names(app, "result = pooler_steps(")["result"].token == "[CLS]"
    both = f"the logit of **{words[0]}** minus that of **{words[1]}**"
    assert said(app).count(both) == 3  # in one layer, share by share, head by head


def test_a_word_is_hidden_as_an_example_and_another_by_a_link(
    page: Callable[..., AppTest], bert: Bert
) -> None:
    text = "the river bank was steep ."
    trace: Trace = shown_names(page(text_a=text), "result = token_in_layer(")["trace"]
    assert trace.tokens.count("[MASK]") == 1
    other = 2 if trace.tokens[2] != "[MASK]" else 3
    names = shown_names(
        page(text_a=text, layer_token=str(other), masked=str(other)), "result = token_in_layer("
    )
    masked = [place for place, token in enumerate(names["trace"].tokens) if token == "[MASK]"]
    assert other in masked
    hidden = bert.trace(text, encoding=masked_encoding(bert, text, masked=masked))
    expected = token_in_layer(bert, hidden, names["result"].layer, other)
    torch.testing.assert_close(names["result"].parts.output, expected.parts.output)


def test_a_modern_layer_normalises_before_its_blocks(tmp_path: Path) -> None:
    bert, trace = family("ModernBertForMaskedLM", tmp_path)
    rows = [titles(layer_sheet(token_in_layer(bert, trace, layer))) for layer in (0, 1, 3)]
    assert rows[0] == ["Vector so far", "Attention", "Add", "LayerNorm", "Feed-forward", "Add"]
    assert rows[1] == ["Vector so far", "LayerNorm", *rows[0][1:]]
    assert rows[2] == [*rows[1], "Final LayerNorm"]
    last = [layer_stages(bert, trace, layer).stages[-1] for layer in (2, 3)]
    assert last == ["Add", "Add & final norm"]


def test_without_words_neurons_are_ranked_by_what_they_write(tmp_path: Path) -> None:
    bert, trace = family("ElectraForPreTraining", tmp_path)
    rows = layer_sheet(token_in_layer(bert, trace)).rows
    neurons = next(row for row in rows if row["kind"] == "neurons")
    assert [card["share"] for card in neurons["cards"]] == [None] * 6
    assert all(row.get("share") is None for row in rows)


@pytest.mark.parametrize(
    ("save", "reason"),
    [
        (lambda folder: make_other("DebertaV2ForMaskedLM", folder) and folder, ""),
        (lambda folder: save_task_checkpoint(folder, "classify"), "masked-word"),
        (
            lambda folder: tiny_bert(tiny_config(num_hidden_layers=1)).save(folder),
            "add up to",
        ),
    ],
)
def test_other_checkpoints_draw_what_they_can(
    save: Callable[[Path], object], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(save(tmp_path)))
    app = ok(page_of("inside_layer", text_a="the river", who_wrote="1").run())
    assert reason in said(app)
    assert bool(app.info) == (not reason)


@pytest.mark.parametrize(
    ("angle", "length", "does"),
    [
        (150, 20.0, "**copies C**: the output is 40.0"),
        (30, 20.0, "**averages A and B**: the output is 15.0"),
        (30, 0.0, "**averages all four**: the output is 37.5"),
        (150, 1.0, "mixes the values"),
    ],
)
def test_what_the_toy_head_does_is_said(angle: int, length: float, does: str) -> None:
    assert does in what_it_does(toy_head(angle, length))


def test_sliders_and_links_choose_the_query(page: Callable[..., AppTest]) -> None:
    app = page(toy_angle="150", toy_length="20.0")
    assert "It **copies C**" in said(app)
    app.slider(key="toy_angle").set_value(30).run()
    assert "It **averages A and B**" in said(ok(app))
    *_, weights = named_charts(app, "toy")["head"]
    np.testing.assert_allclose(numbers(weights["x"]), toy_head(30, 20.0).weights)


def test_the_rows_of_a_head_and_their_code(page: Callable[..., AppTest], checkpoint: str) -> None:
    app = page(layer="1", head_rows="1", rows_head="2")
    result = head_rows(load(checkpoint, device="cpu"), 1, 2)
    assert result.python in [block.value + "\n" for block in app.code]
    size = result.end - result.start
    (picture,) = (json.loads(chart.proto.spec) for chart in app.get("plotly_chart"))
    frame = picture["layout"]["shapes"][0]
    assert (frame["y0"], frame["y1"]) == (2 * size - 0.5, 3 * size - 0.5)
    assert f"head 2: {2 * size} to {3 * size - 1}" in str(picture["layout"]["yaxis"]["ticktext"])
    assert f"Rows {2 * size} to {3 * size}" in said(app)


def test_a_wide_matrix_is_drawn_as_means_of_neighbours() -> None:
    bert = tiny_bert()
    result = dataclasses.replace(
        head_rows(bert, 0, 1), weight=torch.arange(300.0 * 300).view(300, 300), start=60, end=120
    )
    fig = HEAD_ROWS.draw(result)
    drawn = np.array(fig.traces[0]["z"])
    assert drawn.shape == (100, 100)
    assert drawn[0, 0] == pytest.approx(float(result.weight[:3, :3].mean()))
    assert (fig.settings["shapes"][0]["y0"], fig.settings["shapes"][0]["y1"]) == (19.5, 39.5)
