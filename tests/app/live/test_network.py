"""The network in TypeScript against `bertcore`: tokens, hidden states, attention, answers."""

from __future__ import annotations

import json
import random
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import bertcore
from app.live.weights import FORMS, STEPS, Stored, pack_weights
from bertcore import Bert, Encoding
from bertcore.network import Network
from tests.support.exhaustive import all_but
from tests.support.nasty_text import NASTY, PARAGRAPH
from tests.support.node import run_typescript
from tests.support.tiny import tiny_bert, tiny_config

READ = """
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { Reader } from "./app/live/reader";
import { measureHeads } from "./app/live/measures";
const reader = await Reader.open(new Uint8Array(readFileSync("weights.bin")));
const cases = JSON.parse(readFileSync("cases.json", "utf8"));
"""

Case = tuple[str, str | None]
WORDS = PARAGRAPH.split()


def random_texts(number: int, seed: int = 0) -> list[str]:
    """Return texts of random characters of all of Unicode, and of words."""
    chance = random.Random(seed)
    texts = []
    for _ in range(number):
        letters = [chr(chance.choice((0x80, 0x600, 0x3000, sys.maxunicode)) - 1) for _ in range(1)]
        while len(letters) < 12:
            code = chance.randrange(chance.choice((0x250, 0x3000, 0x20000, sys.maxunicode + 1)))
            if not 0xD800 <= code <= 0xDFFF:
                letters += [chr(code), chance.choice(("", " ", "e", "\u0301", "中"))]
        texts.append("".join(letters) + " " + " ".join(chance.sample(WORDS, 3)))
    return texts


