"""BERT's network in modules. Suggested reading order: embeddings, attention, feed_forward,
encoder, heads."""

from bertcore.base.public import imported
from bertcore.model.network.attention import (
    AttentionBuffers,
    additive_mask,
    attention_explicit,
    attention_fused,
    attention_kept,
    attention_scores,
)
from bertcore.model.network.embeddings import EmbeddingParts, Embeddings
from bertcore.model.network.encoder import ALL_HEADS, FAMILY_HEADS, Layer, Network, collect_into
from bertcore.model.network.heads import MaskedWordHead, PairHead, Pooler, ReplacedTokenHead
from bertcore.model.network.protocol import Encoder

__all__ = imported(globals())
