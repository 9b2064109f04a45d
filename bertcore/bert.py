"""A checkpoint of the BERT family on our own network, whose parts can be read and changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from bertcore.checkpoints import save
from bertcore.checkpoints.save import OBJECTIVE
from bertcore.interventions import Changes
from bertcore.model import Model, check_ids
from bertcore.network import Network
from bertcore.sentences import SentenceModules
from bertcore.tokenizer import Encoding, Tokenizer
from bertcore.trace import Trace, trace_bytes, trace_network

if TYPE_CHECKING:
    from bertcore.checkpoints import LoadReport


class Bert(Model):
    """Our own network and its tokenizer on one device, in evaluation mode.

    Args:
        network: The network, with weights.
        tokenizer: Its tokenizer, with at most as many pieces as the token table has rows.
        name: Its name in messages: "default", a folder, a hub id.
        report: The load report, or None for a network built in memory.
        sentence_modules: The modules of a sentence encoder, or None for any other checkpoint.
    """

    module: Network

    def __init__(
        self,
        network: Network,
        tokenizer: Tokenizer,
        *,
        name: str = "in memory",
        report: LoadReport | None = None,
        sentence_modules: SentenceModules | None = None,
    ) -> None:
        super().__init__(
            network.eval(), tokenizer, name=name, report=report, sentence_modules=sentence_modules
        )

    def trace_bytes(self, num_tokens: int) -> int:
        """Return the most memory that the trace of a text takes."""
        return trace_bytes(self.config, num_tokens, self.dtype)

    def trace(
        self,
        text: str,
        text_pair: str | None = None,
        *,
        segment_ids: Sequence[int] | None = None,
        position_ids: Sequence[int] | None = None,
        encoding: Encoding | None = None,
        changes: Changes | None = None,
    ) -> Trace:
        """Run a text or pair and keep every activation.

        Args:
            text, text_pair: Text A and text B.
            segment_ids, position_ids: Ids to use instead of the usual ones, one for each token, to
                see their effect.
            encoding: Tokens to use instead of those of the texts, for example with some masked.
            changes: Heads and layers to switch off, another attention pattern, edited ids and
                weights.

        ValueError if ids are out of range or do not fit the number of tokens, position ids are
        given to a network without position vectors (ModernBERT), or `changes` names something that
        does not exist.
        """
        if position_ids is not None or (changes and changes.position_ids):
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
            segments = changes.apply_to_ids("segment_ids", segments)
            positions = changes.apply_to_ids("position_ids", positions)
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
        return Trace(
            text_a=text,
            text_b=text_pair,
            tokens=list(encoding.tokens),
            input_ids=list(encoding.input_ids),
            segment_ids=segments,
            position_ids=positions,
            offsets=list(encoding.offsets),
            text_ids=list(encoding.text_ids),
            word_ids=list(encoding.word_ids),
            truncation=encoding.truncation,
            activations=activations,
        )

    def save(self, folder: str | Path) -> Path:
        """Write a checkpoint folder that `transformers` opens as BertForPreTraining."""
        named = {} if self.objective is None else {OBJECTIVE: self.objective}
        return save(self.module, self.tokenizer, folder, more_config=named)


def with_parts(model: Model) -> Bert:
    """Return a model as a `Bert`, whose layers and weights can be read and changed.

    ValueError if it runs on code of `transformers`.
    """
    model.require("parts")
    assert isinstance(model, Bert)  # the others have no parts
    return model
