"""Write docs/what-opens.md from the tests that open these files.

python docs/make_what_opens.py
"""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / "docs" / "what-opens.md"
HEAD = """# What opens

Made by `python docs/make_what_opens.py`; do not edit. Each row stands in the test that opens such a
file on the pages, with `bertscope inspect`, `evaluate` and `finetune`, and in Python (`tests/`).
Columns and labels that are guessed are shown, and can be changed; how that is done is in
[training.md](training.md#fine-tuning), what happens with a checkpoint in
[inspect-your-checkpoint.md](inspect-your-checkpoint.md). `⇥` is a tab.

"""


def page() -> str:
    """Return the page."""
    sys.path.insert(0, str(ROOT))
    from tests.support import what_opens

    for path in sorted((ROOT / "tests" / "bertcore").rglob("test_*.py")):
        if re.search("what.opens", path.read_text(encoding="utf-8")):
            importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    return HEAD + what_opens.table()


if __name__ == "__main__":
    PLACE.write_text(page(), encoding="utf-8")
