"""Activation patching: equal to hooks on `transformers`, and the properties of its definition."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from torch import Tensor, nn

import bertcore
from bertcore import Bert
from bertcore.analysis.patching import (
    PARTS,
    Answer,
    PatchPair,
    Place,
    class_answer,
    patch,
    patch_pair,
    patch_path,
    telling_token,
    word_answer,
)
from bertcore.analysis.shared.inputs import masked_encoding
from bertcore.tasks.checkpoint_head import read_task_head
from tests.support.tiny import tiny_bert, tiny_config
from tests.support.tiny_families import make
from tests.support.tiny_others import make_other
from tests.support.tiny_tasks import make_task

FIRST, SECOND = "the cat [MASK] on the old mat", "the dog [MASK] in the old house"
SHORTER = "the dog [MASK] on mat"
WORDS = "sat", "runs"
LAYERS = 3
TOLERANCE = {"atol": 1e-5, "rtol": 1e-5}


@pytest.fixture(scope="module")
def bert() -> Bert:
    return tiny_bert(tiny_config(num_hidden_layers=LAYERS))


@pytest.fixture(scope="module")
def theirs(bert: Bert, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = bert.save(tmp_path_factory.mktemp("tiny"))
    return transformers.BertForMaskedLM.from_pretrained(folder).eval()


def pair_of(bert: Bert, second: str = SECOND) -> tuple[PatchPair, Answer]:
    pair = patch_pair(bert, (FIRST, None), (second, None))
    return pair, word_answer(bert, pair, *WORDS)


class Hooks:
    """The plain alternative: hooks on the modules of `transformers`, one whole run a place."""

    def __init__(self, model: Any, bert: Bert, pair: PatchPair, direction: str) -> None:
        self.model, self.width = model, bert.config.head_size
        sides = (1, 0) if direction == "denoising" else (0, 1)
        encodings = (pair.first, pair.second)
        self.base, self.source = (torch.tensor([encodings[s].input_ids]) for s in sides)
        self.mine, self.theirs = ([column[s] for column in pair.columns] for s in sides)
        self.mask_id = bert.tokenizer.mask_id
        self.words = [bert.tokenizer.token_to_id(word) for word in WORDS]
        self.kept = [self.keep(ids) for ids in (self.base, self.source)]

    def module(self, part: str, layer: int) -> nn.Module:
        layers = self.model.bert.encoder.layer
        if part == "state":
            found: nn.Module = layers[layer - 1] if layer else self.model.bert.embeddings
        elif part == "feed_forward":
            found = layers[layer].output.dense
        else:  # of a head the input is patched
            found = layers[layer].attention.output.dense
        return found

    def keep(self, ids: Tensor) -> dict[tuple[str, int], Tensor]:
        kept: dict[tuple[str, int], Tensor] = {}
        with ExitStack() as stack:
            for part in PARTS:
                for layer in range(LAYERS + (part == "state")):
                    stack.enter_context(self.watch(part, layer, self.keeper(kept, part, layer)))
            self.model(input_ids=ids)
        return kept

    @staticmethod
    def keeper(
        kept: dict[tuple[str, int], Tensor], part: str, layer: int
    ) -> Callable[[Tensor], Tensor]:
        def keep(tensor: Tensor) -> Tensor:
            kept[part, layer] = tensor
            return tensor

        return keep

    @contextmanager
    def watch(self, part: str, layer: int, change: Callable[[Tensor], Tensor]) -> Iterator[None]:
        """Change the input of a head's module, or the output of another, in each run."""

        def before(module: nn.Module, inputs: Any) -> Any:
            return (change(inputs[0]),)

        def after(module: nn.Module, inputs: Any, output: Any) -> Any:
            if isinstance(output, tuple):
                return (change(output[0]), *output[1:])
            return change(output)

        module = self.module(part, layer)
        handle = (
            module.register_forward_pre_hook(before)
            if part == "head"
            else module.register_forward_hook(after)
        )
        try:
            yield
        finally:
            handle.remove()

    def answer(self, ids: Tensor) -> float:
        logits = self.model(input_ids=ids).logits[0]
        at = ids[0].tolist().index(self.mask_id)
        return float(logits[at, self.words[0]] - logits[at, self.words[1]])

    def patched(self, part: str, layer: int, columns: list[int], head: int | None = None) -> float:
        source = self.kept[1][part, layer][0]
        width = slice(None) if head is None else slice(head * self.width, (head + 1) * self.width)

        def change(tensor: Tensor) -> Tensor:
            out = tensor.clone()
            for n in columns:
                out[0, self.mine[n], width] = source[self.theirs[n], width]
            return out

        with self.watch(part, layer, change):
            return self.answer(self.base)

    def path(self, sender: Place, receiver: Place) -> float:
        """Freeze every block but the sender at its base run, catch what the receiver makes of it.

        Written after the definition, with nothing of ours.
        """
        caught: dict[tuple[str, int], Tensor] = {}
        with ExitStack() as stack:
            for layer in range(LAYERS):
                # The receiver's own output is caught before its module is frozen.
                stack.enter_context(self.watch("head", layer, self.keeper(caught, "head", layer)))
                for part in ("attention", "feed_forward"):
                    stack.enter_context(
                        self.watch(part, layer, self.frozen(caught, part, layer, sender))
                    )
            through = self.answer(self.base)
        if receiver.part == "answer":
            return through
        part = "head" if receiver.part == "head" else receiver.part
        new = caught[part, receiver.layer]
        width = slice(None)
        if receiver.part == "head":
            width = slice(receiver.head * self.width, (receiver.head + 1) * self.width)

        def put(tensor: Tensor) -> Tensor:
            out = tensor.clone()
            out[..., width] = new[..., width]
            return out

        with self.watch(part, receiver.layer, put):
            return self.answer(self.base)

    def frozen(
        self, caught: dict[tuple[str, int], Tensor], part: str, layer: int, sender: Place
    ) -> Callable[[Tensor], Tensor]:
        base, source = (kept[part, layer] for kept in self.kept)

        def change(tensor: Tensor) -> Tensor:
            caught[part, layer] = tensor
            if (sender.part, sender.layer) == (part, layer):
                out = base.clone()
                out[0, self.mine] = source[0, self.theirs]
                return out
            if part == "attention" and (sender.part, sender.layer) == ("head", layer):
                context = self.kept[0]["head", layer].clone()
                width = slice(sender.head * self.width, (sender.head + 1) * self.width)
                other = self.kept[1]["head", layer]
                context[0, self.mine, width] = other[0, self.theirs, width]
                dense = self.module("head", layer)
                out = nn.functional.linear(context, dense.weight, dense.bias)  # type: ignore[arg-type]
                return out
            return base

        return change


