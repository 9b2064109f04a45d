"""The page Inside a layer: the numbers of the core, every family, odd texts and links."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from app.inside_layer import drawing
from app.inside_layer.drawing import Sheet, all_tokens
from app.inside_layer.one_token import pair_sheet, token_sheet, word_sheet
from app.inside_layer.run import AskedWord, Run
from app.inside_layer.who_wrote import token_shares, tokens_table
from app.plots import theme
from app.shell import cache
from bertcore import Bert, Model, Trace
from bertcore.analysis.mixing.layer_parts import layer_parts
from bertcore.analysis.words.logit_attribution import (
    LogitAttribution,
    PartKind,
    logit_attribution,
)
from tests.support.opened import (
    PAIR,
    button,
    named_charts,
    numbers,
    ok,
    page_of,
    said,
)
from tests.support.task_checkpoints import save_task_checkpoint
from tests.support.tiny import tiny_bert, tiny_config
from tests.support.tiny_families import make
from tests.support.tiny_others import make_other

NAMES = ["ElectraForPreTraining", "ModernBertForMaskedLM"]
TEXT = "the river [MASK] was steep ."
MASK = 3


@pytest.fixture
def page(checkpoint: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", checkpoint)

    def opened(**query: str) -> AppTest:
        return ok(page_of("inside_layer", **{"text_a": TEXT, **query}).run())

    return opened


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    made = {}
    for name in NAMES:
        made[name] = tmp_path_factory.mktemp("layer") / name
        make(name, made[name])
    return made


def run_of(checkpoint: str, text: str = TEXT, masked: tuple[int, ...] = ()) -> Run:
    return Run(cache.bert_key(checkpoint, "cpu"), text, None, masked)


def header(message: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(message[4 : 4 + int.from_bytes(message[:4], "little")])
    return found


def executed(app: AppTest, call: str) -> dict[str, Any]:
    """Return the names that the first shown Python with a call leaves behind."""
    names: dict[str, Any] = {}
    exec(next(one.value for one in app.code if call in one.value), names)
    return names


def of_text(app: AppTest) -> list[str]:
    """Return the names of the charts about the text: all but the toy head's."""
    names = [str(chart.proto.id).rpartition("figure_")[2] for chart in app.get("plotly_chart")]
    return [name for name in names if name != "toy-head"]


def test_rows_are_the_cores_numbers(bert: Bert, checkpoint: str) -> None:
    run, asked = run_of(checkpoint), AskedWord(MASK, None, None)
    sheet = token_sheet(bert, run, 1, asked)
    trace = bert.trace(TEXT)
    parts, found = layer_parts(bert, trace, 1), logit_attribution(bert, trace, MASK)
    heads = [row for row in sheet.rows if "head" in row]
    assert [row["share"] for row in heads] == pytest.approx(found.heads(1))
    for head, row in enumerate(heads):
        written = parts.head_outputs[head, MASK]
        assert torch.equal(sheet.vectors[row["vector"]], written)
        assert row["norm"] == pytest.approx(float(written.norm()))
        weights = [source["weight"] for source in row["sources"]]
        assert weights == sorted(parts.weights[head, MASK].tolist(), reverse=True)[:6]
        for source in row["sources"]:
            place = source["position"]
            key = sheet.vectors[source["key"]]
            product = float(sheet.vectors[row["query"]] @ key) / len(key) ** 0.5
            assert source["score"] == pytest.approx(product, abs=1e-5)
            assert source["token"] == trace.tokens[place]
    neurons = next(row for row in sheet.rows if row["kind"] == "neurons")
    firing = int((parts.pre_activations[MASK] > 0).sum())
    assert neurons["label"] == f"{firing} of 64 fire"
    shares = [abs(card["share"]) for card in neurons["cards"]]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] == pytest.approx(float(found.neurons[1].abs().max()))
    assert all(card["words"] for card in neurons["cards"])
    assert torch.equal(sheet.vectors[sheet.rows[-1]["vector"]], parts.output[MASK])
    said_last = sheet.rows[-1]["said"]
    best = bert.fill_mask(TEXT, top_k=4)[0]
    assert said_last["words"] == [word for word, _ in best]
    assert said_last["probabilities"] == pytest.approx([p for _, p in best], abs=1e-6)


def test_the_shares_of_all_layers_and_the_rest_sum_to_the_logit(
    bert: Bert, checkpoint: str
) -> None:
    run, asked = run_of(checkpoint), AskedWord(MASK, None, None)
    found = logit_attribution(bert, bert.trace(TEXT), MASK)
    shown = 0.0
    for layer in range(2):
        rows = token_sheet(bert, run, layer, asked).rows
        parts = [row for row in rows if row.get("label") != "sum of heads"]
        shown += sum(row.get("share") or 0.0 for row in parts)
    ends: tuple[PartKind, ...] = ("embedding_bias", "final_bias", "decoder_bias")
    rest = found.total("token", "segment", "position", *ends)
    assert shown + rest == pytest.approx(found.logit)


