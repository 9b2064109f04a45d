"""A model of `transformers` in memory, as the files of a checkpoint whose weights it shares."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from bertcore.model.checkpoints.files import CheckpointFolder
from bertcore.model.checkpoints.folder import WeightFiles
from bertcore.model.checkpoints.weights import InMemory, OpenWeights


class ModelInMemory(CheckpointFolder):
    """Configuration and tokenizer in a temporary folder, which lives as long as this; no weights.

    TypeError if they are not a `PreTrainedModel` and a tokenizer, of `transformers` or ours.
    """

    _model: Any

    def __init__(self, model: Any, tokenizer: Any) -> None:
        from transformers import PreTrainedModel

        if not isinstance(model, PreTrainedModel):
            raise TypeError(
                f"the model is a {type(model).__name__}; expected a model of transformers, such as "
                "BertForMaskedLM. Of a wrapper pass what it wraps: peft's merge_and_unload(), or "
                "the .module of DistributedDataParallel."
            )
        save = getattr(tokenizer, "save_pretrained", None) or getattr(tokenizer, "save", None)
        if save is None:
            raise TypeError(
                "a model in memory needs its tokenizer: load(model, tokenizer=tokenizer), with "
                f"that of transformers; got {type(tokenizer).__name__}."
            )
        temporary = tempfile.TemporaryDirectory(prefix="bertscope-")
        folder = Path(temporary.name)
        super().__init__(folder, folder, WeightFiles((), is_pickle=False))
        self.__dict__["_model"], self.__dict__["_temporary"] = model, temporary  # it is frozen
        config = json.loads(model.config.to_json_string(use_diff=False))
        config["architectures"] = [type(model).__name__]
        self.config_file.write_text(json.dumps(config), encoding="utf-8")
        save(str(folder))

    def __str__(self) -> str:
        return f"{type(self._model).__name__} in memory"

    @property
    def num_bytes(self) -> int:
        return sum(p.numel() * p.element_size() for p in self._model.parameters())

    @property
    def format(self) -> str:
        return "a model in memory"

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        return torch.device(self._model.device)

    @property
    def dtype(self) -> str:
        """The number format of the model; float32 for one in which nothing is computed here."""
        name = str(self._model.dtype).removeprefix("torch.")
        return name if name in ("bfloat16", "float16") else "float32"

    @contextmanager
    def _stored(self, values: Any) -> Iterator[OpenWeights]:
        weights = InMemory(self._model.state_dict())
        weights.is_shared = True
        yield weights
