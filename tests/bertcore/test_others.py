"""Other architectures, read through transformers: equal to it, and what they lack is said.

Run: pytest tests/bertcore/test_others.py
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
import transformers
from safetensors.torch import load_file, save_file

import bertcore
from bertcore.analysis.attention_stream import attention_batches
from bertcore.analysis.collect import Sentence, collect_tokens
from bertcore.analysis.doctor import examine
from bertcore.analysis.head_importance import rank_heads
from bertcore.analysis.heads import measure_heads
from bertcore.analysis.lens import layer_predictions
from bertcore.analysis.minimal_pair import compare_pair
from bertcore.analysis.next_words import next_surprise, predict_next
from bertcore.analysis.pairs import score_pairs
from bertcore.analysis.parameters import count_parameters
from bertcore.analysis.predictions import fill_in_turn, predict_masks
from bertcore.analysis.surprise import surprise
from bertcore.checkpoints.prune import prune
from bertcore.others.bert import OtherBert
from bertcore.others.families import OTHERS
from bertcore.pretraining.starting_weights import check_start
from tests.bertcore.tiny_others import CLASSES, make_other

TEXT, PAIR = "The river bank was steep.", "It had rained all day!"
CLOSE = {"atol": 1e-5, "rtol": 0.0}
MASKED = [
    "DebertaForMaskedLM",
    "DebertaV2ForMaskedLM",
    "MobileBertForPreTraining",
    "XLNetLMHeadModel",
    "T5ForConditionalGeneration",
    "BartForConditionalGeneration",
]


def opened(folder: Path, **options: Any) -> OtherBert:
    bert = bertcore.load(folder, device="cpu", **options)
    assert isinstance(bert, OtherBert)
    return bert


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Any]]:
    """Return each class of `transformers` with its folder and model."""
    made = {}
    for name in CLASSES:
        folder = tmp_path_factory.mktemp(name)
        made[name] = (folder, make_other(name, folder))
    return made


def given(bert: OtherBert, *texts: str) -> dict[str, torch.Tensor]:
    """Return the inputs of `transformers` for texts, by the folder's own tokenizer."""
    assert bert.report is not None
    tokenizer = transformers.AutoTokenizer.from_pretrained(bert.report.folder)
    inputs = dict(tokenizer(*texts, return_tensors="pt"))
    if not bert.config.type_vocab_size:
        inputs.pop("token_type_ids", None)
    return inputs


@pytest.mark.parity
@pytest.mark.parametrize("texts", [(TEXT,), (TEXT, PAIR)], ids=["one", "pair"])
@pytest.mark.parametrize("name", CLASSES)
def test_states_and_attention_are_those_of_transformers(
    name: str, texts: tuple[str, ...], folders: dict[str, tuple[Path, Any]]
) -> None:
    folder, model = folders[name]
    bert = opened(folder)
    trace = bert.trace(*texts)
    inputs = given(bert, *texts)
    assert trace.input_ids == inputs["input_ids"][0].tolist()
    if bert.config.type_vocab_size:  # the plain class of tokenizers does not pass them
        inputs["token_type_ids"] = torch.tensor([trace.segment_ids])
    part = model.get_encoder() if bert.module.other.has_decoder else model
    with torch.no_grad():
        out = part(**inputs, output_hidden_states=True, output_attentions=True)
    torch.testing.assert_close(trace.hidden_states, torch.cat(tuple(out.hidden_states)), **CLOSE)
    torch.testing.assert_close(trace.attentions, torch.cat(tuple(out.attentions)), **CLOSE)
    num_tokens = trace.num_tokens
    assert trace.hidden_states.shape == (4, num_tokens, 32)
    assert trace.attentions.shape == (3, 4, num_tokens, num_tokens)
    rows = trace.attentions.sum(-1)
    torch.testing.assert_close(rows, torch.ones_like(rows), **CLOSE)


