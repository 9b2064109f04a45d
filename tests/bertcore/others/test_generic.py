"""Encoders that are in no table of ours: equal to transformers, or refused with the reason."""

import json
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from bertcore.analysis.attribution import (
    PARTS,
    answer,
    integrated_gradients,
    layer_conductance,
    task_input,
)
from bertcore.architecture.families import FAMILIES
from bertcore.others.families import family_of, why_not
from bertcore.tasks.model import open_task_model, start_task_model
from tests.support.exhaustive import all_but, first_of_each, spread
from tests.support.kit import edit, opened
from tests.support.tiny_generic import PREFIXES, SHAPES, make_generic
from tests.support.tiny_others import PAIR, TEXT

CLOSE = {"atol": 1e-5, "rtol": 0.0}
NOT_OPENED = ("squeezebert", "fnet", "longformer", "layoutlm", "luke", "canine")
OPENED = [name for name in SHAPES if name not in NOT_OPENED]
LABELS = {
    "SequenceClassification": ("bad", "good", "so-so"),
    "TokenClassification": ("O", "B-X", "I-X"),
    "QuestionAnswering": ("start", "end"),
    "MultipleChoice": ("one", "two"),
}
READS_MORE = [("big_bird", "QuestionAnswering"), ("big_bird", "MultipleChoice")]
HEADS = [
    (name, head)
    for name in OPENED
    for head in LABELS
    if hasattr(transformers, f"{PREFIXES[name]}For{head}") and (name, head) not in READS_MORE
]
USUAL = first_of_each(HEADS, itemgetter(0), itemgetter(1))
"""Each architecture and each head at least once."""


def inputs_of(bert: Any, ids: list[int], segments: list[int]) -> dict[str, torch.Tensor]:
    named = {"input_ids": torch.tensor([ids])}
    if bert.config.type_vocab_size > 1:
        named["token_type_ids"] = torch.tensor([segments])
    return named


@pytest.mark.parity
@pytest.mark.parametrize(("model_type", "ending"), spread(OPENED, ["Model", "ForMaskedLM"]))
def test_states_attention_and_words_are_those_of_transformers(
    model_type: str, ending: str, tmp_path: Path
) -> None:
    theirs = make_generic(tmp_path, model_type, ending)
    if model_type == "big_bird":  # as it is for short texts; else it hands out no weights
        theirs.base_model.set_attention_type("original_full")
    bert = opened(tmp_path)
    assert bert.config.family.name == PREFIXES[model_type]
    trace = bert.trace(TEXT, PAIR)
    with torch.no_grad():
        out = theirs(
            **inputs_of(bert, trace.input_ids, trace.segment_ids),
            output_hidden_states=True,
            output_attentions=True,
        )
    torch.testing.assert_close(trace.hidden_states, torch.cat(tuple(out.hidden_states)), **CLOSE)
    torch.testing.assert_close(trace.attentions, torch.cat(tuple(out.attentions)), **CLOSE)
    heads = 2 if model_type == "convbert" else 4  # half of its heads are convolutions
    assert trace.attentions.shape == (3, heads, trace.num_tokens, trace.num_tokens)
    assert bert.config.num_attention_heads == heads
    text = " ".join(bert.report.sentences() if bert.report else ())
    assert f"{PREFIXES[model_type]}, another architecture, run by transformers" in text
    assert all(sentence.endswith(".") for sentence in bert.absent.values())
    assert ("mlm" in bert.capabilities) == (ending == "ForMaskedLM")
    if ending == "ForMaskedLM":
        encoding = bert.tokenize(f"The river {bert.tokenizer.mask_token} was steep.")
        places, found = bert.mask_probabilities(encoding)
        with torch.no_grad():
            logits = theirs(**inputs_of(bert, encoding.input_ids, encoding.segment_ids)).logits
        torch.testing.assert_close(found, logits[0, places].softmax(-1), **CLOSE)


