"""Oddities of a checkpoint's files: mismatches between files that could all be read.

Each is a sentence: what was found, what it means here, and what to do. Source: ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import torch

from bertcore.checkpoints.files import CheckpointFolder
from bertcore.checkpoints.folder import (
    ADAPTER_CONFIG,
    PICKLE,
    PICKLE_INDEX,
    SAFETENSORS,
    SAFETENSORS_INDEX,
    find_modules,
    find_weights,
)
from bertcore.checkpoints.label_names import odd_labels
from bertcore.checkpoints.origin import own_code
from bertcore.checkpoints.pruned import pruned_heads
from bertcore.checkpoints.report import TaskFacts, list_up_to
from bertcore.checkpoints.task import PART_OF
from bertcore.checkpoints.weights import OpenWeights, open_weights
from bertcore.tokenizer import Tokenizer

_MADE_UP = re.compile(r"LABEL_\d+")
_USUAL_KINDS: Mapping[str, str] = {
    "BERT": "WordPiece",
    "DistilBERT": "WordPiece",
    "ELECTRA": "WordPiece",
    "RoBERTa": "byte-level BPE",
    "ModernBERT": "byte-level BPE",
    "XLM-RoBERTa": "Unigram",
    "ALBERT": "Unigram",
}
"""Family -> the usual kind of its tokenizers; members for single languages have others."""
_MANY = 0.05
"""Fraction of a vocabulary with capitals from which it counts as cased."""


def find_oddities(
    files: CheckpointFolder, tokenizer: Tokenizer, task: TaskFacts, family: str, stored_dtype: str
) -> tuple[str, ...]:
    """Return the oddities of an opened checkpoint.

    Args:
        family: Its name, such as "BERT".
        stored_dtype: Number format of the token table.
    """
    return (
        *_around(files, family),
        *_beside(files),
        *_pruned(files),
        *_own_programs(files, family),
        *tokenizer.remarks,
        *_labels(task, files),
        *_kind_of_tokenizer(files, tokenizer, family),
        *_case(tokenizer),
        *_precision(stored_dtype),
        *_second_form(files),
    )


def compare_forms(folder: Path) -> str:
    """Compare the safetensors of a folder with the pickle beside them, and return a sentence.

    The pickle is read with weights only; the user must have agreed.

    Raises:
        ValueError: If there is no pickle beside safetensors.
        RuntimeError: If a file is damaged.
    """
    if not has_two_forms(folder):
        raise ValueError(f"{folder} does not contain both {SAFETENSORS} and {PICKLE}.")
    with (
        open_weights(find_weights(folder, allow_pickle=False)) as ours,
        open_weights(find_weights(folder, allow_pickle=True, prefer_pickle=True)) as theirs,
    ):
        only_ours, only_theirs = _alone(ours, theirs), _alone(theirs, ours)
        different, largest = [], 0.0
        common = sorted(ours.stored.keys() & theirs.stored.keys())
        for name in common:
            one, other = ours.read(name), theirs.read(name)
            if one.shape != other.shape:
                different.append(name)
            elif not torch.equal(one, other.to(one.dtype)):
                different.append(name)
                gap = (one.double() - other.double()).abs().nan_to_num(torch.inf)
                largest = max(largest, float(gap.max()))
    parts = []
    if different:
        by = f", by up to {largest:.3g}" if largest else ""
        parts.append(f"{len(different)} of {len(common)} tensors differ{by}: {_few(different)}")
    if only_ours:
        parts.append(f"{len(only_ours)} are only in {SAFETENSORS}: {_few(only_ours)}")
    if only_theirs:
        parts.append(f"{len(only_theirs)} are only in {PICKLE}: {_few(only_theirs)}")
    if not parts:
        return f"{SAFETENSORS} and {PICKLE} contain the same {len(common)} tensors."
    return (
        f"{SAFETENSORS} and {PICKLE} are not the same model. {'. '.join(parts)}. BertScope reads "
        f"{SAFETENSORS}; programs that read {PICKLE} give other answers."
    )


def _alone(weights: OpenWeights, others: OpenWeights) -> list[str]:
    """Return the names that only one file has.

    Without position ids and copies of a tensor in both, since safetensors stores tied ones once.
    """
    names = sorted(weights.stored.keys() - others.stored.keys())
    shapes = {name: tensor.shape for name, tensor in others.stored.items()}

    def is_copy(name: str) -> bool:
        tensor = weights.read(name)
        alike = (other for other, shape in shapes.items() if shape == tensor.shape)
        return any(torch.equal(tensor, others.read(other).to(tensor.dtype)) for other in alike)

    return [name for name in names if not name.endswith("position_ids") and not is_copy(name)]


def _around(files: CheckpointFolder, family: str) -> Iterator[str]:
    outer = files.config.get(PART_OF)
    if outer is not None:
        vector = " Its vector of a text is the last state of [CLS]." if outer == "dpr" else ""
        yield (
            f"config.json describes a model around an encoder (model_type {str(outer)[:50]!r}); "
            f"the {family} in it was opened.{vector}"
        )


def _pruned(files: CheckpointFolder) -> Iterator[str]:
    heads = [f"{layer}/{h}" for layer, cut in pruned_heads(files.config).items() for h in cut]
    if heads:
        yield (
            f"{len(heads)} heads were pruned (layer/head {list_up_to(heads)}): they are shown with "
            "weights of 0, and add nothing."
        )


def setfit_head(files: CheckpointFolder) -> str | None:
    """Return a sentence on the classifier of SetFit in a folder, or None."""
    found = find_modules(files.folder)
    root = files.folder if found is None else found[0]
    if not (root / "model_head.pkl").is_file():
        return None
    return (
        "model_head.pkl, the classifier of SetFit, is a pickle of scikit-learn and is never "
        "opened: only the encoder is. Fine-tune it here to classify, or use setfit."
    )


def _beside(files: CheckpointFolder) -> Iterator[str]:
    if files.adapter is None and (files.base / ADAPTER_CONFIG).is_file():
        yield (
            f"Warning: {ADAPTER_CONFIG} is beside the weights, which were read without that "
            "adapter. transformers would open the adapter's base with it: for that, move the "
            "adapter's two files to a folder of their own."
        )
    setfit = setfit_head(files)
    if setfit is not None:
        yield setfit


def _own_programs(files: CheckpointFolder, family: str) -> Iterator[str]:
    file = next(iter(sorted(path.name for path in files.base.glob("*.py"))), None)
    code = file or own_code(files.config)
    if code is not None:
        yield (
            f"It comes with its own code ({code[:80]}), which is never run: its tensors are "
            f"read as {family}. If that code computes something else, its answers differ."
        )


def _labels(task: TaskFacts, files: CheckpointFolder) -> Iterator[str]:
    names = task.label_names
    if task.num_outputs is not None:
        yield from odd_labels(files.config)
    if (task.num_outputs or 0) > 1 and names and all(map(_MADE_UP.fullmatch, names)):
        yield (
            f"Its labels are called {names[0]} to {names[-1]}, the default of transformers for "
            "labels without names. Write the names into config.json (id2label), in the order of "
            "training."
        )


def _kind_of_tokenizer(files: CheckpointFolder, tokenizer: Tokenizer, family: str) -> Iterator[str]:
    usual = _USUAL_KINDS.get(family)
    is_unusual = usual is not None and tokenizer.kind != usual
    pad = files.config.get("pad_token_id")
    other_pad = type(pad) is int and tokenizer.pad_id >= 0 and pad != tokenizer.pad_id
    if is_unusual and other_pad:
        yield (
            f"Warning: the tokenizer is {tokenizer.kind} and pads with id {tokenizer.pad_id}, but "
            f"{family} usually has {usual} and config.json has pad_token_id {pad}. It seems to "
            "belong to another checkpoint: copy the tokenizer's files from the source of the "
            "weights."
        )
    elif other_pad:
        yield (
            f"Warning: the tokenizer pads with id {tokenizer.pad_id}, but config.json has "
            f"pad_token_id {pad}. One of the two files may belong to another checkpoint."
        )
    elif is_unusual:
        yield (
            f"The tokenizer is {tokenizer.kind}; {family} usually has {usual}. If words are split "
            "into strange pieces, it belongs to another checkpoint."
        )


def _case(tokenizer: Tokenizer) -> Iterator[str]:
    added = {token.content for token in tokenizer.added_tokens}
    words = [p for p in tokenizer.vocab if p.isascii() and p[:1] != "[" and p not in added]
    upper = [] if "".join(words).islower() else [word for word in words if word != word.lower()]
    num_upper = len(upper)
    if tokenizer.do_lower_case and upper:
        pieces = f"{num_upper:,} piece{'s' * (num_upper > 1)}"
        yield (
            f"{'Warning: t' if num_upper > _MANY * len(words) else 'T'}ext is lower-cased, so that "
            f"{pieces} with capitals ({', '.join(upper[:3])}{', ...' if num_upper > 3 else ''}) "
            "cannot occur. If the checkpoint is a cased one, set do_lower_case to false in "
            "tokenizer_config.json."
        )
    elif not tokenizer.do_lower_case and tokenizer.kind == "WordPiece" and words and not num_upper:
        yield (
            "Warning: text is not lower-cased, but no piece of the vocabulary has a capital, so "
            "that words with capitals are unknown. If the checkpoint is an uncased one, set "
            "do_lower_case to true in tokenizer_config.json."
        )


def _precision(stored_dtype: str) -> Iterator[str]:
    digits = {"F16": "three", "BF16": "two to three"}.get(stored_dtype)
    if digits is not None:
        yield (
            f"Its token table is stored in {stored_dtype}: each number has {digits} significant "
            "digits, whatever format it is computed in."
        )


def _second_form(files: CheckpointFolder) -> Iterator[str]:
    if has_two_forms(files.base):
        yield (
            f"{PICKLE} is beside {SAFETENSORS} and was not read. The doctor checks whether both "
            "are the same model if you agree to read the pickle (--allow-pickle)."
        )


def has_two_forms(folder: Path) -> bool:
    """Return whether a folder contains both safetensors and a pickle."""
    safe = any((folder / name).is_file() for name in (SAFETENSORS, SAFETENSORS_INDEX))
    return safe and any((folder / name).is_file() for name in (PICKLE, PICKLE_INDEX))


def _few(names: list[str]) -> str:
    return list_up_to(names, 3)