@pytest.mark.parametrize("name", CLASSES)
def test_the_summands_make_the_first_hidden_state(
    name: str, folders: dict[str, tuple[Path, Any]]
) -> None:
    folder, model = folders[name]
    bert = opened(folder)
    trace = bert.trace(TEXT, PAIR)
    parts = trace.embeddings
    summed = torch.stack([p for p in (parts.token, parts.segment, parts.position) if p is not None])
    torch.testing.assert_close(summed.sum(0), parts.sum, **CLOSE)
    norms = {
        "bart": lambda m: m.get_encoder().layernorm_embedding,
        "deberta": lambda m: m.base_model.embeddings.LayerNorm,
        "deberta-v2": lambda m: m.base_model.embeddings.LayerNorm,
        "mobilebert": lambda m: m.base_model.embeddings.LayerNorm,
    }
    norm = norms.get(bert.config.model_type, lambda m: torch.nn.Identity())(model)
    with torch.no_grad():
        torch.testing.assert_close(norm(parts.sum), trace.hidden_states[0], **CLOSE)
    assert (parts.position is None) == ("positions" in bert.config.family.lacks)
    assert (parts.segment is None) == ("segments" in bert.config.family.lacks)
    is_layer_norm = type(norm).__name__.endswith("LayerNorm")
    assert is_layer_norm == ("norm" not in bert.config.family.lacks)


def own_logits(name: str, model: Any, bert: OtherBert, ids: list[int], at: int) -> torch.Tensor:
    """Return the model's own logits for a hidden token, [V], as its documentation asks for them."""
    input_ids = torch.tensor([ids])
    with torch.no_grad():
        if name.startswith("XLNet"):
            unseen = torch.zeros(1, len(ids), len(ids))
            unseen[:, :, at] = 1
            target = torch.zeros(1, 1, len(ids))
            target[0, 0, at] = 1
            segments = torch.tensor([bert.tokenize(TEXT, PAIR).segment_ids])
            out = model(input_ids, perm_mask=unseen, target_mapping=target, token_type_ids=segments)
            return out.logits[0, 0]
        if name.startswith("T5"):
            start = torch.tensor([[0, bert.tokenizer.mask_id]])
            return model(input_ids, decoder_input_ids=start).logits[0, -1]
        inputs = {}
        if bert.config.type_vocab_size:
            inputs["token_type_ids"] = torch.tensor([bert.tokenize(TEXT, PAIR).segment_ids])
        out = model(input_ids, **inputs)
        return (out.prediction_logits if "prediction_logits" in out else out.logits)[0, at]


@pytest.mark.parity
@pytest.mark.parametrize("name", MASKED)
def test_hidden_words_are_predicted_as_the_model_itself_does(
    name: str, folders: dict[str, tuple[Path, Any]]
) -> None:
    folder, model = folders[name]
    bert = opened(folder)
    at = 3
    ids = bert.tokenize(TEXT, PAIR).input_ids
    before = ids[at]
    ids = [*ids[:at], bert.tokenizer.mask_id, *ids[at + 1 :]]
    wanted = own_logits(name, model, bert, ids, at)[: bert.tokenizer.vocab_size].softmax(-1)
    found = predict_masks(bert, TEXT, PAIR, [at], 5)
    best = wanted.topk(5)
    names = [bert.tokenizer.id_to_token(i) for i in best.indices.tolist()]
    assert found.words[0].tolist() == names
    torch.testing.assert_close(torch.tensor(found.probabilities[0]), best.values, **CLOSE)
    assert found.original_probabilities[0] == pytest.approx(float(wanted[before]), abs=1e-6)
    # Hiding each token in turn asks the same, in a batch.
    asked = surprise(bert, TEXT, PAIR)
    bits = asked.bits[asked.positions.index(at)]
    assert float(bits) == pytest.approx(float(-wanted[before].log2()), abs=1e-4)
    # And so does a mask that is typed.
    text = f"The {bert.tokenizer.mask_token} was steep."
    [row] = bert.fill_mask(text, top_k=2)
    assert len(row) == 2


