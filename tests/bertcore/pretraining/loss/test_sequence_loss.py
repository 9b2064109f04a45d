"""Denoising losses: those of transformers' T5 and BART, and MASS's fragment."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
import transformers

from bertcore.objectives import IGNORED, Corrupted, Pieces, Row, bart_noise, mass, t5_spans
from bertcore.pretraining.loss.sequence_loss import (
    SequenceTensors,
    pad_sequences,
    sequence_loss,
)

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