@pytest.mark.parametrize("second", [SECOND, SHORTER])
@pytest.mark.parametrize("direction", ["denoising", "noising"])
@torch.no_grad()
def test_equal_to_hooks_on_transformers(
    bert: Bert, theirs: Any, direction: Any, second: str
) -> None:
    pair, answer = pair_of(bert, second)
    hooks = Hooks(theirs, bert, pair, direction)
    columns = range(len(pair.columns))
    for part in PARTS:
        found = patch(bert, pair, answer, part, direction)
        ends = (
            (found.second, found.first) if direction == "denoising" else (found.first, found.second)
        )
        np.testing.assert_allclose(
            ends, (hooks.answer(hooks.base), hooks.answer(hooks.source)), **TOLERANCE
        )
        expected = [
            [hooks.patched(part, layer, list(columns), head) for head in range(4)]
            if part == "head"
            else [hooks.patched(part, layer, [n]) for n in columns]
            for layer in range(LAYERS + (part == "state"))
        ]
        np.testing.assert_allclose(found.values, expected, **TOLERANCE)


@pytest.mark.parametrize(
    ("sender", "receiver"),
    [
        (Place("head", 0, 1), Place("head", 2, 3)),
        (Place("head", 0, 2), Place("feed_forward", 0)),
        (Place("attention", 0), Place("attention", 1)),
        (Place("feed_forward", 0), Place("head", 1, 0)),
        (Place("feed_forward", 1), Place("feed_forward", 2)),
        (Place("head", 1, 0), Place("answer")),
        (Place("feed_forward", 2), Place("answer")),
    ],
    ids=str,
)
@torch.no_grad()
def test_a_path_is_equal_to_hooks_on_transformers(
    bert: Bert, theirs: Any, sender: Place, receiver: Place
) -> None:
    pair, answer = pair_of(bert)
    for direction in ("denoising", "noising"):
        found = patch_path(bert, pair, answer, sender, receiver, direction)  # type: ignore[arg-type]
        expected = Hooks(theirs, bert, pair, direction).path(sender, receiver)
        assert found.value == pytest.approx(expected, abs=1e-5)
        base = found.second if direction == "denoising" else found.first
        assert found.value != pytest.approx(base, abs=1e-6)  # something flowed


