"""The network of a live file: what it computes in Node.js and in a browser."""

import base64
import json
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser

from app.live.weights import Stored, pack_weights
from bertcore import Bert, Encoding
from bertcore.analysis import masked_encoding
from tests.support.nasty_text import PARAGRAPH
from tests.support.node import bundle_typescript, run_typescript

Case = tuple[str, str | None]
ADDRESS = "http://live.test/"

IN_NODE = """
import { compute } from "./tests/support/live_network";
const weights = new Uint8Array(readFileSync("weights.bin"));
const { read: found, arrays } = await compute(weights, given.cases, given.isFast);
writeFileSync("arrays.bin", new Uint8Array(await arrays.arrayBuffer()));
"""

IN_PAGE = """
import { compute } from "./tests/support/live_network";
globalThis.found = (async () => {
  const { cases, isFast } = await (await fetch("asked.json")).json();
  const weights = new Uint8Array(await (await fetch("weights.bin")).arrayBuffer());
  const found = await compute(weights, cases, isFast);
  const reader = new FileReader();
  reader.readAsDataURL(found.arrays);
  await new Promise((done) => { reader.onload = done; });
  return [found.read, reader.result];
})();
"""


def compute(
    bert: Bert,
    cases: list[Case],
    folder: Path,
    browser: Browser | None = None,
    *,
    stored: Stored = "float32",
    is_fast: bool = True,
) -> Any:
    """Return what the TypeScript computes of each case, with its hidden states and attentions.

    A browser computes, or Node.js; in WebAssembly (`is_fast`), or in the plain form.
    """
    (folder / "weights.bin").write_bytes(pack_weights(bert, stored))
    asked = {"cases": cases, "isFast": is_fast}
    if browser is None:
        read = run_typescript(IN_NODE, folder, asked)
        arrays = (folder / "arrays.bin").read_bytes()
    else:
        (folder / "asked.json").write_text(json.dumps(asked))
        read, arrays = _in_page(folder, browser)
    return _with_arrays(bert, json.loads(read), np.frombuffer(arrays, np.float32))


def _in_page(folder: Path, browser: Browser) -> tuple[str, bytes]:
    bundle_typescript(IN_PAGE, folder, "browser")
    (folder / "index.html").write_text('<script type="module" src="script.mjs"></script>')
    page = browser.new_page()
    page.route(
        f"{ADDRESS}*",
        lambda route: route.fulfill(path=folder / route.request.url.removeprefix(ADDRESS)),
    )
    page.goto(f"{ADDRESS}index.html")
    page.wait_for_function("'found' in globalThis")
    read, address = page.evaluate("found")  # waits for the promise, however long it takes
    page.close()
    return read, base64.b64decode(address.partition(",")[2])


def _with_arrays(bert: Bert, found: Any, numbers: np.ndarray) -> Any:
    layers, heads = bert.config.num_hidden_layers, bert.config.num_attention_heads
    start = 0
    for each in found:
        length = len(each["encoding"]["input_ids"])
        for name, shape in (
            ("hidden_states", (layers + 1, length, bert.config.hidden_size)),
            ("attentions", (layers, heads, length, length)),
        ):
            end = start + int(np.prod(shape))
            each[name], start = numbers[start:end].reshape(shape), end
    assert start == len(numbers)
    return found


def hidden_encoding(bert: Bert, case: Case) -> Encoding:
    """Return the tokens of a case with the one at place 1 hidden, if it is one of a text."""
    is_hidden = bert.tokenize(*case).text_ids[1] >= 0
    return masked_encoding(bert, *case, [1] if is_hidden else [])


def check_numbers(bert: Bert, case: Case, found: dict[str, Any]) -> None:
    """Compare tokens, hidden states and attentions with those of `bertcore`."""
    trace = bert.trace(*case, encoding=hidden_encoding(bert, case))
    assert found["encoding"]["input_ids"] == trace.input_ids, case
    for array in ("hidden_states", "attentions"):
        np.testing.assert_allclose(
            found[array], getattr(trace, array).numpy(), atol=1e-4, rtol=0, err_msg=str(case)
        )


def random_texts(number: int, seed: int = 0) -> list[str]:
    """Return texts of random characters of all of Unicode, and of words."""
    chance = random.Random(seed)
    words = PARAGRAPH.split()
    texts = []
    for _ in range(number):
        letters = [chr(chance.choice((0x80, 0x600, 0x3000, sys.maxunicode)) - 1) for _ in range(1)]
        while len(letters) < 12:
            code = chance.randrange(chance.choice((0x250, 0x3000, 0x20000, sys.maxunicode + 1)))
            if not 0xD800 <= code <= 0xDFFF:
                letters += [chr(code), chance.choice(("", " ", "e", "\u0301", "中"))]
        texts.append("".join(letters) + " " + " ".join(chance.sample(words, 3)))
    return texts