@pytest.mark.parity
@pytest.mark.parametrize(("model_type", "head"), all_but(USUAL, HEADS))
def test_task_heads_answer_as_those_of_transformers(
    model_type: str, head: str, tmp_path: Path
) -> None:
    theirs = make_generic(tmp_path, model_type, f"For{head}", LABELS[head])
    model = open_task_model(tmp_path, device="cpu")
    is_choice = head == "MultipleChoice"
    choices = ["It had rained.", "The water was very steep."] if is_choice else []
    source = task_input(model, TEXT, None if is_choice else PAIR, choices=choices)
    for encoding in source.rows:  # each choice alone, so that nothing is padded
        named = inputs_of(model.module.network, encoding.input_ids, encoding.segment_ids)
        named["attention_mask"] = torch.ones_like(named["input_ids"])
        if is_choice:
            named = {name: tensor[:, None] for name, tensor in named.items()}
        with torch.no_grad():
            out = theirs(**named)
            ours = model.module(
                named["input_ids"], named.get("token_type_ids"), named["attention_mask"].bool()
            )
        wanted = (
            torch.stack([out.start_logits, out.end_logits], -1)
            if head == "QuestionAnswering"
            else out.logits
        )
        torch.testing.assert_close(ours, wanted, **CLOSE)


@pytest.mark.parametrize("model_type", ["roformer", "nomic_bert", "megatron-bert", "data2vec-text"])
def test_attributions_sum_to_the_change(model_type: str, tmp_path: Path) -> None:
    make_generic(tmp_path, model_type, "ForSequenceClassification")
    model = open_task_model(tmp_path, device="cpu")
    source = task_input(model, TEXT, PAIR)
    target = answer(model, source).target(source)
    found = integrated_gradients(model, source, target, parts=PARTS, steps=60)
    change = found.value - found.baseline
    assert abs(found.delta) < 0.05 * max(abs(change), 0.1)
    layers = layer_conductance(model, source, target, steps=60)
    assert layers.layers.shape == (3, len(source.encoding))
    assert np.abs(layers.deltas).max() < 0.1 * max(abs(change), 0.3)


@pytest.mark.parametrize("model_type", OPENED)
def test_a_padded_batch_long_texts_and_saving(model_type: str, tmp_path: Path) -> None:
    make_generic(tmp_path / "made", model_type)
    bert = opened(tmp_path / "made")
    texts = [TEXT, "milk and", f"{TEXT} {PAIR}", "the old dog " * 200]
    together = bert.encode(texts)
    alone = torch.cat([bert.encode([text]) for text in texts])
    torch.testing.assert_close(together, alone, **CLOSE)
    assert bert.module.other.reads_padding == (model_type in ("convbert", "nystromformer"))
    ids, kept = torch.full((2, 9), 7), torch.ones(2, 9, dtype=torch.bool)
    kept[1, 5:] = False
    with torch.no_grad():
        batch = bert.module.states(ids, None, kept)
        one = bert.module.states(ids[1:, :5])
    torch.testing.assert_close(batch.hidden_states[:, 1:, :5], one.hidden_states, **CLOSE)
    torch.testing.assert_close(batch.attentions[:, 1:, :, :5, :5], one.attentions, **CLOSE)
    again = opened(bert.save(tmp_path / "saved"))
    assert torch.equal(again.encode(texts[:1]), bert.encode(texts[:1]))
    assert again.trace("the old dog " * 200).num_tokens == bert.max_length


def test_a_head_is_started_and_fine_tuned_weights_are_kept(tmp_path: Path) -> None:
    make_generic(tmp_path / "made", "nystromformer")
    generator = torch.Generator().manual_seed(0)
    made = start_task_model(
        tmp_path / "made", task="classify", labels=("no", "yes"), generator=generator
    )
    again = open_task_model(made.save(tmp_path / "tuned"), device="cpu")
    assert again.labels == ("no", "yes")
    first, second = (answer(one, task_input(one, TEXT)).probabilities for one in (made, again))
    np.testing.assert_allclose(first, second, atol=1e-6)