FAMILIES = [
    "DistilBertForMaskedLM",
    "RobertaForMaskedLM",
    "AlbertForMaskedLM",
    "ModernBertForMaskedLM",
]
HOOKED = [
    "DebertaV2ForMaskedLM",
    "MobileBertForPreTraining",
    "MPNetForMaskedLM",
    "EuroBertForMaskedLM",
]


def open_family(name: str, folder: Path) -> tuple[bertcore.Model, PatchPair, Answer]:
    (make if name in FAMILIES else make_other)(name, folder)
    model = bertcore.load(folder, device="cpu")
    mask = model.tokenizer.mask_token
    texts = [f"The {word} {mask} to the shop." for word in ("dog", "cat")]
    pair = patch_pair(model, (texts[0], None), (texts[1], None))
    return model, pair, word_answer(model, pair)


@pytest.mark.parametrize("name", [*FAMILIES, *HOOKED])
@torch.no_grad()
def test_nothing_is_the_base_and_everything_is_the_source(name: str, tmp_path: Path) -> None:
    model, pair, answer = open_family(name, tmp_path)
    assert pair.is_aligned
    everything = range(len(pair.columns))
    found = patch(model, pair, answer, groups=[[], everything])
    np.testing.assert_allclose(found.shares[:, 0], 0, atol=1e-3)
    np.testing.assert_allclose(found.shares[:, 1], 1, atol=1e-3)
    states = patch(model, pair, answer)
    assert np.abs(states.shares[1:-1]).max() > 0.01
    # The last state is read at the mask alone.
    mask = pair.first.input_ids.index(model.tokenizer.mask_id)
    expected = np.eye(len(pair.columns))[mask]
    np.testing.assert_allclose(states.shares[-1], expected, atol=1e-3)
    if "parts" not in model.capabilities:
        with pytest.raises(ValueError, match="transformers"):
            patch(model, pair, answer, "head")


@torch.no_grad()
def test_noising_is_denoising_with_the_versions_exchanged(bert: Bert) -> None:
    pair, answer = pair_of(bert)
    back = patch_pair(bert, (SECOND, None), (FIRST, None))
    turned = word_answer(bert, back, *WORDS)
    for part in PARTS:
        one = patch(bert, pair, answer, part, "noising")
        two = patch(bert, back, turned, part, "denoising")
        np.testing.assert_allclose(one.shares, two.shares, rtol=1e-4, atol=1e-5)
    assert one.first == pytest.approx(two.second)


@torch.no_grad()
def test_places_that_are_the_same_in_both_runs_change_nothing(bert: Bert) -> None:
    pair, answer = pair_of(bert)
    found = patch(bert, pair, answer)
    same = [n for n, differs in enumerate(pair.changed) if not differs]
    assert (found.shares[0, same] == 0).all()
    assert (found.shares[1, same] != 0).all()  # the first layer carries the change to all


@torch.no_grad()
def test_the_order_of_many_rows_is_kept(bert: Bert, monkeypatch: pytest.MonkeyPatch) -> None:
    pair, answer = pair_of(bert)
    whole = {part: patch(bert, pair, answer, part).values for part in PARTS}
    monkeypatch.setattr("bertcore.analysis.patching.runs.CPU_TOKENS_PER_BATCH", 20)
    done: list[float] = []
    for part in PARTS:
        found = patch(bert, pair, answer, part, on_fraction=done.append)
        np.testing.assert_allclose(found.values, whole[part], atol=1e-6)
        assert done == sorted(done)
        assert done[-1] == pytest.approx(1)
        done.clear()


