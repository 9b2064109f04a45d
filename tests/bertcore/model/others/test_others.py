"""Other architectures, read through transformers: equal to it, and what they lack is said."""

import json
from pathlib import Path

import pytest
import torch
import transformers

import bertcore
from bertcore.analysis.heads.stream import attention_batches
from bertcore.analysis.health.checkpoint_doctor import examine
from bertcore.analysis.health.parameters import count_parameters
from bertcore.analysis.shared.collect import collect_tokens
from bertcore.analysis.words.lens import layer_predictions
from bertcore.analysis.words.predictions import predict_masks
from bertcore.data.texts import Sentence
from bertcore.model.architecture.families import CAPABILITIES
from bertcore.model.bert import with_parts
from bertcore.model.network import Network
from bertcore.model.others.families import OTHERS
from tests.support.exhaustive import spread
from tests.support.tiny_others import CLASSES, PAIR, TEXT, both, given, make_other, opened

CLOSE = {"atol": 1e-5, "rtol": 0.0}


@pytest.mark.parity
@pytest.mark.parametrize(("name", "texts"), spread(CLASSES, [(TEXT,), (TEXT, PAIR)]))
def test_states_and_attention_are_those_of_transformers(
    name: str, texts: tuple[str, ...], tmp_path: Path
) -> None:
    bert, model = both(name, tmp_path)
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
def test_the_summands_make_the_first_hidden_state(name: str, tmp_path: Path) -> None:
    bert, model = both(name, tmp_path)
    trace = bert.trace(TEXT, PAIR)
    parts = trace.embeddings
    summed = torch.stack([p for p in (parts.token, parts.segment, parts.position) if p is not None])
    torch.testing.assert_close(summed.sum(0), parts.sum, **CLOSE)
    norms = {
        "bart": lambda m: m.get_encoder().layernorm_embedding,
        "deberta": lambda m: m.base_model.embeddings.LayerNorm,
        "deberta-v2": lambda m: m.base_model.embeddings.LayerNorm,
        "mobilebert": lambda m: m.base_model.embeddings.LayerNorm,
        "mpnet": lambda m: m.base_model.embeddings.LayerNorm,
    }
    norm = norms.get(bert.config.model_type, lambda m: torch.nn.Identity())(model)
    with torch.no_grad():
        torch.testing.assert_close(norm(parts.sum), trace.hidden_states[0], **CLOSE)
    assert (parts.position is None) == ("positions" in bert.config.family.absent)
    assert (parts.segment is None) == ("segments" in bert.config.family.absent)
    is_layer_norm = type(norm).__name__.endswith("LayerNorm")
    assert is_layer_norm == ("norm" not in bert.config.family.absent)


@pytest.mark.parity
@pytest.mark.parametrize("name", ["T5ForConditionalGeneration", "BartForConditionalGeneration"])
def test_the_decoder_is_that_of_transformers(name: str, tmp_path: Path) -> None:
    bert, model = both(name, tmp_path)
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
def test_a_padded_batch_is_as_each_text_alone(name: str, tmp_path: Path) -> None:
    bert, _ = both(name, tmp_path)
    texts = [TEXT, "milk and", f"{TEXT} {PAIR}"]
    together = bert.encode(texts)
    alone = torch.cat([bert.encode([text]) for text in texts])
    torch.testing.assert_close(together, alone, **CLOSE)
    traced = torch.stack([bert.trace(text).hidden_states[-1].mean(0) for text in texts])
    torch.testing.assert_close(together, traced, **CLOSE)
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
    "MPNetForMaskedLM": ("segments", "parts", "queries", "nsp"),
    "EuroBertForMaskedLM": ("positions", "segments", "norm", "parts", "queries", "nsp"),
}


