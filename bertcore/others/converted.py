"""Weights whose names in files differ from those in the class of `transformers`."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from bertcore.checkpoints.weights import OpenWeights, StoredTensor


class ConvertedWeights(OpenWeights):
    """The tensors of a file under the names of the class; some are split into equal parts.

    Args:
        conversions: The conversions of `transformers` for the architecture.

    ValueError if the architecture needs more than renaming and equal parts.
    """

    def __init__(self, weights: OpenWeights, conversions: Sequence[Any]) -> None:
        from transformers.core_model_loading import WeightConverter, rename_source_key

        converters = [
            conversion for conversion in conversions if isinstance(conversion, WeightConverter)
        ]
        renamings = [
            conversion for conversion in conversions if not isinstance(conversion, WeightConverter)
        ]
        self._weights = weights
        self._sources: dict[str, tuple[str, int, int]] = {}
        """Name -> name in the file, index of the part, and number of parts."""
        stored: dict[str, StoredTensor] = {}
        for name, tensor in weights.stored.items():
            first, pattern = rename_source_key(name, renamings, converters)
            names = [first]
            if pattern is not None:
                targets = _targets(next(c for c in converters if pattern in c.source_patterns))
                names = [first.replace(targets[0], target) for target in targets]
            rows, *rest = tensor.shape or (1,)
            if rows % len(names):
                raise ValueError(
                    f"{name} has {rows} rows; expected a number that {len(names)} divides"
                )
            shape = (rows // len(names), *rest) if tensor.shape else ()
            for part, new in enumerate(names):
                self._sources[new] = (name, part, len(names))
                stored[new] = StoredTensor(shape, tensor.dtype)
        super().__init__(stored)
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


def _targets(converter: Any) -> list[str]:
    """Return the names of the parts into which a converter splits a tensor."""
    from transformers.core_model_loading import Chunk

    steps = converter.operations
    is_cut = len(steps) == 1 and type(steps[0]) is Chunk and steps[0].dim == 0
    if not is_cut or steps[0].num_shards_attribute or len(converter.source_patterns) != 1:
        kinds = ", ".join(type(step).__name__ for step in steps)
        raise ValueError(
            f"its tensors need more than renaming ({kinds} of {converter.source_patterns[0]})"
        )
    targets: list[str] = list(converter.target_patterns)
    return targets
