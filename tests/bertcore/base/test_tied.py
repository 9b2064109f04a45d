"""A process that ends with its standard input, and otherwise is `python -m`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

MODULE = """
import subprocess, sys
print(__name__, sys.argv[1:], flush=True)
if "stay" in sys.argv:
    inner = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    print(inner.pid, flush=True)
    inner.wait()
sys.exit(3)
"""


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    (tmp_path / "told.py").write_text(MODULE)
    paths = [str(tmp_path), str(Path(__file__).resolve().parents[3])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    return [sys.executable, "-P", "-m", "bertcore.base.tied", "told"]


def test_a_module_runs_with_its_arguments_and_exit_code(command: list[str]) -> None:
    with subprocess.Popen(
        [*command, "a", "--b"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout.read() == b"__main__ ['a', '--b']\n"
        assert process.wait() == 3


@pytest.mark.skipif(os.name != "posix", reason="groups of processes")
def test_it_and_what_it_started_end_with_its_input(command: list[str]) -> None:
    with subprocess.Popen(
        [*command, "stay"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout.readline() == b"__main__ ['stay']\n"
        process.stdout.readline()
        process.stdin.close()
        assert process.stdout.read() == b""  # both have ended: the inner one has it open too
        assert process.wait() < 0