@pytest.mark.parametrize("name", MASKED)
def test_several_hidden_words(name: str, folders: dict[str, tuple[Path, Any]]) -> None:
    bert = opened(folders[name][0])
    found = predict_masks(bert, TEXT, None, [2, 3, 5], 3)
    assert found.positions == (2, 3, 5)
    assert len(fill_in_turn(bert, TEXT, None, [2, 3])) == 2


@pytest.mark.parity
def test_the_second_sentinel_is_asked_after_what_was_written_for_the_first(
    folders: dict[str, tuple[Path, Any]],
) -> None:
    folder, model = folders["T5ForConditionalGeneration"]
    bert = opened(folder)
    first, second = bert.module.sentinels[:2]
    ids = bert.tokenize(TEXT).input_ids
    ids = [*ids[:2], first, ids[3], second, *ids[5:]]
    read = [0, first]
    with torch.no_grad():
        for _ in range(8):
            logits = model(torch.tensor([ids]), decoder_input_ids=torch.tensor([read])).logits
            piece = int(logits[0, -1].argmax())
            if piece in bert.module.sentinels or piece == model.config.eos_token_id:
                break
            read.append(piece)
        read.append(second)
        logits = model(torch.tensor([ids]), decoder_input_ids=torch.tensor([read])).logits
    wanted = logits[0, -1, : bert.tokenizer.vocab_size].softmax(-1).max()
    found = predict_masks(bert, TEXT, None, [2, 4], 1)
    assert float(found.probabilities[1, 0]) == pytest.approx(float(wanted), abs=1e-5)


@pytest.mark.parity
def test_gpt2_predicts_the_next_token_as_the_model_itself_does(
    folders: dict[str, tuple[Path, Any]],
) -> None:
    folder, model = folders["GPT2LMHeadModel"]
    bert = opened(folder)
    ids = bert.tokenize(TEXT).input_ids
    with torch.no_grad():
        wanted = model(torch.tensor([ids])).logits[0].softmax(-1)
    found = predict_next(bert, TEXT, None, [1, 4, len(ids)], 4)
    for row, at in enumerate(found.positions):
        best = wanted[at - 1].topk(4)
        torch.testing.assert_close(torch.tensor(found.probabilities[row]), best.values, **CLOSE)
    assert found.originals == (bert.tokenizer.vocab[ids[1]], bert.tokenizer.vocab[ids[4]], None)
    assert found.original_probabilities[1] == pytest.approx(float(wanted[3, ids[4]]), abs=1e-6)
    scored = next_surprise(bert, TEXT)
    own = wanted[torch.arange(len(ids) - 1), torch.tensor(ids[1:])]
    torch.testing.assert_close(torch.tensor(scored.bits), -own.log2(), atol=1e-4, rtol=0)
    labels = torch.tensor([ids])
    with torch.no_grad():
        loss = model(labels, labels=labels).loss
    assert scored.pseudo_perplexity == pytest.approx(float(loss.exp()), rel=1e-4)


@pytest.mark.parametrize(("positions", "top_k"), [([0], 5), ([99], 5), ([1], 0)])
def test_next_words_that_cannot_be(
    positions: Sequence[int], top_k: int, folders: dict[str, tuple[Path, Any]]
) -> None:
    bert = opened(folders["GPT2LMHeadModel"][0])
    with pytest.raises(ValueError, match=r"nothing is predicted at token|top_k is 0"):
        predict_next(bert, TEXT, None, positions, top_k)
    other = opened(folders["T5ForConditionalGeneration"][0])
    with pytest.raises(ValueError, match="does not predict the next token"):
        next_surprise(other, TEXT)
    with pytest.raises(ValueError, match="one token"):
        next_surprise(bert, "The")


@pytest.mark.parity
def test_mobilebert_answers_next_sentence_as_the_model_itself_does(
    folders: dict[str, tuple[Path, Any]],
) -> None:
    folder, model = folders["MobileBertForPreTraining"]
    bert = opened(folder)
    with torch.no_grad():
        wanted = model(**given(bert, TEXT, PAIR)).seq_relationship_logits[0].softmax(-1)
    assert bert.next_sentence(TEXT, PAIR).is_next == pytest.approx(float(wanted[0]), abs=1e-5)
    assert score_pairs(bert, [(TEXT, PAIR)])[0].is_next == pytest.approx(float(wanted[0]), abs=1e-5)


