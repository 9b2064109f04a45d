"""The decoder of T5 or BART: its output and its attention."""

from dataclasses import dataclass

import torch
from torch import Tensor

from bertcore.others.families import DENOISING
from bertcore.others.network import OtherNetwork

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
    """Run the decoder on its usual input and keep its attention.

    BART's decoder reads the text itself, shifted by one position, as in its training. T5's reads
    its own output (greedy, at most LONGEST tokens).

    Args:
        network: A network of T5 or BART.
        input_ids: The encoder's ids, int64, [T].
        vocab: Names of the ids.
    """
    model, config = network.model, network.model.config
    ids = input_ids[None]
    start = config.decoder_start_token_id
    start = 0 if start is None else int(start)
    if network.other.words == DENOISING:
        read = torch.cat([ids.new_tensor([[start]]), ids[:, :-1]], dim=1)
    else:
        read = ids.new_tensor([[start]])
        encoded = network.run(network.encoder(), **network.inputs(ids, None, None))
        while read.shape[1] < LONGEST:
            state = network.run(
                model.get_decoder(),
                input_ids=read,
                encoder_hidden_states=encoded.last_hidden_state,
                use_cache=False,
            ).last_hidden_state[:, -1]
            piece = network.word_logits(state)[:, : len(vocab)].argmax(-1)
            if int(piece) == config.eos_token_id:
                break
            read = torch.cat([read, piece[None]], dim=1)
    out = network.run(
        network.base,
        **network.inputs(ids, None, None),
        decoder_input_ids=read,
        output_hidden_states=True,
        output_attentions=True,
        use_cache=False,
    )
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
