"""Write docs/what-opens.md from the tests that open these files.

python docs/make_what_opens.py
"""

import importlib
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / "docs" / "what-opens.md"
HEAD = """# What opens

Made by `python docs/make_what_opens.py`; do not edit. Each row is a test that opens such a file.
Guessed columns can be changed ([training.md](training.md#fine-tuning)); on checkpoints see
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
