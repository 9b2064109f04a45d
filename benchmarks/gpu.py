"""The first minutes with a GPU: the tests that need one, a trace, an edit of a page, training.

About five minutes, on the first GPU. `--gpu-device cpu --gpu-seconds 1` tries all of it without
one; the tests are then skipped.
"""

import random
import subprocess
import sys
import time
from dataclasses import dataclass

import torch

from benchmarks import pretrain, tables, trace
from benchmarks.edit_time import EDITS, WARM_UP
from benchmarks.visitors import MANY, new_sentence
from bertcore.base.device import device_name
from tests.support.browser.running import running_app
from tests.support.session import Session

PAGE = "masked-words"
LAYERS, HIDDEN = 6, 256


@dataclass
class Options:
    """What the command line sets."""

    device: str = "cuda"
    seconds: float = 30.0
    """Of each measurement, without its warm-up."""


OPTIONS = Options()


def run() -> str:
    """Return the tables."""
    device = OPTIONS.device
    if device == "cuda" and not torch.cuda.is_available():
        return "No GPU was available, so CUDA was not measured."
    trace.SECONDS = pretrain.SECONDS = OPTIONS.seconds
    traced = [trace.time_row(device, length) for length in trace.LENGTHS]
    edits = [(place, tables.milliseconds(edit_seconds(place))) for place in ("cpu", device)]
    line, peak = pretrain.find_peak(device)
    parts = [
        f"{device_name(torch.device(device))}. Tests marked `gpu`: {tested()}.",
        tables.markdown(
            ("device, tokens", "a trace", "transformers", "rounds", "ratio", ""), traced
        ),
        tables.markdown((f"an edit of *{PAGE}* on", "mean time until it is drawn"), edits),
        line,
        pretrain.compare(device, LAYERS, HIDDEN, pretrain.ROWS, peak=peak),
    ]
    return "\n\n".join(parts)


def tested() -> str:
    """Run the tests marked `gpu`; return pytest's last line."""
    command = [sys.executable, "-m", "pytest", "-q", "-m", "gpu", "-p", "no:cacheprovider"]
    ran = subprocess.run([*command, "tests/bertcore"], capture_output=True, text=True, check=False)
    return ran.stdout.strip().splitlines()[-1]


def edit_seconds(device: str) -> float:
    """Return the mean time from a new text to the last message of the page that draws it.

    RuntimeError if the page showed an error.
    """
    chance = random.Random(0)
    with running_app(**MANY) as app, Session(app.url) as session:
        session.open(PAGE, f"device={device}")
        for _ in range(WARM_UP):
            session.set("text_a", new_sentence(chance))
        begin = time.perf_counter()
        for _ in range(EDITS):
            session.set("text_a", new_sentence(chance))
        if session.errors:
            raise RuntimeError(f"{PAGE} showed an error: {session.errors[0]}")
        return (time.perf_counter() - begin) / EDITS