def test_the_message_holds_each_vector_once(bert: Bert, checkpoint: str) -> None:
    sheet = token_sheet(bert, run_of(checkpoint), 0, AskedWord(MASK, None, None))
    message = drawing.sheet_message(sheet, "a name", AskedWord(MASK, "river", "the"))
    found = header(message)
    assert (found["word"], found["against"]) == ("river", "the")
    start = 4 + int.from_bytes(message[:4], "little")
    first, size = found["blocks"][0]
    flat = np.frombuffer(message[start + first : start + first + size], np.float32)
    assert len(flat) == sum(found["widths"])
    named = [row["vector"] for row in found["rows"] if "vector" in row]
    assert max(named) < len(found["widths"])
    assert flat[: found["widths"][0]] == pytest.approx(sheet.vectors[0].numpy())


def test_the_head_after_the_last_layer_ends_in_the_words(bert: Bert, checkpoint: str) -> None:
    rows = word_sheet(bert, run_of(checkpoint), AskedWord(MASK, None, None)).rows
    entries = rows[-1]["entries"]
    best = bert.fill_mask(TEXT, top_k=6)[0]
    assert [entry["word"] for entry in entries] == [word for word, _ in best]
    assert [entry["probability"] for entry in entries] == pytest.approx(
        [p for _, p in best], abs=1e-6
    )
    for entry in entries:
        assert entry["product"] + entry["bias"] == pytest.approx(entry["logit"], abs=1e-5)


def test_the_pooler_ends_in_the_pair(bert: Bert, checkpoint: str) -> None:
    key = cache.bert_key(checkpoint, "cpu")
    rows = pair_sheet(bert, Run(key, PAIR["text_a"], PAIR["text_b"], ())).rows
    expected = bert.next_sentence(PAIR["text_a"], PAIR["text_b"]).is_next
    assert rows[-1]["entries"][0]["probability"] == pytest.approx(expected, abs=1e-6)


def test_a_single_text_has_no_pair_to_answer(bert: Bert, checkpoint: str) -> None:
    rows = pair_sheet(bert, run_of(checkpoint)).rows
    assert rows[-1]["title"] == "tanh"


def test_a_head_reads_no_token_that_is_masked(tmp_path: Path) -> None:
    causal = tiny_bert(tiny_config(is_decoder=True), heads=frozenset({"mlm"}))
    causal.save(tmp_path)
    run = run_of(str(tmp_path), "the river bank was steep")
    rows = token_sheet(causal, run, 1, AskedWord(2, None, None)).rows
    heads = [row for row in rows if "head" in row]
    weights = run.trace.attentions[1, :, 2]
    for head, row in enumerate(heads):
        assert sorted(source["position"] for source in row["sources"]) == [0, 1, 2]
        for source in row["sources"]:
            assert source["weight"] == pytest.approx(float(weights[head, source["position"]]))


def test_the_activation_says_what_is_below_zero(
    checkpoint: str, tmp_path: Path, bert: Bert
) -> None:
    relu = tiny_bert(tiny_config(hidden_act="relu"))
    folder_of_relu = str(relu.save(tmp_path))
    for model, folder, title, below in (
        (bert, checkpoint, "GELU", "negatives become small"),
        (relu, folder_of_relu, "ReLU", "negatives become zero"),
    ):
        rows = word_sheet(model, run_of(folder, "The river."), AskedWord(2, None, None)).rows
        notes = [row["note"] for row in rows if row["title"] == title]
        assert len(notes) == 1
        assert notes[0].startswith(below)


def test_all_tokens_are_the_cores(bert: Bert, checkpoint: str) -> None:
    found = all_tokens(bert, run_of(checkpoint), 1, 0)
    parts = layer_parts(bert, bert.trace(TEXT), 1)
    assert found.norms[3] == pytest.approx(parts.feed_forward_output.norm(dim=-1).numpy())
    assert found.cosines[0] == pytest.approx(1)
    assert found.firing == (parts.pre_activations > 0).sum(-1).tolist()
    sent = header(drawing.all_message(found, bert.trace(TEXT), 2))
    assert sent["positions"] == found.rows
    assert len(sent["tokens"]) == bert.trace(TEXT).num_tokens


def test_the_page_shows_shares_that_sum(page: Callable[..., AppTest], bert: Bert) -> None:
    app = page(layer="1")
    found = logit_attribution(bert, bert.trace(TEXT), MASK)
    assert f"add up to **{found.logit:.2f}**".replace("-", "−") in said(app)
    assert f"Who wrote “{found.word}”?" in said(app)
    bars = named_charts(app, "who")["wrote"][0]
    widths, starts = numbers(bars["x"]), numbers(bars["base"])
    assert widths[:-1].sum() == pytest.approx(found.logit)
    assert widths[-1] == pytest.approx(found.logit)
    assert starts[1:-1] == pytest.approx(np.cumsum(widths[:-2]))
    by_sign = [theme.SEGMENT_A if width >= 0 else theme.SEGMENT_B for width in widths[:-1]]
    assert bars["marker"]["color"] == [*by_sign, theme.ACCENT]
    cells = numbers(named_charts(app, "who-wrote-by")["part"][0]["z"])
    assert cells[:, :4] == pytest.approx(np.array([found.heads(0), found.heads(1)]))
    assert cells[:, -1] == pytest.approx(cells[:, :-1].sum(-1))
    tokens = token_shares(found, bert.trace(TEXT).tokens)
    assert tokens.shares.sum() == pytest.approx(found.total("head"))
    assert list(tokens_table(tokens)["token"]) == bert.trace(TEXT).tokens


