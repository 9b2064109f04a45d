"""A checkpoint of another architecture, usable like a `Bert`."""

from collections.abc import Sequence
from pathlib import Path

import torch

from bertcore.interventions.what_if import Changes
from bertcore.model import Model
from bertcore.others.decoder import DecoderTrace, trace_decoder
from bertcore.others.embeddings import traced_embeddings
from bertcore.others.network import OtherNetwork
from bertcore.tokenizer import Encoding
from bertcore.trace import Activations, Trace


class OtherModel(Model):
    """A model of `transformers` and its tokenizer: tokens, hidden states, attention, its heads."""

    module: OtherNetwork

    def tokenize(
        self, text: str, text_pair: str | None = None, *, max_length: int | None = None
    ) -> Encoding:
        """Return the tokens of a text or pair, truncated to the longest input or `max_length`.

        ValueError if there is none, as for an empty text if no tokens are added (GPT-2).
        """
        encoding = self.tokenizer.encode(text, text_pair, max_length=self.limit(max_length))
        if not encoding.input_ids:
            raise ValueError(
                "the text has no token: this tokenizer adds none before or after it. Type a word."
            )
        return encoding

    @torch.no_grad()
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
        """Run a text or pair and keep what `transformers` returns: tokens, states, attention.

        ValueError if positions or changes are given, or segment ids are out of range.
        """
        if changes or position_ids is not None:
            self.require("parts")
        encoding = encoding or self.tokenize(text, text_pair)
        segments = list(encoding.segment_ids if segment_ids is None else segment_ids)
        limit = max(1, self.config.type_vocab_size)
        if len(segments) != len(encoding) or not all(0 <= s < limit for s in segments):
            raise ValueError(
                f"segment_ids {segments[:8]} do not fit: give one of 0 to {limit - 1} for each of "
                f"the {len(encoding)} tokens."
            )
        ids, segment_tensor = self._ids(encoding.input_ids), self._ids(segments)
        states = self.module.states(ids[None], segment_tensor[None])
        hidden_states = states.hidden_states[:, 0].cpu()
        words = None
        if "mlm" in self.capabilities and self.module.mask_id in encoding.input_ids:
            words = self.module.word_states(ids[None], segment_tensor[None])[0].cpu()
        return Trace(
            text_a=text,
            text_b=text_pair,
            tokens=list(encoding.tokens),
            input_ids=list(encoding.input_ids),
            segment_ids=segments,
            position_ids=self.module.positions(ids).tolist(),
            offsets=list(encoding.offsets),
            text_ids=list(encoding.text_ids),
            word_ids=list(encoding.word_ids),
            truncation=encoding.truncation,
            activations=Activations(
                embeddings=traced_embeddings(self.module, ids, segment_tensor, hidden_states[0]),
                hidden_states=hidden_states,
                attentions=states.attentions[:, 0].cpu(),
                queries=None,
                keys=None,
                values=None,
                word_states=words,
            ),
        )

    def decoder(self, text: str, text_pair: str | None = None) -> DecoderTrace:
        """Return the decoder's input, output and attention for a text.

        ValueError if the architecture has no decoder, or the checkpoint no word head.
        """
        self.require("decoder")
        encoding = self.tokenize(text, text_pair)
        return trace_decoder(self.module, self._ids(encoding.input_ids), self.tokenizer.vocab)

    def save(self, folder: str | Path) -> Path:
        """Write a checkpoint folder that `transformers` opens with the same class."""
        folder = Path(folder)
        self.module.model.save_pretrained(folder)
        self.tokenizer.save(folder)
        return folder
