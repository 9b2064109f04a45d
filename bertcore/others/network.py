"""A model of `transformers` behind the interface of our network."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from bertcore.architecture.families import Capability
from bertcore.network.embeddings import EmbeddingParts
from bertcore.network.encoder import absent_head, too_long
from bertcore.others.config import OtherConfig
from bertcore.others.given import word_logits_of

Hook = Callable[[Tensor], Tensor | None]
"""Called with a module's output, [B, T, ...]; its result, unless None, replaces the output."""


class States(NamedTuple):
    """The states of the encoder, or of GPT-2's decoder, for a batch."""

    hidden_states: Tensor
    """[L+1, B, T, D]; index 0 is the embeddings' output."""
    attentions: Tensor
    """[L, B, H, T, T]; rows sum to 1."""


class OtherNetwork(nn.Module):
    """One model of `transformers`, in evaluation mode, behind the interface of `Encoder`.

    Args:
        model: The model, with or without its head.
        heads: The heads that it has: "mlm", "next", "nsp".
        mask_id: Id of the token for a hidden word; -1: there is none.
        sentinels: Ids of T5's <extra_id_0>, <extra_id_1>, ...
        lock: The lock of another network with the same encoder; None makes one.
    """

    def __init__(
        self,
        model: Any,
        config: OtherConfig,
        heads: frozenset[str],
        *,
        mask_id: int = -1,
        sentinels: Sequence[int] = (),
        lock: threading.RLock | None = None,
    ) -> None:
        super().__init__()
        self.config = config
        self.model = model
        self.heads = heads
        self.other = config.other
        self.mask_id = mask_id
        self.sentinels = list(sentinels)
        self.lock = lock or threading.RLock()

    @property
    def base(self) -> Any:
        """The model without its word head."""
        inner = getattr(self.model, self.model.base_model_prefix, None)
        return self.model if inner is None else inner

    @property
    def token_table(self) -> Tensor:
        """The token embeddings, [V, E]."""
        table: Tensor = self.model.get_input_embeddings().weight
        return table

    @property
    def position_table(self) -> Tensor:
        """The position embeddings, [P, D]; ValueError if the architecture has none."""
        module: Any = self.embedding_modules().get("position")
        if module is None:
            raise ValueError(self.other.absent["positions"])
        table: Tensor = module.weight[getattr(module, "offset", 0) :]  # BART's first two are unused
        return table

    def positions(self, input_ids: Tensor) -> Tensor:
        """Return the position of each token, int64, of input_ids [..., T].

        MPNet counts from 2 and leaves padding out, as RoBERTa does.

        Source: `create_position_ids_from_input_ids` of `transformers`.
        """
        offset = self.other.position_offset
        if not offset:
            return torch.arange(input_ids.shape[-1], device=input_ids.device).expand_as(input_ids)
        is_token = (input_ids != offset - 1).long()
        return is_token.cumsum(-1) * is_token + offset - 1

    def encoder(self) -> Any:
        """Return the module that computes hidden states and attention from ids."""
        return self.model.get_encoder() if self.other.has_decoder else self.base

    def inputs(
        self, input_ids: Tensor, segment_ids: Tensor | None, attention_mask: Tensor | None
    ) -> dict[str, Tensor]:
        """Return the named inputs of a model of `transformers`, each [B, T].

        ValueError if the mask is not [B, T].
        """
        kept = torch.ones_like(input_ids) if attention_mask is None else attention_mask.long()
        if kept.dim() != 2:
            raise ValueError(self.other.absent["parts"])
        named = {"input_ids": input_ids, "attention_mask": kept}
        if self.config.type_vocab_size:
            segments = torch.zeros_like(input_ids) if segment_ids is None else segment_ids
            named["token_type_ids"] = segments
        return named

    def states(
        self,
        input_ids: Tensor,
        segment_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
    ) -> States:
        """Return every hidden state and all attention of a batch, on the device.

        Args:
            input_ids, segment_ids: int64, [B, T].
            attention_mask: True = attend, [B, T]; None means attend to all.

        ValueError if the input is too long.
        """
        self._check_length(input_ids)
        if self._is_padded(attention_mask):
            rows = [self.states(*row) for row in _rows(input_ids, segment_ids, attention_mask)]
            length = input_ids.shape[1]
            states = [_padded(row.hidden_states, length) for row in rows]
            weights = [_padded(_padded(r.attentions, length).mT, length).mT for r in rows]
            return States(torch.cat(states, 1), torch.cat(weights, 1))
        inputs = self.inputs(input_ids, segment_ids, attention_mask)
        out = self.run(self.encoder(), **inputs, output_hidden_states=True, output_attentions=True)
        return States(torch.stack(tuple(out.hidden_states)), torch.stack(tuple(out.attentions)))

    def run(self, part: Any, **inputs: Any) -> Any:
        """Call a model of `transformers`; one at a time, since it keeps intermediate results."""
        with self.lock:
            return part(**inputs, return_dict=True)

    def forward(
        self,
        input_ids: Tensor,
        segment_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        *,
        num_layers: int | None = None,
    ) -> Tensor:
        """Return the hidden state of the encoder's last layer, [B, T, D], or of another layer.

        ValueError if the input is too long.
        """
        if num_layers is not None:
            return self.states(input_ids, segment_ids, attention_mask).hidden_states[num_layers]
        self._check_length(input_ids)
        if self._is_padded(attention_mask):
            rows = _rows(input_ids, segment_ids, attention_mask)
            return torch.cat([_padded(self(*row), input_ids.shape[1]) for row in rows])
        inputs = self.inputs(input_ids, segment_ids, attention_mask)
        last: Tensor = self.run(self.encoder(), **inputs).last_hidden_state
        return last

    def embedding_modules(self) -> dict[str, nn.Module]:
        """Return the tables whose vectors are summed: "token", and "segment" and "position"."""
        encoder = self.encoder()
        tables = getattr(encoder, "embeddings", None)
        positions = (
            getattr(tables, "position_embeddings", None),
            getattr(encoder, "embed_positions", None),
            getattr(encoder, "wpe", None),
        )
        modules = {
            "token": encoder.get_input_embeddings(),
            "segment": getattr(tables, "token_type_embeddings", None),
            "position": next((module for module in positions if module is not None), None),
        }
        return {name: module for name, module in modules.items() if module is not None}

    def layer_modules(self, path: str | None = None) -> list[nn.Module]:
        """Return the module that ends each layer; [] if no layer is called as one module.

        Args:
            path: Of the list of layers; None: the architecture's.
        """
        path = self.other.layers if path is None else path
        if not path:
            return []
        layers = list(self.base.get_submodule(path))
        convolution = getattr(getattr(self.base, "encoder", None), "conv", None)
        if convolution is not None:  # in the larger DeBERTa-v2, it follows the first layer
            layers[0] = convolution
        return layers

    def look_up(self, input_ids: Tensor, segment_ids: Tensor) -> EmbeddingParts:
        """Return the embeddings of an input before they are summed; ids are int64, [B, T]."""
        return self._looked_up(self.embedding_modules(), input_ids, segment_ids)

    def input_parts(self, input_ids: Tensor, segment_ids: Tensor) -> EmbeddingParts:
        """Return the vectors that are summed, each [..., T, E]; arguments as for `look_up`.

        A matrix may come between table and sum: over a token and its neighbours (MobileBERT), or
        over the sum, so that it can be applied to each summand (DeBERTa).
        """
        modules = self.embedding_modules()
        tables: Any = getattr(self.base, "embeddings", None)
        mixed: Any = getattr(tables, "embedding_transformation", None)
        if mixed is not None and (tables.trigram_input or mixed.in_features != mixed.out_features):
            modules["token"] = mixed
        parts = self._looked_up(modules, input_ids, segment_ids)
        projection = getattr(tables, "embed_proj", None)
        if projection is None:
            return parts
        with torch.no_grad():
            segment, position = (part if part is None else projection(part) for part in parts[1:])
            return EmbeddingParts(projection(parts.token), segment, position)

    def _looked_up(
        self, modules: Mapping[str, nn.Module], input_ids: Tensor, segment_ids: Tensor
    ) -> EmbeddingParts:
        """Return the outputs of modules, by name, for an input."""
        found: dict[str, Tensor] = {}
        hooks = {
            module: lambda vectors, name=name: found.update({name: vectors})
            for name, module in modules.items()
        }
        with self.hooked(hooks), torch.no_grad():
            self(input_ids, segment_ids)
        return EmbeddingParts(found["token"], found.get("segment"), found.get("position"))

    def run_embedded(
        self,
        embedded: EmbeddingParts,
        input_ids: Tensor,
        segment_ids: Tensor,
        attention_mask: Tensor | None = None,
        *,
        after: Callable[[int, Tensor], Tensor] = lambda index, state: state,
    ) -> Tensor:
        """Return the last hidden state, [B, T, D], for embeddings instead of those of an input.

        Hooks on the tables insert them.

        Args:
            embedded: Each [B, T, E], or [1, T, E] for all rows.
            input_ids, segment_ids: Ids of the input, int64, [B, T] or [1, T].
            attention_mask: True at tokens, [B, T]; None: no token is padding.
            after: Called with the index and output of each layer; returns the next layer's input.

        ValueError if there is padding, and the architecture reads it.
        """
        if self._is_padded(attention_mask):
            raise ValueError(
                f"{self.other.name} reads padding, so gradients cannot be taken for inputs of "
                "several lengths together. Explain choices of one length, or by occlusion."
            )
        num_rows, parts = len(embedded.token), embedded._asdict()

        def vectors_of(name: str) -> Hook:
            return lambda vectors: parts[name].expand(num_rows, -1, -1)

        def behind(index: int) -> Hook:
            return lambda state: after(index, state)

        tables, layers = self.embedding_modules(), self.layer_modules()
        hooks = {table: vectors_of(name) for name, table in tables.items()}
        hooks |= {layer: behind(index) for index, layer in enumerate(layers)}
        ids, segments = (x.expand(num_rows, -1) for x in (input_ids, segment_ids))
        with self.hooked(hooks):
            hidden: Tensor = self(ids, segments, attention_mask)
        return hidden

    @contextmanager
    def hooked(
        self, hooks: Mapping[nn.Module, Callable[[Tensor], Tensor | None]]
    ) -> Iterator[None]:
        """Call functions with the output of some modules; no other thread runs meanwhile."""

        def register(module: nn.Module, function: Hook) -> Any:
            def hook(module: nn.Module, inputs: Any, output: Any) -> Any:
                first = output[0] if isinstance(output, tuple) else output
                changed = function(self._batch_first(first))
                if changed is None:
                    return None
                changed = self._batch_first(changed)
                return (changed, *output[1:]) if isinstance(output, tuple) else changed

            return module.register_forward_hook(hook)

        with self.lock:
            handles = [register(module, function) for module, function in hooks.items()]
            try:
                yield
            finally:
                for handle in handles:
                    handle.remove()

    def _batch_first(self, tensor: Tensor) -> Tensor:
        """Convert between [B, T, ...] and the model's own layout."""
        return tensor.transpose(0, 1) if self.other.is_time_first else tensor

    def every_state(self, input_ids: Tensor, segment_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Return all hidden states, [L+1, B, T, D]."""
        return self.states(input_ids, segment_ids, attention_mask).hidden_states

    def every_attention(
        self, input_ids: Tensor, segment_ids: Tensor, attention_mask: Tensor
    ) -> Tensor:
        """Return the weights of all layers, float32 [L, B, H, T, T]."""
        return self.states(input_ids, segment_ids, attention_mask).attentions.float()

    def word_states(
        self,
        input_ids: Tensor,
        segment_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
    ) -> Tensor:
        """Return the word head's input at each token, [B, T, D].

        Only the states at hidden tokens are meaningful; in GPT-2, those of all tokens.
        """
        self._check_length(input_ids)
        return self._word_states(input_ids, segment_ids, attention_mask)

    def _word_states(
        self, input_ids: Tensor, segment_ids: Tensor | None, attention_mask: Tensor | None
    ) -> Tensor:
        out: Tensor = self(input_ids, segment_ids, attention_mask)
        return out

    def word_states_at(
        self,
        input_ids: Tensor,
        segment_ids: Tensor,
        attention_mask: Tensor | None,
        places: Tensor,
    ) -> Tensor:
        """Return the word head's input at one position of each text, [B, D]."""
        states = self.word_states(input_ids, segment_ids, attention_mask)
        return states[torch.arange(len(states), device=states.device), places]

    def word_states_and_attention(
        self, input_ids: Tensor, segment_ids: Tensor, attention_mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the word head's input, and the mean attention over layers and heads.

        [B, T, D] and float32 [B, T, T]; two runs, since the head's input may be the decoder's.
        """
        attention = self.every_attention(input_ids, segment_ids, attention_mask).mean((0, 2))
        return self.word_states(input_ids, segment_ids, attention_mask), attention

    def read_early(self, states: Tensor) -> Tensor:
        """Return hidden states [L+1, ...] as they are."""
        return states

    def word_logits(self, hidden: Tensor) -> Tensor:
        """Return vocabulary logits, [..., V], for the word head's input, [..., D]."""
        return word_logits_of(self.model, hidden)

    def mlm_logits(self, hidden: Tensor) -> Tensor:
        """Return vocabulary logits, [..., V], for the result of `word_states`, [..., D].

        ValueError if this checkpoint has no word head, or the architecture has no masks.
        """
        self._require_head("mlm")
        return self.word_logits(hidden)

    def next_logits(self, hidden: Tensor) -> Tensor:
        """Return logits of the token after each, [..., V], of GPT-2's last hidden state [..., D].

        ValueError if this checkpoint does not predict next tokens.
        """
        self._require_head("next")
        return self.word_logits(hidden)

    def nsp_logits(self, hidden: Tensor) -> Tensor:
        """Return next-sentence logits, [B, 2], of hidden [B, T, D] (MobileBERT).

        ValueError if this checkpoint has no next-sentence head.
        """
        self._require_head("nsp")
        logits: Tensor = self.model.cls.seq_relationship(self.base.pooler(hidden))
        return logits

    def pooled(self, hidden: Tensor) -> Tensor:
        """Raise ValueError: poolers of other architectures are not supported."""
        raise ValueError(self.why_no_head("pooler"))

    def sop_logits(self, hidden: Tensor) -> Tensor:
        """Raise ValueError: only ALBERT has a sentence-order head."""
        raise ValueError(self.why_no_head("sop"))

    def replaced_logits(self, hidden: Tensor) -> Tensor:
        """Raise ValueError: `transformers` has no class with DeBERTa-v3's replaced-token head."""
        raise ValueError(self.why_no_head("replaced"))

    def why_no_head(self, head: Capability) -> str | None:
        """Return the reason why a head is absent, as a sentence; None if it is present.

        Args:
            head: One of `bertcore.architecture.families.HEADS`.
        """
        has_words = bool(self.heads & {"mlm", "next"})
        if head in self.heads or (head == "decoder" and self.other.has_decoder and has_words):
            return None
        if head == "mlm" and self.other.is_causal:
            return self.other.absent["mlm"]  # no checkpoint of it has one
        return absent_head(head, self.other)

    def _require_head(self, head: Capability) -> None:
        reason = self.why_no_head(head)
        if reason is not None:
            raise ValueError(reason)

    def _is_padded(self, attention_mask: Tensor | None) -> bool:
        """Return whether there is padding that the architecture reads."""
        if not self.other.reads_padding or attention_mask is None:
            return False
        return not bool(attention_mask.all())

    def _check_length(self, input_ids: Tensor) -> None:
        num_tokens, limit = input_ids.shape[-1], self.config.max_length
        if num_tokens > limit:
            raise ValueError(too_long(num_tokens, limit))


def _rows(
    input_ids: Tensor, segment_ids: Tensor | None, attention_mask: Tensor | None
) -> Iterator[tuple[Tensor, Tensor | None]]:
    """Yield the ids and segments of each row without its padding, each [1, T]."""
    assert attention_mask is not None
    for row, is_token in enumerate(attention_mask.bool()):
        segments = None if segment_ids is None else segment_ids[row, is_token][None]
        yield input_ids[row, is_token][None], segments


def _padded(tensor: Tensor, length: int) -> Tensor:
    """Return a tensor [..., T, N] padded with zeros to a length."""
    return nn.functional.pad(tensor, (0, 0, 0, length - tensor.shape[-2]))
