"""BERT at a glance in a live file: its message against the one that Python makes."""

import json
import zlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bertcore
from app.live.live_file import PAGES, _settings
from app.live.weights import pack_weights
from app.parts.walk import drawing
from app.parts.walk.steps import walk
from app.parts.walk.summary import summarize
from app.plots import marks_of, percent
from bertcore import Bert
from bertcore.analysis.words.surprise import example_mask
from bertcore.model.network import ALL_HEADS
from tests.support.nasty_text import NASTY, PARAGRAPH
from tests.support.node import run_typescript
from tests.support.tiny import tiny_bert, tiny_network, tiny_tokenizer

Case = tuple[str, str | None, list[int] | None]


def messages(bert: Bert, cases: list[Case], folder: Path) -> list[bytes]:
    """Return the message of each case, as the browser makes it."""
    weights = pack_weights(bert, "float32")
    settings = _settings(bert, "", PAGES, weights)
    shared = {name: settings[name] for name in ("kinds", "accent", "decoding")}
    (folder / "weights.bin").write_bytes(weights)
    run_typescript(
        """
        import { wordToHide } from "./app/live/answers";
        import { glanceMessage } from "./app/live/glance";
        import { Reader } from "./app/live/reader";
        const reader = await Reader.open(new Uint8Array(readFileSync("weights.bin")));
        given.cases.forEach(([first, second, hidden], number) => {
          const question = { number, first, second, hidden, hiddenIn: [first, second] };
          const result = reader.read(question, () => wordToHide(reader, first, second));
          writeFileSync(`${number}.bin`, glanceMessage(reader, result, given.look));
        });
        """,
        folder,
        {"cases": cases, "look": settings["glance"] | shared | {"pages": {}}},
    )
    return [(folder / f"{number}.bin").read_bytes() for number in range(len(cases))]


def opened(message: bytes) -> tuple[dict[str, Any], list[np.ndarray]]:
    start = 4 + int.from_bytes(message[:4], "little")
    header = json.loads(message[4:start])
    kinds = [np.int8, np.uint8, np.uint8, np.float32, np.uint8, np.uint8]
    blocks = header.pop("blocks")
    parts = (
        zlib.decompress(message[start + at : start + at + size])
        if deflated
        else message[start + at : start + at + size]
        for at, size, *deflated in blocks
    )
    return header, [np.frombuffer(part, kind) for part, kind in zip(parts, kinds, strict=True)]


def same(ours: Any, theirs: Any, where: str = "") -> None:
    """Numbers that are no whole ones may differ by what float32 loses."""
    if isinstance(theirs, dict):
        assert {*ours} == {*theirs}, where
        for name, value in theirs.items():
            same(ours[name], value, f"{where}.{name}")
    elif isinstance(theirs, list):
        assert len(ours) == len(theirs), where
        for k, value in enumerate(theirs):
            same(ours[k], value, f"{where}[{k}]")
    elif isinstance(theirs, float):
        assert ours == pytest.approx(theirs, rel=1e-4, abs=1e-4), where
    else:
        assert ours == theirs, where


A, B = "He sat on the bank of the river.", "Later he borrowed money."
USUAL: list[Case] = [
    ("The river bank was steep.", "It had rained.", []),
    ("The bank of the river, and the bank of the city. It's the bank", None, [2]),
    ("unhappily, strawberries", "un\u0301happily the", [1, 2]),
    ("the [MASK] of it [MASK]", "the", []),
    ("", None, []),
    ("\u200b", "", [0, 5]),
    ("a", None, [1]),
    ("\u2603 'quoted\" \\ \u3042\U0001f600 snow", None, [3]),
    (f"{PARAGRAPH} " * 2, PARAGRAPH, [40, 180]),
]


@pytest.mark.parity
@pytest.mark.parametrize("name", ["tiny", "default", "without heads"])
def test_the_message_is_that_of_python(name: str, tmp_path: Path) -> None:
    if name == "default":
        bert = bertcore.load("default", device="cpu")
    elif name == "tiny":
        bert = tiny_bert()
    else:
        bert = Bert(tiny_network(heads=ALL_HEADS - ALL_HEADS), tiny_tokenizer())
    cases = [*USUAL, *((first, second, []) for first, second in pairwise(NASTY[::6]))]
    for (first, second, places), found in zip(cases, messages(bert, cases, tmp_path), strict=True):
        header, blocks = opened(found)
        encoding = bert.tokenize(first, second)
        allowed = {place for place, text in enumerate(encoding.text_ids) if text >= 0}
        hidden = places or []
        chosen = [place for place in hidden if place in allowed]
        if hidden and not chosen:
            chosen = [each["position"] for each in header["predictions"]]  # the file chooses
        glance = summarize(bert, first, second, tuple(chosen))
        steps = walk(bert, glance, marks_of(bert.tokenizer))
        theirs, their_blocks = opened(drawing.message(bert, glance, steps, 0))
        same(header, theirs, repr(first))
        for number, (block, of_python) in enumerate(zip(blocks, their_blocks, strict=True)):
            difference = np.abs(block.astype(np.float32) - of_python.astype(np.float32))
            most = np.full(len(block), 1 if number < 3 else 0)
            if number == 1:  # sixteen shades of the heads of later layers are sent
                most[theirs["num_heads"] * theirs["size"] ** 2 :] = 9
            assert (difference <= most).all(), (first, number)


def test_the_hidden_word_is_that_of_the_app(tmp_path: Path) -> None:
    bert = bertcore.load("default", device="cpu")
    long = PARAGRAPH * 2
    cases: list[Case] = [(long, None, None), ("unhappily. " * 30, long, None), (A, B, None)]
    for (first, second, _), found in zip(cases, messages(bert, cases, tmp_path), strict=True):
        header, _ = opened(found)
        hidden = [each["position"] for each in header["predictions"]]
        assert hidden == [example_mask(bert, first, second)]


def test_percentages_are_those_of_python(tmp_path: Path) -> None:
    shares = [0, 1, 0.5, 0.123456, 0.00042, 0.99958, 1e-9, 1 - 1e-9, 0.000999, 0.001, 0.0094999]
    shares += [0.9154, 0.0846, 0.01, 0.99, 0.999, 0.00009999]
    script = (
        'import { finePercent } from "./app/live/glance"; const found = given.map(finePercent);'
    )
    percents = run_typescript(script, tmp_path, shares)
    assert percents == [percent(share) for share in shares]
