"""The machine that the benchmarks ran on."""

import datetime
import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

from benchmarks import tables
from tests.support.browser.setup_browser import find_browser

PACKAGES = ("torch", "transformers", "tokenizers", "streamlit", "plotly", "bertviz", "playwright")


def run() -> str:
    """Return a table of the machine, the versions and the load."""
    rows = [
        ("Date", datetime.date.today().isoformat()),
        ("Commit", commit()),
        ("System", f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"),
        ("Processor", f"{processor()}, {os.cpu_count()} cores, {torch.get_num_threads()} threads"),
        ("Memory", memory()),
        ("GPU", torch.cuda.get_device_name() if torch.cuda.is_available() else "none"),
        ("Load before the start", load()),
        ("Browser", browser()),
        *((name, installed(name)) for name in PACKAGES),
    ]
    return tables.markdown(("", ""), rows)


def installed(package: str) -> str:
    """Return the version of a package, if it is installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def processor() -> str:
    """Return the processor's name, if the system reports it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def memory() -> str:
    """Return the size of the main memory."""
    if not hasattr(os, "sysconf"):
        return "unknown"
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"


def load() -> str:
    """Return the load average of the last minute, with a warning if the machine is busy."""
    if not hasattr(os, "getloadavg"):
        return "unknown"
    now = os.getloadavg()[0]
    busy = now > 0.25 * (os.cpu_count() or 1)
    return f"{now:.2f}" + (" (busy: do not keep these numbers)" if busy else "")


def browser() -> str:
    """Return the version of the Chromium that the pages are measured in."""
    try:
        path = find_browser()
    except RuntimeError as error:
        return f"none ({error})"
    answer = subprocess.run([path, "--version"], capture_output=True, text=True, check=True)
    return answer.stdout.strip()


def commit() -> str:
    """Return the commit of the checkout, with a note if files differ from it."""
    root = Path(__file__).parents[1]

    def git(*arguments: str) -> str:
        answer = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False
        )
        return answer.stdout.strip()

    name = git("rev-parse", "--short", "HEAD") or "unknown"
    changed = git("status", "--porcelain", "--untracked-files=no")
    return f"{name}, with changes" if changed else name
