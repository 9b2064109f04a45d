"""Weights whose names in files differ from those in the class of `transformers`."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from torch import Tensor

from bertcore.checkpoints.weights import OpenWeights


class ConvertedWeights(OpenWeights):
    """The tensors of a file under the names of the class; some are split into equal parts.

    Args:
        conversions: The conversions of `transformers` for the architecture.

    ValueError if the architecture needs more than renaming and equal parts.
    """

    def __init__(self, weights: OpenWeights, conversions: Sequence[Any]) -> None:
        from transformers.core_model_loading import Chunk, WeightConverter, rename_source_key

        converters = [one for one in conversions if isinstance(one, WeightConverter)]
        renamings = [one for one in conversions if not isinstance(one, WeightConverter)]
        self._weights = weights
        self._sources: dict[str, tuple[str, int, int]] = {}
        """Name -> name in the file, index of the part, and number of parts."""
        super().__init__({})
        for name, tensor in weights.stored.items():
            first, pattern = rename_source_key(name, renamings, converters)
            names = [first]
            if pattern is not None:
                converter = next(one for one in converters if pattern in one.source_patterns)
                steps = [(type(step), getattr(step, "dim", 0)) for step in converter.operations]
                rows = tensor.shape[:1]
                names = [
                    first.replace(converter.target_patterns[0], target)
                    for target in converter.target_patterns
                ]
                if steps != [(Chunk, 0)] or not rows or rows[0] % len(names):
                    raise ValueError(f"{name} needs more than renaming and equal parts")
            for part, new in enumerate(names):
                self._sources[new] = (name, part, len(names))
                shape = tensor.shape
                if len(names) > 1:
                    shape = (shape[0] // len(names), *shape[1:])
                self.stored[new] = replace(tensor, shape=shape)
        self.doubt = weights.doubt

    def read(self, name: str) -> Tensor:
        source, part, number = self._sources[name]
        tensor = self._weights.read(source)
        return tensor if number == 1 else tensor.chunk(number)[part]


def converted(weights: OpenWeights, model_type: str) -> OpenWeights:
    """Return the tensors under the names of the class of `transformers`.

    ValueError as `ConvertedWeights`.
    """
    from transformers.conversion_mapping import get_checkpoint_conversion_mapping

    conversions = get_checkpoint_conversion_mapping(model_type)
    return weights if not conversions else ConvertedWeights(weights, conversions)