@pytest.mark.parity
@pytest.mark.parametrize("name", ["T5ForConditionalGeneration", "BartForConditionalGeneration"])
def test_the_decoder_is_that_of_transformers(
    name: str, folders: dict[str, tuple[Path, Any]]
) -> None:
    folder, model = folders[name]
    bert = opened(folder)
    found = bert.decoder(TEXT)
    ids = bert.tokenize(TEXT).input_ids
    inputs = {"input_ids": torch.tensor([ids])}
    vocab = {token: number for number, token in enumerate(bert.tokenizer.vocab)}
    if name.startswith("T5"):
        inputs["decoder_input_ids"] = torch.tensor([[vocab[token] for token in found.tokens]])
    with torch.no_grad():
        out = model(**inputs, output_attentions=True, output_hidden_states=True)
    num_tokens = len(found.tokens)
    assert found.attentions.shape[0] == 2
    assert found.cross_attentions.shape[2:] == (num_tokens, len(ids))
    for ours, theirs in (
        (found.attentions, out.decoder_attentions),
        (found.cross_attentions, out.cross_attentions),
        (found.hidden_states, out.decoder_hidden_states),
    ):
        torch.testing.assert_close(ours, torch.cat(tuple(theirs)), **CLOSE)
    best = out.logits[0, :, : bert.tokenizer.vocab_size].argmax(-1).tolist()
    assert found.written == [bert.tokenizer.vocab[i] for i in best]
    if name.startswith("T5"):  # it reads what it wrote itself
        assert found.tokens[1:] == found.written[: num_tokens - 1]


@pytest.mark.parity
@pytest.mark.parametrize("name", CLASSES)
def test_a_padded_batch_is_as_each_text_alone(
    name: str, folders: dict[str, tuple[Path, Any]]
) -> None:
    bert = opened(folders[name][0])
    texts = [TEXT, "milk and", f"{TEXT} {PAIR}"]
    together = bert.encode(texts)
    alone = torch.cat([bert.encode([text]) for text in texts])
    torch.testing.assert_close(together, alone, **CLOSE)
    sentences = [Sentence(text) for text in texts]
    table = collect_tokens(bert, sentences)
    states = torch.cat([bert.trace(text).hidden_states for text in texts], dim=1)
    torch.testing.assert_close(torch.tensor(table.vectors), states, **CLOSE)
    for batch in attention_batches(bert, sentences):
        for row, number in enumerate(batch.rows):
            wanted = bert.trace(texts[number]).attentions
            size = wanted.shape[-1]
            torch.testing.assert_close(batch.attentions[:, row, :, :size, :size], wanted, **CLOSE)


LACKS = {
    "DebertaV2ForMaskedLM": ("positions", "segments", "parts", "queries", "nsp"),
    "MobileBertForPreTraining": ("parts", "queries", "norm"),
    "XLNetLMHeadModel": ("positions", "segments", "norm", "lens", "mask", "nsp"),
    "T5ForConditionalGeneration": ("positions", "segments", "norm", "lens", "mask", "pieces"),
    "BartForConditionalGeneration": ("segments", "lens", "mask", "nsp"),
    "GPT2LMHeadModel": ("segments", "norm", "mlm", "nsp"),
}