def test_the_shown_python_makes_the_numbers(page: Callable[..., AppTest], bert: Bert) -> None:
    app = page(layer="1", layer_against="the")
    trace = bert.trace(TEXT)
    parts = executed(app, "layer_parts(")["parts"]
    torch.testing.assert_close(parts.output, layer_parts(bert, trace, 1).output)
    found: LogitAttribution = executed(app, "logit_attribution(")["found"]
    assert found.position == MASK
    assert executed(app, "masked_word_steps(")["steps"].state.shape == (32,)
    assert executed(app, "pooler_steps(")["steps"].pooled.shape == (32,)


def test_a_word_is_hidden_as_an_example_and_another_by_a_click(
    page: Callable[..., AppTest],
) -> None:
    text = "the river bank was steep ."
    trace: Trace = executed(page(text_a=text), "layer_parts(")["trace"]
    assert trace.tokens.count("[MASK]") == 1
    other = 2 if trace.tokens[2] != "[MASK]" else 3
    app = page(text_a=text, layer_token=str(other))
    app = ok(button(app, "Hide it").click().run())
    trace = executed(app, "layer_parts(")["trace"]
    assert trace.tokens[other] == "[MASK]"


def test_against_another_word(page: Callable[..., AppTest], bert: Bert) -> None:
    words = [word for word, _ in bert.fill_mask(TEXT, top_k=2)[0]]
    app = page(layer_against=words[1])
    found = logit_attribution(bert, bert.trace(TEXT), MASK, *words)
    assert f"Who wrote “{words[0]}”, not “{words[1]}”?" in said(app)
    assert f"add up to **{found.logit:.2f}**".replace("-", "−") in said(app)
    both = f"the logit of **{words[0]}** minus that of **{words[1]}**"
    assert said(app).count(both) == 3  # in one layer, share by share, head by head


def test_an_upper_layer_is_open_at_first(page: Callable[..., AppTest], checkpoint: str) -> None:
    parts = executed(page(), "layer_parts(")["parts"]
    bert: Model = cache.opened(cache.bert_key(checkpoint, "cpu"))
    upper = layer_parts(bert, bert.trace(TEXT), 2 * bert.config.num_hidden_layers // 3)
    assert torch.equal(parts.output, upper.output)


def test_all_tokens_have_no_word(page: Callable[..., AppTest]) -> None:
    app = page(layer_view="all")
    assert not of_text(app)
    assert "of the 64 neurons fire" in said(app)


def test_a_modern_layer_normalises_before_its_blocks(folders: dict[str, Path]) -> None:
    folder = str(folders["ModernBertForMaskedLM"])
    run = run_of(folder, "The river bank was steep.")
    bert: Model = cache.opened(run.key)
    sheets = [token_sheet(bert, run, layer, AskedWord(2, None, None)) for layer in (0, 1, 3)]
    titles = [[row["title"] for row in sheet.rows if row["title"]] for sheet in sheets]
    assert titles[0] == ["Vector so far", "Attention", "Add", "LayerNorm", "Feed-forward", "Add"]
    assert titles[1] == ["Vector so far", "LayerNorm", *titles[0][1:]]
    assert titles[2] == [*titles[1], "Final LayerNorm"]


def test_the_last_modern_layer_ends_in_the_final_norm(folders: dict[str, Path]) -> None:
    run = run_of(str(folders["ModernBertForMaskedLM"]), "The river bank was steep.")
    bert: Model = cache.opened(run.key)
    stages = [all_tokens(bert, run, layer, 0).stages[-1] for layer in (2, 3)]
    assert stages == ["Add", "Add & final norm"]


def test_without_words_neurons_are_ranked_by_what_they_write(folders: dict[str, Path]) -> None:
    run = run_of(str(folders["ElectraForPreTraining"]), "The river bank was steep.")
    bert: Model = cache.opened(run.key)
    sheet: Sheet = token_sheet(bert, run, 0, AskedWord(2, None, None))
    neurons = next(row for row in sheet.rows if row["kind"] == "neurons")
    assert [card["share"] for card in neurons["cards"]] == [None] * 6
    assert all(row.get("share") is None for row in sheet.rows)


def test_another_architecture_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_other("DebertaV2ForMaskedLM", tmp_path)
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(tmp_path))
    app = ok(page_of("inside_layer", text_a="the river").run())
    assert app.info
    assert not of_text(app)


def test_a_fine_tuned_checkpoint_has_no_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(save_task_checkpoint(tmp_path, "classify")))
    app = ok(page_of("inside_layer", text_a="the river").run())
    assert "masked-word" in said(app)
    assert not of_text(app)


def test_a_network_of_one_layer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny_bert(tiny_config(num_hidden_layers=1)).save(tmp_path)
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(tmp_path))
    ok(page_of("inside_layer", text_a="the river").run())
