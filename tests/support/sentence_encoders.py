"""Sentence encoders in the form of sentence-transformers, written by that library itself."""

import tempfile
from pathlib import Path
from typing import Any

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Transformer
from sentence_transformers.sentence_transformer.modules import Pooling
from torch import nn

from tests.support import tiny_families, tiny_others
from tests.support.tiny import tiny_bert


def make_sentence_encoder(
    folder: Path,
    class_name: str = "BertModel",
    *,
    pooling: str | tuple[str, ...] = "mean",
    after: tuple[nn.Module, ...] = (),
    max_length: int | None = None,
    **options: Any,
) -> SentenceTransformer:
    """Write a sentence encoder with random weights and return the reference that opens it.

    `class_name` is the encoder's in `transformers`: BertModel, or one of the tiny checkpoints.
    Several poolings of sentence-transformers are concatenated; `after` has the modules after them.
    The options are of SentenceTransformer, such as prompts.
    """
    with tempfile.TemporaryDirectory() as place:
        parts = Path(place)
        if class_name == "BertModel":
            tiny_bert().save(parts)
        elif class_name in tiny_families.CLASSES:
            tiny_families.make(class_name, parts)
        else:
            tiny_others.make_other(class_name, parts)
        transformer = Transformer(str(parts), max_seq_length=max_length)
    torch.manual_seed(1)
    modules = [transformer, Pooling(transformer.get_embedding_dimension(), pooling), *after]
    SentenceTransformer(modules=modules, device="cpu", **options).save(str(folder))
    return SentenceTransformer(str(folder), device="cpu", local_files_only=True)
