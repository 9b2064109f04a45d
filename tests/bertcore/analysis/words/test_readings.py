"""Both sides and the left at one place: against transformers, and nothing unseen matters."""

from pathlib import Path

import numpy as np
import pytest
import torch

from bertcore import Bert, load
from bertcore.analysis import read_apart, read_both_sides, read_left, read_one_side
from bertcore.analysis.words.readings import Reading, Side, visible
from bertcore.model.network import ALL_HEADS
from tests.support.tiny import tiny_bert
from tests.support.tiny_others import make_other

TEXT, PAIR = "The old man sat on the mat.", "It had rained."
SIDES: tuple[Side, ...] = ("left", "right")
MAN = 3
"""The place of "man", whose first letter is 8."""


def changed(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1
    return text.replace(old, new)


@pytest.mark.parity
@pytest.mark.parametrize(
    ("name", "class_name", "reader"),
    [
        ("bert", "BertForMaskedLM", MAN),
        ("causal", "BertLMHeadModel", MAN - 1),
        ("one side", "BertLMHeadModel", MAN),
    ],
)
def test_readings_equal_transformers(
    bert: Bert, causal: Bert, tmp_path: Path, name: str, class_name: str, reader: int
) -> None:
    transformers = pytest.importorskip("transformers")
    model = causal if name == "causal" else bert
    options = {} if name == "bert" else {"is_decoder": True}
    theirs = getattr(transformers, class_name).from_pretrained(
        model.save(tmp_path / "m"), attn_implementation="eager", **options
    )
    if name == "bert":
        found = read_both_sides(bert, TEXT, None, MAN, 3)
    elif name == "causal":
        found = read_left(causal, TEXT, None, (0, TEXT.index("man")), 3)
    else:
        found = read_one_side(bert, TEXT, None, MAN, "left", 3)
    ids = torch.tensor([model.tokenize(TEXT).input_ids])
    token_id = int(ids[0, MAN])
    if name != "causal":
        ids[0, MAN] = bert.tokenizer.mask_id
    with torch.inference_mode():
        out = theirs.eval()(input_ids=ids, output_attentions=True)
    p = out.logits[0, reader].double().softmax(-1)
    assert found.probability == pytest.approx(float(p[token_id]), abs=1e-5)
    assert [one for _, one in found.best] == pytest.approx(p.topk(3).values.tolist(), abs=1e-5)
    np.testing.assert_allclose(found.weights, torch.stack(out.attentions)[:, 0].mean(1), atol=1e-5)
    assert (found.token, found.position, found.reader) == ("man", MAN, reader)


def test_what_is_not_seen_does_not_matter(bert: Bert, causal: Bert) -> None:
    """Each word of the text is exchanged in turn: the answers follow exactly what is seen."""
    words = {"old": "new", "man": "dog", "sat": "runs", "mat": "river"}
    place = (0, TEXT.index("man"))
    readers = (
        lambda text: read_both_sides(bert, text, None, MAN, 9),
        lambda text: read_left(causal, text, None, place, 9),
    )
    for read in readers:
        usual: Reading = read(TEXT)
        for old, new in words.items():
            other: Reading = read(changed(TEXT, old, new))
            at = bert.tokenize(TEXT).tokens.index(old)
            before, after = (dict(one.best) for one in (usual, other))
            same = before.keys() == after.keys() and before == pytest.approx(after, abs=1e-7)
            assert same != bool(usual.sees[at]), old


def test_a_pair_is_read_on(causal: Bert) -> None:
    found = read_left(causal, TEXT, PAIR, (1, PAIR.index("rained")))
    alone = read_left(causal, f"{TEXT} {PAIR}", None, (0, len(TEXT) + 1 + PAIR.index("rained")))
    assert found.token == "rained"
    assert found.best == alone.best
    assert found.tokens == alone.tokens


def test_two_sides_apart_see_what_their_masks_allow(bert: Bert) -> None:
    found = read_apart(bert, TEXT, PAIR, MAN)
    number = len(found.left.tokens)
    assert found.left.sees.tolist() == [place < MAN for place in range(number)]
    assert found.right.sees.tolist() == [place > MAN for place in range(number)]
    assert not np.triu(found.left.weights, 1).any()
    assert not np.tril(found.right.weights, -1).any()
    np.testing.assert_allclose(found.right.weights.sum(-1), 1, atol=1e-5)
    usual = {side: dict(read_one_side(bert, TEXT, None, MAN, side, 9).best) for side in SIDES}
    for old, new, unmoved in (("old", "new", "right"), ("sat", "runs", "left")):
        for side in SIDES:
            other = read_one_side(bert, changed(TEXT, old, new), None, MAN, side, 9)
            is_same = dict(other.best) == pytest.approx(usual[side], abs=1e-7)
            assert is_same == (side == unmoved), (old, side)


def test_the_sides_are_joined_by_a_product(bert: Bert) -> None:
    most = bert.tokenizer.vocab_size
    found = read_apart(bert, TEXT, None, MAN, most)
    left, right, both = (dict(one.best) for one in (found.left, found.right, found))
    products = {word: left[word] * right[word] for word in left}
    total = sum(products.values())
    assert both == pytest.approx({word: p / total for word, p in products.items()}, rel=1e-4)
    assert found.probability == pytest.approx(both["man"])
    assert [*both][(found.rank or 0) - 1] == "man"


def test_paths_by_hand() -> None:
    """Two layers of a window of one: two places away are seen, three are not."""
    near = torch.ones(5, 5).tril(1).triu(-1)
    weights = (near / near.sum(-1, keepdim=True)).expand(2, 1, 5, 5)
    assert visible(weights, 0).tolist() == [True, True, True, False, False]
    assert visible(weights[:1], 0).tolist() == [True, True, False, False, False]


def test_a_typed_mask_has_no_original(bert: Bert) -> None:
    for found in (
        read_both_sides(bert, "The old [MASK] sat.", None, MAN),
        read_one_side(bert, "The old [MASK] sat.", None, MAN, "left"),
    ):
        assert (found.token, found.probability, found.rank) == (None, None, None)
        assert len(found.best) == 5
    apart = read_apart(bert, "The old [MASK] sat.", None, MAN)
    assert (apart.probability, apart.rank) == (None, None)


@pytest.mark.parametrize(
    "name", ["XLNetLMHeadModel", "T5ForConditionalGeneration", "BartForConditionalGeneration"]
)
def test_answers_of_another_stream_or_a_decoder_are_refused(name: str, tmp_path: Path) -> None:
    make_other(name, tmp_path)
    with pytest.raises(ValueError, match="does not answer from the vector"):
        read_both_sides(load(tmp_path, device="cpu"), TEXT, None, MAN)


@pytest.mark.parametrize("name", ["DebertaV2ForMaskedLM", "MobileBertForPreTraining"])
def test_other_architectures_of_masked_words_are_read(name: str, tmp_path: Path) -> None:
    make_other(name, tmp_path)
    bert = load(tmp_path, device="cpu")
    text = TEXT.replace("man", bert.tokenizer.mask_token)
    place = bert.tokenize(text).input_ids.index(bert.tokenizer.mask_id)
    found = read_both_sides(bert, text, None, place)
    ((*words,),) = bert.fill_mask(text, top_k=5)
    assert dict(found.best) == pytest.approx(dict(words), rel=1e-4)
    assert found.sees.sum() == len(found.tokens) - 1


def test_bad_input_is_a_sentence(bert: Bert, causal: Bert) -> None:
    headless = tiny_bert(heads=ALL_HEADS - {"mlm"})
    with pytest.raises(ValueError, match="has no mask"):
        read_both_sides(causal, TEXT, None, MAN)
    for model in (causal, headless):
        with pytest.raises(ValueError, match="mask"):
            read_apart(model, TEXT, None, MAN)
    with pytest.raises(ValueError, match="token 99 cannot be masked"):
        read_one_side(bert, TEXT, None, 99, "right")
    for model, text, character, words in (
        (bert, TEXT, 0, r"such as the shipped .causal., or a GPT-2"),
        (causal, TEXT, 3, "no token at this place"),  # the space after "The"
        (causal, "mat " * 80, 79 * 4, "too long"),
    ):
        with pytest.raises(ValueError, match=words):
            read_left(model, text, None, (0, character))
