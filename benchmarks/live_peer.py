"""transformers.js with the weights of the live file in the same browser: size, loading, typing.

`--peer FOLDER` names a folder with its build, which nothing here downloads:

    npm install @huggingface/transformers      # then copy into FOLDER
      node_modules/@huggingface/transformers/dist/transformers.min.js
      node_modules/onnxruntime-web/dist/ort-wasm-simd-threaded.*mjs and .*wasm
    FOLDER/models/bert/                        # config.json, tokenizer.json, tokenizer_config.json
    FOLDER/models/bert/onnx/model.onnx         # torch.onnx.export of BertForMaskedLM, float32
    FOLDER/models/bert/onnx/model_quantized.onnx   # onnxruntime.quantization.quantize_dynamic

The page runs under a plain server, without cross-origin isolation, so with one thread. It shows
nothing: its time ends when the logits are there.
"""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import Browser, Page

TIMEOUT = 120_000  # milliseconds
FORMS = {"fp32": "float32", "q8": "8 bits"}
"""The names of transformers.js, and how they are stored."""

_PAGE = """<!DOCTYPE html><meta charset="utf-8"><textarea></textarea>
<script type="module">
import { AutoModelForMaskedLM, AutoTokenizer, env } from "./transformers.min.js";
env.allowRemoteModels = false;
env.allowLocalModels = true;
env.useBrowserCache = false;
env.localModelPath = "./models/";
env.backends.onnx.wasm.wasmPaths = new URL("./", location.href).href;
env.backends.onnx.wasm.numThreads = 1;
const box = document.querySelector("textarea");
const options = { dtype: location.hash.slice(1), device: "wasm" };
const tokenizer = await AutoTokenizer.from_pretrained("bert");
const model = await AutoModelForMaskedLM.from_pretrained("bert", options);
const answer = async () => {
  const start = performance.now();
  const output = await model(await tokenizer(box.value, { truncation: true, max_length: 512 }));
  window.answered = { text: box.value, seconds: (performance.now() - start) / 1e3,
    length: output.logits.dims[1], outputs: Object.keys(output) };
};
box.addEventListener("input", answer);
box.value = "the";
await answer();
</script>"""


class _Handler(SimpleHTTPRequestHandler):
    sent = 0
    """Bytes of all files that were asked for."""

    def do_GET(self) -> None:
        """Serve the page, or a file of the folder."""
        if self.path == "/":
            body = _PAGE.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            return
        path = Path(self.translate_path(self.path))
        if path.is_file():
            _Handler.sent += path.stat().st_size
        super().do_GET()

    def log_message(self, *_: object) -> None:
        """Do not print requests."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve the folder with the page; the address."""
    handler = partial(_Handler, directory=str(folder))
    with ThreadingHTTPServer(("localhost", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}/"
        server.shutdown()


class Peer:
    """The page of one form, when its first answer is there."""

    def __init__(self, browser: Browser, address: str, form: str) -> None:
        _Handler.sent = 0
        start = time.perf_counter()
        self.page: Page = browser.new_context().new_page()
        self.page.goto(f"{address}#{form}")
        self._answer("the")
        self.opening = time.perf_counter() - start
        self.size = _Handler.sent

    def type(self, text: str, keys: int) -> list[float]:
        """Return the seconds from each of some keystrokes at the end of a text to its logits."""
        self.page.bring_to_front()
        box = self.page.locator("textarea")
        box.fill(text)
        self._answer(text)
        seconds = []
        for key in range(keys):
            self.page.wait_for_timeout(100)
            box.press("End")
            box.press("s" if key % 2 == 0 else "Backspace")
            seconds.append(self._answer(text + "s" * (key % 2 == 0)))
        return seconds

    @property
    def outputs(self) -> list[str]:
        """Names of what an answer holds."""
        names: list[str] = self.page.evaluate("window.answered.outputs")
        return names

    def _answer(self, text: str) -> float:
        told = "text => window.answered?.text === text"
        self.page.wait_for_function(told, arg=text, polling=10, timeout=TIMEOUT)
        seconds: float = self.page.evaluate("window.answered.seconds")
        return seconds


def median(seconds: list[float]) -> float:
    """Return the median without the first, which compiles."""
    return statistics.median(seconds[1:])
