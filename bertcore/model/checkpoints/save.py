"""Write a checkpoint folder that `transformers` opens, completely or not at all."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors.torch import save_file
from torch import Tensor

from bertcore.model.architecture.families import BERT, Family
from bertcore.model.checkpoints.folder import SAFETENSORS, WEIGHT_FILES, is_checkpoint, read_json
from bertcore.model.network import FAMILY_HEADS, Network

if TYPE_CHECKING:
    from bertcore.model.tokenizer import Tokenizer

OBJECTIVE = "pretraining_objective"
"""Field of config.json: the objective that a run trained it with, as for `--objective`. Objectives
share classes of `transformers` (UniLM's network is a BERT, MASS's a BART), so only this tells."""
_REPLACED = frozenset(
    {
        *WEIGHT_FILES,
        "config.json",
        "vocab.txt",
        "vocab.json",
        "merges.txt",
        "tokenizer.json",
        "tokenizer_config.json",
        "special_tokens_map.json",
        "added_tokens.json",
    }
)


def save(
    network: Network,
    tokenizer: Tokenizer,
    folder: str | Path,
    *,
    more_weights: Mapping[str, Tensor] | None = None,
    more_config: Mapping[str, Any] | None = None,
) -> Path:
    """Write model.safetensors, config.json and the tokenizer's files; return the folder, absolute.

    Everything is written to a hidden folder beside it, which is then renamed, so a kill leaves no
    partial checkpoint. (Replacing takes two renames; a kill between them leaves the old and the new
    one, both complete, in the hidden folder.) Other files of an older checkpoint there, such as a
    model card, are kept. Weights keep their number format. Tensors of a task head, under Hugging
    Face's keys, and the fields of config.json that go with it, such as label names, come in
    `more_weights` and `more_config`.

    ValueError if `folder` is a file, or contains anything other than a checkpoint.
    """
    return write_checkpoint(
        folder,
        tokenizer,
        config=hf_config(network) | dict(more_config or {}),
        tensors=hf_state_dict(network) | dict(more_weights or {}),
    )


def write_checkpoint(
    folder: str | Path,
    tokenizer: Tokenizer,
    *,
    config: Mapping[str, Any],
    tensors: Mapping[str, Tensor],
) -> Path:
    """Write the files of a checkpoint folder as `save` does, for any network.

    The tensors, by name in the file, are contiguous and on the CPU. ValueError as `save`.
    """
    target = Path(folder).expanduser().resolve()
    _check_target(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{target.name[:100]}.", dir=target.parent) as place:
        fresh = Path(place) / "new"
        fresh.mkdir()
        config_file, weights = fresh / "config.json", fresh / SAFETENSORS
        text = json.dumps(config, indent=2, sort_keys=True)
        config_file.write_text(text + "\n", encoding="utf-8")
        save_file(dict(tensors), weights, metadata={"format": "pt"})
        # safetensors makes files that only their owner may read
        weights.chmod(config_file.stat().st_mode)
        tokenizer.save(fresh)
        _swap(fresh, target, Path(place) / "old")
    return target


def name_objective(folder: Path, objective: str) -> None:
    """Write the objective of a run into the config.json of a checkpoint."""
    file = folder / "config.json"
    config = read_json(file) | {OBJECTIVE: objective}
    file.write_text(json.dumps(config, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def hf_state_dict(network: Network) -> dict[str, Tensor]:
    """Return the weights under Hugging Face's keys, on the CPU, in the network's number format.

    A tied decoder is left out: `transformers` itself ties it to the token table, and its bias too.
    """
    parameters = dict(network.named_parameters())
    config, heads = network.config, network_heads(network)
    family, is_tied = config.family, config.tie_word_embeddings
    table = family.keys(config.num_hidden_layers, heads, is_tied=is_tied)
    tensors = {
        theirs: parameters[ours].detach().to("cpu", copy=False).contiguous()
        for ours, theirs in table.items()
        if ours in parameters
    }
    if "mlm" in heads and not is_tied and family.decoder_bias:
        tensors[family.decoder_bias] = parameters["mlm.decoder.bias"].detach().cpu().clone()
    return tensors


def hf_config(network: Network) -> dict[str, Any]:
    """Return the content of config.json: the shape, the class in `transformers`, the format."""
    dtype = network.token_table.dtype
    return {
        **network.config.to_hf_dict(),
        "architectures": [architecture(network_heads(network), network.config.family)],
        "dtype": str(dtype).removeprefix("torch."),
    }


def network_heads(network: Network) -> frozenset[str]:
    """Return which of "pooler", "mlm", "nsp", "replaced" and "sop" a network has."""
    return frozenset(name for name in FAMILY_HEADS if getattr(network, name) is not None)


def architecture(heads: frozenset[str], family: Family = BERT) -> str:
    """Return the smallest class of `transformers` that has these heads.

    ValueError if it has no class with all of them.
    """
    # A missing or surplus pooler does no harm; any other head would be random.
    for wanted, name in sorted(family.classes.items(), key=lambda item: len(item[0])):
        if heads - {"pooler"} <= wanted and (wanted - heads <= {"pooler"}):
            return name
    raise ValueError(
        f"{family.name} in transformers has no class with the heads {', '.join(sorted(heads))} "
        "and no others, so this checkpoint cannot be written for it."
    )


def _check_target(target: Path) -> None:
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise ValueError(f"{target} is a file. Choose a folder for the checkpoint.")
    if target.is_dir() and any(target.iterdir()) and not is_checkpoint(target):
        raise ValueError(
            f"{target} is not empty and not a checkpoint (no config.json with weights), so it is "
            "not overwritten. Choose a new folder."
        )


def _swap(fresh: Path, target: Path, old: Path) -> None:
    """Replace `target` by `fresh`; files that are not replaced move from old to new."""
    if target.is_dir():
        os.rename(target, old)
    try:
        os.rename(fresh, target)
    except OSError:
        if old.is_dir():
            os.rename(old, target)
        raise
    if old.is_dir():
        for entry in old.iterdir():
            if not (entry.name in _REPLACED or entry.match("model-*.safetensors")):
                shutil.move(entry, target / entry.name)
