"""BERT's relatives on our encoder: equal to transformers, opened, asked, saved."""

import json
from pathlib import Path

import pytest
import torch
import transformers

from bertcore.analysis.shared.collect import collect_tokens
from bertcore.analysis.shared.inputs import sentence_numbers
from bertcore.data.texts import Sentence
from bertcore.model.architecture.families import FAMILIES
from bertcore.model.network import Network
from bertcore.model.network.initialize import initialize
from tests.support.cases import cases
from tests.support.exhaustive import spread
from tests.support.kit import edit, opened
from tests.support.tiny_families import CLASSES, make

TEXT, PAIR = "The river bank was steep.", "It had rained all day!"
CLOSE = {"atol": 1e-5, "rtol": 0.0}


def inputs_of(folder: Path, *texts: str) -> dict[str, torch.Tensor]:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    return dict(tokenizer(*texts, return_tensors="pt"))


@pytest.mark.parity
@pytest.mark.parametrize(("name", "texts"), spread(CLASSES, [(TEXT,), (TEXT, PAIR)]))
def test_every_number_equals_transformers(
    name: str, texts: tuple[str, ...], tmp_path: Path
) -> None:
    model = make(name, tmp_path)
    ours = opened(tmp_path)
    trace = ours.trace(*texts)
    inputs = inputs_of(tmp_path, *texts)
    assert trace.input_ids == inputs["input_ids"][0].tolist()
    segments = torch.tensor([trace.segment_ids])
    if ours.config.type_vocab_size:  # the library's own tokenizer classes may not pass them
        inputs["token_type_ids"] = segments
    else:
        inputs.pop("token_type_ids", None)
    with torch.no_grad():
        out = model(**inputs, output_hidden_states=True, output_attentions=True)
        torch.testing.assert_close(trace.hidden_states, torch.cat(out.hidden_states), **CLOSE)
        torch.testing.assert_close(trace.attentions, torch.cat(out.attentions), **CLOSE)
        fused = ours.hidden(ours.tokenize(*texts))
        torch.testing.assert_close(fused, out.hidden_states[-1][0], **CLOSE)
        report = ours.report
        assert (report.unexpected, report.task_heads, report.mis_shaped) == ({}, {}, {})
        if "mlm" in report.heads:
            logits = out["prediction_logits" if "prediction_logits" in out else "logits"][0]
            torch.testing.assert_close(ours.module.mlm_logits(fused), logits, **CLOSE)
        if "sop" in report.heads:
            order = ours.sentence_order(TEXT, PAIR)
            if len(texts) == 2:
                wanted = out.sop_logits[0].softmax(-1).tolist()
                assert [order.in_order, order.exchanged] == pytest.approx(wanted, abs=1e-5)
        if "replaced" in report.heads:
            wanted = out.logits[0].sigmoid()
            torch.testing.assert_close(ours.replaced_tokens(*texts), wanted, **CLOSE)
        if "pooler" in report.heads:
            base = getattr(model, model.base_model_prefix, model)
            pooled = base(**inputs).pooler_output
            if pooled is not None:
                torch.testing.assert_close(ours.module.pooled(fused[None]), pooled, **CLOSE)


@pytest.mark.parity
def test_a_typed_padding_token_is_not_counted_by_roberta(tmp_path: Path) -> None:
    model = make("RobertaForMaskedLM", tmp_path)
    text = "The river<pad> bank."
    trace = opened(tmp_path).trace(text)
    inputs = inputs_of(tmp_path, text)
    assert 1 in trace.input_ids
    with torch.no_grad():
        states = model.roberta(inputs["input_ids"], output_hidden_states=True).hidden_states
    torch.testing.assert_close(trace.hidden_states, torch.cat(states), **CLOSE)


@pytest.mark.parity
@pytest.mark.parametrize("name", CLASSES)
def test_saving_writes_the_familys_own_format(name: str, tmp_path: Path) -> None:
    make(name, tmp_path / "made")
    ours = opened(tmp_path / "made")
    saved = ours.save(tmp_path / "saved")
    assert json.loads((saved / "config.json").read_text())["architectures"] == [name]
    model, info = getattr(transformers, name).from_pretrained(saved, output_loading_info=True)
    assert not info["unexpected_keys"]
    assert not info["mismatched_keys"]
    assert not [key for key in info["missing_keys"] if "pooler" not in key]
    inputs = inputs_of(saved, TEXT)
    trace = ours.trace(TEXT)
    assert trace.input_ids == inputs["input_ids"][0].tolist()
    inputs.pop("token_type_ids", None)
    base = getattr(model.eval(), model.base_model_prefix, model)
    with torch.no_grad():
        theirs = base(**inputs).last_hidden_state[0]
    torch.testing.assert_close(trace.hidden_states[-1], theirs, **CLOSE)
    again = opened(saved)
    assert again.config == ours.config
    assert torch.equal(again.trace(TEXT).hidden_states, trace.hidden_states)
    assert again.report.fingerprint == ours.report.fingerprint


def test_heads_that_no_class_has_together_are_not_saved(tmp_path: Path) -> None:
    make("AlbertForPreTraining", tmp_path / "made")
    ours = opened(tmp_path / "made")
    ours.module.mlm = None
    with pytest.raises(ValueError, match=r"ALBERT in transformers has no class.*pooler, sop"):
        ours.save(tmp_path / "saved")


ABSENT = {
    "DistilBertForMaskedLM": ("DistilBERT has no next-sentence head", "DistilBERT has no pooler"),
    "RobertaForMaskedLM": ("RoBERTa has no next-sentence head", "this checkpoint has no pooler"),
    "ElectraForMaskedLM": ("ELECTRA has no next-sentence head", "ELECTRA has no pooler"),
    "AlbertForMaskedLM": ("ALBERT has no next-sentence head", "this checkpoint has no pooler"),
}