@pytest.mark.parametrize("name", LACKS)
def test_what_a_family_lacks_is_a_sentence(name: str, folders: dict[str, tuple[Path, Any]]) -> None:
    bert = opened(folders[name][0])
    lacks = bert.config.family.lacks
    assert set(LACKS[name]) <= set(lacks)
    assert all(text.endswith(".") for text in lacks.values())
    trace = bert.trace(TEXT, PAIR)
    for part in ("queries", "keys", "values"):
        with pytest.raises(ValueError, match=f"does not hand out its {part}"):
            getattr(trace, part)
    with pytest.raises(ValueError, match="but not its parts"):
        _ = bert.module.layers
    with pytest.raises(ValueError, match="but not its parts"):
        bert.trace(TEXT, changes=bertcore.Changes(layers_skipped=frozenset({0})))
    with pytest.raises(ValueError, match="but not its parts"):
        bert.require_parts()
    if "nsp" in lacks:
        with pytest.raises(ValueError, match="no next-sentence head"):
            bert.next_sentence(TEXT, PAIR)
    if "mlm" in lacks:
        with pytest.raises(ValueError, match="GPT-2 has no mask"):
            predict_masks(bert, TEXT, None, [1])
    if "lens" in lacks and bert.module.mlm is not None:
        with pytest.raises(ValueError, match=r"says nothing of|nothing to read"):
            layer_predictions(bert, TEXT, None, [2])
    if "positions" in lacks:
        with pytest.raises(ValueError, match="adds no position vectors"):
            _ = bert.module.embeddings.position_embeddings


def test_what_needs_the_parts_refuses_in_words(
    folders: dict[str, tuple[Path, Any]],
) -> None:
    for name in ("T5ForConditionalGeneration", "GPT2LMHeadModel"):
        bert = opened(folders[name][0])
        with pytest.raises(ValueError, match="but not its parts"):
            prune(bert, [(0, 0)])
        with pytest.raises(ValueError, match="but not its parts"):
            rank_heads(bert, bert.tokenize(TEXT))
        with pytest.raises(ValueError, match="but not its parts"):
            check_start(bert)
    with pytest.raises(ValueError, match="GPT-2 has no mask"):
        bert.fill_mask("The river.")


@pytest.mark.parametrize("name", ["XLNetModel", "DebertaModel", "T5EncoderModel"])
def test_a_bare_encoder_predicts_nothing(name: str, folders: dict[str, tuple[Path, Any]]) -> None:
    bert = opened(folders[name][0])
    assert bert.report is not None
    assert bert.report.heads == ()
    assert bert.report.missing
    with pytest.raises(ValueError, match="no masked-word"):
        bert.fill_mask(f"The {bert.tokenizer.mask_token}.")


@pytest.mark.parametrize("name", CLASSES)
def test_report_doctor_and_shape_speak_of_it(
    name: str, folders: dict[str, tuple[Path, Any]]
) -> None:
    folder, model = folders[name]
    bert = opened(folder)
    assert bert.report is not None
    text = " ".join(bert.report.sentences())
    assert f"{OTHERS[CLASSES[name][0]].name}, another architecture, run by transformers" in text
    total = sum(p.numel() for p in model.parameters())
    assert bert.report.num_parameters == total
    assert bert.report.unexpected == {}
    assert sum(count_parameters(bert).values()) == total
    json.dumps(bert.report.to_dict())
    found = examine(bert)
    assert found.verdict in {"trained", "random", "collapsed"}
    assert found.entropies.shape == (3, 4)
    assert found.matrices


@pytest.mark.parametrize("name", MASKED)
def test_two_versions_are_compared_by_the_words_that_the_model_predicts(
    name: str, folders: dict[str, tuple[Path, Any]]
) -> None:
    bert = opened(folders[name][0])
    mask = bert.tokenizer.mask_token
    first, second = (bert.trace(f"The {noun} was {mask}.") for noun in ("dog", "cat"))
    found = compare_pair(bert, first, second)
    [shift] = found.shifts
    [row] = bert.fill_mask(f"The dog was {mask}.", top_k=1)
    assert shift.words[0] == row[0][0]
    assert float(shift.before[0]) == pytest.approx(row[0][1], abs=1e-5)


@pytest.mark.parity
@pytest.mark.parametrize("name", CLASSES)
def test_what_is_saved_opens_again_and_in_transformers(
    name: str, folders: dict[str, tuple[Path, Any]], tmp_path: Path
) -> None:
    bert = opened(folders[name][0])
    saved = bert.save(tmp_path / "saved")
    again = opened(saved)
    assert torch.equal(again.trace(TEXT).hidden_states, bert.trace(TEXT).hidden_states)
    model = getattr(transformers, name).from_pretrained(saved)
    ours = dict(bert.module.model.named_parameters())
    assert all(torch.equal(p, ours[n]) for n, p in model.named_parameters() if n in ours)