@pytest.mark.parametrize("name", LACKS)
def test_what_a_family_lacks_is_a_sentence(name: str, tmp_path: Path) -> None:
    bert, _ = both(name, tmp_path)
    lacks = bert.config.family.absent
    assert set(LACKS[name]) <= set(lacks)
    assert all(text.endswith(".") for text in lacks.values())
    trace = bert.trace(TEXT, PAIR)
    for part in ("queries", "keys", "values"):
        with pytest.raises(ValueError, match=f"does not expose its {part}"):
            getattr(trace, part)
    assert bert.capabilities == set(CAPABILITIES) - set(bert.absent)
    assert all(text.endswith(".") for text in bert.absent.values())
    assert not isinstance(bert, bertcore.Bert)
    assert not isinstance(bert.module, Network)
    with pytest.raises(ValueError, match="but not its parts"):
        bert.trace(TEXT, changes=bertcore.Changes(layers_skipped=frozenset({0})))
    with pytest.raises(ValueError, match="but not its parts"):
        with_parts(bert)
    if "nsp" in lacks:
        with pytest.raises(ValueError, match="no next-sentence head"):
            bert.next_sentence(TEXT, PAIR)
    if "mlm" in lacks:
        with pytest.raises(ValueError, match="GPT-2 has no mask"):
            predict_masks(bert, TEXT, None, [1])
    if "lens" in lacks and "mlm" in bert.capabilities:
        with pytest.raises(ValueError, match=r"cannot read the states|nothing to read"):
            layer_predictions(bert, TEXT, None, [2])
    if "positions" in lacks:
        with pytest.raises(ValueError, match="adds no position vectors"):
            _ = bert.module.position_table


@pytest.mark.parametrize("name", ["XLNetModel", "DebertaModel", "T5EncoderModel"])
def test_a_bare_encoder_predicts_nothing(name: str, tmp_path: Path) -> None:
    bert, _ = both(name, tmp_path)
    assert bert.report.heads == ()
    assert bert.report.missing
    with pytest.raises(ValueError, match="no masked-word"):
        bert.fill_mask(f"The {bert.tokenizer.mask_token}.")


@pytest.mark.parametrize("name", CLASSES)
def test_report_doctor_and_shape_speak_of_it(name: str, tmp_path: Path) -> None:
    bert, model = both(name, tmp_path)
    text = " ".join(bert.report.sentences())
    assert f"{OTHERS[CLASSES[name][0]]['name']}, another architecture, run by transformers" in text
    total = sum(p.numel() for p in model.parameters())
    assert bert.report.num_parameters == total
    assert bert.report.unexpected == {}
    assert sum(count_parameters(bert).values()) == total
    json.dumps(bert.report.to_dict())
    found = examine(bert)
    assert found.verdict in {"trained", "random", "collapsed"}
    assert found.entropies.shape == (3, 4)
    assert found.matrices


@pytest.mark.parity
@pytest.mark.parametrize("name", CLASSES)
def test_what_is_saved_opens_again_and_in_transformers(name: str, tmp_path: Path) -> None:
    bert, _ = both(name, tmp_path)
    saved = bert.save(tmp_path / "saved")
    again = opened(saved)
    assert torch.equal(again.trace(TEXT).hidden_states, bert.trace(TEXT).hidden_states)
    model = getattr(transformers, name).from_pretrained(saved)
    ours = dict(bert.module.model.named_parameters())
    assert all(torch.equal(p, ours[n]) for n, p in model.named_parameters() if n in ours)


def test_offsets_point_into_the_text(tmp_path: Path) -> None:
    for name in CLASSES:
        bert, _ = both(name, tmp_path / name)
        trace = bert.trace("Milk,  for the dog.", "Rain")
        texts = (trace.text_a, trace.text_b or "")
        for token, text, (start, end) in zip(
            trace.tokens, trace.text_ids, trace.offsets, strict=True
        ):
            piece = texts[text][start:end].lower()
            if text >= 0 and token.strip("▁Ġ") and token != bert.tokenizer.unk_token:
                assert piece.strip() == token.strip("▁Ġ").removeprefix("##").lower(), name


def test_half_precision_is_as_asked(tmp_path: Path) -> None:
    for name in CLASSES:
        make_other(name, tmp_path / name)
        if CLASSES[name][0] in ("deberta", "xlnet"):
            with pytest.raises(ValueError, match="runs only in float32"):
                opened(tmp_path / name, dtype="bfloat16")
            continue
        bert = opened(tmp_path / name, dtype="bfloat16")
        assert bert.dtype == torch.bfloat16, name
        trace = bert.trace(TEXT)
        assert trace.hidden_states.isfinite().all(), name
        if "mlm" in bert.capabilities:
            assert predict_masks(bert, TEXT, None, [2]).probabilities.max() <= 1
