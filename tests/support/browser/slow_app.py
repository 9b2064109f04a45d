"""The app, with work beside its pages that begins only when a file is there.

Run by Streamlit as `app/run.py` is; the file's path is in the environment.
"""

import os
import runpy
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

from app.shell.jobs import background  # noqa: E402


def slow(work: background.Work) -> background.Work:
    """Return the work, which waits for the file first."""

    def run(progress: background.Progress) -> object:
        while not Path(os.environ["BERTSCOPE_TEST_GO"]).exists():
            progress(0.5, "Waiting for the test")
            time.sleep(0.02)
        return work.run(progress)

    return background.Work(work.key, run)


if __name__ == "__main__":  # as Streamlit runs it; pytest reads it for doctests too
    if not hasattr(background, "is_slow"):
        ask = background.ask
        background.ask = lambda key, run, *visitor, **how: ask(
            key, slow(background.Work(key, run)).run, *visitor, **how
        )
        background.PATIENCE = 600  # a hundred visitors open one after the other
        background.is_slow = True  # type: ignore[attr-defined]

    runpy.run_path(str(ROOT / "app" / "run.py"), run_name="__main__")