def test_the_row_of_the_first_token_is_measured_only_where_it_is_a_special_one(
    folders: dict[str, tuple[Path, Any]],
) -> None:
    for name, in_front in (("DebertaForMaskedLM", True), ("T5ForConditionalGeneration", False)):
        trace = opened(folders[name][0]).trace(TEXT)
        found = measure_heads(trace.attentions, trace.text_ids, trace.tokens)
        assert bool(found.entropy_first.isfinite().all()) == in_front
        assert found.to_first.isfinite().all()


def test_offsets_point_into_the_text(folders: dict[str, tuple[Path, Any]]) -> None:
    for name, (folder, _) in folders.items():
        bert = opened(folder)
        trace = bert.trace("Milk,  for the dog.", "Rain")
        texts = (trace.text_a, trace.text_b or "")
        for token, text, (start, end) in zip(
            trace.tokens, trace.text_ids, trace.offsets, strict=True
        ):
            piece = texts[text][start:end].lower()
            if text >= 0 and token.strip("▁Ġ") and token != bert.tokenizer.unk_token:
                assert piece.strip() == token.strip("▁Ġ").removeprefix("##").lower(), name


# --- files ----------------------------------------------------------------------------------------


def change_config(folder: Path, **changes: Any) -> None:
    file = folder / "config.json"
    values = {**json.loads(file.read_text()), **changes}
    file.write_text(json.dumps({key: value for key, value in values.items() if value is not ...}))


def change_weights(folder: Path, change: Any) -> None:
    file = folder / "model.safetensors"
    save_file({k: v.contiguous().clone() for k, v in change(load_file(file)).items()}, file)


@pytest.mark.parametrize("said", [..., "bert", "gpt-99"])
@pytest.mark.parametrize("name", ["DebertaV2ForMaskedLM", "XLNetLMHeadModel", "GPT2LMHeadModel"])
def test_a_wrong_model_type_is_found_out(name: str, said: object, tmp_path: Path) -> None:
    make_other(name, tmp_path)
    wanted = opened(tmp_path).trace(TEXT).hidden_states
    change_config(tmp_path, model_type=said)
    bert = opened(tmp_path)
    assert torch.equal(bert.trace(TEXT).hidden_states, wanted)
    assert bert.report is not None
    assert bert.report.family_note is not None
    assert "are those of" in bert.report.family_note


@pytest.mark.parametrize("wrapper", ["module.", "_orig_mod."])
def test_wrapped_names_are_mended(wrapper: str, tmp_path: Path) -> None:
    make_other("DebertaV2ForMaskedLM", tmp_path)
    wanted = opened(tmp_path).trace(TEXT).hidden_states
    change_weights(tmp_path, lambda ws: {f"{wrapper}{k}": v for k, v in ws.items()})
    bert = opened(tmp_path)
    assert bert.report is not None
    assert (bert.report.mended_prefix, bert.report.heads) == (wrapper, ("mlm",))
    assert torch.equal(bert.trace(TEXT).hidden_states, wanted)


def test_names_without_the_prefix_and_old_buffers_as_on_the_hub(tmp_path: Path) -> None:
    make_other("GPT2LMHeadModel", tmp_path)
    wanted = opened(tmp_path).trace(TEXT).hidden_states
    triangle = {f"h.{i}.attn.bias": torch.ones(1, 1, 64, 64).tril() for i in range(3)}
    change_weights(
        tmp_path,
        lambda ws: {**{k.removeprefix("transformer."): v for k, v in ws.items()}, **triangle},
    )
    bert = opened(tmp_path)
    assert bert.report is not None
    assert bert.report.unexpected == {}
    assert torch.equal(bert.trace(TEXT).hidden_states, wanted)