def read(bert: Bert, cases: list[Case], folder: Path, stored: Stored = "float32") -> Any:
    """Return what the TypeScript computes of each case, with its arrays."""
    (folder / "weights.bin").write_bytes(pack_weights(bert, stored))
    (folder / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
    run_typescript(
        f"""{READ}
        const read = cases.map(([first, second], number) => {{
          const question = {{ number, first, second, hidden: [1] }};
          const reading = reader.read(question);
          const {{ hiddenStates, attentions }} = reading.activations;
          for (const array of [...hiddenStates, ...attentions]) {{
            const {{ buffer, byteOffset, byteLength }} = array;
            appendFileSync("arrays.bin", new Uint8Array(buffer, byteOffset, byteLength));
          }}
          const {{ encoding, guesses, next }} = reading.result;
          const swapped = reader.swapped(question);
          return {{ encoding, guesses, next, swapped, measures: measureHeads(reading) }};
        }});
        writeFileSync("read.json", JSON.stringify(read));
        """,
        folder,
    )
    found = json.loads((folder / "read.json").read_text(encoding="utf-8"))
    numbers = np.fromfile(folder / "arrays.bin", np.float32)
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


def same_encoding(read: dict[str, Any], encoding: Encoding, text: object) -> None:
    for name in ("input_ids", "tokens", "segment_ids", "text_ids", "word_ids"):
        assert read[name] == getattr(encoding, name), (text, name)
    assert [tuple(span) for span in read["offsets"]] == encoding.offsets, text
    assert read["num_cut"] == (encoding.truncation.num_cut if encoding.truncation else 0)


SETTINGS = [(True, None), (False, None), (True, False), (False, True)]


@pytest.mark.parametrize(("lower", "accents"), all_but([SETTINGS[0], SETTINGS[3]], SETTINGS))
def test_texts_are_split_as_in_python(lower: bool, accents: bool | None, tmp_path: Path) -> None:
    vocab = bertcore.load("default", device="cpu").tokenizer.vocab
    tokenizer = bertcore.Tokenizer(vocab, do_lower_case=lower, strip_accents=accents)
    bert = Bert(_tiny_network(len(vocab)), tokenizer, name="tiny")
    texts = [*NASTY, *random_texts(200), PARAGRAPH * 9]
    cases: list[Case] = [(text, None) for text in texts]
    cases += [*pairwise(texts)][::3]
    cases += [("", ""), (PARAGRAPH * 5, "a"), ("a b", PARAGRAPH * 9)]
    (tmp_path / "weights.bin").write_bytes(pack_weights(bert, "float32"))
    (tmp_path / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
    run_typescript(
        f"""{READ}
        const read = cases.map(([first, second]) => reader.wordpiece.encode(first, second));
        writeFileSync("read.json", JSON.stringify(read));
        """,
        tmp_path,
    )
    found = json.loads((tmp_path / "read.json").read_text(encoding="utf-8"))
    for case, encoding in zip(cases, found, strict=True):
        same_encoding(encoding, tokenizer.encode(*case, max_length=512), case)


def _tiny_network(num_pieces: int) -> Network:
    return tiny_bert(tiny_config(vocab_size=num_pieces, max_position_embeddings=512)).module


@pytest.mark.parity
@pytest.mark.parametrize("name", all_but(["tiny"], ["tiny", "default"]))
def test_numbers_are_those_of_python(name: str, tmp_path: Path) -> None:
    bert = tiny_bert() if name == "tiny" else bertcore.load("default", device="cpu")
    assert isinstance(bert, Bert)
    texts = [*NASTY, *random_texts(40)] if name == "tiny" else [*NASTY[4:40:6], WORDS[0]]
    cases: list[Case] = [(text, None) for text in texts] + [*pairwise(texts)][::2]
    for case, found in zip(cases, read(bert, cases, tmp_path), strict=True):
        encoding = bert.tokenize(*case)
        same_encoding(found["encoding"], encoding, case)
        trace = bert.trace(*case)
        for array in ("hidden_states", "attentions"):
            np.testing.assert_allclose(
                found[array], getattr(trace, array).numpy(), atol=1e-4, rtol=0, err_msg=str(case)
            )
        _check_answers(bert, encoding, found)
        first, second = case
        if second is None or 1 not in encoding.text_ids:
            assert found["next"] is None
        else:
            assert found["next"] == pytest.approx(
                bert.next_sentence(first, second).is_next, abs=1e-4
            )
            assert found["swapped"] == pytest.approx(
                bert.next_sentence(second, first).is_next, abs=1e-4
            )
        _check_measures(trace, found["measures"])


def _check_answers(bert: Bert, encoding: Encoding, found: dict[str, Any]) -> None:
    """The token at place 1 is hidden, if it is one of a text."""
    mask = bert.tokenizer.mask_id
    ids = list(encoding.input_ids)
    if encoding.text_ids[1] >= 0:
        ids[1] = mask
    hidden, masks = torch.tensor([ids]), [place for place, id in enumerate(ids) if id == mask]
    with torch.no_grad():
        state = bert.module.word_states(hidden, torch.tensor([encoding.segment_ids]))[0]
        assert [guess["place"] for guess in found["guesses"]] == masks
        for guess in found["guesses"]:
            probabilities = bert.module.mlm_logits(state[guess["place"]]).softmax(-1)
            best = probabilities.topk(8)
            assert guess["probabilities"] == pytest.approx(best.values.tolist(), abs=1e-4)
            assert guess["original"] == encoding.tokens[guess["place"]]
            last = guess["lens"][-1]
            assert last["probability"] == pytest.approx(float(best.values[0]), abs=1e-4)
            assert last["own"] == pytest.approx(
                float(probabilities[encoding.input_ids[guess["place"]]]), abs=1e-4
            )


def _check_measures(trace: bertcore.Trace, found: dict[str, list[float | None]]) -> None:
    from bertcore.analysis.heads.measures import MEASURES, measure_heads

    measures = measure_heads(trace.attentions, trace.text_ids, trace.tokens)
    assert {*found} == {*MEASURES}
    for name, values in found.items():
        theirs = np.array([np.nan if value is None else value for value in values])
        np.testing.assert_allclose(
            theirs, getattr(measures, name).flatten().numpy(), atol=2e-5, rtol=1e-5, err_msg=name
        )


@pytest.mark.parametrize("stored", FORMS)
def test_what_is_stored_in_less_is_near(stored: Stored, tmp_path: Path) -> None:
    """A rounded weight is off by at most half a step of its matrix."""
    bert = tiny_bert()
    (tmp_path / "weights.bin").write_bytes(pack_weights(bert, stored))
    (tmp_path / "cases.json").write_text("[]")
    name = "bert.encoder.layer.0.intermediate.dense.weight"
    run_typescript(
        f"""{READ}
        const tensor = reader.bert.tensors.get("{name}")!.slice();
        writeFileSync("tensor.bin", new Uint8Array(tensor.buffer));
        """,
        tmp_path,
    )
    found = np.fromfile(tmp_path / "tensor.bin", np.float32).reshape(64, 32)
    weight = bert.module.layers[0].feed_forward.intermediate.weight.detach().numpy()
    step = np.sqrt(np.mean(weight**2)) / STEPS
    most = {"float32": 0, "float16": np.abs(weight) / 2048, "rounded": step / 2 * 1.001}[stored]
    assert (np.abs(found - weight) <= most + 1e-7).all()
