"""The TypeScript modules of the views against Python: what one writes, the other reads."""

import csv
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

from app.parts.canvas.shared import transport
from bertcore.base.quantize import quantize
from bertcore.model.interventions import blocks_of
from tests.support.node import run_typescript

TOKENS = [
    "river",
    "",
    "\u00e9",
    "\U0001f30a\U0001f30a",
    'a,"b"',
    "=1+1",
    "two\nlines",
    "\u4e2d\u6587",
]
"""Of no character, of several bytes or code points, and with what CSV must quote."""


@pytest.fixture(scope="module")
def weights() -> torch.Tensor:
    scores = torch.randn(3, 40, 40, generator=torch.Generator().manual_seed(0)) * 3
    return torch.softmax(scores, -1)


def test_numpy_reads_the_arrays_that_are_saved(tmp_path: Path) -> None:
    run_typescript(
        f"""
        import {{ npz }} from "./app/parts/canvas/saving/npz";
        const values = Float32Array.from({{ length: 24 }}, (_, k) => Math.sin(k) * 10 ** (k - 12));
        values[5] = NaN;
        const blob = npz({{
          attention: {{ shape: [2, 3, 4], values }},
          part: {{ shape: [2], values: values.subarray(1, 3) }},
          order: {{ shape: [3], values: Int32Array.of(-1, 0, 2147483647) }},
          tokens: {{ shape: [{len(TOKENS)}], values: {json.dumps(TOKENS)} }},
          none: {{ shape: [0], values: [] }},
        }});
        writeFileSync("arrays.npz", new Uint8Array(await blob.arrayBuffer()));
        """,
        tmp_path,
    )
    with zipfile.ZipFile(tmp_path / "arrays.npz") as archive:
        assert archive.testzip() is None
    with np.load(tmp_path / "arrays.npz", allow_pickle=False) as arrays:
        k = np.arange(24, dtype=np.float64)
        expected = np.sin(k) * 10 ** (k - 12)
        expected[5] = np.nan
        assert arrays["attention"].shape == (2, 3, 4)
        assert arrays["attention"].dtype == np.float32
        np.testing.assert_allclose(arrays["attention"].ravel(), expected, rtol=1e-6)
        np.testing.assert_array_equal(arrays["part"], arrays["attention"].ravel()[1:3])
        assert arrays["order"].tolist() == [-1, 0, 2**31 - 1]
        assert arrays["tokens"].tolist() == TOKENS
        assert arrays["none"].shape == (0,)


def test_a_message_of_transport_py_is_read(tmp_path: Path, weights: torch.Tensor) -> None:
    codes = transport.encode(weights).codes
    floats = weights[0].numpy()
    flags = np.arange(50) % 3 == 0
    sent = transport.pack(
        {"layer": 7, "tokens": TOKENS},
        transport.Deflated(codes),
        floats,
        np.packbits(flags),
        transport.decoding_table(),
    )
    (tmp_path / "sent.bin").write_bytes(transport.change(sent, heads=[1, 2]))
    run_typescript(
        """
        import { asFlags, asFloats, changeHeader, encoder, inflateBlocks, isDeflated, unpack }
          from "./app/parts/canvas/shared/transport";
        const bytes = new Uint8Array(readFileSync("sent.bin"));
        const message = unpack(bytes);
        if (!isDeflated(message)) throw new Error("no block says that it is deflated");
        const { header, blocks: [codes, floats, bits, table] } = await inflateBlocks(message);
        const encode = encoder(asFloats(table));
        writeFileSync("codes.bin", codes);
        writeFileSync("floats.bin", new Uint8Array(asFloats(floats).slice().buffer));
        writeFileSync("encoded.bin", Uint8Array.from(asFloats(floats), encode));
        writeFileSync("flags.bin", asFlags(bits, 0, 50));
        writeFileSync("header.json", JSON.stringify(header));
        writeFileSync("changed.bin", changeHeader(bytes, { layer: 8 }));
        """,
        tmp_path,
    )

    def read(name: str) -> bytes:
        return (tmp_path / name).read_bytes()

    header = json.loads(read("header.json"))
    assert (header["layer"], header["tokens"], header["heads"]) == (7, TOKENS, [1, 2])
    assert read("codes.bin") == codes.tobytes()
    assert read("floats.bin") == floats.tobytes()
    assert read("flags.bin") == flags.astype(np.uint8).tobytes()
    # The browser takes the nearest weight, Python the nearest place on the curve.
    encoded = np.frombuffer(read("encoded.bin"), np.uint8).reshape(floats.shape)
    table = transport.decoding_table()
    nearest = np.abs(table - floats[..., None]).min(-1)
    np.testing.assert_allclose(np.abs(table[encoded] - floats), nearest, atol=1e-7)
    assert np.abs(encoded.astype(int) - quantize(weights[0])).max() <= 1
    # Python reads what the browser changed.
    assert json.loads(_header(transport.change(read("changed.bin"), note=1)))["layer"] == 8


def _header(message: bytes) -> bytes:
    return message[4 : 4 + int.from_bytes(message[:4], "little")]


def test_a_drawn_mask_has_the_blocks_that_python_finds(tmp_path: Path) -> None:
    masks = torch.rand(30, 7, 7, generator=torch.Generator().manual_seed(1)) < 0.6
    masks[0], masks[1], masks[2] = True, False, torch.ones(7, 7).tril().bool()
    (tmp_path / "masks.bin").write_bytes(masks.numpy().astype(np.uint8).tobytes())
    found = run_typescript(
        """
        import { blocksOf } from "./app/screens/what_if/blocks";
        const masks = new Uint8Array(readFileSync("masks.bin"));
        const mask = (k) => masks.subarray(k * 49, (k + 1) * 49);
        const found = Array.from({ length: 30 }, (_, k) => blocksOf(mask(k), 7));
        """,
        tmp_path,
    )
    assert found == [[list(block) for block in blocks_of(mask)] for mask in masks]


def test_python_reads_the_table_that_is_saved(tmp_path: Path) -> None:
    rows = [[token, number] for number, token in enumerate(TOKENS)]
    run_typescript(
        """
        import { csv } from "./app/parts/canvas/saving/csv";
        writeFileSync("table.csv", csv({ columns: ["token", "place"], rows: given }));
        """,
        tmp_path,
        rows,
    )
    with (tmp_path / "table.csv").open(encoding="utf-8-sig", newline="") as lines:
        read = list(csv.reader(lines))
    as_text = ["'=1+1" if token == "=1+1" else token for token in TOKENS]  # not a formula
    assert read == [["token", "place"], *([text, str(k)] for k, text in enumerate(as_text))]