def test_the_head_of_deberta_v3s_own_files(tmp_path: Path) -> None:
    make_other("DebertaV2ForMaskedLM", tmp_path, legacy=False)
    change_config(tmp_path, legacy=...)  # as in its config.json, which says nothing of it
    bert = opened(tmp_path)
    assert bert.report is not None
    assert bert.report.heads == ("mlm",)
    model = transformers.DebertaV2ForMaskedLM.from_pretrained(
        tmp_path, config=transformers.DebertaV2Config.from_pretrained(tmp_path, legacy=False)
    ).eval()
    text = "The [MASK] was."
    inputs = given(bert, text)
    at = inputs["input_ids"][0].tolist().index(bert.tokenizer.mask_id)
    with torch.no_grad():
        best = model(**inputs).logits[0, at].softmax(-1).max()
    assert bert.fill_mask(text, top_k=1)[0][0][1] == pytest.approx(float(best), abs=1e-5)


@pytest.mark.parametrize(
    ("name", "class_name"),
    [
        ("DebertaV2ForMaskedLM", "DebertaV2ForSequenceClassification"),
        ("BartForConditionalGeneration", "BartForSequenceClassification"),
        ("GPT2LMHeadModel", "GPT2ForSequenceClassification"),
        ("XLNetLMHeadModel", "XLNetForSequenceClassification"),
        ("T5ForConditionalGeneration", "T5ForSequenceClassification"),
        ("MobileBertForPreTraining", "MobileBertForTokenClassification"),
    ],
)
@pytest.mark.parametrize("num_labels", [1, 7])
def test_a_task_head_of_any_label_count_is_reported_and_not_used(
    name: str, class_name: str, num_labels: int, folders: Any, tmp_path: Path
) -> None:
    make_other(name, tmp_path)
    config = transformers.AutoConfig.from_pretrained(tmp_path, num_labels=num_labels)
    getattr(transformers, class_name)(config).save_pretrained(tmp_path)
    bert = opened(tmp_path)
    assert bert.report is not None
    assert bert.report.heads == ()
    assert bert.report.task.num_outputs == num_labels
    fresh = " ".join(bert.report.sentences())
    assert ("added and never trained" in fresh) == bool(bert.report.fresh_heads)
    assert all(name.endswith(".bias") for name in bert.report.fresh_heads)
    assert bert.trace(TEXT).attentions.shape[:2] == (3, 4)


def test_missing_and_wrong_tensors_are_named(tmp_path: Path) -> None:
    make_other("XLNetLMHeadModel", tmp_path)
    lost = "transformer.layer.1.rel_attn.q"
    change_weights(tmp_path, lambda ws: {k: v for k, v in ws.items() if k != lost})
    with pytest.raises(RuntimeError, match=r"1 tensors are missing: (transformer\.)?layer\.1\.rel"):
        opened(tmp_path)
    make_other("XLNetLMHeadModel", tmp_path / "other")
    name = "transformer.layer.1.ff.layer_1.weight"
    change_weights(tmp_path / "other", lambda ws: {**ws, name: torch.zeros(3, 4)})
    with pytest.raises(RuntimeError, match=r"1 tensors do not fit: .*is \[3, 4\], expected \[64"):
        opened(tmp_path / "other")


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        ("GPT2LMHeadModel", {"vocab_size": 3_000_000_000}, "do not fit"),
        ("GPT2LMHeadModel", {"vocab_size": 10**30}, "cannot build"),
        ("GPT2LMHeadModel", {"n_layer": 10**9}, "at most 1,000"),
        ("GPT2LMHeadModel", {"n_embd": -4}, "expected whole numbers"),
        ("GPT2LMHeadModel", {"n_head": 0}, "expected whole numbers"),
        ("T5ForConditionalGeneration", {"d_model": "many"}, "config.json"),
        ("T5ForConditionalGeneration", {"num_decoder_layers": 10**9}, "at most 1,000"),
        ("BartForConditionalGeneration", {"decoder_layers": 10**9}, "at most 1,000"),
        ("BartForConditionalGeneration", {"activation_function": "bang"}, "cannot build"),
        ("XLNetLMHeadModel", {"d_model": 10**12, "d_head": 25 * 10**10}, "do not fit|cannot build"),
        ("DebertaV2ForMaskedLM", {"num_hidden_layers": 500}, "tensors are missing"),
        ("MobileBertForPreTraining", {"hidden_size": [1]}, "config.json"),
    ],
)
def test_absurd_numbers_are_refused_before_anything_is_allocated(
    name: str, changes: dict[str, Any], words: str, tmp_path: Path
) -> None:
    make_other(name, tmp_path)
    change_config(tmp_path, **changes)
    with pytest.raises(RuntimeError, match=words):
        opened(tmp_path)


