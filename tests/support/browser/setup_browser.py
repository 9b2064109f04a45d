"""Find a Chromium for the browser tests, or install one.

`python tests/support/browser/setup_browser.py` prints the path of the executable; where there is
none it first tries Playwright's own download, then (as root, on Debian and its kin) the package
`chromium`. Tests call `find_browser()`, which never installs anything. `BERTSCOPE_BROWSER` names an
executable to use before all others.
"""

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BROWSER_VARIABLE = "BERTSCOPE_BROWSER"
SYSTEM_NAMES = (
    "chromium-headless-shell",  # without the browser's own windows: a seventh less time
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
LAUNCH_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost",
)
"""For Playwright's `launch(args=...)`: works as root, asks nobody anything, and finds no host but
this machine."""

DOWNLOAD_SECONDS = 600


def find_browser() -> Path:
    """Return the path of a Chromium that starts.

    RuntimeError if `BERTSCOPE_BROWSER` names none, or none is installed.
    """
    named = os.environ.get(BROWSER_VARIABLE)
    for path in [Path(shutil.which(named) or named)] if named else candidates():
        if starts(path):
            return path
    if named:
        raise RuntimeError(
            f"{BROWSER_VARIABLE}={named} is not a browser that starts. "
            "Name a Chromium or Chrome executable, or unset it."
        )
    raise RuntimeError(
        "no Chromium or Chrome was found. Run: python tests/support/browser/setup_browser.py "
        f"(as root on Debian: apt-get install chromium), or set {BROWSER_VARIABLE} to an executable"
    )


def candidates() -> Iterator[Path]:
    """Yield the executables to try: the system's, then Playwright's own."""
    yield from (Path(path) for name in SYSTEM_NAMES if (path := shutil.which(name)))
    with ThreadPoolExecutor(1) as thread:  # in this one the tests' own Playwright may be at work
        yield thread.submit(_playwrights_own).result()


def _playwrights_own() -> Path:
    """Return where Playwright puts the Chromium that it downloads."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return Path(playwright.chromium.executable_path)


def starts(path: Path) -> bool:
    """Return whether the executable answers `--version`: a stub or a missing library does not."""
    try:
        answer = subprocess.run([path, "--version"], capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0 and bool(answer.stdout.strip())


def install_commands() -> list[list[str]]:
    """Return the commands that may bring a browser, in the order to try them."""
    commands = [[sys.executable, "-m", "playwright", "install", "chromium"]]
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        install = ["apt-get", "-qq", "install", "--yes", "--no-install-recommends"]
        commands.append(["apt-get", "-qq", "update"])
        commands += [[*install, package] for package in SYSTEM_NAMES[:2]]
    return commands


def main() -> int:
    """Print the browser's path, after installing one if need be; 1 if none can be had."""
    missing = None
    for command in ([], *([] if os.environ.get(BROWSER_VARIABLE) else install_commands())):
        # stdout is for the path alone.
        if command:
            print(f"no browser yet: {' '.join(command)}", file=sys.stderr, flush=True)
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                subprocess.run(command, check=False, timeout=DOWNLOAD_SECONDS, stdout=sys.stderr)
        try:
            print(find_browser())
            return 0
        except RuntimeError as error:
            missing = error
    print(missing, file=sys.stderr)
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
