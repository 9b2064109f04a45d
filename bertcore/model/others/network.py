"""A model of `transformers` behind the interface of our network, and the words that it predicts."""

import copy
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from bertcore.model.architecture.families import Capability
from bertcore.model.network.embeddings import EmbeddingParts
from bertcore.model.network.encoder import absent_head, too_long
from bertcore.model.others.config import OtherConfig
from bertcore.model.others.families import DENOISING, PERMUTED, SPANS, OtherFamily

Maybe = Tensor | None
Hook = Callable[[Tensor], Maybe]
"""Called with a module's output, [B, T, ...]; its result, unless None, replaces the output."""
LONGEST_SPAN = 8
"""Maximum number of pieces that T5's decoder writes for a sentinel before the next one."""


class States(NamedTuple):
    """The states of the encoder, or of GPT-2's decoder, for a batch."""

    hidden_states: Tensor
    """[L+1, B, T, D]; index 0 is the embeddings' output."""
    attentions: Tensor
    """[L, B, H, T, T]; rows sum to 1, unless the family's `attention_note` says otherwise."""


class _Output(NamedTuple):
    """The part of an encoder's output that heads read."""

    last_hidden_state: Tensor
    pooler_output: Maybe
    mems: None = None
    hidden_states: None = None
    attentions: None = None
    past_key_values: None = None
    cross_attentions: None = None


class _Given:
    """A stand-in for an encoder whose results are known."""

    def __init__(self, base: Any, hidden: Tensor) -> None:
        pooler = getattr(base, "pooler", None)
        self.out = _Output(hidden, None if pooler is None else pooler(hidden))
        self.embeddings = getattr(base, "embeddings", None)  # DeBERTa's head reads its table

    def __call__(self, *arguments: Any, **options: Any) -> _Output:
        return self.out


def run_head(model: Any, ids: Tensor, hidden: Tensor, attention_mask: Maybe = None) -> Any:
    """Return the output of a model whose encoder's result is given.

    Args:
        ids: Ids in the shape that the class takes, [B, T], or [B, 1, T] for choices. Their values
            are not read.
        attention_mask: True at tokens, [B, T]; None: there is no padding.
    """
    twin, prefix = copy.copy(model), model.base_model_prefix
    twin._modules = {**model._modules, prefix: _Given(getattr(model, prefix), hidden)}
    return twin(
        input_ids=ids, attention_mask=None if attention_mask is None else attention_mask.long()
    )