@pytest.mark.parametrize("name", ABSENT)
def test_what_a_family_lacks_is_said_not_crashed_on(name: str, tmp_path: Path) -> None:
    make(name, tmp_path)
    ours = opened(tmp_path)
    no_nsp, no_pooler = ABSENT[name]
    with pytest.raises(ValueError, match=no_nsp):
        ours.next_sentence(TEXT, PAIR)
    with pytest.raises(ValueError, match=no_pooler):
        ours.module.pooled(ours.trace(TEXT).hidden_states[-1:])
    with pytest.raises(ValueError, match="no replaced-token head"):
        ours.replaced_tokens(TEXT)
    with pytest.raises(ValueError, match="no sentence-order head"):
        ours.sentence_order(TEXT, PAIR)
    assert no_nsp in " ".join(ours.report.sentences())


def test_masks_are_filled_with_each_familys_own_mask(tmp_path: Path) -> None:
    for name in ("DistilBertForMaskedLM", "RobertaForMaskedLM", "XLMRobertaForMaskedLM"):
        folder = tmp_path / name
        model = make(name, folder)
        ours = opened(folder)
        text = f"The river {ours.tokenizer.mask_token} was steep."
        [found] = ours.fill_mask(text, top_k=3)
        inputs = inputs_of(folder, text)
        inputs.pop("token_type_ids", None)
        at = inputs["input_ids"][0].tolist().index(ours.tokenizer.mask_id)
        with torch.no_grad():
            best = model(**inputs).logits[0, at].softmax(-1).topk(3)
        assert [p for _, p in found] == pytest.approx(best.values.tolist(), abs=1e-5)
        words = [ours.tokenizer.decode([place]) for place in best.indices.tolist()]
        assert [word for word, _ in found] == words
    with pytest.raises(ValueError, match="the text has no <mask>"):
        ours.fill_mask("The [MASK].")


# --- which family it is ---------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "said", "words"), cases("wrong_model_types"))
def test_a_wrong_model_type_is_found_out_by_the_keys(
    name: str, said: object, words: str, tmp_path: Path
) -> None:
    make(name, tmp_path)
    wanted = opened(tmp_path).trace(TEXT).hidden_states
    edit(tmp_path, model_type=said)
    ours = opened(tmp_path)
    assert ours.config.model_type == CLASSES[name][0]
    assert torch.equal(ours.trace(TEXT).hidden_states, wanted)
    text = " ".join(ours.report.sentences())
    assert words in text
    assert f"are those of {FAMILIES[ours.config.model_type].name}" in text


def test_a_sinusoidal_table_is_not_trained_and_starts_as_the_papers(tmp_path: Path) -> None:
    make("DistilBertModel", tmp_path)
    ours = opened(tmp_path)
    assert ours.config.position_embedding == "sinusoidal"
    assert not ours.module.embeddings.position_embeddings.weight.requires_grad
    fresh = initialize(Network(ours.config, frozenset()), torch.Generator())
    config = transformers.AutoConfig.from_pretrained(tmp_path)
    theirs = transformers.DistilBertModel(config).embeddings.position_embeddings.weight
    torch.testing.assert_close(fresh.embeddings.position_embeddings.weight, theirs, **CLOSE)


@pytest.mark.parametrize("name", ["AlbertForPreTraining", "AlbertModel"])
def test_shared_layers_count_once(name: str, tmp_path: Path) -> None:
    model = make(name, tmp_path)
    ours = opened(tmp_path)
    assert ours.report.num_parameters == sum(p.numel() for p in model.parameters())
    if name == "AlbertForPreTraining":  # its sentence-order head is as large as BERT's of pairs
        assert ours.config.num_parameters == ours.report.num_parameters


def test_the_tokens_of_text_b_are_known_without_segments(tmp_path: Path) -> None:
    for name in ("RobertaForMaskedLM", "DistilBertForMaskedLM", "AlbertForMaskedLM"):
        make(name, tmp_path / name)
        ours = opened(tmp_path / name)
        table = collect_tokens(ours, [Sentence(TEXT, PAIR)])
        trace = ours.trace(TEXT, PAIR)
        own = [(n, t) for n, t in zip(table.segment_ids, trace.text_ids, strict=True) if t >= 0]
        assert all(number == text for number, text in own), name
        assert table.segment_ids[0] == 0
        assert table.segment_ids[-1] == 1
        assert sentence_numbers([0, 0], [-1, 0]) == [0, 0]


def test_segments_of_the_tokenizer_without_a_row_are_refused(tmp_path: Path) -> None:
    make("AlbertForMaskedLM", tmp_path)
    content = json.loads((tmp_path / "tokenizer.json").read_text())
    cls = next(t["id"] for t in content["added_tokens"] if t["content"] == "[CLS]")
    first, second = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
    start = {"SpecialToken": {"id": "[CLS]", "type_id": 0}}
    post_processor = {
        "type": "TemplateProcessing",
        "single": [start, {"Sequence": {"id": "A", "type_id": 7}}],
        "pair": [first, second],
        "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [cls], "tokens": ["[CLS]"]}},
    }
    edit(tmp_path, "tokenizer.json", post_processor=post_processor)
    ours = opened(tmp_path)
    asked = (lambda: ours.fill_mask("The [MASK]."), lambda: ours.encode(["The bank."]))
    for ask in (*asked, lambda: ours.trace(TEXT), lambda: ours.hidden(ours.tokenize(TEXT))):
        with pytest.raises(ValueError, match=r"segment_ids contains 7; this checkpoint has 0 to 1"):
            ask()
    assert ours.trace(TEXT, PAIR).tokens[0] != "[CLS]"
