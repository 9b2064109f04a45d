"""The input of another architecture, split into the summands it is made of."""

import torch
import torch.nn.functional as F
from torch import Tensor

from bertcore.others.network import OtherNetwork, position_table
from bertcore.trace import TracedEmbeddings


def traced_embeddings(
    network: OtherNetwork, input_ids: Tensor, segment_ids: Tensor, first_state: Tensor
) -> TracedEmbeddings:
    """Return what each token, segment and position adds to the input, on the CPU.

    A test checks that LayerNorm of the sum, or the sum itself if there is no LayerNorm, equals the
    first hidden state.

    Args:
        input_ids, segment_ids: int64, [T].
        first_state: hidden_states[0], [T, D].
    """
    if network.other.is_generic:
        return _looked_up(network, input_ids, segment_ids, first_state)
    token = _token_vectors(network, input_ids)
    table = position_table(network)
    position = None if table is None else table[network.positions(input_ids)].detach()
    base = network.base
    tables = getattr(base, "embeddings", None)
    segments = getattr(tables, "token_type_embeddings", None)
    segment = None if segments is None else segments(segment_ids)
    projection = getattr(tables, "embed_proj", None)
    if projection is not None:  # linear, so it can be applied to each summand
        position = None if position is None else projection(position)
        segment = None if segment is None else projection(segment)
    total = token
    for part in (segment, position):
        total = total if part is None else total + part
    return TracedEmbeddings(
        token=token.cpu(),
        segment=None if segment is None else segment.cpu(),
        position=None if position is None else position.cpu(),
        sum=total.cpu(),
        output=first_state.cpu(),
    )


def _looked_up(
    network: OtherNetwork, input_ids: Tensor, segment_ids: Tensor, first_state: Tensor
) -> TracedEmbeddings:
    """Return what the tables give when the network runs, and LayerNorm of the sum.

    Where a matrix follows, the first hidden state has another width.
    """
    parts = network.look_up(input_ids[None], segment_ids[None])
    token, segment, position = (
        None if part is None else part.expand(1, len(input_ids), -1)[0] for part in parts
    )
    assert token is not None
    total = parts.sum.expand(1, len(input_ids), -1)[0]
    output = first_state
    if total.shape != first_state.shape:
        output = network.base.get_submodule(network.other.norm)(total)
    return TracedEmbeddings(
        token=token.cpu(),
        segment=None if segment is None else segment.cpu(),
        position=None if position is None else position.cpu(),
        sum=total.cpu(),
        output=output.cpu(),
    )


def _token_vectors(network: OtherNetwork, input_ids: Tensor) -> Tensor:
    """Return the vectors of the tokens as they enter the sum, [T, D]."""
    vectors: Tensor = network.model.get_input_embeddings()(input_ids)
    base = network.base
    if network.config.model_type == "bart":
        vectors = base.encoder.embed_tokens(input_ids)  # scaled, if config.json asks for it
    if network.config.model_type.startswith("deberta"):
        projection = base.embeddings.embed_proj
        return vectors if projection is None else projection(vectors)
    if network.config.model_type == "mobilebert":
        tables = base.embeddings
        if tables.trigram_input:
            # The token after, itself and the token before, as MobileBERT's trigram input.
            parts = [F.pad(vectors[1:], (0, 0, 0, 1)), vectors, F.pad(vectors[:-1], (0, 0, 1, 0))]
            vectors = torch.cat(parts, dim=-1)
        if tables.trigram_input or tables.embedding_size != tables.hidden_size:
            vectors = tables.embedding_transformation(vectors)
    return vectors
