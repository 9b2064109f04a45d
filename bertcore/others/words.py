"""The architectures that do not predict a hidden word from its last hidden state."""

from collections.abc import Mapping

import torch
from torch import Tensor

from bertcore.others.families import DENOISING, PERMUTED, SPANS, OtherFamily
from bertcore.others.network import OtherNetwork

LONGEST_SPAN = 8
"""Maximum number of pieces that T5's decoder writes for a sentinel before the next one."""


class PermutedNetwork(OtherNetwork):
    """XLNet, which predicts words from a second stream of vectors."""

    def _word_states(
        self, input_ids: Tensor, segment_ids: Tensor | None, attention_mask: Tensor | None
    ) -> Tensor:
        """Return the query stream g at each token: it knows the position but not the token.

        No token attends to hidden tokens; all attend to the others.

        Source: Yang et al. 2019, section 2.3 (two-stream attention), with an order in which all
            hidden tokens come last and do not attend to each other.
        """
        inputs = self.inputs(input_ids, segment_ids, attention_mask)
        num_tokens = input_ids.shape[1]
        hidden = input_ids == self.mask_id
        unseen = hidden[:, None, :].expand(-1, num_tokens, -1)
        mapping = torch.eye(num_tokens, device=input_ids.device).expand(len(input_ids), -1, -1)
        dtype = self.token_table.dtype
        states: Tensor = self.run(
            self.base,
            **inputs,
            perm_mask=unseen.to(dtype),
            target_mapping=mapping.to(dtype),
            use_mems=False,
        ).last_hidden_state
        return states


class DenoisingNetwork(OtherNetwork):
    """BART, whose decoder writes the whole text again."""

    def word_logits(self, hidden: Tensor) -> Tensor:
        logits: Tensor = self.model.lm_head(hidden)
        bias: Tensor = self.model.final_logits_bias[0]
        return logits + bias.to(hidden.device)

    def _word_states(
        self, input_ids: Tensor, segment_ids: Tensor | None, attention_mask: Tensor | None
    ) -> Tensor:
        inputs = self.inputs(input_ids, segment_ids, attention_mask)
        states: Tensor = self.run(self.base, **inputs).last_hidden_state
        return states


class SpanNetwork(OtherNetwork):
    """T5, whose decoder writes what each sentinel stands for."""

    def word_logits(self, hidden: Tensor) -> Tensor:
        scale = self.model.model_dim**-0.5 if self.model.config.scale_decoder_outputs else 1.0
        logits: Tensor = self.model.lm_head(hidden * scale)
        return logits

    def _word_states(
        self, input_ids: Tensor, segment_ids: Tensor | None, attention_mask: Tensor | None
    ) -> Tensor:
        """Return the decoder's state from which it writes the first piece for each sentinel.

        Hidden tokens are numbered: the first becomes <extra_id_0>, the next <extra_id_1>. The
        decoder gets each sentinel in turn, after its own (greedy) output for those before.

        Source: Raffel et al. 2020, section 3.1.4 (the form of inputs and targets).
        """
        hidden = input_ids == self.mask_id  # <extra_id_0>, or [MASK] of word pieces
        counts = hidden.sum(1)
        most = int(counts.max())
        if most > len(self.sentinels):
            raise ValueError(
                f"{most} words are hidden, but T5 has {len(self.sentinels)} sentinels. Hide fewer."
            )
        numbered = input_ids.clone()
        for row, where in enumerate(hidden):
            numbered[row, where] = torch.tensor(self.sentinels[: int(counts[row])]).to(input_ids)
        inputs = self.inputs(numbered, None, attention_mask)
        encoded = self.run(self.encoder(), **inputs).last_hidden_state
        states = torch.zeros_like(encoded)
        for row in hidden.any(1).nonzero()[:, 0].tolist():
            one = slice(row, row + 1)
            kept = inputs["attention_mask"][one]
            states[row, hidden[row]] = self._row_states(encoded[one], kept, int(counts[row]))
        return states

    def _row_states(self, encoded: Tensor, attention_mask: Tensor, count: int) -> Tensor:
        """Return the states from which the pieces of `count` sentinels are written, [count, D]."""
        ids = attention_mask.new_tensor([[self.model.config.decoder_start_token_id or 0]])
        stops = {*self.sentinels, self.model.config.eos_token_id}
        states = []
        for number in range(count):
            ids = torch.cat([ids, ids.new_tensor([[self.sentinels[number]]])], dim=1)
            states.append(self._decode(ids, encoded, attention_mask)[0, -1])
            state = states[-1]
            for _ in range(LONGEST_SPAN if number + 1 < count else 0):
                piece = self.word_logits(state[None]).argmax(-1)
                if int(piece) in stops:
                    break
                ids = torch.cat([ids, piece[None]], dim=1)
                state = self._decode(ids, encoded, attention_mask)[0, -1]
        return torch.stack(states)

    def _decode(self, ids: Tensor, encoded: Tensor, attention_mask: Tensor) -> Tensor:
        """Return the decoder's last states, [B, Td, D]."""
        states: Tensor = self.run(
            self.model.get_decoder(),
            input_ids=ids,
            encoder_hidden_states=encoded,
            encoder_attention_mask=attention_mask,
            use_cache=False,
        ).last_hidden_state
        return states


_NETWORKS: Mapping[str, type[OtherNetwork]] = {
    PERMUTED: PermutedNetwork,
    DENOISING: DenoisingNetwork,
    SPANS: SpanNetwork,
}


def network_class(family: OtherFamily) -> type[OtherNetwork]:
    """Return the class of networks that predict words as an architecture does."""
    return _NETWORKS.get(family.words, OtherNetwork)
