"""The app with Streamlit's default settings, to compare with ours.

Run by Streamlit. Garbage collection after each run traverses every loaded object, as in an app that
does not freeze them.
"""

import gc
import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    gc.freeze = lambda: None
    runpy.run_path(str(ROOT / "app" / "run.py"), run_name="__main__")