@pytest.mark.parametrize(("model_type", "head"), READS_MORE)
def test_a_head_that_reads_more_is_refused(model_type: str, head: str, tmp_path: Path) -> None:
    make_generic(tmp_path, model_type, f"For{head}", LABELS[head])
    with pytest.raises(ValueError, match="more than the last hidden states"):
        open_task_model(tmp_path, device="cpu")


def test_a_masked_word_head_that_reads_more_is_refused(tmp_path: Path) -> None:
    make_generic(tmp_path, "luke")
    with pytest.raises(RuntimeError, match="masked-word head of Luke reads more than the last"):
        opened(tmp_path)


def test_a_network_without_a_vocabulary_is_refused(tmp_path: Path) -> None:
    """CANINE reads characters by their hashes."""
    make_generic(tmp_path, "canine", "ForSequenceClassification")
    edit(tmp_path, vocab_size=None)
    with pytest.raises(RuntimeError, match=r"config.json: .*vocab_size"):
        opened(tmp_path)


@pytest.mark.parametrize(
    ("model_type", "reason"),
    [
        ("fnet", "FNet"),
        ("longformer", "not return an attention weight from each token to each other"),
        ("squeezebert", "not return an attention weight from each token to each other"),
    ],
)
def test_networks_that_mix_tokens_in_another_way_are_refused(
    model_type: str, reason: str, tmp_path: Path
) -> None:
    make_generic(tmp_path, model_type)
    with pytest.raises(RuntimeError, match=f"{reason}.*not supported"):
        opened(tmp_path)


@pytest.mark.parametrize(
    ("model_type", "reason"),
    [
        ("vit", "ViT is not a text encoder"),
        ("wav2vec2", "Wav2Vec2 is not a text encoder"),
        ("llama", "Llama is a decoder"),
        ("layoutlmv3", "reads the place of each word on a page"),
        ("mt5", "a decoder after its encoder"),
    ],
)
def test_what_is_no_encoder_of_text_is_told(model_type: str, reason: str, tmp_path: Path) -> None:
    assert family_of(model_type) is None
    assert reason in (why_not(model_type) or "")
    make_generic(tmp_path, "nomic_bert", "Model")  # its tensors look like no other's
    edit(tmp_path, model_type=model_type, auto_map={"AutoModel": "evil.py--Evil"})
    with pytest.raises(ValueError, match=rf"{reason}.*own code.*is never run"):
        opened(tmp_path)


def test_tensors_under_its_own_prefix_are_not_taken_for_berts(tmp_path: Path) -> None:
    """Its masked-word head is called as BERT's."""
    make_generic(tmp_path, "layoutlm")
    with pytest.raises(ValueError, match="LayoutLM reads the place of each word on a page"):
        opened(tmp_path)


def test_is_decoder_is_refused(tmp_path: Path) -> None:
    make_generic(tmp_path, "ernie")
    edit(tmp_path, is_decoder=True)
    with pytest.raises(RuntimeError, match="is_decoder is true"):
        opened(tmp_path)


def test_a_vocabulary_alone_does_not_say_how_another_cuts(tmp_path: Path) -> None:
    make_generic(tmp_path, "roformer")
    vocab = json.loads((tmp_path / "tokenizer.json").read_text())["model"]["vocab"]
    (tmp_path / "vocab.txt").write_text("\n".join(sorted(vocab, key=vocab.__getitem__)))
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "tokenizer_config.json").unlink()
    with pytest.raises(RuntimeError, match="is of the class RoFormerTokenizer, which does more"):
        opened(tmp_path)


def test_what_has_a_table_keeps_it() -> None:
    for model_type in (*FAMILIES, "camembert", "no-such-type", "../../etc"):
        assert family_of(model_type) is None


def test_wrong_shapes_are_named(tmp_path: Path) -> None:
    make_generic(tmp_path, "roformer")
    edit(tmp_path, intermediate_size=48)
    with pytest.raises(RuntimeError, match=r"tensors do not fit: .*intermediate"):
        opened(tmp_path)
