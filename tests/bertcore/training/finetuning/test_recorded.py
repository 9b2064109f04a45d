"""Recorded fine-tunings: each part is what it says, and each has its scores."""

import json
import statistics

import pytest

from bertcore.training.finetuning.recorded import (
    PARTS,
    RECORDED_PARTS,
    is_trained,
    recorded_accuracy,
)

NAMES = [f"network.layers.{layer}.attention.query.weight" for layer in range(6)]


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("head", []),
        ("top", NAMES[4:]),
        ("bottom", NAMES[:2]),
        ("all", [*NAMES, "network.embeddings.norm.weight"]),
        ("untrained", [*NAMES, "network.embeddings.norm.weight"]),
    ],
)
def test_a_part_trains_its_layers(part: str, expected: list[str]) -> None:
    names = [*NAMES, "network.embeddings.norm.weight"]
    assert [name for name in names if is_trained(name, part, 6)] == expected


def test_every_part_has_the_median_of_its_seeds() -> None:
    rows = json.loads(RECORDED_PARTS.read_text(encoding="utf-8"))["rows"]
    found = recorded_accuracy()
    assert {*found} == {(part, labels) for part in PARTS for labels in (50, 100, 200, 400, 2387)}
    for (part, labels), value in found.items():
        own = [row["accuracy"] for row in rows if (row["part"], row["labels"]) == (part, labels)]
        assert len(own) == 3
        assert value == statistics.median(own)
