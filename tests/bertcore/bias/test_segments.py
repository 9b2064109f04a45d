"""Words at a mask of XLNet, whose last token has a segment of its own: those of `fill_mask`."""

from pathlib import Path

import numpy as np
import pytest

from bertcore.bias import (
    GapItem,
    Group,
    PronounItem,
    score_pronouns,
    score_stereoset,
    score_templates,
)
from bertcore.others.model import OtherModel
from tests.support.tiny_others import make_other, opened


@pytest.fixture(scope="module")
def xlnet(tmp_path_factory: pytest.TempPathFactory) -> OtherModel:
    folder: Path = tmp_path_factory.mktemp("xlnet")
    make_other("XLNetLMHeadModel", folder)
    return opened(folder)


@pytest.fixture(scope="module")
def words(xlnet: OtherModel) -> list[str]:
    """Three words of one piece."""
    found = [piece[1:] for piece in xlnet.tokenizer.vocab if piece[0] == "▁" and piece[1:]]
    kept = [word for word in found if len(xlnet.tokenizer.encode_word(word)) == 1]
    assert len(kept) >= 3
    return kept[:3]


def log_p(xlnet: OtherModel, text: str, words: list[str]) -> list[float]:
    encoding = xlnet.tokenize(text)
    assert 2 in encoding.segment_ids
    _, table = xlnet.mask_probabilities(encoding)
    return [float(table[0, xlnet.tokenizer.encode_word(word)[0]].log()) for word in words]


def test_templates(xlnet: OtherModel, words: list[str]) -> None:
    one, other, filler = words
    groups = [Group("a", (one,)), Group("b", (other,))]
    found = score_templates(xlnet, ["[X] saw <mask>"], groups, [filler])
    expected = log_p(xlnet, f"<mask> saw {filler}", [one, other])
    np.testing.assert_allclose(found.log_p[0, 0], expected, atol=1e-5)


def test_stereoset(xlnet: OtherModel, words: list[str]) -> None:
    gap = GapItem("1", "it saw BLANK", (words[0], words[1], words[2]), "man", "gender")
    (score,) = score_stereoset(xlnet, [gap])
    np.testing.assert_allclose(score.log_p, log_p(xlnet, "it saw <mask>", words), atol=1e-5)


def test_pronouns(xlnet: OtherModel, words: list[str]) -> None:
    item = PronounItem("it saw [MASK]", (words[0],), (words[1],), "cat", 1)
    (score,) = score_pronouns(xlnet, [item])
    expected = log_p(xlnet, "it saw <mask>", words[:2])
    np.testing.assert_allclose([score.stereotype, score.other], expected, atol=1e-5)