def test_no_code_of_a_checkpoint_is_run(tmp_path: Path) -> None:
    make_other("GPT2LMHeadModel", tmp_path)
    marker = tmp_path / "ran"
    program = f"open({str(marker)!r}, 'w').close()\nclass Evil:\n    pass\n"
    (tmp_path / "evil.py").write_text(program)
    auto = {"AutoConfig": "evil.Evil", "AutoModelForCausalLM": "evil.Evil"}
    change_config(tmp_path, auto_map=auto)
    file = tmp_path / "tokenizer_config.json"
    tokenizer = {**json.loads(file.read_text()), "auto_map": {"AutoTokenizer": ["evil.Evil", None]}}
    file.write_text(json.dumps(tokenizer))
    opened(tmp_path).trace(TEXT)
    assert not marker.exists()


def test_nan_weights_are_told(tmp_path: Path) -> None:
    make_other("BartForConditionalGeneration", tmp_path)
    name = "model.encoder.layers.0.fc1.weight"
    change_weights(tmp_path, lambda ws: {**ws, name: torch.full_like(ws[name], torch.nan)})
    bert = opened(tmp_path)
    assert bert.report is not None
    assert bert.report.not_finite == (name,)
    assert examine(bert).verdict == "not finite"


def test_a_missing_tokenizer_names_the_files(tmp_path: Path) -> None:
    make_other("T5ForConditionalGeneration", tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"no tokenizer: neither tokenizer\.json nor"):
        opened(tmp_path)


def test_more_names_than_rows_are_refused(tmp_path: Path) -> None:
    make_other("GPT2LMHeadModel", tmp_path)
    change_weights(tmp_path, lambda ws: {**ws, "transformer.wte.weight": torch.zeros(50, 32)})
    change_config(tmp_path, vocab_size=50)
    with pytest.raises(RuntimeError, match=r"has \d+ pieces but the network has 50"):
        opened(tmp_path)


def test_an_empty_text_of_a_tokenizer_that_adds_nothing(
    folders: dict[str, tuple[Path, Any]],
) -> None:
    with pytest.raises(ValueError, match="the text has no token"):
        opened(folders["GPT2LMHeadModel"][0]).trace("")


def test_half_precision_is_as_asked(folders: dict[str, tuple[Path, Any]]) -> None:
    for name, (folder, _) in folders.items():
        if OTHERS[CLASSES[name][0]].only_float32:
            with pytest.raises(ValueError, match="runs in float32 only"):
                opened(folder, dtype="bfloat16")
            continue
        bert = opened(folder, dtype="bfloat16")
        assert bert.dtype == torch.bfloat16, name
        trace = bert.trace(TEXT)
        assert trace.hidden_states.isfinite().all(), name
        if bert.module.mlm is not None:
            assert predict_masks(bert, TEXT, None, [2]).probabilities.max() <= 1


def test_the_layers_state_of_the_last_layer_is_what_forward_gives(
    folders: dict[str, tuple[Path, Any]],
) -> None:
    bert = opened(folders["DebertaForMaskedLM"][0])
    ids = torch.tensor([bert.tokenize(TEXT).input_ids])
    with torch.no_grad():
        deep = bert.module(ids, num_layers=3)
        torch.testing.assert_close(bert.module(ids), deep)
        assert not torch.equal(bert.module(ids, num_layers=1), deep)
        assert F.cosine_similarity(deep, bert.module(ids), dim=-1).min() > 0.999
