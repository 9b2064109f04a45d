"""The fingerprint of loaded weights: same weights, same value, regardless of file names."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import torch
from torch import Tensor

from bertcore.checkpoints.keys import earlier_name
from bertcore.checkpoints.weights import OpenWeights


def fingerprint_of(table: Mapping[str, str], weights: OpenWeights) -> str:
    """Return the sha256 over names, shapes, formats and bytes of the stored tensors.

    Args:
        table: Name of the parameter -> name in the file, in the order of the network.
        weights: The opened weight files.
    """
    digest = hashlib.sha256()
    for ours, name in table.items():
        tensor = weights.read(name).contiguous()
        digest.update(f"{earlier_name(ours)} {list(tensor.shape)} {tensor.dtype}\n".encode())
        digest.update(_as_bytes(tensor))
    return digest.hexdigest()


def _as_bytes(tensor: Tensor) -> memoryview:
    # Through uint8, since NumPy has no bfloat16.
    return memoryview(tensor.flatten().view(torch.uint8).numpy().data)
