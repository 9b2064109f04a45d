"""The family of a checkpoint: from config.json, checked against the names of the tensors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bertcore.architecture.config import BertConfig
from bertcore.architecture.families import FAMILIES, certain_family, likely_family
from bertcore.architecture.shapes import shape_from_hf
from bertcore.others.families import OTHERS, other_family
from bertcore.others.generic import family_of, generic_family, own_prefix, why_not


def which_family(
    values: Mapping[str, Any], names: Iterable[str], file: Path
) -> tuple[str, str | None]:
    """Return the `model_type` of a checkpoint, and a sentence if it had to be inferred.

    config.json decides unless it names no known model, or the tensors have names that only another
    family uses.

    Args:
        values: The content of config.json.
        names: The names of the stored tensors.
        file: The path of config.json, for messages.

    Returns:
        A key of FAMILIES, or a name that `family_of` accepts.

    Raises:
        RuntimeError: If the model is not supported.
    """
    names = list(names)
    declared, other = values.get("model_type"), other_family(names)
    # Other architectures that copied BERT's head have some of its tensor names too.
    proven = other or certain_family(names)
    if _is_readable(declared, other):
        # XLM-RoBERTa uses RoBERTa's names.
        if proven in (None, declared) or (declared, proven) == ("xlm-roberta", "roberta"):
            return str(declared), None
        inferred: str | None = proven
    else:
        if isinstance(declared, str):
            _refuse_known(declared, names, file, values)
            if _has_own_names(declared, proven, names):
                return declared, None
        inferred = proven or likely_family(names)
        if inferred in (None, "bert") and declared is None:
            return "bert", None  # as in files from before model_type existed
        if inferred is None:
            raise _unknown(declared, file, values)
    assert inferred is not None
    family = FAMILIES.get(inferred) or family_of(inferred)
    assert family is not None  # names show no others
    came = "names no model_type" if declared is None else f"has model_type {declared!r}"
    return inferred, (
        f"config.json {came}, but the tensors' names {'are' if proven else 'look like'} those of "
        f"{family.name}; it was read as model_type {inferred!r}."
    )


def _is_readable(declared: object, other: str | None) -> bool:
    """Return whether a `model_type` is enough: ours, or another whose tensors are as expected."""
    if not isinstance(declared, str):
        return False
    without_signs = declared in OTHERS and not OTHERS[declared].signs
    return declared in FAMILIES or declared == other or without_signs


def _has_own_names(declared: str, proven: str | None, names: Iterable[str]) -> bool:
    """Return whether a generic architecture's tensors can be its own.

    Some share names with other families, but none has another family's prefix.
    """
    if generic_family(declared) is None:
        return False
    family = FAMILIES.get(proven or "")
    foreign = own_prefix(declared) if family is None else family.prefix
    starts = {name.split(".")[0] + "." for name in names}
    return foreign == own_prefix(declared) or foreign not in starts


def _unknown(declared: object, file: Path, values: Mapping[str, Any]) -> RuntimeError:
    if isinstance(declared, str):
        _refuse_known(declared, None, file, values)
    return RuntimeError(
        f"{file} has model_type {declared!r}; this version supports "
        f"{', '.join([*FAMILIES, *OTHERS])}, and the names of the tensors do not show which of "
        f"them this is.{_own_programs(values)} Choose a checkpoint of the BERT family, or correct "
        "model_type."
    )


def _refuse_known(
    declared: str, names: Iterable[str] | None, file: Path, values: Mapping[str, Any]
) -> None:
    """Reject an architecture that `transformers` knows but that is not a text encoder.

    Args:
        declared: The `model_type`.
        names: The names of the tensors: with its prefix they are its own, whatever they look like;
            None: they match no other family.
        file, values: config.json.

    Raises:
        RuntimeError: With the reason.
    """
    if declared in OTHERS:  # supported, but these tensors are not its own
        return
    reason = why_not(declared)
    if reason is None:
        return
    if names is None or any(name.startswith(own_prefix(declared)) for name in names):
        raise RuntimeError(f"{file} has model_type {declared!r}: {reason}{_own_programs(values)}")


def _own_programs(values: Mapping[str, Any]) -> str:
    return " Its own code (auto_map) is never run." if values.get("auto_map") else ""


def read_shape(
    values: Mapping[str, Any], names: Iterable[str], file: Path
) -> tuple[BertConfig, str | None]:
    """Return the shape of a checkpoint of the BERT family, and the sentence of `which_family`.

    Raises:
        RuntimeError: If it is not a model of the BERT family, or a field is missing or wrong.
    """
    chosen, note = which_family(values, names, file)
    try:
        return shape_from_hf(values, model_type=chosen), note
    except (ValueError, TypeError) as error:
        raise RuntimeError(f"{file}: {f'{note} ' if note else ''}{error}") from error
