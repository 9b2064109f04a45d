"""A checkpoint of the BERT family on our own network, whose parts can be read and changed."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import torch
from torch import Tensor

from bertcore.base.memory import SMALL
from bertcore.model.checkpoints import save
from bertcore.model.checkpoints.save import OBJECTIVE
from bertcore.model.model import USUAL, Model, TraceInput, check_ids
from bertcore.model.network import Network
from bertcore.model.tokenizer import Encoding
from bertcore.model.trace import Trace, trace_bytes, trace_network, trace_rows

_BATCH = 32
"""Most texts that are traced at once."""


class Bert(Model):
    """Our own network and its tokenizer on one device, in evaluation mode.

    Arguments as `Model`.
    """

    module: Network

    def trace_bytes(self, num_tokens: int) -> int:
        """Return the most memory that the trace of a text takes."""
        return trace_bytes(self.config, num_tokens, self.dtype)

    def _trace(self, text: str, text_pair: str | None, given: TraceInput = USUAL) -> Trace:
        segment_ids, position_ids, encoding, changes = given
        if position_ids is not None:
            self.require("positions")
        encoding = encoding or self.tokenize(text, text_pair)
        num_tokens = len(encoding.input_ids)
        segments = list(encoding.segment_ids if segment_ids is None else segment_ids)
        if position_ids is None:
            ids = torch.tensor(encoding.input_ids)
            position_ids = self.module.default_ids(ids, None, None)[1].tolist()
        positions = list(position_ids)
        interventions = None
        if changes:
            interventions = changes.prepare(
                self.config,
                num_tokens,
                num_in_a=encoding.num_in_a,
                blocks=[layer.attention for layer in self.module.layers],
                dtype=self.dtype,
                device=self.device,
            )
        check_ids("segment_ids", segments, num_tokens, self.config.type_vocab_size)
        check_ids("position_ids", positions, num_tokens, self.config.max_position_embeddings)
        with self.room_for(num_tokens):
            activations = trace_network(
                self.module,
                self._ids(encoding.input_ids),
                self._ids(segments),
                self._ids(positions),
                interventions=interventions,
            )
        return self._traced(text, text_pair, encoding, segments, positions, activations)

    @torch.no_grad()
    def word_states(self, encoding: Encoding) -> Tensor:
        """Return the last hidden state, which the masked-word head reads, [T, D], on the device."""
        return self.hidden(encoding)

    def _trace_all(self, texts: Sequence[tuple[str, str | None]]) -> list[Trace]:
        """Return the traces of texts, computed in batches of one length, which need no padding."""
        encodings = [self.tokenize(*pair) for pair in texts]
        for encoding in encodings:
            self._check_segments(encoding)
        traces: dict[int, Trace] = {}
        numbers = sorted(range(len(texts)), key=lambda i: len(encodings[i]))
        for length, group in groupby(numbers, key=lambda i: len(encodings[i])):
            left = list(group)
            size = max(1, min(_BATCH, int(SMALL // self.trace_bytes(length))))
            while left:
                rows, left = left[:size], left[size:]
                ids = torch.stack([self._ids(encodings[i].input_ids) for i in rows])
                segments = torch.stack([self._ids(encodings[i].segment_ids) for i in rows])
                positions = torch.stack(
                    [self.module.default_ids(row, None, None)[1] for row in ids]
                )
                with self.room_for(length):
                    made = trace_rows(self.module, ids, segments, positions)
                for i, place, activations in zip(rows, positions.tolist(), made, strict=True):
                    own = list(encodings[i].segment_ids)
                    traces[i] = self._traced(*texts[i], encodings[i], own, place, activations)
        return [traces[i] for i in range(len(texts))]

    def save(self, folder: str | Path) -> Path:
        """Write a checkpoint folder that `transformers` opens, with a model card.

        ValueError as `bertcore.model.checkpoints.save`.
        """
        named = {} if self.objective is None else {OBJECTIVE: self.objective}
        target = save(self.module, self.tokenizer, folder, more_config=named)
        self._write_card(target)
        return target


def with_parts(model: Model) -> Bert:
    """Return a model as a `Bert`, whose layers and weights can be read and changed.

    ValueError if it runs on code of `transformers`.
    """
    model.require("parts")
    assert isinstance(model, Bert)  # the others have no parts
    return model
