"""Names of a head's outputs, from config.json, and what is odd about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any


def label_names(values: Mapping[str, Any], number: int | None = None) -> tuple[str, ...]:
    """Return the names of `id2label` in the order of their ids.

    Outputs with an equal or empty name are told apart by their ids: "pos (id 0)".

    Args:
        values: The content of config.json; anything in it may be wrong or strange.
        number: Outputs of the head; None takes as many as have names.

    Returns:
        () if the ids are not 0, 1, 2 ...; with `number` LABEL_0, LABEL_1 ... if these are not
        their ids, as in `transformers`.
    """
    named = values.get("id2label")
    by_id = {}
    if isinstance(named, Mapping):
        by_id = {str(place): _text(name) for place, name in named.items()}
    count = len(by_id) if number is None else number
    if by_id.keys() != {str(i) for i in range(count)}:
        return () if number is None else tuple(f"LABEL_{i}" for i in range(number))
    names = [by_id[str(i)] for i in range(count)]
    counts = Counter(names)
    return tuple(
        f"{name} (id {i})" if counts[name] > 1 or not name.strip() else name
        for i, name in enumerate(names)
    )


def odd_labels(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is odd about the names of a head's outputs, a sentence each."""
    named, ids = values.get("id2label"), values.get("label2id")
    names = {str(i): _text(name) for i, name in named.items()} if isinstance(named, dict) else {}
    counts = Counter(names.values())
    for name, count in counts.items():
        places = ", ".join(i for i, other in names.items() if other == name)[:60]
        if not name.strip():
            what = "Outputs" if count > 1 else "Output"
            yield f"{what} {places} of the head without a name (id2label): shown by id."
        elif count > 1:
            yield (
                f"{count} outputs of the head have the name {name[:40]!r} (ids {places}): they are "
                "told apart by id, and in a file that name stands for each of them."
            )
    if isinstance(ids, dict) and names:
        numbers = {_text(name): str(i) for name, i in ids.items()}
        wrong = [n for n, i in numbers.items() if i in names and names[i] != n and n in counts]
        if wrong:
            name = wrong[0]
            ours = next(i for i, other in names.items() if other == name)
            yield (
                f"Warning: label2id gives {name[:40]!r} the id {numbers[name]}, id2label the id "
                f"{ours}. Answers are named by id2label, as in transformers; if they are wrong, "
                "correct it in config.json."
            )
    elif isinstance(ids, dict) and ids and not isinstance(named, dict):
        listed = ", ".join(f"{_text(name)[:40]!r}" for name in list(ids)[:5])
        yield (
            f"config.json has label2id ({listed}) but no id2label, by which answers are named: "
            "they are called LABEL_0, LABEL_1 ..., as in transformers. Write the names into "
            "id2label."
        )


def _text(name: object) -> str:
    return "" if name is None else str(name)
