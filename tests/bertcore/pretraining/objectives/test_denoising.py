"""Runs with a decoder: T5's, BART's and MASS's batches, checkpoints and the command line."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
import transformers

from bertcore import load
from bertcore.objectives import IGNORED, Corrupted, Pieces, Row, bart_noise, mass, t5_spans
from bertcore.pretraining.data.layout import sentinel_ids, with_sentinels
from bertcore.pretraining.data.rows import PackedRows
from bertcore.pretraining.objectives.denoising import (
    SequenceTensors,
    pad_sequences,
    sequence_loss,
)
from bertcore.pretraining.objectives.objective import BatchSource
from bertcore.tokenizer import open_wordpiece
from tests.bertcore.pretraining.objectives.test_objectives import build
from tests.support.command_line import make_texts, recipe, refusal, succeed, words_of
from tests.support.tiny import tiny_tokenizer

CLASSES = {
    "denoise-t5": "T5ForConditionalGeneration",
    "denoise-bart": "BartForConditionalGeneration",
    "mass": "BartForConditionalGeneration",
}


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_texts(tmp_path_factory.mktemp("texts"))


def rows_of(batch: Any) -> SequenceTensors:
    rows: SequenceTensors = batch.rows
    return rows


@pytest.mark.parametrize("objective", list(CLASSES))
def test_the_checkpoint_opens_as_its_class_with_the_same_numbers(
    tmp_path: Path, objective: str
) -> None:
    run = build(tmp_path, objective, steps=3, dtype="float32")
    run.run()
    folder = run.folder.checkpoints()[-1]
    theirs = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    assert type(theirs).__name__ == CLASSES[objective]
    rows = rows_of(run.held_out.own[0])
    inputs = {
        "input_ids": rows.input_ids,
        "attention_mask": rows.attention_mask.long(),
        "decoder_input_ids": rows.decoder_input_ids,
    }
    ours: Any = run.network.eval()
    with torch.no_grad():
        expected, found = theirs(**inputs).logits, ours.model(**inputs).logits
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=1e-5)
    # Given the labels alone, their class reads what our decoder read, and so has our loss.
    if objective != "mass":
        torch.testing.assert_close(
            theirs(**{**inputs, "decoder_input_ids": None}, labels=rows.labels).loss.detach(),
            _loss(expected, rows.labels),
            atol=1e-5,
            rtol=1e-5,
        )
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    ids = tokenizer("the dog sat", return_tensors="pt").input_ids
    assert theirs.generate(ids, max_new_tokens=4).shape[1] > 1
    model = load(folder, device="cpu")
    (guesses,) = model.fill_mask("the [MASK] sat on the mat.", top_k=5)
    assert len({probability for _, probability in guesses}) > 1


def _loss(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())


def test_t5_is_asked_for_a_hidden_word_by_its_first_sentinel(tmp_path: Path) -> None:
    run = build(tmp_path, "denoise-t5", steps=2, dtype="float32")
    run.run()
    model = load(run.folder.checkpoints()[-1], device="cpu")
    tokenizer = model.tokenizer
    ids = torch.tensor([tokenizer.encode("the [MASK] sat.").input_ids])
    first = sentinel_ids(tokenizer)[0]
    network: Any = model.module
    with torch.no_grad():
        logits = network.model(
            input_ids=ids.masked_fill(ids == tokenizer.mask_id, first),
            decoder_input_ids=torch.tensor([[tokenizer.cls_id, first]]),
        ).logits[0, -1]
    (guesses,) = model.fill_mask("the [MASK] sat.", top_k=1)
    best = int(logits.argmax())
    assert guesses[0][0] == tokenizer.id_to_token(best)
    assert guesses[0][1] == pytest.approx(float(logits.softmax(-1)[best]), abs=1e-5)


def test_batches_are_those_of_the_papers(tmp_path: Path) -> None:
    t5 = build(tmp_path / "t5", "denoise-t5")
    sentinels = torch.tensor(sentinel_ids(t5.tokenizer))
    for step in range(10):
        rows = rows_of(t5.batches.batch(step))
        for read, written in zip(rows.input_ids, rows.labels, strict=True):
            there, back = (ids[torch.isin(ids, sentinels)].tolist() for ids in (read, written))
            assert there == back == sentinels[: len(there)].tolist()
            assert written[0] == sentinels[0]
            assert read[0] == t5.tokenizer.cls_id
    bart = build(tmp_path / "bart", "denoise-bart")
    for step in range(10):
        rows = rows_of(bart.batches.batch(step))
        texts = bart.batches.batch(step)
        assert (rows.labels[:, 0] == bart.tokenizer.cls_id).all()
        assert (rows.decoder_input_ids[:, 0] == bart.tokenizer.sep_id).all()
        assert (rows.input_ids == bart.tokenizer.mask_id).any(1).all()
        assert texts.totals.num_masked == int((rows.labels != IGNORED).sum())
    mass = build(tmp_path / "mass", "mass", masked_lm_prob=0.5)
    for step in range(10):
        rows = rows_of(mass.batches.batch(step))
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
        (
            "denoise-t5",
            ["--max-seq-length", "512", *recipe(masked_lm_prob=0.7)],
            ("100 sentinels", "119", "masked_lm_prob"),
        ),
        ("denoise-t5", [*recipe(mask_shares="100/0/0")], ("mask_shares",)),
        ("denoise-bart", [*recipe(mask_shares="100/0/0")], ("mask_shares",)),
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


V, T, PAD, CLS, SEP, MASK = 80, 24, 0, 2, 3, 4
PIECES = Pieces(size=V, mask_id=MASK, cls_id=CLS, sep_id=SEP, sentinel_ids=tuple(range(79, 69, -1)))


def text(length: int, seed: int) -> Row:
    rng = np.random.default_rng(seed)
    ids = rng.integers(5, 70, size=length)
    ids[0], ids[-1] = CLS, SEP
    is_special = np.zeros(length, dtype=bool)
    is_special[[0, -1]] = True
    starts = rng.random(length) < 0.7
    starts[[0, 1, -1]] = True
    return Row(ids, is_special, starts, starts & (np.arange(length) % 7 == 1))


def corrupted(objective: str) -> list[Corrupted]:
    rows = [text(length, seed) for seed, length in enumerate((T, T, 17, 9))]
    rng = np.random.default_rng(0)
    noise = {"denoise-t5": t5_spans, "denoise-bart": bart_noise, "mass": mass}[objective]
    return [noise(row, PIECES, rng) for row in rows]


def t5() -> Any:
    torch.manual_seed(0)
    config = transformers.T5Config(
        vocab_size=V,
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=2,
        num_heads=4,
        pad_token_id=PAD,
        eos_token_id=SEP,
        decoder_start_token_id=CLS,
        dropout_rate=0.0,
    )
    return transformers.T5ForConditionalGeneration(config).eval()


def bart() -> Any:
    torch.manual_seed(0)
    config = transformers.BartConfig(
        vocab_size=V,
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        max_position_embeddings=64,
        pad_token_id=PAD,
        bos_token_id=CLS,
        eos_token_id=SEP,
        decoder_start_token_id=SEP,
        forced_eos_token_id=None,
        dropout=0.0,
        init_std=0.2,
    )
    return transformers.BartForConditionalGeneration(config).eval()


MODELS = {"denoise-t5": t5, "denoise-bart": bart, "mass": bart}


def loss_of(model: Any, rows: SequenceTensors) -> Any:
    return sequence_loss(model, rows, (rows.labels != IGNORED).sum())


@pytest.mark.parity
@pytest.mark.parametrize("objective", ["denoise-t5", "denoise-bart"])
def test_the_loss_is_that_of_transformers_given_labels_alone(objective: str) -> None:
    """Their classes shift the labels themselves: so our decoder reads what theirs does."""
    model, rows = MODELS[objective](), pad_sequences(corrupted(objective), PAD)
    assert not rows.attention_mask.all()  # padding, which must not count
    theirs = model(
        input_ids=rows.input_ids, attention_mask=rows.attention_mask.long(), labels=rows.labels
    )
    found = loss_of(model, rows)
    assert float(found.loss.detach()) == pytest.approx(float(theirs.loss.detach()), abs=1e-5)
    is_written = rows.labels != IGNORED
    right = (theirs.logits.argmax(-1) == rows.labels) & is_written
    assert (int(found.correct), int(found.num_written)) == (int(right.sum()), int(is_written.sum()))
    for parameter in model.parameters():
        parameter.grad = None
    found.loss.backward()
    ours = model.get_input_embeddings().weight.grad.clone()
    model.zero_grad()
    theirs.loss.backward()
    torch.testing.assert_close(ours, model.get_input_embeddings().weight.grad, atol=1e-6, rtol=1e-4)


def test_mass_is_each_fragment_alone_at_its_own_positions() -> None:
    """The decoder reads the fragment alone, with the positions that it has in the text."""
    model, rows = bart(), corrupted("mass")
    table = model.model.decoder.embed_positions
    losses = []
    for row in rows:
        assert row.decoder_input_ids is not None
        assert row.decoder_positions is not None
        read = torch.from_numpy(row.decoder_input_ids)[None]
        first = int(row.decoder_positions[0])
        places = torch.arange(len(row.labels))
        # transformers counts from 0: take that vector away and give the right one.
        moved = table.weight[places + first + 2] - table.weight[places + 2]
        out = model(
            input_ids=torch.from_numpy(row.input_ids)[None],
            decoder_inputs_embeds=model.get_input_embeddings()(read) + moved,
            use_cache=False,
        )
        losses.append(
            F.cross_entropy(out.logits[0], torch.from_numpy(row.labels), reduction="none")
        )
    found = loss_of(model, pad_sequences(rows, PAD))
    expected = torch.cat(losses).mean()
    assert float(found.loss.detach()) == pytest.approx(float(expected.detach()), abs=1e-5)
    found.loss.backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())


@pytest.mark.parametrize("objective", list(MODELS))
def test_the_parts_of_a_batch_sum_to_it(objective: str) -> None:
    model, rows = MODELS[objective](), pad_sequences(corrupted(objective), PAD)
    total = (rows.labels != IGNORED).sum()
    whole = sequence_loss(model, rows, total)
    parts = [
        sequence_loss(model, SequenceTensors(*(tensor[some] for tensor in rows)), total)
        for some in (slice(0, 1), slice(1, 4))
    ]
    for name, value in whole._asdict().items():
        summed = sum(float(getattr(part, name).detach()) for part in parts)
        assert summed == pytest.approx(float(value.detach()), rel=1e-5), name


@pytest.mark.parametrize("objective", list(MODELS))
def test_a_decoder_reads_nothing_of_what_it_must_write_next(objective: str) -> None:
    model, rows = MODELS[objective](), pad_sequences(corrupted(objective), PAD)
    label = rows.labels[:, 1:]
    read = rows.decoder_input_ids[:, 1:]
    both = (rows.labels[:, :-1] != IGNORED) & (label != IGNORED)
    assert torch.equal(read[both], rows.labels[:, :-1][both])  # the token written just before
    assert torch.equal(rows.decoder_mask, rows.labels != IGNORED)
    before = loss_of(model, rows)
    padding = ~rows.decoder_mask
    if padding.any():
        changed = rows.decoder_input_ids.masked_fill(padding, 9)
        after = loss_of(model, rows._replace(decoder_input_ids=changed))
        torch.testing.assert_close(before.loss, after.loss, atol=1e-6, rtol=0)
