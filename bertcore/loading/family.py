"""Which family a checkpoint is of: by config.json, checked by the names of the tensors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bertcore.config import BertConfig
from bertcore.families import FAMILIES, certain_family, likely_family
from bertcore.others.families import OTHERS, other_family
from bertcore.shapes import shape_from_hf


def which_family(
    values: Mapping[str, Any], names: Iterable[str], file: Path
) -> tuple[str, str | None]:
    """Return the `model_type` of a checkpoint, and a sentence if it had to be inferred.

    config.json decides unless it names no known model, or the tensors have names that only another
    family uses.

    Args:
        values: The content of config.json.
        names: Of the stored tensors.
        file: Where config.json lies, for messages.

    Returns:
        A key of FAMILIES or of OTHERS.

    Raises:
        RuntimeError: If the model is not supported.
    """
    names = list(names)
    declared = values.get("model_type")
    other = other_family(names)
    # Some of BERT's signs are in the names of other architectures too, which copied its head.
    proven = other or certain_family(names)
    is_known = isinstance(declared, str) and (
        declared in FAMILIES
        or declared == other
        or (declared in OTHERS and not OTHERS[declared].signs)
    )
    chosen, note = declared, None
    if declared == "xlm-roberta" and proven == "roberta":
        proven = None  # the two name their tensors alike
    if not is_known or (proven is not None and proven != declared):
        chosen = proven if is_known else proven or likely_family(names)
        if chosen is None and declared is None:
            chosen = "bert"  # as for files from before there was a model_type
        if chosen is None:
            has_own = bool(values.get("auto_map"))
            own = " Its own programs (auto_map) are never run." if has_own else ""
            raise RuntimeError(
                f"{file} says model_type {declared!r}; this version reads "
                f"{', '.join([*FAMILIES, *OTHERS])}, and the names of the tensors do not tell "
                f"which of them this is.{own} Choose a checkpoint of the BERT family, or correct "
                "model_type."
            )
        came = "names no model_type" if declared is None else f"says model_type {declared!r}"
        likeness = "are those of" if proven else "look like those of"
        if declared is not None or chosen != "bert":
            name = (FAMILIES.get(chosen) or OTHERS[chosen]).name
            note = (
                f"config.json {came}, but the tensors' names {likeness} {name}; "
                f"it was read as model_type {chosen!r}."
            )
    assert isinstance(chosen, str)  # what is known is a text
    return chosen, note


def read_shape(
    values: Mapping[str, Any], names: Iterable[str], file: Path
) -> tuple[BertConfig, str | None]:
    """Return the shape of a checkpoint of the BERT family, and the sentence of `which_family`.

    Raises:
        RuntimeError: If it is no model of the BERT family, or a field is missing or wrong.
    """
    chosen, note = which_family(values, names, file)
    try:
        return shape_from_hf(values, model_type=chosen), note
    except (ValueError, TypeError) as error:
        raise RuntimeError(f"{file}: {f'{note} ' if note else ''}{error}") from error
