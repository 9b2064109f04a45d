"""Python in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run_python(*arguments: object, cwd: Path = ROOT, **environ: str) -> str:
    """Return what Python prints with these arguments and these variables besides ours.

    AssertionError, with what it said, if it fails.
    """
    run = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout
