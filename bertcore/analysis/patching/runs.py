"""Runs with activations of another run put in: from the changed layer on, many places at a time."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from bertcore.likelihood.hidden_tokens import CPU_TOKENS_PER_BATCH, TOKENS_PER_BATCH
from bertcore.model import Model
from bertcore.network import EmbeddingParts, Network, attention_fused
from bertcore.others.families import MASKED
from bertcore.others.network import OtherNetwork
from bertcore.tokenizer import Encoding

Read = Callable[[Tensor], Tensor]
"""Maps last hidden states of the token that is read, [B, 1, D], or of all, [B, T, D], to numbers
[B]."""
Groups = Sequence[Sequence[int]]
"""Numbers of the pairs of places that are patched together in one run."""


class LayerRun(NamedTuple):
    """The values a layer computes for one input."""

    context: Tensor
    """Context of each head, [H, T, K]."""
    attended: Tensor
    """Output of attention, [T, D]."""
    middle: Tensor
    """The state between the blocks, [T, D]."""
    fed: Tensor
    """Output of the feed-forward block, [T, D]."""


class WholeRun(NamedTuple):
    """Every activation of a run that can be patched."""

    states: list[Tensor]
    """L+1 of [T, D]; the first is the embeddings' output."""
    layers: list[LayerRun]


def whole_run(network: Network, ids: Tensor, segments: Tensor) -> WholeRun:
    """Run one input, int64 [T], part by part; the same numbers as `Network.forward`."""
    hidden, _ = network.embed(ids[None], segments[None])
    states, layers = [hidden[0]], []
    for layer in network.layers:
        block, feed_forward = layer.attention, layer.feed_forward
        queries, keys, values = block.project(hidden)
        context = attention_fused(queries, keys, values, block.masked(None, hidden.shape[1]))
        attended = block.write(context)
        middle = block.add(attended, hidden)
        fed = feed_forward.write(middle)
        hidden = feed_forward.add(fed, middle)
        layers.append(LayerRun(context[0], attended[0], middle[0], fed[0]))
        states.append(hidden[0])
    return WholeRun(states, layers)


