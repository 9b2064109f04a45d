"""A checkpoint of another architecture, usable like a `Bert`, and what its decoder computes."""

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from bertcore.model.checkpoints.save import name_objective
from bertcore.model.model import USUAL, Model, TraceInput
from bertcore.model.others.families import DENOISING
from bertcore.model.others.network import OtherNetwork
from bertcore.model.trace import Activations, Trace, TracedEmbeddings

LONGEST = 32
"""Maximum number of tokens that T5's decoder writes."""


@dataclass(frozen=True, slots=True)
class DecoderTrace:
    """The decoder's run over Td tokens, beside the encoder's T."""

    tokens: list[str]
    """The decoder's input, [Td]: each token's state predicts the next token."""
    source_tokens: list[str]
    """The encoder's tokens, [T]."""
    hidden_states: Tensor
    """[L+1, Td, D], with the decoder's L."""
    attentions: Tensor
    """[L, H, Td, Td]: from each token to itself and those before it; rows sum to 1."""
    cross_attentions: Tensor
    """[L, H, Td, T]: from each token of the decoder to those of the encoder; rows sum to 1."""
    written: list[str]
    """The most probable next token after each, [Td]."""


@torch.no_grad()
def trace_decoder(network: OtherNetwork, input_ids: Tensor, vocab: list[str]) -> DecoderTrace:
    """Run the decoder of T5 or BART on its usual input, for ids [T], and keep its attention.

    BART's decoder reads the text itself, shifted by one position, as in its training. T5's reads
    its own output (greedy, at most LONGEST tokens).
    """
    config, ids = network.model.config, input_ids[None]
    inputs = network.inputs(ids, None, None)
    read = ids.new_tensor([[config.decoder_start_token_id or 0]])
    if network.other.words == DENOISING:
        read = torch.cat([read, ids[:, :-1]], dim=1)
    else:
        encoded = network.run(network.encoder(), **inputs).last_hidden_state
        while read.shape[1] < LONGEST:
            state = network.decode(read, encoded)[:, -1]
            piece = network.word_logits(state)[:, : len(vocab)].argmax(-1)
            if int(piece) == config.eos_token_id:
                break
            read = torch.cat([read, piece[None]], dim=1)
    more = {"output_hidden_states": True, "output_attentions": True, "use_cache": False}
    out = network.run(network.base, **inputs, decoder_input_ids=read, **more)
    states = out.decoder_hidden_states
    logits = network.word_logits(states[-1][0])[:, : len(vocab)]
    return DecoderTrace(
        tokens=[vocab[i] for i in read[0].tolist()],
        source_tokens=[vocab[i] for i in input_ids.tolist()],
        hidden_states=torch.cat(tuple(states)).cpu(),
        attentions=torch.cat(tuple(out.decoder_attentions)).cpu(),
        cross_attentions=torch.cat(tuple(out.cross_attentions)).cpu(),
        written=[vocab[i] for i in logits.argmax(-1).tolist()],
    )


class OtherModel(Model):
    """A model of `transformers` and its tokenizer: tokens, hidden states, attention, its heads."""

    module: OtherNetwork

    def trace_bytes(self, num_tokens: int) -> int:
        """Return the most memory that the trace of a text takes.

        `transformers` hands out the weights of all layers, which are copied once, and keeps up to
        seven copies of a layer's scores (DeBERTa). Measured with DeBERTa, GPT-2 and MPNet, 1,000
        to 4,000 tokens, float32: it is 0.6 to 0.9 times this.
        """
        config, size = self.config, self.dtype.itemsize
        num_layers, num_heads = config.num_hidden_layers, config.num_attention_heads
        squares = num_heads * (2 * num_layers * size + 7 * 4)
        rows = size * ((2 * num_layers + 12) * config.hidden_size + 4 * config.intermediate_size)
        return num_tokens * (num_tokens * squares + rows)

    @torch.no_grad()
    def _trace(self, text: str, text_pair: str | None, given: TraceInput = USUAL) -> Trace:
        """Run a text or pair and keep what `transformers` returns: tokens, states, attention."""
        segment_ids, position_ids, encoding, changes = given
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
        with self.room_for(len(encoding)):
            states = self.module.states(ids[None], segment_tensor[None])
        hidden_states = states.hidden_states[:, 0].cpu()
        words = None
        if "mlm" in self.capabilities and self.module.mask_id in encoding.input_ids:
            words = self.module.word_states(ids[None], segment_tensor[None])[0].cpu()
        activations = Activations(
            embeddings=traced_embeddings(self.module, ids, segment_tensor, hidden_states[0]),
            hidden_states=hidden_states,
            attentions=states.attentions[:, 0].cpu(),
            queries=None,
            keys=None,
            values=None,
            word_states=words,
        )
        places = self.module.positions(ids).tolist()
        return self._traced(text, text_pair, encoding, segments, places, activations)

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
        if self.objective is not None:
            name_objective(folder, self.objective)
        self.tokenizer.save(folder)
        self._write_card(folder)
        return folder


def traced_embeddings(
    network: OtherNetwork, input_ids: Tensor, segment_ids: Tensor, first_state: Tensor
) -> TracedEmbeddings:
    """Return what each token, segment and position adds to the input, [T], on the CPU.

    A test checks that LayerNorm of the sum, or the sum itself if there is no LayerNorm, equals the
    first hidden state [T, D]; where a matrix follows, that has another width.
    """

    def whole(part: Tensor) -> Tensor:
        return part.expand(1, len(input_ids), -1)[0].cpu()

    parts = network.input_parts(input_ids[None], segment_ids[None])
    segment, position = (None if part is None else whole(part) for part in parts[1:])
    total = whole(parts.sum)
    if total.shape != first_state.shape:
        norm = network.base.get_submodule(network.other.norm)
        first_state = norm(total.to(network.token_table.device)).cpu()
    return TracedEmbeddings(whole(parts.token), segment, position, total, first_state)
