"""The numbers of BERT at a glance are the trace's own."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from app.parts.canvas.shared.transport import decoding_table
from app.parts.walk import drawing
from app.parts.walk.steps import names_of_parts, walk
from app.parts.walk.summary import MISSING, find_twins, summarize, text_words, vector_columns
from app.plots.special_tokens import marks_of
from app.plots.vector_strips import NUM_BANDS, rows_to_draw
from bertcore import Bert, load
from bertcore.analysis.mixing.layer_parts import attention_outputs, passage
from bertcore.analysis.shared.inputs import masked_encoding
from bertcore.analysis.words.next_words import predict_next
from bertcore.analysis.words.predictions import predict_masks
from bertcore.model.network import ALL_HEADS
from tests.support.tiny import tiny_bert, tiny_config, tiny_network, tiny_tokenizer
from tests.support.tiny_families import make
from tests.support.tiny_others import CLASSES, WITH_HEADS, make_other

A, B = "The river bank was steep.", "It had rained all day."


def header_of(message: bytes) -> dict[str, Any]:
    length = int.from_bytes(message[:4], "little")
    header: dict[str, Any] = json.loads(message[4 : 4 + length])
    return header


def test_a_word_is_hidden_and_every_number_is_of_that_input(bert: Bert) -> None:
    hidden = 2
    glance = summarize(bert, A, B, (hidden,))
    trace = bert.trace(A, B, encoding=masked_encoding(bert, A, B, [hidden]))
    assert glance.trace.tokens == trace.tokens
    assert glance.trace.tokens[hidden] == "[MASK]"
    links = decoding_table()[glance.links.codes]
    np.testing.assert_allclose(links, trace.attentions.mean(1), atol=0.005)
    best = predict_masks(bert, A, B, [hidden], 5)
    (masked,) = glance.predictions
    assert masked.words == best.words[0].tolist()
    assert masked.original == best.originals[0]
    np.testing.assert_allclose(masked.probabilities, best.probabilities[0], atol=1e-5)
    logits = bert.module.nsp_logits(trace.hidden_states[-1][None])
    assert glance.pair.probability == pytest.approx(float(torch.softmax(logits[0], -1)[0].detach()))


def test_the_cells_of_a_vector_are_means_of_its_dimensions(bert: Bert) -> None:
    trace = bert.trace(A, B)
    rows = list(range(trace.num_tokens))
    columns, bands = vector_columns(bert, passage(bert, trace), rows)
    kinds = [column.kind for column in columns]
    inputs = ["token", "segment", "position", "input"]
    assert kinds == [*inputs, "attention", "neurons", "layer", "attention", "layer"]
    assert trace.embeddings.segment is not None
    assert trace.embeddings.position is not None
    halves = attention_outputs(bert, trace.hidden_states)
    for layer, half, after in zip(bert.module.layers, halves, trace.hidden_states[1:], strict=True):
        torch.testing.assert_close(layer.feed_forward(half[None])[0], after, rtol=0, atol=1e-5)
    block = bert.module.layers[0].feed_forward
    with torch.inference_mode():
        neurons = torch.nn.functional.gelu(block.intermediate(halves[0]))
        torch.testing.assert_close(block.output(neurons), block.write(halves[0]))
    vectors = {
        ("neurons", 0): neurons,
        ("token", -1): trace.embeddings.token,
        ("segment", -1): trace.embeddings.segment,
        ("position", -1): trace.embeddings.position,
        ("input", -1): trace.hidden_states[0],
        ("attention", 1): halves[1],
        ("layer", 1): trace.hidden_states[2],
    }
    for column, cells in zip(columns, bands, strict=True):
        if (column.kind, column.layer) not in vectors:
            continue
        vector = vectors[column.kind, column.layer]
        means = vector.reshape(len(rows), NUM_BANDS, -1).mean(-1).numpy()
        true = np.clip(means / column.scale, -1, 1)
        np.testing.assert_allclose(cells / 127, true, atol=0.51 / 127)


def test_a_typed_mask_and_masks_of_the_visitor_are_taken_and_nothing_else_is_hidden(
    bert: Bert,
) -> None:
    typed = summarize(bert, "the [MASK] bank", None, ())
    assert [one.original for one in typed.predictions] == [None]
    chosen = summarize(bert, A, None, (2, 3))
    assert [one.position for one in chosen.predictions] == [2, 3]
    assert chosen.pair is None


def test_words_and_twins_of_a_text(bert: Bert) -> None:
    trace = bert.trace("The river rained, river!")
    words = text_words(trace)
    assert [word.text for word in words][:3] == ["The", "river", "rained"]
    for word in words:
        pieces = trace.tokens[word.first : word.last + 1]
        assert not pieces[0].startswith("##")
        assert all(piece.startswith("##") for piece in pieces[1:])
    rivers = [place for place, token in enumerate(trace.tokens) if token == "river"]
    assert find_twins(trace) == tuple(rivers)
    assert find_twins(bert.trace("the the cat")) is None


@pytest.mark.parametrize("length", [3, 127, 128, 129, 400])
def test_long_inputs_are_folded_and_keep_both_ends_masks_and_separators(length: int) -> None:
    bert = Bert(
        tiny_network(tiny_config(max_position_embeddings=512)), tiny_tokenizer(max_length=512)
    )
    trace = bert.trace("river " * (length - 2))
    assert trace.num_tokens == length
    rows = rows_to_draw(trace.text_ids, keep=[length // 2])
    assert rows == sorted(set(rows))
    assert len(rows) == min(length, 128)
    assert {0, 1, length // 2, length - 2, length - 1} <= {*rows}
    glance = summarize(bert, "river " * (length - 2), None, (length // 2,))
    header = header_of(
        drawing.message(bert, glance, walk(bert, glance, marks_of(bert.tokenizer)), 0)
    )
    assert header["num_tokens"] == length
    assert len(header["tokens"]) == len(header["positions"]) == min(length, 128)


def test_every_step_has_the_numbers_of_the_text(bert: Bert) -> None:
    glance = summarize(bert, "The river bank, unhappily.", "The river rained.", (3,))
    steps = walk(bert, glance, marks_of(bert.tokenizer))
    assert " ".join(step.part for step in steps) == (
        "gap training pieces input attention heads feed_forward layers words pair all"
    )
    said = {step.part: step.text for step in steps}
    assert str(len(glance.trace.tokens)) in said["pieces"]
    assert f"{glance.similarities[-1]:.2f}" in said["layers"]
    assert glance.predictions[0].words[0] in said["words"]
    assert glance.predictions[0].words[0] in said["gap"]


def test_a_hidden_word_of_several_pieces_is_one_gap_and_named_whole(bert: Bert) -> None:
    text = "The river bank, unhappily."
    word = max(text_words(bert.trace(text)), key=lambda one: one.last - one.first)
    places = tuple(range(word.first, word.last + 1))
    glance = summarize(bert, text, None, places)
    assert [one.position for one in glance.predictions] == [*places]
    assert (glance.num_hidden, glance.gaps) == (1, glance.predictions[:1])
    said = {step.part: step.text for step in walk(bert, glance, marks_of(bert.tokenizer))}
    for part in ("gap", "words"):
        assert f"as piece 1 of the {len(places)} of “unhappily”" in said[part]
    assert "here the first of" not in said["gap"]
    assert "pair" not in drawing.absent_of(bert, glance), "a text without B lacks nothing"


@pytest.mark.parametrize("text_b", [B, None])
@pytest.mark.parametrize("text", [A, "", "a", "the [MASK] of [MASK]", "{mask} {", "\u200b"])
def test_a_step_is_short_and_speaks_of_what_is_there(
    bert: Bert, text: str, text_b: str | None
) -> None:
    texts = bert.tokenize(text, text_b).text_ids
    own = [place for place, of in enumerate(texts) if of >= 0]
    steps = walk(bert, summarize(bert, text, text_b, tuple(own[:1])), marks_of(bert.tokenizer))
    assert max(len(step.text.split()) for step in steps) <= 45
    assert ("pair" in {step.part for step in steps}) == (text_b is not None)
    has_words = "words" in {step.part for step in steps}
    assert ("guesses" in steps[0].text) == has_words == bool(own)


def test_a_checkpoint_without_heads_has_no_steps_about_them_and_says_why() -> None:
    network = tiny_network(heads=frozenset())
    bare = Bert(network, tiny_tokenizer())
    assert frozenset() != ALL_HEADS
    glance = summarize(bare, A, B, ())
    steps = walk(bare, glance, marks_of(bare.tokenizer))
    assert not {"pair", "words"} & {step.part for step in steps}
    absent = header_of(drawing.message(bare, glance, steps, 0))["absent"]
    assert "next-sentence" in absent["pair"]
    assert "masked-word" in absent["words"]


def test_a_head_and_attention_of_nan_are_sent_as_such() -> None:
    broken = tiny_bert()
    with torch.no_grad():
        broken.module.layers[1].attention.query.weight[0, 0] = torch.nan
        broken.module.mlm.dense.bias.fill_(torch.nan)
    glance = summarize(broken, "The river bank, river.", B, (3,))
    steps = walk(broken, glance, marks_of(broken.tokenizer))
    message = drawing.message(broken, glance, steps, 0)
    header = header_of(message)
    assert header["broken"] == [1]
    assert header["pair"]["probability"] is None
    assert header["predictions"][0]["probabilities"] == [None] * 5
    said = {step.part: step.text for step in steps}
    assert all("NaN" in said[part] for part in ("gap", "layers", "pair", "words"))
    start, length = header["blocks"][-1]
    body = message[4 + int.from_bytes(message[:4], "little") :]
    flags = np.unpackbits(np.frombuffer(body[start : start + length], np.uint8))
    weights = glance.links.codes.shape
    missing = flags[: np.prod(weights)].reshape(weights)
    assert missing[1].all()
    assert not missing[0].any()
    layers = [column.layer if column.kind == "layer" else None for column in glance.columns]
    assert (glance.bands[layers.index(1)] == MISSING).all()
    assert (glance.bands[layers.index(0)] != MISSING).all()


ALL_CLASSES = [
    "RobertaForMaskedLM",
    "DistilBertForMaskedLM",
    "ElectraForPreTraining",
    "AlbertForPreTraining",
    *WITH_HEADS,
    "XLNetModel",
]


SAYS = {"segment": "in which text it stands", "position": "at which place"}


@pytest.mark.parametrize("class_name", ALL_CLASSES)
def test_every_architecture_is_drawn_with_what_it_has(class_name: str, tmp_path: Path) -> None:
    maker = make_other if class_name in CLASSES else make
    maker(class_name, tmp_path)
    bert = load(tmp_path)
    text_b = None if class_name == "GPT2LMHeadModel" else B
    glance = summarize(bert, A, text_b, ())
    steps = walk(bert, glance, marks_of(bert.tokenizer))
    header = header_of(drawing.message(bert, glance, steps, 0))
    said = {step.part: step.text for step in steps}
    embeddings = bert.trace(A).embeddings
    for part, vector in (("segment", embeddings.segment), ("position", embeddings.position)):
        assert (part in header["absent"]) == (vector is None)
        assert (SAYS[part] in said["input"]) == (vector is not None)
        if vector is None:
            assert [one["scale"] for one in header["columns"] if one["kind"] == part] == [0]
    assert ("the same numbers" in said["layers"]) == class_name.startswith("Albert")
    assert ("before it" in said["attention"]) == (class_name == "GPT2LMHeadModel")
    words = [[word for word in text.split() if len(word) > 1] for text in said.values()]
    assert max(map(len, words)) <= 45  # a word may be cut into letters
    assert ("words" in said) == bool(header["predictions"]) == ("words" not in header["absent"])


def test_replaced_and_next_tokens_are_the_answers_of_electra_and_gpt2(tmp_path: Path) -> None:
    make("ElectraForPreTraining", tmp_path / "electra")
    electra = load(tmp_path / "electra")
    (replaced,) = summarize(electra, A, B, ()).predictions
    true = electra.replaced_tokens(A, B)
    tokens, text_ids = electra.trace(A, B).tokens, electra.trace(A, B).text_ids
    order = [place for place in true.argsort(descending=True).tolist() if text_ids[place] >= 0][:5]
    assert (replaced.kind, replaced.position) == ("replaced", order[0])
    assert summarize(electra, "\u200b", None, ()).predictions == []  # [CLS] and [SEP] alone
    assert replaced.words == [tokens[place] for place in order]
    np.testing.assert_allclose(replaced.probabilities, true[order], atol=1e-5)
    make_other("GPT2LMHeadModel", tmp_path / "gpt2")
    gpt2 = load(tmp_path / "gpt2")
    (following,) = summarize(gpt2, A, None, ()).predictions
    best = predict_next(gpt2, A, None)
    assert (following.kind, following.position) == ("next", gpt2.trace(A).num_tokens - 1)
    assert following.words == best.words[0].tolist()


def test_the_sep_after_a_causal_bert_s_text_was_not_hidden() -> None:
    network = tiny_network(tiny_config(is_decoder=True), heads=frozenset({"mlm"}))
    causal = Bert(network, tiny_tokenizer())
    glance = summarize(causal, A, B, ())
    (following,) = glance.predictions
    assert (following.kind, following.original) == ("next", None)
    assert following.words == predict_next(causal, A, B).words[0].tolist()
    assert glance.num_hidden == 0


def test_modernbert_is_told_as_it_computes(tmp_path: Path) -> None:
    make("ModernBertForMaskedLM", tmp_path)
    modern = load(tmp_path, device="cpu")
    glance = summarize(modern, A, B, ())
    said = {step.part: step.text for step in walk(modern, glance, marks_of(modern.tokenizer))}
    assert "neurons with gates" in said["feed_forward"]
    assert "Before both" in said["feed_forward"]
    assert "looked up for the piece" in said["input"]
    assert "before attention and before" in names_of_parts(modern, glance)["block"]


def test_narrow_embeddings_have_their_width_and_their_matrix(tmp_path: Path) -> None:
    make("AlbertForPreTraining", tmp_path)
    albert = load(tmp_path, device="cpu")
    glance = summarize(albert, A, B, ())
    narrow, wide = albert.config.embedding_width, albert.config.hidden_size
    assert narrow != wide
    widths = {column.kind: column.num_dims for column in glance.columns}
    assert widths == {
        **dict.fromkeys(("token", "segment", "position"), narrow),
        **dict.fromkeys(("input", "attention", "layer"), wide),
        "neurons": albert.config.intermediate_size,
    }
    said = {step.part: step.text for step in walk(albert, glance, marks_of(albert.tokenizer))}
    assert f"from {narrow} to {wide} numbers" in said["input"]


def test_unknown_words_are_said_to_be_unknown(bert: Bert) -> None:
    for text in ("The river \U0001f54a rained.", "\U0001f54a"):  # the second hides it
        glance = summarize(bert, text, None, ())
        said = {step.part: step.text for step in walk(bert, glance, marks_of(bert.tokenizer))}
        assert "“\U0001f54a” is not on the list and becomes [UNK]" in said["pieces"]
    known = summarize(bert, A, None, ())
    (pieces,) = [s.text for s in walk(bert, known, marks_of(bert.tokenizer)) if s.part == "pieces"]
    assert "Each word of this text is on the list." in pieces
