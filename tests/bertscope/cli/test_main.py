"""The command line's frame: how it reports mistakes and how it opens the app."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import typer
from typer.testing import CliRunner

from bertscope import app_root
from bertscope.cli import entry
from bertscope.cli.commands import open_app
from bertscope.cli.errors import SentenceGroup
from bertscope.cli.removed import COMMANDS, OPTIONS
from tests.support.cases import cases
from tests.support.command_line import app, refusal
from tests.support.run_python import run_python

ROOT = Path(__file__).resolve().parents[3]
runner = CliRunner()
NO_MEMORY = (
    "there is not enough memory for this. Use fewer or shorter texts, a smaller batch or a smaller "
    "checkpoint."
)


def command_that_raises(error: BaseException) -> typer.Typer:
    """A command line with one command, `work`, that raises."""
    line = typer.Typer(cls=SentenceGroup, rich_markup_mode=None)

    @line.callback()
    def start() -> None:
        """Keep `work` a command of a group."""

    @line.command()
    def work(times: int = 1) -> None:
        raise error

    return line


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (
            ValueError("top_k is 0;\n    it must be at least 1."),
            "top_k is 0; it must be at least 1.",
        ),
        (FileNotFoundError(2, "No such file", "a.txt"), "cannot use 'a.txt': No such file."),
        (RuntimeError("the file is broken"), "the file is broken"),
        (ValueError(), "ValueError without a message."),
        (MemoryError(), NO_MEMORY),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"), NO_MEMORY),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_2(error: Exception, sentence: str) -> None:
    result = runner.invoke(command_that_raises(error), ["work"])
    assert result.exit_code == 2
    assert result.stderr == f"Error: {sentence}\n"
    assert result.stdout == ""


@pytest.mark.parametrize("error", [KeyError("a"), NotImplementedError("b"), TypeError("c")])
def test_a_bug_keeps_its_traceback(error: Exception) -> None:
    result = runner.invoke(command_that_raises(error), ["work"])
    assert result.exception is error


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["work", "--times", "many"], "'--times'"),
        (["work", "--tims", "2"], "--tims"),
        (["play"], "'play'"),
    ],
)
def test_a_refused_option_is_one_line_that_names_the_help(arguments: list[str], part: str) -> None:
    result = runner.invoke(command_that_raises(KeyError()), arguments)
    assert result.exit_code == 2
    assert part in result.stderr
    assert result.stderr.rstrip().endswith("--help")
    assert result.stderr.count("\n") == 1


def test_exit_codes_of_commands_are_kept() -> None:
    assert runner.invoke(command_that_raises(typer.Exit(3)), ["work"]).exit_code == 3
    assert runner.invoke(command_that_raises(KeyboardInterrupt()), ["work"]).exit_code == 130


def test_each_command_has_help_with_an_example() -> None:
    commands = [command.name or "" for command in app.registered_commands]
    assert {"app", "tokenize", "fill-mask", "show", "pretrain"} <= set(commands)
    for name in commands:
        result = runner.invoke(app, [name, "--help"], prog_name="bertscope")
        assert result.exit_code == 0
        assert f"bertscope {name}" in result.stdout.split("\n", 1)[1], f"{name} has no example"


def test_ctrl_c_at_the_first_moment_shows_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped() -> None:
        raise KeyboardInterrupt

    commands = ModuleType("bertscope.cli.main")
    monkeypatch.setattr(commands, "main", stopped, raising=False)
    monkeypatch.setitem(sys.modules, "bertscope.cli.main", commands)
    with pytest.raises(SystemExit) as end:
        entry.main()
    assert end.value.code == 130


@pytest.mark.parametrize("words", [["--help"], ["pretrain", "--help"], ["finetune", "--help"]])
def test_help_does_not_load_torch(words: list[str]) -> None:
    """`bertscope --help` answers at once."""
    script = (
        "import sys\nfrom bertscope.cli.main import build_app\n"
        f"try: build_app()({words})\nexcept SystemExit as end: assert end.code == 0\n"
        "heavy = {'torch', 'transformers', 'sklearn', 'pandas', 'numpy'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    run_python("-c", script)


@pytest.mark.parametrize("words", [["loss", "a river"], ["show", "variants", "It rained.", "Wet."]])
def test_a_short_command_imports_torch_alone(words: list[str]) -> None:
    """torch's compiler and sympy take a second and 75 MB, and the hub's library 0.2 s."""
    script = (
        f"import sys\nfrom bertscope.cli import main\nsys.argv[1:] = {[*words, '--json']}\n"
        "try: main.main()\nexcept SystemExit as end: assert end.code == 0\n"
        "heavy = {'torch._dynamo', 'sympy', 'transformers', 'sklearn', 'pandas', 'rich',"
        "'huggingface_hub', 'charset_normalizer', 'bertscope.cli.commands.finetune',"
        "'app.screens.heads.views'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    run_python("-c", script)


def test_a_taken_port_is_one_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("localhost", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = runner.invoke(app, ["app", "--port", str(port)])
    assert result.exit_code == 2
    assert f"port {port} (Address already in use)" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("address", ["no.such.host.invalid", "203.0.113.7"])
def test_an_address_that_is_not_ours_is_one_sentence(address: str) -> None:
    said = refusal("app", "--address", address)
    assert address in said
    assert "--address localhost" in said


def test_missing_streamlit_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "pip install bertscope" in refusal()


def test_missing_files_of_the_app_are_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(app_root, "__file__", str(tmp_path / "bertscope" / "app_root.py"))
    with pytest.raises(RuntimeError, match="app's files are missing"):
        app_root.find_app_root()


def test_the_config_becomes_flags_that_streamlit_knows() -> None:
    flags = open_app.config_flags(ROOT / ".streamlit" / "config.toml")
    assert "--browser.gatherUsageStats=false" in flags
    assert "--global.maxCachedMessageAge=50" in flags
    assert "--theme.dark.sidebar.backgroundColor=#161B28" in flags
    (colors,) = [flag for flag in flags if flag.startswith("--theme.chartCategoricalColors=")]
    assert json.loads(colors.partition("=")[2])[0] == "#3457D5"
    run = subprocess.run(
        [sys.executable, "-m", "streamlit", "run", "no_such_file.py", *flags],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "File does not exist" in run.stderr  # Streamlit read past all the flags


def test_a_broken_config_names_the_file(tmp_path: Path) -> None:
    broken = tmp_path / "config.toml"
    broken.write_text("[server\n", encoding="utf-8")
    with pytest.raises(RuntimeError, match=r"config\.toml cannot be read"):
        open_app.config_flags(broken)


@pytest.mark.skipif(os.name != "posix", reason="a shell's >&-")
@pytest.mark.parametrize("words", [["--version"], ["tokenize", "a river"]])
def test_a_closed_standard_output_is_no_error(words: list[str]) -> None:
    command = [sys.executable, "-P", "-m", "bertscope", *words]
    one = ["sh", "-c", 'exec "$@" >&-', "sh", *command]
    run = subprocess.run(one, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    both = subprocess.run(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *command], check=False)
    assert both.returncode == 0


@pytest.mark.skipif(os.name != "posix", reason="a shell's >&-")
def test_no_file_takes_the_place_of_a_closed_output() -> None:
    code = (
        "import os; from bertscope.cli import main; main._open_closed_streams(); "
        "os.execlp('sh', 'sh', '-c', 'echo lost; exec 3>&1')"
    )
    command = ["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


@pytest.mark.parametrize(
    "line",
    [[name] for name in COMMANDS]
    + [[o] if name == "bertscope" else [name, o] for name, each in OPTIONS.items() for o in each],
)
def test_what_was_removed_names_what_to_use_instead(line: list[str]) -> None:
    result = runner.invoke(app, line)
    assert result.exit_code == 2
    said = result.stderr
    assert said.startswith(f"Error: `bertscope {' '.join(line)}` was removed in 0.3.0. ")
    assert said.count("\n") == 1


@pytest.mark.parametrize(("line", "start"), cases("commands_of_0_2_0"))
def test_a_line_of_0_2_0_is_answered_by_a_sentence(line: str, start: str) -> None:
    result = runner.invoke(app, line.split())
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: {start}")
    assert result.stderr.count("\n") == 1
