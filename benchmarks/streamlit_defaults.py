"""The app as Streamlit runs it without our settings, to be measured beside ours.

Run by Streamlit. Its collection of garbage after each run goes through all that is loaded, as it
does in an app that does not freeze that.
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
