"""The network in TypeScript against `bertcore`: tokens, hidden states, attention, answers."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import bertcore
from app.live.weights import FORMS, STEPS, Stored, pack_weights
from bertcore import Bert, Encoding
from bertcore.analysis import pair_variants
from bertcore.model.network import Network
from tests.support.exhaustive import all_but
from tests.support.live_network import Case, check_numbers, compute, hidden_encoding, random_texts
from tests.support.nasty_text import NASTY, PARAGRAPH
from tests.support.node import run_typescript
from tests.support.tiny import tiny_bert, tiny_config

READ = """
import { Reader } from "./app/live/reader";
const reader = await Reader.open(new Uint8Array(readFileSync("weights.bin")));
"""

WORDS = PARAGRAPH.split()


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
    found = run_typescript(
        f"""{READ}
        const found = given.map(([first, second]) => reader.wordpiece.encode(first, second));
        """,
        tmp_path,
        cases,
    )
    for case, encoding in zip(cases, found, strict=True):
        same_encoding(encoding, tokenizer.encode(*case, max_length=512), case)


def _tiny_network(num_pieces: int) -> Network:
    return tiny_bert(tiny_config(vocab_size=num_pieces, max_position_embeddings=512)).module


FORMS_OF_ARITHMETIC = [(name, is_fast) for name in ("tiny", "default") for is_fast in (True, False)]


@pytest.mark.parity
@pytest.mark.parametrize(("name", "is_fast"), all_but(FORMS_OF_ARITHMETIC[:2], FORMS_OF_ARITHMETIC))
def test_numbers_are_those_of_python(name: str, is_fast: bool, tmp_path: Path) -> None:
    """In WebAssembly and in the plain form that a browser without it computes."""
    bert = tiny_bert() if name == "tiny" else bertcore.load("default", device="cpu")
    texts = [*NASTY, *random_texts(90)] if name == "tiny" else [*NASTY[4:40:6], WORDS[0]]
    cases: list[Case] = [(text, None) for text in texts] + [*pairwise(texts)][::2]
    for case, found in zip(cases, compute(bert, cases, tmp_path, is_fast=is_fast), strict=True):
        encoding, hidden = bert.tokenize(*case), hidden_encoding(bert, case)
        trace = bert.trace(*case, encoding=hidden)
        same_encoding(found["encoding"], hidden, case)
        check_numbers(bert, case, found)
        _check_answers(bert, encoding, found)
        if case[1] is None or 1 not in encoding.text_ids:
            assert found["next"] is None
        else:
            written, swapped, *_ = pair_variants(bert, trace)
            assert found["next"] == pytest.approx(written.is_next, abs=1e-4)
            assert found["swapped"] == pytest.approx(swapped.is_next, abs=1e-4)
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
