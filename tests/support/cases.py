"""Cases of parametrised tests that are only text and numbers: a line of JSON each."""

import json
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).resolve().parents[1] / "data" / "cases"


def cases(name: str) -> list[Any]:
    """Return the cases of tests/data/cases/NAME.jsonl."""
    lines = (_FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]
