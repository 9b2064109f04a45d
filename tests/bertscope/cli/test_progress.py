"""Progress without a terminal, and the threads of commands that run a model."""

import os

import pytest

from bertscope.cli import main, progress


@pytest.mark.parametrize(
    ("seconds", "printed"), [(0, "explaining [rows]: 25%\nwriting\n"), (3600, "")]
)
def test_progress_is_printed_now_and_then_where_no_terminal_is(
    seconds: int, printed: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "SECONDS_PER_LINE", seconds)
    with progress.stages() as on_stage:
        on_stage("explaining [rows]", 0.25)
        on_stage("writing", None)
    assert capsys.readouterr() == ("", printed)


@pytest.mark.parametrize(("command", "spins"), [("evaluate", "3000"), ("pretrain", None)])
def test_threads_of_a_command_that_runs_a_model_spin_briefly(
    command: str, spins: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT"):
        monkeypatch.setenv(name, "")  # what the command sets is taken back after the test
        monkeypatch.delenv(name)
    monkeypatch.setattr("sys.argv", ["bertscope", command, "--help"])
    with pytest.raises(SystemExit):
        main.main()
    assert os.environ.get("GOMP_SPINCOUNT") == spins
