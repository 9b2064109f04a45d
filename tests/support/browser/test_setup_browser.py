"""Finding a browser: what is named comes first, and a stub that does not start is passed over."""

import os
from pathlib import Path

import pytest

from tests.support.browser import setup_browser


def executable(path: Path, *, exit_code: int) -> Path:
    """Write a program that answers as a browser does, or fails as a stub does."""
    path.write_text(f"#!/bin/sh\necho Chromium 1.0\nexit {exit_code}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture(autouse=True)
def _only_these_programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(setup_browser.BROWSER_VARIABLE, raising=False)
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path), "/bin", "/usr/sbin"]))
    monkeypatch.setattr(setup_browser, "MAC_PATHS", ())
    monkeypatch.setattr(setup_browser, "SYSTEM_NAMES", ("one-browser", "other-browser"))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "none"))


def test_the_named_browser_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    executable(tmp_path / "one-browser", exit_code=0)
    named = executable(tmp_path / "mine", exit_code=0)
    monkeypatch.setenv(setup_browser.BROWSER_VARIABLE, str(named))
    assert setup_browser.find_browser() == named


def test_a_named_browser_that_fails_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executable(tmp_path / "one-browser", exit_code=0)
    stub = executable(tmp_path / "mine", exit_code=1)
    monkeypatch.setenv(setup_browser.BROWSER_VARIABLE, str(stub))
    with pytest.raises(RuntimeError, match="is not a browser that starts"):
        setup_browser.find_browser()
    assert setup_browser.main() == 1


def test_a_stub_is_passed_over(tmp_path: Path) -> None:
    executable(tmp_path / "one-browser", exit_code=1)
    real = executable(tmp_path / "other-browser", exit_code=0)
    assert setup_browser.find_browser() == real


def test_no_browser_tells_what_to_run() -> None:
    with pytest.raises(RuntimeError, match=r"python tests/support/browser/setup_browser\.py"):
        setup_browser.find_browser()


def test_one_that_cannot_be_downloaded_comes_from_the_next_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    installer = executable(tmp_path / "install", exit_code=0)
    installer.write_text(
        f"#!/bin/sh\nprintf '#!/bin/sh\\necho Chromium' > {tmp_path}/other-browser\n"
        f"chmod +x {tmp_path}/other-browser\n",
        encoding="utf-8",
    )
    commands = [[str(tmp_path / "missing")], ["false"], [str(installer)]]
    monkeypatch.setattr(setup_browser, "install_commands", lambda: commands)
    assert setup_browser.main() == 0
    assert capfd.readouterr().out == f"{tmp_path / 'other-browser'}\n"