class OtherNetwork(nn.Module):
    """One model of `transformers`, in evaluation mode, behind the interface of `Encoder`.

    Args:
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
        lock: "threading.RLock | None" = None,
    ) -> None:
        super().__init__()
        self.config, self.model, self.heads = config, model, heads
        self.mask_id, self.sentinels = mask_id, list(sentinels)
        self.lock = lock or threading.RLock()

    @property
    def other(self) -> OtherFamily:
        return self.config.other

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
        self, input_ids: Tensor, segment_ids: Maybe, attention_mask: Maybe
    ) -> dict[str, Tensor]:
        """Return the named inputs of a model of `transformers`, each [B, T].

        ValueError if the mask is not [B, T].
        """
        mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask.long()
        if mask.dim() != 2:
            raise ValueError(self.other.absent["parts"])
        named = {"input_ids": input_ids, "attention_mask": mask}
        if self.config.type_vocab_size:
            segments = torch.zeros_like(input_ids) if segment_ids is None else segment_ids
            named["token_type_ids"] = segments
        return named

    def run(self, part: Any, **inputs: Any) -> Any:
        """Call a model of `transformers`; one at a time, since it keeps intermediate results."""
        with self.lock:
            return part(**inputs, return_dict=True)

    def states(
        self, input_ids: Tensor, segment_ids: Maybe = None, attention_mask: Maybe = None
    ) -> States:
        """Return every hidden state and all attention of a batch [B, T]; True = attend.

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
        attentions = torch.stack(tuple(out.attentions))
        if self.other.returns_scores:
            attentions = attentions.softmax(-1)
        return States(torch.stack(tuple(out.hidden_states)), attentions)

    def forward(
        self,
        input_ids: Tensor,
        segment_ids: Maybe = None,
        attention_mask: Maybe = None,
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
        places = ((tables, "position_embeddings"), (encoder, "embed_positions"), (encoder, "wpe"))
        positions = (getattr(owner, name, None) for owner, name in places)
        modules = {
            "token": encoder.get_input_embeddings(),
            "segment": getattr(tables, "token_type_embeddings", None),
            "position": next((module for module in positions if module is not None), None),
        }
        return {name: module for name, module in modules.items() if module is not None}

    def layer_modules(self, path: str | None = None) -> list[nn.Module]:
        """Return the module that ends each layer; [] if no layer is called as one module.

        `path` is that of the list of layers, by default the architecture's.
        """
        path = self.other.layers if path is None else path
        layers = list(self.base.get_submodule(path)) if path else []
        convolution = getattr(getattr(self.base, "encoder", None), "conv", None)
        if layers and convolution is not None:  # in the larger DeBERTa-v2, it follows the first one
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
        outputs: dict[str, Tensor] = {}
        hooks = {
            module: lambda vectors, name=name: outputs.update({name: vectors})
            for name, module in modules.items()
        }
        with self.hooked(hooks), torch.no_grad():
            self(input_ids, segment_ids)
        return EmbeddingParts(outputs["token"], outputs.get("segment"), outputs.get("position"))

    def run_embedded(
        self,
        embedded: EmbeddingParts,
        input_ids: Tensor,
        segment_ids: Tensor,
        attention_mask: Maybe = None,
        *,
        after: Callable[[int, Tensor], Tensor] = lambda index, state: state,
    ) -> Tensor:
        """Return the last hidden state, [B, T, D], for embeddings instead of those of an input.

        Hooks on the tables insert them, each [B, T, E], or [1, T, E] for all rows. `after` is
        called with the index and output of each layer; returns the next layer's input.

        ValueError if there is padding, and the architecture reads it.
        """
        if self._is_padded(attention_mask):
            raise ValueError(
                f"{self.other.name} reads padding, so gradients cannot be taken for inputs of "
                "several lengths together. Explain choices of one length, or by occlusion."
            )
        num_rows, parts = len(embedded.token), embedded._asdict()

        def vectors_of(name: str) -> Hook:
            return lambda _: parts[name].expand(num_rows, -1, -1)

        hooks = {table: vectors_of(name) for name, table in self.embedding_modules().items()}
        hooks |= {layer: partial(after, n) for n, layer in enumerate(self.layer_modules())}
        ids, segments = (x.expand(num_rows, -1) for x in (input_ids, segment_ids))
        with self.hooked(hooks):
            hidden: Tensor = self(ids, segments, attention_mask)
        return hidden

    @contextmanager
    def hooked(self, hooks: Mapping[nn.Module, Hook]) -> Iterator[None]:
        """Call functions with the output of some modules; no other thread runs meanwhile."""

        def batch_first(tensor: Tensor) -> Tensor:
            return tensor.transpose(0, 1) if self.other.is_time_first else tensor

        def register(module: nn.Module, function: Hook) -> Any:
            def hook(module: nn.Module, inputs: Any, output: Any) -> Any:
                is_tuple = isinstance(output, tuple)
                changed = function(batch_first(output[0] if is_tuple else output))
                if changed is None:
                    return None
                return (batch_first(changed), *output[1:]) if is_tuple else batch_first(changed)

            return module.register_forward_hook(hook)

        with self.lock:
            handles = [register(module, function) for module, function in hooks.items()]
            try:
                yield
            finally:
                for handle in handles:
                    handle.remove()

    def every_state(self, input_ids: Tensor, segment_ids: Tensor, attention_mask: Tensor) -> Tensor:
        return self.states(input_ids, segment_ids, attention_mask).hidden_states

    def every_attention(
        self, input_ids: Tensor, segment_ids: Tensor, attention_mask: Tensor
    ) -> Tensor:
        return self.states(input_ids, segment_ids, attention_mask).attentions.float()

    def word_states(
        self, input_ids: Tensor, segment_ids: Maybe = None, attention_mask: Maybe = None
    ) -> Tensor:
        """Return the word head's input at each token, [B, T, D].

        Only the states at hidden tokens are meaningful; in GPT-2, those of all tokens.
        """
        if self.other.words not in (PERMUTED, DENOISING, SPANS):
            states: Tensor = self(input_ids, segment_ids, attention_mask)
            return states
        self._check_length(input_ids)
        if self.other.words == SPANS:
            return self._span_states(input_ids, attention_mask)
        inputs: dict[str, Any] = {**self.inputs(input_ids, segment_ids, attention_mask)}
        if self.other.words == PERMUTED:
            # The query stream g: no token attends to hidden ones, all attend to the others. Yang et
            # al. 2019, section 2.3, with an order in which all hidden tokens come last and do not
            # attend to each other.
            table, length = self.token_table, input_ids.shape[1]
            hidden = (input_ids == self.mask_id)[:, None, :].expand(-1, length, -1)
            target = torch.eye(length, device=input_ids.device).expand(len(input_ids), -1, -1)
            inputs |= {"perm_mask": hidden.to(table), "target_mapping": target.to(table)}
            inputs["use_mems"] = False
        states = self.run(self.base, **inputs).last_hidden_state
        return states

    def _span_states(self, input_ids: Tensor, attention_mask: Maybe) -> Tensor:
        """Return the decoder's state from which it writes the first piece for each sentinel.

        Hidden tokens are numbered: the first becomes <extra_id_0>, the next <extra_id_1>. The
        decoder gets each sentinel in turn, after its own (greedy) output for those before.

        Source: Raffel et al. 2020, section 3.1.4 (the form of inputs and targets).
        """
        is_hidden = input_ids == self.mask_id  # <extra_id_0>, or [MASK] of word pieces
        most = int(is_hidden.sum(1).max())
        if most > len(self.sentinels):
            raise ValueError(
                f"{most} words are hidden, but T5 has {len(self.sentinels)} sentinels. Hide fewer."
            )
        order = torch.tensor(self.sentinels).to(input_ids)[(is_hidden.cumsum(1) - 1).clamp(min=0)]
        inputs = self.inputs(torch.where(is_hidden, order, input_ids), None, attention_mask)
        encoded = self.run(self.encoder(), **inputs).last_hidden_state
        states = torch.zeros_like(encoded)
        stops = {*self.sentinels, self.model.config.eos_token_id}
        for row in is_hidden.any(1).nonzero()[:, 0].tolist():
            source = encoded[row : row + 1], inputs["attention_mask"][row : row + 1]
            ids = input_ids.new_tensor([[self.model.config.decoder_start_token_id or 0]])
            places = is_hidden[row].nonzero()[:, 0].tolist()
            for number, place in enumerate(places):
                ids = torch.cat([ids, ids.new_tensor([[self.sentinels[number]]])], dim=1)
                state = states[row, place] = self.decode(ids, *source)[0, -1]
                for _ in range(LONGEST_SPAN if number + 1 < len(places) else 0):
                    piece = self.word_logits(state[None]).argmax(-1)
                    if int(piece) in stops:
                        break
                    ids = torch.cat([ids, piece[None]], dim=1)
                    state = self.decode(ids, *source)[0, -1]
        return states

    def decode(self, ids: Tensor, encoded: Tensor, attention_mask: Maybe = None) -> Tensor:
        """Return the decoder's last states, [B, Td, D], for ids [B, Td] and encoder states."""
        states: Tensor = self.run(
            self.model.get_decoder(),
            input_ids=ids,
            encoder_hidden_states=encoded,
            encoder_attention_mask=attention_mask,
            use_cache=False,
        ).last_hidden_state
        return states

    def word_states_at(
        self, input_ids: Tensor, segment_ids: Tensor, attention_mask: Maybe, places: Tensor
    ) -> Tensor:
        states = self.word_states(input_ids, segment_ids, attention_mask)
        return states[torch.arange(len(states), device=states.device), places]

    def read_early(self, states: Tensor) -> Tensor:
        return states

    def word_logits(self, hidden: Tensor) -> Tensor:
        """Return vocabulary logits, [..., V], for the word head's input, [..., D]."""
        if self.other.has_decoder:
            is_scaled = self.other.words == SPANS and self.model.config.scale_decoder_outputs
            scale = self.model.model_dim**-0.5 if is_scaled else 1.0
            logits: Tensor = self.model.lm_head(hidden * scale)
            bias = getattr(self.model, "final_logits_bias", None)
            return logits if bias is None else logits + bias[0].to(hidden.device)
        rows = hidden.reshape(1, -1, hidden.shape[-1])
        ids = torch.zeros(rows.shape[:2], dtype=torch.long, device=hidden.device)
        return word_logits_in(run_head(self.model, ids, rows)).reshape(*hidden.shape[:-1], -1)

    def mlm_logits(self, hidden: Tensor) -> Tensor:
        self._require_head("mlm")
        return self.word_logits(hidden)

    def next_logits(self, hidden: Tensor) -> Tensor:
        self._require_head("next")
        return self.word_logits(hidden)

    def nsp_logits(self, hidden: Tensor) -> Tensor:
        self._require_head("nsp")
        logits: Tensor = self.model.cls.seq_relationship(self.base.pooler(hidden))
        return logits

    def pooled(self, hidden: Tensor) -> Tensor:
        raise ValueError(self.why_no_head("pooler"))

    def sop_logits(self, hidden: Tensor) -> Tensor:
        raise ValueError(self.why_no_head("sop"))

    def replaced_logits(self, hidden: Tensor) -> Tensor:
        raise ValueError(self.why_no_head("replaced"))

    def why_no_head(self, head: Capability) -> str | None:
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

    def _is_padded(self, attention_mask: Maybe) -> bool:
        """Return whether there is padding that the architecture reads."""
        if not self.other.reads_padding or attention_mask is None:
            return False
        return not bool(attention_mask.all())

    def _check_length(self, input_ids: Tensor) -> None:
        num_tokens, limit = input_ids.shape[-1], self.config.max_length
        if num_tokens > limit:
            raise ValueError(too_long(num_tokens, limit))


def word_logits_in(out: Any) -> Tensor:
    """Return the logits of a class with a word head; MobileBERT's has two kinds of logits."""
    logits: Tensor = out.prediction_logits if "prediction_logits" in out else out.logits
    return logits


def _rows(
    input_ids: Tensor, segment_ids: Maybe, attention_mask: Maybe
) -> Iterator[tuple[Tensor, Maybe]]:
    """Yield the ids and segments of each row without its padding, each [1, T]."""
    assert attention_mask is not None
    for row, is_token in enumerate(attention_mask.bool()):
        segments = None if segment_ids is None else segment_ids[row, is_token][None]
        yield input_ids[row, is_token][None], segments


def _padded(tensor: Tensor, length: int) -> Tensor:
    """Return a tensor [..., T, N] padded with zeros to a length."""
    return nn.functional.pad(tensor, (0, 0, 0, length - tensor.shape[-2]))
