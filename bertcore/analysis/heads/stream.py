"""Stream the attention of many texts batch by batch, in bounded memory."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from bertcore.analysis.shared.collect import Progress
from bertcore.data.texts import Sentence
from bertcore.model.model import Model
from bertcore.model.tokenizer import Encoding

WINDOW = 1000
"""Number of sentences that are tokenized and sorted by length together."""
BATCH_BYTES = 48 * 2**20
"""Bytes of attention (all layers) held at a time: 209 sentences of 20 tokens in BERT-base. A single
longer text may take more: 151 MB at 512 tokens."""


class AttentionBatch(NamedTuple):
    """The attention of B inputs of similar length."""

    rows: list[int]
    """The places of the inputs among all sentences, B of them."""
    encodings: list[Encoding]
    """B of them."""
    attentions: Tensor
    """[L, B, H, T, T], float32, on the device; 0 in the columns beyond the end of an input, while
    the rows there are meaningless."""


class Survey(Protocol):
    """A measure that is accumulated over many sentences."""

    def add(self, batch: AttentionBatch) -> None:
        """Count a batch in; each sentence comes once, in any order."""


def run_surveys(
    bert: Model,
    sentences: Sequence[Sentence],
    surveys: Sequence[Survey],
    *,
    progress: Progress | None = None,
) -> int:
    """Pass every sentence's attention to each survey, in one pass; return how many were truncated.

    ValueError if there is no sentence.
    """
    if not sentences:
        raise ValueError("there is no sentence. Give at least one.")
    done = num_cut = 0
    for batch in attention_batches(bert, sentences):
        for survey in surveys:
            survey.add(batch)
        num_cut += sum(encoding.truncation is not None for encoding in batch.encodings)
        done += len(batch.rows)
        if progress:
            progress(done / len(sentences), f"{done:,} of {len(sentences):,} sentences read")
    return num_cut


@torch.inference_mode()
def attention_batches(bert: Model, sentences: Sequence[Sentence]) -> Iterator[AttentionBatch]:
    """Yield the attention of all sentences, batched by similar length.

    A test checks that it equals `bert.trace` on each sentence alone.
    """
    config = bert.config
    bytes_per_cell = 4 * config.num_hidden_layers * config.num_attention_heads
    for begin in range(0, len(sentences), WINDOW):
        part = sentences[begin : begin + WINDOW]
        encodings = [bert.tokenize(sentence.text, sentence.text_pair) for sentence in part]
        order = sorted(range(len(part)), key=lambda i: len(encodings[i]))
        while order:
            # The longest first: the largest batch comes first, so memory cannot run out late.
            longest = len(encodings[order[-1]])
            count = max(1, BATCH_BYTES // (bytes_per_cell * longest**2))
            batch_rows, order = order[-count:], order[:-count]
            kept = [encodings[i] for i in batch_rows]
            yield AttentionBatch([begin + i for i in batch_rows], kept, _attentions(bert, kept))


def _attentions(bert: Model, encodings: Sequence[Encoding]) -> Tensor:
    """Run one padded batch and keep the weights of every layer, [L, B, H, T, T]."""
    longest = max(len(encoding) for encoding in encodings)
    ids = torch.full((len(encodings), longest), bert.tokenizer.pad_id)
    segments = torch.zeros_like(ids)
    attention_mask = torch.zeros(ids.shape, dtype=torch.bool)
    for row, encoding in enumerate(encodings):
        ids[row, : len(encoding)] = torch.tensor(encoding.input_ids)
        segments[row, : len(encoding)] = torch.tensor(encoding.segment_ids)
        attention_mask[row, : len(encoding)] = True
    ids, segments, attention_mask = (
        part.to(bert.device) for part in (ids, segments, attention_mask)
    )
    return bert.module.every_attention(ids, segments, attention_mask)
