"""Runs with a decoder: T5's, BART's and MASS's batches, checkpoints and the command line."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
import torch
import torch.nn.functional as F
import transformers

from bertcore import load
from bertcore.model.objectives import IGNORED
from bertcore.model.tokenizer import open_wordpiece
from bertcore.training.pretraining.data.batches import Batch, BatchSource
from bertcore.training.pretraining.data.layout import sentinel_ids, with_sentinels
from bertcore.training.pretraining.data.rows import PackedRows
from bertcore.training.pretraining.objectives.denoising import SequenceWithLoss
from tests.support.command_line import recipe, refusal, succeed, words_of
from tests.support.tiny import tiny_tokenizer
from tests.support.tiny_runs import build

CPU = torch.device("cpu")
CLASSES = {
    "denoise-t5": "T5ForConditionalGeneration",
    "denoise-bart": "BartForConditionalGeneration",
    "mass": "BartForConditionalGeneration",
}


@pytest.mark.parametrize("objective", list(CLASSES))
def test_the_checkpoint_opens_as_its_class_with_the_same_numbers(
    tmp_path: Path, objective: str
) -> None:
    run = build(tmp_path, objective, steps=3, dtype="float32")
    run.run()
    folder = run.folder.checkpoints()[-1]
    theirs = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    assert type(theirs).__name__ == CLASSES[objective]
    rows = run.held_out.own[0]
    inputs = {
        "input_ids": rows.input_ids,
        "attention_mask": rows.attention_mask.long(),
        "decoder_input_ids": rows.decoder_input_ids,
    }
    ours: Any = run.network.eval()
    with torch.no_grad():
        expected, found = theirs(**inputs).logits, ours.model(**inputs).logits
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=1e-5)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    ids = tokenizer("the dog sat", return_tensors="pt").input_ids
    assert theirs.generate(ids, max_new_tokens=4).shape[1] > 1
    model = load(folder, device="cpu")
    (guesses,) = model.fill_mask("the [MASK] sat on the mat.", top_k=5)
    assert len({probability for _, probability in guesses}) > 1


def test_batches_are_those_of_the_papers(tmp_path: Path) -> None:
    t5 = build(tmp_path / "t5", "denoise-t5")
    sentinels = torch.tensor(sentinel_ids(t5.tokenizer))
    for step in range(3):
        rows = t5.batches.batch(step)
        for read, written in zip(rows.input_ids, rows.labels, strict=True):
            there, back = (ids[torch.isin(ids, sentinels)].tolist() for ids in (read, written))
            assert there == back == sentinels[: len(there)].tolist()
            assert written[0] == sentinels[0]
            assert read[0] == t5.tokenizer.cls_id
    bart = build(tmp_path / "bart", "denoise-bart").batches.batch(0)
    assert (bart.input_ids == t5.tokenizer.mask_id).any(1).all()
    assert bart.totals.num_masked == int((bart.labels != IGNORED).sum())
    mass = build(tmp_path / "mass", "mass", masked_lm_prob=0.5)
    for step in range(10):
        rows = mass.batches.batch(step)
        is_written = rows.labels != IGNORED
        num_text = rows.attention_mask.sum(1) - 2
        separators = ((rows.input_ids == mass.tokenizer.sep_id) & rows.attention_mask).sum(1) - 1
        half = torch.tensor([round(0.5 * int(n)) for n in num_text - separators])
        assert torch.equal(is_written.sum(1), half)


def test_a_row_of_one_word_has_nothing_to_write(tmp_path: Path) -> None:
    for objective in CLASSES:
        run = build(tmp_path / objective, objective, dtype="float32")
        corpus = run.batches.corpus
        end = int(corpus.sentence_starts[-1])
        last = corpus.num_documents - 1
        rows = PackedRows(np.array([[end - 1, end, last, 0]]))
        generator = torch.Generator().manual_seed(0)
        batch = run.objective.batch(
            BatchSource(corpus, rows, run.tokenizer, run.phases.short.config, generator)
        )
        assert batch.totals.num_masked == 0
        values = run.train_step([batch])
        assert values["loss"] == 0
        assert np.isfinite(values["gradient_norm"])
        assert run.objective.metrics(values, batch.totals)["written_top1"] == 0


def test_matrices_of_both_sides_are_muons(tmp_path: Path) -> None:
    for objective, num_layers in (("denoise-t5", 2), ("denoise-bart", 2)):
        run = build(tmp_path / objective, objective)
        muon, adamw = run.optimizers
        by_id = {id(parameter): name for name, parameter in run.network.named_parameters()}
        names = {by_id[id(p)] for group in muon.param_groups for p in group["params"]}
        # Queries, keys, values and output of three attentions, and two matrices of two networks.
        assert len(names) == 3 * 4 + num_layers * 2
        rest = {by_id[id(p)] for group in adamw.param_groups for p in group["params"]}
        assert not names & rest
        assert len(names | rest) == len(by_id)
        assert not any("embed" in name or "shared" in name or "bias" in name for name in names)


def test_a_vocabulary_is_learned_with_its_sentinels(texts: Path, tmp_path: Path) -> None:
    inputs = ["--corpus", texts / "train.txt", "--valid", texts / "valid.txt"]
    size = ["--layers", "1", "--hidden", "32", "--heads", "2", "--vocab-size", "250"]
    out = tmp_path / "run"
    more = ["--objective", "denoise-t5", "--steps", "1", "--batch-size", "4", "--device", "cpu"]
    succeed("pretrain", *inputs, *size, "--out", out, *more, "--max-seq-length", "24")
    tokenizer = open_wordpiece(out / "data" / "tokenizer")
    assert (tokenizer.vocab_size, len(sentinel_ids(tokenizer))) == (250, 100)


def test_what_does_not_fit_is_refused_in_a_sentence(texts: Path, tmp_path: Path) -> None:
    few = tmp_path / "few"
    with_sentinels(tiny_tokenizer(), 2).save(few)
    for objective, wrong, words in (
        ("denoise-t5", ["--tokenizer", few, "--max-seq-length", "60"], ("has 2 sentinels", "3")),
        ("denoise-t5", [*recipe(mask_shares="100/0/0")], ("mask_shares",)),
        ("mass", [*recipe(family="roberta")], ("RoBERTa", "family")),
        ("denoise-bart", [*recipe(compile="on")], ("compile", "not compiled")),
    ):
        line = words_of(texts, tmp_path / "run", "--steps", "2", "--objective", objective, *wrong)
        sentence = refusal(*line)
        assert all(word in sentence for word in words), sentence
    inputs = ["--corpus", texts / "train.txt", "--valid", texts / "valid.txt", "--steps", "2"]
    more = ["--out", tmp_path / "run", "--checkpoint", "default", "--objective", "mass"]
    assert "starts from noise" in refusal("pretrain", *inputs, *more)
    # Of a vocabulary that is to be learned, its own tokens are taken off.
    for size, words in (("100", ("takes 100 of the 100 pieces",)), ("120", ("120", "take 50"))):
        line = words_of(texts, tmp_path / "run", "--steps", "2", "--objective", "denoise-t5")
        at = line.index("--tokenizer")
        sentence = refusal(*line[:at], *line[at + 2 :], "--vocab-size", size)
        assert all(word in sentence for word in words), sentence


def trained_on(path: Path, objective: str) -> tuple[Any, Batch]:
    """Return a model and a batch with padding, which must not count."""
    run = build(path, objective, dtype="float32", dropout=0.0)
    model = cast(Any, run.network).model.eval()
    model.config.decoder_start_token_id = cast(Any, run.objective).start_id(run.tokenizer)
    batches = (run.batches.batch(step) for step in range(20))
    return model, next(batch for batch in batches if not batch.attention_mask.all())


def loss_of(model: Any, batch: Batch) -> Any:
    return SequenceWithLoss(cast(Any, SimpleNamespace(model=model)))(batch.to(CPU))


@pytest.mark.parity
@pytest.mark.parametrize("objective", ["denoise-t5", "denoise-bart"])
def test_the_loss_is_that_of_transformers_given_labels_alone(
    tmp_path: Path, objective: str
) -> None:
    """Their classes shift the labels themselves: so our decoder reads what theirs does."""
    model, rows = trained_on(tmp_path, objective)
    theirs = model(
        input_ids=rows.input_ids, attention_mask=rows.attention_mask.long(), labels=rows.labels
    )
    found = loss_of(model, rows)
    assert float(found["loss"].detach()) == pytest.approx(float(theirs.loss.detach()), abs=1e-5)
    is_written = rows.labels != IGNORED
    right = (theirs.logits.argmax(-1) == rows.labels) & is_written
    assert int(found["correct"]) == int(right.sum())
    assert int(found["num_written"]) == int(is_written.sum())
    gradients = []
    for loss in (found["loss"], theirs.loss):
        model.zero_grad()
        loss.backward()
        gradients.append(model.get_input_embeddings().weight.grad.clone())
    torch.testing.assert_close(*gradients, atol=1e-6, rtol=1e-4)


def test_mass_is_each_fragment_alone_at_its_own_positions(tmp_path: Path) -> None:
    """The decoder reads the fragment alone, with the positions that it has in the text."""
    model, rows = trained_on(tmp_path, "mass")
    table = model.model.decoder.embed_positions
    losses = []
    for number, labels in enumerate(rows.labels):
        places = (labels != IGNORED).nonzero().flatten()
        own = rows.attention_mask[number]
        # transformers counts from 0: take that vector away and give the right one.
        moved = table.weight[places + 2] - table.weight[torch.arange(len(places)) + 2]
        read = rows.decoder_input_ids[number, places]
        out = model(
            input_ids=rows.input_ids[number, own][None],
            decoder_inputs_embeds=(model.get_input_embeddings()(read) + moved)[None],
            use_cache=False,
        )
        losses.append(F.cross_entropy(out.logits[0], labels[places], reduction="none"))
    found = loss_of(model, rows)["loss"]
    expected = torch.cat(losses).mean()
    assert float(found.detach()) == pytest.approx(float(expected.detach()), abs=1e-5)


@pytest.mark.parametrize("objective", list(CLASSES))
def test_a_decoder_reads_nothing_of_what_it_must_write_next(tmp_path: Path, objective: str) -> None:
    model, rows = trained_on(tmp_path, objective)
    label, read = rows.labels[:, 1:], rows.decoder_input_ids[:, 1:]
    both = (rows.labels[:, :-1] != IGNORED) & (label != IGNORED)
    assert torch.equal(read[both], rows.labels[:, :-1][both])  # the token written just before
    assert torch.equal(rows.decoder_attention_mask, rows.labels != IGNORED)
    changed = rows.decoder_input_ids.masked_fill(~rows.decoder_attention_mask, 9)
    after = loss_of(model, replace(rows, tensors={**rows.tensors, "decoder_input_ids": changed}))
    torch.testing.assert_close(loss_of(model, rows)["loss"], after["loss"], atol=1e-6, rtol=0)