class Runs:
    """A base run and a source run on our network; activations of the source are put into the base.

    Args:
        model: A checkpoint with parts.
        base, source: Their inputs, of T and T' tokens.
        pairs: Position in the base and in the source of each place that can be patched.
        place: The token of the base whose last state is read; None: all of them.
        source_place: As `place`, in the source.
    """

    def __init__(
        self,
        model: Model,
        base: Encoding,
        source: Encoding,
        pairs: Sequence[tuple[int, int]],
        place: int | None,
        read: Read,
        source_place: int | None,
    ) -> None:
        network = model.module
        assert isinstance(network, Network)
        self.network, self.place, self.read = network, place, read
        self.mine = torch.tensor([i for i, _ in pairs], device=model.device)
        self.theirs = torch.tensor([j for _, j in pairs], device=model.device)
        self.base, self.source = (
            whole_run(network, *ids_of(model, encoding)) for encoding in (base, source)
        )
        on_cpu = model.device.type == "cpu"
        tokens = CPU_TOKENS_PER_BATCH if on_cpu else TOKENS_PER_BATCH
        self.rows = max(1, tokens // len(base))
        self.base_value = self.value_after(self.depth, self.base.states[-1][None])
        last = self.source.states[-1][None]
        at = slice(None) if source_place is None else slice(source_place, source_place + 1)
        self.source_value = float(read(last[:, at]))

    @property
    def depth(self) -> int:
        return len(self.network.layers)

    def value_after(self, state: int, hidden: Tensor) -> float:
        """Return the answer if hidden state `state` were this one, [1, T, D]."""
        return float(self.values_after(state, hidden))

    def values_after(self, state: int, hidden: Tensor) -> Tensor:
        """Return the same for many rows, [B, T, D]: [B]."""
        last, place = self.depth - 1, self.place
        if place is None or state > last:
            hidden = self.network.run_layers(hidden, layers=range(state, self.depth))
            return self.read(hidden if place is None else hidden[:, place : place + 1])
        hidden = self.network.run_layers(hidden, layers=range(state, last))
        places = torch.full((len(hidden),), place, device=hidden.device)
        return self.read(self.network.run_last_layer_at(hidden, None, places))

    def put(self, base: Tensor, source: Tensor) -> Tensor:
        """Return an activation of the base, [..., T, W], with the source's at every place."""
        out = base.clone()
        out[..., self.mine, :] = source[..., self.theirs, :]
        return out

    def state_row(self, state: int, groups: Groups) -> Iterator[Tensor]:
        """Yield the answers with hidden state `state` of the source put in, for each group."""
        patched = self.put(self.base.states[state], self.source.states[state])
        yield from self._row(state, patched, groups)

    def attention_row(self, layer: int, groups: Groups) -> Iterator[Tensor]:
        """Yield the same for the output of a layer's attention."""
        block, run = self.network.layers[layer], self.base.layers[layer]
        written = self.put(run.attended, self.source.layers[layer].attended)
        middle = block.attention.add(written, self.base.states[layer])
        # Token by token from here to the next layer: one pass serves every place.
        yield from self._row(layer + 1, block.feed_forward(middle), groups)

    def feed_forward_row(self, layer: int, groups: Groups) -> Iterator[Tensor]:
        """Yield the same for the output of a layer's feed-forward block."""
        block, run = self.network.layers[layer].feed_forward, self.base.layers[layer]
        written = self.put(run.fed, self.source.layers[layer].fed)
        yield from self._row(layer + 1, block.add(written, run.middle), groups)

    def _row(self, state: int, patched: Tensor, groups: Groups) -> Iterator[Tensor]:
        """Yield, chunk by chunk, the answers with a state patched at each group of places."""
        base = self.base.states[state]
        places = [self.mine[list(group)] for group in groups]
        for start in range(0, len(places), self.rows):
            chunk = places[start : start + self.rows]
            # A state that is the same in both runs changes nothing: such a row is not run.
            moved = [n for n, at in enumerate(chunk) if not torch.equal(patched[at], base[at])]
            values = base.new_full((len(chunk),), self.base_value, dtype=torch.float32)
            if moved:
                hidden = base.repeat(len(moved), 1, 1)
                for row, n in enumerate(moved):
                    hidden[row, chunk[n]] = patched[chunk[n]]
                values[moved] = self.values_after(state, hidden)
            yield values.cpu()

    def head_row(self, layer: int) -> Iterator[Tensor]:
        """Yield the answers with each head's context of the source put in, at every place."""
        block, run = self.network.layers[layer], self.base.layers[layer]
        patched = self.put(run.context, self.source.layers[layer].context)
        heads = range(len(patched))
        for start in heads[:: self.rows]:
            chunk = heads[start : start + self.rows]
            context = run.context.repeat(len(chunk), 1, 1, 1)
            for row, head in enumerate(chunk):
                context[row, head] = patched[head]
            middle = block.attention.combine(
                context, self.base.states[layer].expand(len(chunk), -1, -1)
            )
            yield self.values_after(layer + 1, block.feed_forward(middle)).cpu()


def ids_of(model: Model, encoding: Encoding) -> tuple[Tensor, Tensor]:
    """Return token and segment ids on the device, int64, [T] each."""
    ids, segments = encoding.input_ids, encoding.segment_ids
    return torch.tensor(ids, device=model.device), torch.tensor(segments, device=model.device)


class HookedRuns:
    """The same for an architecture run by `transformers`: only hidden states, through hooks.

    Every run is a complete one. For hidden state 0 the vectors of the embedding tables are patched
    before they are summed: if nothing mixes tokens before the first layer (all but MobileBERT),
    that is the same.

    Args:
        model, base, source, pairs, place, read, source_place: As for `Runs`.

    ValueError if calls of its layers cannot be followed, or its words do not come from the last
    hidden state.
    """

    def __init__(
        self,
        model: Model,
        base: Encoding,
        source: Encoding,
        pairs: Sequence[tuple[int, int]],
        place: int | None,
        read: Read,
        source_place: int | None,
    ) -> None:
        network = model.module
        assert isinstance(network, OtherNetwork)
        why = why_not_hooked(network)
        if why is not None:
            raise ValueError(why)
        self.network, self.place, self.read = network, place, read
        self.mine, self.theirs = ([pair[side] for pair in pairs] for side in (0, 1))
        self.ids = ids_of(model, base)
        source_ids = ids_of(model, source)
        self.embedded = network.look_up(self.ids[0][None], self.ids[1][None])
        self.source_embedded = network.look_up(source_ids[0][None], source_ids[1][None])
        self.source_states: dict[int, Tensor] = {}
        self.rows = max(1, CPU_TOKENS_PER_BATCH // len(base))

        def keep(index: int, state: Tensor) -> Tensor:
            self.source_states[index] = state[0]
            return state

        last = network.run_embedded(
            self.source_embedded, source_ids[0][None], source_ids[1][None], after=keep
        )
        self.source_value = float(self._read(last, source_place))
        self.base_value = float(self._read(self._run(self.embedded), place))

    @property
    def depth(self) -> int:
        return self.network.config.num_hidden_layers

    def _run(
        self, embedded: EmbeddingParts, after: Callable[[int, Tensor], Tensor] | None = None
    ) -> Tensor:
        ids, segments = self.ids
        if after is None:
            return self.network.run_embedded(embedded, ids[None], segments[None])
        return self.network.run_embedded(embedded, ids[None], segments[None], after=after)

    def _read(self, last: Tensor, place: int | None) -> Tensor:
        return self.read(last if place is None else last[:, place : place + 1])

    def state_row(self, state: int, groups: Groups) -> Iterator[Tensor]:
        """Yield the answers with hidden state `state` of the source put in, for each group."""
        for start in range(0, len(groups), self.rows):
            chunk = groups[start : start + self.rows]
            if state == 0:
                last = self._run(self._embeddings(chunk))
            else:
                token = self.embedded.token.expand(len(chunk), -1, -1)
                last = self._run(self.embedded._replace(token=token), self._after(state, chunk))
            yield self._read(last, self.place).cpu()

    def _after(self, state: int, groups: Groups) -> Callable[[int, Tensor], Tensor]:
        """Return the hook that patches a hidden state after the layer that outputs it."""
        source = self.source_states[state - 1]

        def after(index: int, hidden: Tensor) -> Tensor:
            return self._put(hidden, source, groups) if index == state - 1 else hidden

        return after

    def _put(self, hidden: Tensor, source: Tensor, groups: Groups) -> Tensor:
        """Return rows [B, T, W] with vectors of the source [T', W] at each row's group."""
        out = hidden.clone()
        for row, group in enumerate(groups):
            out[row, [self.mine[n] for n in group]] = source[[self.theirs[n] for n in group]]
        return out

    def _embeddings(self, groups: Groups) -> EmbeddingParts:
        """Return the tables' vectors with the source's at each row's group."""
        patched: list[Any] = []
        for mine, theirs in zip(self.embedded, self.source_embedded, strict=True):
            if mine is None or theirs is None:
                patched.append(mine)
                continue
            rows = mine.expand(len(groups), -1, -1)
            patched.append(self._put(rows, theirs.expand(1, -1, -1)[0], groups))
        return EmbeddingParts(*patched)


def why_not_hooked(network: OtherNetwork) -> str | None:
    """Return why no run of an architecture can be patched; None if hidden states can."""
    if not network.layer_modules():
        return (
            f"{network.other.name} runs on transformers code whose layers cannot be followed one "
            "by one, so its activations cannot be patched. Open a checkpoint of the BERT family, "
            "such as 'default'."
        )
    if network.other.words != MASKED:
        return (
            f"the words of {network.other.name} do not come from the last hidden state alone, so "
            "patching hidden states would not reach them all. Open a checkpoint of the BERT "
            "family, such as 'default'."
        )
    return None
