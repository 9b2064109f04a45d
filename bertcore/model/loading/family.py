"""The family of a checkpoint: from config.json, checked against the names of the tensors."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bertcore.model.architecture.config import BertConfig, NotComputedError
from bertcore.model.architecture.families import FAMILIES, Family, certain_family, likely_family
from bertcore.model.checkpoints.origin import likely_reason
from bertcore.model.others.families import (
    OTHERS,
    SAME_NETWORK,
    described_family,
    family_name,
    family_of,
    other_family,
    own_prefix,
    why_not,
)

DECLARED, PROVEN, LIKELY, REFUSED = "declared", "are", "look like", "refused"
"""What a checkpoint is read as: as config.json says; as the names are, or look like; not at all."""


class Architecture(NamedTuple):
    model_type: str
    """A key of FAMILIES, or a name that `family_of` accepts."""
    note: str | None
    """A sentence if it had to be inferred from the names of the tensors, or if `transformers` runs
    a family of ours; else None."""
    family: Family
    """An `OtherFamily` if `transformers` runs it."""


def which_family(values: Mapping[str, Any], names: Iterable[str], file: Path) -> Architecture:
    """Return the architecture of a checkpoint, by config.json, in `file`, and the tensors' names.

    ValueError if the model is not supported.
    """
    names = list(names)
    declared = values.get("model_type")
    expected = "bert" if declared is None else SAME_NETWORK.get(str(declared), declared)
    decision = decide(expected, names)
    if decision == DECLARED:
        return _architecture(str(expected), None, values)
    if decision == REFUSED:
        raise _refusal(declared, file, likely_reason(values, names))
    inferred = _proven(names) or "bert"
    name = family_name(inferred)
    came = "names no model_type" if declared is None else f"has model_type {declared!r}"
    note = (
        f"config.json {came}, but the tensors' names {decision} those of {name}; it was read as "
        f"model_type {inferred!r}."
    )
    return _architecture(inferred, note, values)


def _architecture(model_type: str, note: str | None, values: Mapping[str, Any]) -> Architecture:
    """Return an architecture; of our families, with who runs a checkpoint of these values."""
    family = FAMILIES.get(model_type) or family_of(model_type)
    try:
        if model_type in FAMILIES:
            family = BertConfig.from_hf_dict(values, model_type=model_type).family
    except NotComputedError as error:
        family = described_family(model_type)
        assert family is not None  # `transformers` has all of FAMILIES
        note = f"{note or ''} {error} Therefore transformers runs it.".strip()
    except (ValueError, TypeError):  # `read_shape` raises it
        pass
    assert family is not None  # `decide` names no other
    return Architecture(model_type, note, family)


def decide(expected: object, names: list[str]) -> str:
    """Return as what a checkpoint is read, by the names of its tensors.

    DECLARED, PROVEN, LIKELY or REFUSED. `expected` is the `model_type` of config.json; "bert" if
    there is none, as before it existed.
    """
    proven = _proven(names)
    if isinstance(expected, str):
        # XLM-RoBERTa uses RoBERTa's names.
        is_same = proven in (None, expected) or (expected, proven) == ("xlm-roberta", "roberta")
        # An architecture without signs shows only in config.json.
        has_no_sign = expected in OTHERS and "sign" not in OTHERS[expected]
        if expected in FAMILIES or expected == other_family(names) or has_no_sign:
            return DECLARED if is_same else PROVEN
        if expected not in OTHERS:
            if why_not(expected) and any(n.startswith(own_prefix(expected)) for n in names):
                return REFUSED
            if _has_own_names(expected, proven, names):
                return DECLARED
    if proven is not None:
        return PROVEN
    return REFUSED if likely_family(names) is None else LIKELY


def _proven(names: list[str]) -> str | None:
    # Other architectures that copied BERT's head have some of its tensor names too.
    return other_family(names) or certain_family(names)


def _has_own_names(declared: str, proven: str | None, names: Iterable[str]) -> bool:
    """Return whether a generic architecture's tensors have no other family's prefix."""
    if family_of(declared) is None:
        return False
    family = FAMILIES.get(proven or "")
    foreign = own_prefix(declared) if family is None else family.prefix
    starts = {name.split(".")[0] + "." for name in names}
    return foreign == own_prefix(declared) or foreign not in starts


def _refusal(declared: object, file: Path, doubt: str) -> ValueError:
    is_known = isinstance(declared, str) and declared not in OTHERS
    reason = why_not(str(declared)) if is_known else None
    if reason is not None:
        return ValueError(f"{file} has model_type {declared!r}: {reason} {doubt}".strip())
    advice = "Choose a checkpoint of the BERT family, or correct model_type."
    return ValueError(
        f"{file} has model_type {declared!r}; this version supports "
        f"{', '.join([*FAMILIES, *OTHERS])}, and the names of the tensors do not show which of "
        f"them this is. {doubt or advice}"
    )


def read_shape(values: Mapping[str, Any], architecture: Architecture, file: Path) -> BertConfig:
    """Return the shape that config.json gives a checkpoint of the BERT family.

    RuntimeError if a field is missing or wrong.
    """
    try:
        return BertConfig.from_hf_dict(values, model_type=architecture.model_type)
    except (ValueError, TypeError) as error:
        note = f"{architecture.note} " if architecture.note else ""
        raise RuntimeError(f"{file}: {note}{error}") from error
