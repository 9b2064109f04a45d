"""The loss of a text: transformers' own, the mean of its parts, and refusals in a sentence."""

import json
import math
from pathlib import Path

import pytest
import torch
import transformers

from bertcore import Model, load
from tests.support.command_line import invoke, succeed
from tests.support.tiny_families import make

A, B = "the film was very good", "she sat on the mat"


@pytest.mark.parity
@pytest.mark.parametrize("follows", [True, False])
def test_the_loss_is_that_of_transformers(bert: Model, tiny: Path, follows: bool) -> None:
    found = bert.loss(A, B, follows=follows, seed=4, masked_lm_prob=0.3)
    encoding = bert.tokenize(A, B)
    to_id = bert.tokenizer.token_to_id
    labels = torch.full((1, len(encoding)), -100)
    for one in found.hidden:
        labels[0, one.position] = to_id(one.token)
        assert one.token == encoding.tokens[one.position]
    model = transformers.BertForPreTraining.from_pretrained(tiny).eval()
    with torch.no_grad():
        out = model(
            input_ids=torch.tensor([[to_id(token) for token in found.input_tokens]]),
            token_type_ids=torch.tensor([encoding.segment_ids]),
            labels=labels,
            next_sentence_label=torch.tensor([int(not follows)]),
        )
    assert found.loss == pytest.approx(float(out.loss), abs=1e-5)
    assert found.nsp_loss is not None
    assert found.loss == pytest.approx(found.mlm_loss + found.nsp_loss)


def test_words_at_the_masks(bert: Model) -> None:
    found = bert.loss("the film [MASK] very [MASK]", words=["was", "good"])
    positions, p = bert.mask_probabilities(bert.tokenize("the film [MASK] very [MASK]"))
    right = [bert.tokenizer.token_to_id(word) for word in ("was", "good")]
    expected = [float(p[i, token]) for i, token in enumerate(right)]
    assert [one.position for one in found.hidden] == positions
    assert [one.probability for one in found.hidden] == pytest.approx(expected, rel=1e-5)
    assert [one.loss for one in found.hidden] == pytest.approx([-math.log(q) for q in expected])
    assert found.mlm_loss == pytest.approx(-sum(map(math.log, expected)) / 2)
    assert (found.nsp_loss, found.loss) == (None, found.mlm_loss)


def test_a_word_of_roberta_has_its_space(tmp_path: Path) -> None:
    make("RobertaForMaskedLM", tmp_path)
    roberta = load(tmp_path, device="cpu")
    whole = roberta.tokenize("the river bank").tokens
    place = next(i for i, token in enumerate(whole) if token.startswith("Ġ"))
    texts = ["".join(part).replace("Ġ", " ") for part in (whole[1:place], whole[place + 1 : -1])]
    word = whole[place].replace("Ġ", " ")
    found = roberta.loss(f"{texts[0]}<mask>{texts[1]}", words=[word])
    assert (found.hidden[0].position, found.hidden[0].token) == (place, whole[place])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"text": "the [MASK]"}, "no word is given"),
        ({"text": "the [MASK]", "words": ["zzzzqqq"]}, "stands for one known piece"),
        ({"text": A, "words": ["film"]}, r"the text has no \[MASK\]"),
        ({"text": A, "follows": True}, "there is no text B"),
        ({"text": A, "masked_lm_prob": 0.0}, "expected above 0"),
        ({"text": ""}, "Write at least one word"),
        ({"text": "the [MASK] [MASK]", "words": ["film"]}, "1 is given"),
        ({"text": "the [MASK]", "words": [""]}, "word 1 is blank"),
        ({"text": "the [MASK]", "words": ["[MASK]"]}, r"'\[MASK\]' is a special token"),
        ({"text": "the " * 80 + "[MASK]", "words": ["film"]}, r"the \[MASK\] .* is cut off"),
        ({"text": "[MASK] " + "a " * 80 + "[MASK]", "words": ["a", "b"]}, "1 of the 2 .* cut off"),
        ({"text": "the " * 80 + "[MASK]"}, "has 83 tokens, and the limit is 64"),
        ({"text": A, "seed": 1.5}, "seed is 1.5; expected a whole number"),
        ({"text": A, "seed": 10**23}, "below 2 to the 63rd"),
    ],
)
def test_bad_input_is_a_sentence(bert: Model, arguments: dict, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        bert.loss(**arguments)


def test_unknown_words_are_counted_and_told(tiny: Path, bert: Model) -> None:
    assert bert.loss(A).num_unknown == 0
    assert bert.loss("the 我 film 爱").num_unknown == 2
    result = invoke("loss", "the 我 film 爱", "--json", "--checkpoint", tiny)
    assert "2 of the 4 tokens of the text are [UNK]" in result.stderr
    assert "Open 'zh'" in result.stderr
    assert json.loads(result.stdout)["num_unknown"] == 2


def test_the_command(tiny: Path, bert: Model) -> None:
    words = ("loss", A, B, "--follows", "--seed", "4", "--checkpoint", tiny)
    shown = succeed(*words)
    found = bert.loss(A, B, follows=True, seed=4)
    assert f"sum:                {found.loss:.4f} nats" in shown
    record = json.loads(succeed(*words, "--json"))
    assert record["loss"] == pytest.approx(found.loss)
    assert [one["token"] for one in record["hidden"]] == [one.token for one in found.hidden]