@torch.no_grad()
def test_classes_of_a_fine_tuned_checkpoint(tmp_path: Path) -> None:
    theirs = make_task(tmp_path, labels=("bad", "good", "so-so"))
    model = bertcore.load(tmp_path, device="cpu")
    reader = read_task_head(model)
    assert reader is not None
    pair = patch_pair(model, ("the cat sat", None), ("the dog sat", None))
    answer = class_answer(model, reader, pair, "good", "bad")
    found = patch(model, pair, answer, groups=[range(len(pair.columns))])
    for value, encoding in ((found.first, pair.first), (found.second, pair.second)):
        logits = theirs(input_ids=torch.tensor([encoding.input_ids])).logits[0]
        assert value == pytest.approx(float(logits[1] - logits[0]), abs=1e-5)
    np.testing.assert_allclose(found.shares, 1, atol=1e-3)
    with pytest.raises(ValueError, match="no class 'ugly'"):
        class_answer(model, reader, pair, "ugly")
    chosen = class_answer(model, reader, pair)
    ends = patch(model, pair, chosen, groups=[[]])
    assert ends.first > ends.second  # of the classes that the first version raises and lowers most


def test_pairs_that_cannot_be_patched(bert: Bert) -> None:
    with pytest.raises(ValueError, match="versions are the same"):
        patch_pair(bert, (FIRST, None), (FIRST, None))
    with pytest.raises(ValueError, match="same tokens"):
        patch_pair(bert, (FIRST, None), (FIRST.replace("cat", "CAT"), None))
    with pytest.raises(ValueError, match="single text"):
        patch_pair(bert, (FIRST, None), (SECOND, "it had rained"))
    with pytest.raises(ValueError, match="they are the same once it is hidden"):
        patch_pair(bert, ("the cat sat", None), ("the dog sat", None), hide=2)
    with pytest.raises(ValueError, match="is not in the second"):
        patch_pair(bert, ("the old cat sat", None), ("the cat sat", None), hide=2)
    pair = patch_pair(bert, ("the cat sat", None), ("the dog sat", None))
    with pytest.raises(ValueError, match=r"no \[MASK\] at the same place"):
        word_answer(bert, pair)
    pair = patch_pair(bert, ("the cat sat", None), ("the dog sat", None), hide=3)
    with pytest.raises(ValueError, match="not a single piece"):
        word_answer(bert, pair, "house", "zebra")
    with pytest.raises(ValueError, match="given twice"):
        word_answer(bert, pair, "house", "house")
    answer = word_answer(bert, pair, "house", "dog")
    with pytest.raises(ValueError, match=r"no head 0\.9"):
        patch_path(bert, pair, answer, Place("head", 0, 9), Place("answer"))
    with pytest.raises(ValueError, match="does not come after"):
        patch_path(bert, pair, answer, Place("head", 1, 0), Place("head", 1, 1))
    with pytest.raises(ValueError, match="expected one of"):
        patch(bert, pair, answer, "neuron")  # type: ignore[arg-type]


def test_the_telling_token_is_that_of_one_run_each(bert: Bert) -> None:
    texts = [("the old cat sat on the mat", None), ("the old dog sat on mat", None)]
    pair = patch_pair(bert, *texts)  # type: ignore[arg-type]
    found = {}
    for column, (i, j) in enumerate(pair.columns):
        if pair.changed[column] or pair.first.special_tokens_mask[i]:
            continue
        log_p = []
        for text, place in zip(texts, (i, j), strict=True):
            encoding = masked_encoding(bert, text[0], None, (place,))
            probabilities = bert.mask_probabilities(encoding)[1][0]
            log_p.append(probabilities.log())
        found[i] = float((log_p[0].exp() * (log_p[0] - log_p[1])).sum())
    assert telling_token(bert, pair) == max(found, key=found.__getitem__)
    assert len(found) == 5


def test_versions_of_unequal_length_are_told(bert: Bert) -> None:
    pair, answer = pair_of(bert, SHORTER)
    assert not pair.is_aligned
    assert "9 and 7 tokens" in pair.sentence()
    assert "the old" in pair.sentence()
    found = patch(bert, pair, answer)
    assert found.values.shape == (LAYERS + 1, len(pair.columns))


def test_an_answer_that_does_not_differ_is_refused(bert: Bert) -> None:
    pair, _ = pair_of(bert)
    still = Answer("sat", "runs", (3, 3), lambda states: torch.ones(len(states)))
    with pytest.raises(ValueError, match="same logit difference"):
        patch(bert, pair, still)
    broken = Answer("sat", "runs", (3, 3), lambda states: torch.full((len(states),), torch.nan))
    with pytest.raises(ValueError, match="NaN"):
        patch(bert, pair, broken)
