"""Encoders that are in no table of ours: equal to transformers, or refused with the reason."""

import re
from collections.abc import Callable
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from bertcore.analysis import examine
from bertcore.analysis.attribution import (
    answer,
    integrated_gradients,
    layer_conductance,
    task_input,
)
from bertcore.model.others.families import family_of, why_not
from bertcore.model.others.network import OtherNetwork
from bertcore.training.tasks.model import open_task_model
from tests.support.cases import cases
from tests.support.exhaustive import all_but, first_of_each, spread
from tests.support.kit import edit, opened
from tests.support.made_once import prefix_of
from tests.support.rigged_models import started
from tests.support.task_parity import logits_of, their_logits
from tests.support.tiny_generic import SHAPES, make_generic
from tests.support.tiny_others import PAIR, TEXT

CLOSE = {"atol": 1e-5, "rtol": 0.0}
NOT_OPENED = ("fnet", "longformer", "layoutlm", "luke", "canine")
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
    if hasattr(transformers, f"{prefix_of(name)}For{head}") and (name, head) not in READS_MORE
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
    assert bert.config.family.name == prefix_of(model_type)
    trace = bert.trace(TEXT, PAIR)
    with torch.no_grad():
        out = theirs(
            **inputs_of(bert, trace.input_ids, trace.segment_ids),
            output_hidden_states=True,
            output_attentions=True,
        )
    torch.testing.assert_close(trace.hidden_states, torch.cat(tuple(out.hidden_states)), **CLOSE)
    weights = torch.cat(tuple(out.attentions))
    if model_type == "squeezebert":  # it hands out the scores
        weights = weights.softmax(-1)
    torch.testing.assert_close(trace.attentions, weights, **CLOSE)
    heads = 2 if model_type == "convbert" else 4  # half of its heads are convolutions
    assert trace.attentions.shape == (3, heads, trace.num_tokens, trace.num_tokens)
    assert bert.config.num_attention_heads == heads
    text = " ".join(bert.report.sentences() if bert.report else ())
    assert f"{prefix_of(model_type)}, another architecture, run by transformers" in text
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
            ours = logits_of(model, named)
        wanted = their_logits("qa" if head == "QuestionAnswering" else "", out)
        torch.testing.assert_close(ours, wanted, **CLOSE)


@pytest.mark.parametrize("model_type", ["roformer", "nomic_bert", "megatron-bert", "data2vec-text"])
def test_attributions_sum_to_the_change(model_type: str, tmp_path: Path) -> None:
    make_generic(tmp_path, model_type, "ForSequenceClassification")
    model = open_task_model(tmp_path, device="cpu")
    source = task_input(model, TEXT, PAIR)
    target = answer(model, source).target(source)
    found = integrated_gradients(model, source, target, steps=60)
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
    made = started(tmp_path / "made", labels=("no", "yes"))
    again = open_task_model(made.save(tmp_path / "tuned"), device="cpu")
    assert again.labels == ("no", "yes")
    first, second = (answer(one, task_input(one, TEXT)).probabilities for one in (made, again))
    np.testing.assert_allclose(first, second, atol=1e-6)


@pytest.mark.parametrize(("model_type", "reason"), cases("no_encoders_of_text"))
def test_what_is_no_encoder_of_text_is_told(model_type: str, reason: str, tmp_path: Path) -> None:
    assert family_of(model_type) is None
    assert reason in (why_not(model_type) or "")
    make_generic(tmp_path, "nomic_bert", "Model")  # its tensors look like no other's
    edit(tmp_path, model_type=model_type, auto_map={"AutoModel": "evil.py--Evil"})
    with pytest.raises(ValueError, match=rf"{reason}.*own code.*is never run"):
        opened(tmp_path)


@pytest.mark.parametrize(("model_type", "changes", "reason"), cases("refused_architectures"))
def test_what_is_refused(
    model_type: str, changes: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    make_generic(tmp_path, model_type)
    edit(tmp_path, **changes)
    with pytest.raises((RuntimeError, ValueError), match=reason):
        opened(tmp_path)


def test_characters_and_heads_that_read_more_are_refused(tmp_path: Path) -> None:
    make_generic(tmp_path / "canine", "canine", "ForSequenceClassification")
    edit(tmp_path / "canine", vocab_size=None)  # it reads characters by their hashes
    with pytest.raises(RuntimeError, match=r"config.json: .*vocab_size"):
        opened(tmp_path / "canine")
    for model_type, head in READS_MORE:
        make_generic(tmp_path / head, model_type, f"For{head}", LABELS[head])
        with pytest.raises(ValueError, match="more than the last hidden states"):
            open_task_model(tmp_path / head, device="cpu")


def test_scores_returned_as_attention_are_told_and_their_softmax_is_shown(tmp_path: Path) -> None:
    theirs = make_generic(tmp_path, "squeezebert")
    bert = opened(tmp_path)
    used: list[torch.Tensor] = []
    for layer in theirs.base_model.encoder.layers:
        layer.attention.softmax.register_forward_hook(lambda _, inputs, out: used.append(out[0]))
    trace = bert.trace(TEXT)
    with torch.no_grad():
        theirs(**inputs_of(bert, trace.input_ids, trace.segment_ids))
    torch.testing.assert_close(trace.attentions, torch.stack(used), **CLOSE)
    assert bert.report
    (told,) = bert.report.sentences("numbers")
    assert re.search(r"Warning: .*scores.* layer \d one row sums to -?[\d.]+, not 1", told)
    assert bert.config.family.attention_note in told
    attention = next(one for one in examine(bert).findings if one.sign == "attention")
    assert bert.config.family.attention_note in attention.sentence
    assert not attention.is_healthy


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda weights: 0.5 * weights, "layer 1 one row sums to 0.5, not 1"),
        (lambda weights: weights - 1, "layer 1 one row sums to -5, not 1.*not supported"),
        (lambda weights: weights, ""),
    ],
)
def test_rows_that_do_not_sum_to_1(
    change: Callable[[torch.Tensor], torch.Tensor],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make_generic(tmp_path, "ernie")
    run = OtherNetwork.run

    def changed(network: OtherNetwork, part: Any, **inputs: Any) -> Any:
        out = run(network, part, **inputs)
        if out.attentions is not None:
            first, second, *rest = out.attentions
            out.attentions = (first, change(second), *rest)
        return out

    monkeypatch.setattr(OtherNetwork, "run", changed)
    if "not supported" in told:
        with pytest.raises(RuntimeError, match=told):
            opened(tmp_path)
        return
    bert = opened(tmp_path)
    note = bert.config.family.attention_note
    assert bool(note) == bool(told)
    assert told in note
    assert bert.report
    assert ([f"Warning: {note}"] if note else []) == bert.report.sentences("numbers")
