"""Templates: scores against candidates at a mask, intervals, bad input."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from bertcore import Bert
from bertcore.analysis.bias import (
    Group,
    TemplateAudit,
    TemplateScores,
    known_audit,
    lean,
    score_templates,
)
from bertcore.analysis.words.candidates import score_candidates
from tests.support.tiny_others import make_other, opened

WOMEN, MEN = Group("women", ("she", "woman")), Group("men", ("he", "man", "old man"))


def test_scores_are_those_of_candidates(bert: Bert) -> None:
    found = score_templates(bert, ["[X] was [MASK] to it."], (WOMEN, MEN), ["good", "watering"])
    for f, filler in enumerate(("good", "watering")):
        text = f"[MASK] was {filler} to it."
        pieces = len(bert.tokenizer.encode_word(filler))
        prior = f"[MASK] was {' '.join(['[MASK]'] * pieces)} to it."
        for given, table in ((text, found.log_p), (prior, found.prior)):
            words = (*WOMEN.words, *MEN.words)
            expected = [
                c.log_probability or 0.0 for c in score_candidates(bert, given, None, [], 1, words)
            ]
            np.testing.assert_allclose(table[0, f], expected, atol=1e-4)
    assert found.scores.shape == (1, 2, 5)
    assert any("watering" in note for note in found.notes)
    assert any("different numbers" in note for note in found.notes)


def test_the_filler_may_stand_first(bert: Bert) -> None:
    found = score_templates(bert, ["The [MASK] saw [X]."], (WOMEN, MEN), ["dog"])
    text = "The dog saw [MASK]."
    position = bert.tokenize(text).tokens.index("[MASK]")
    (expected,) = score_candidates(bert, text, None, [], position, ["she"])
    assert found.log_p[0, 0, 0] == pytest.approx(expected.log_probability, abs=1e-4)


def made(scores: NDArray[np.float64]) -> TemplateScores:
    groups = (Group("a", ("x", "y")), Group("b", ("z",)))
    shape = scores.shape
    templates, fillers = tuple("t" * shape[0]), tuple("f" * shape[1])
    return TemplateScores(templates, groups, fillers, scores, np.zeros(shape))


def test_differences_and_lean_by_hand() -> None:
    scores = made(
        np.array([[[1.0, 3.0, 1.0], [0.0, 0.0, 2.0]], [[2.0, 2.0, 5.0], [1.0, 1.0, 1.0]]])
    )
    np.testing.assert_allclose(scores.differences(), [[1.0, -2.0], [-3.0, 0.0]])
    found = lean(scores)
    assert found.mean == pytest.approx(-1.0)
    assert found.over_templates == pytest.approx((-1.5, -0.5))
    assert found.over_fillers == pytest.approx((-1.0, -1.0))
    assert np.isnan(found.over_words).all()
    assert not found.turns
    assert lean(made(np.array([[[1.0, 1.0, 0.0]], [[0.0, 0.0, 1.0]]]))).turns


@pytest.mark.parametrize(
    ("templates", "groups", "fillers", "expected"),
    [
        (["She was [MASK]."], (WOMEN, MEN), ["good"], r"0 slots \[X\]"),
        (["[X] and [X] was [MASK]."], (WOMEN, MEN), ["good"], r"2 slots \[X\]"),
        ([], (WOMEN, MEN), ["good"], "no template"),
        (["[X] was [MASK]."], (WOMEN, Group("none", ())), ["good"], "'none' has no word"),
        (["[X] was [MASK]."], (WOMEN, Group("more", ("She",))), ["good"], "in the groups"),
        (
            ["[X] was [MASK]."],
            (WOMEN, Group("men", ("he", "he"))),
            ["good"],
            "in the group .men. twice",
        ),
        (["[X] was [MASK]."], (WOMEN, MEN), [], "list of fillers has no word"),
        (["[X] was [MASK]."], (WOMEN, MEN), ["[SEP]"], "special token"),
        (["[X] was [MASK]."], (WOMEN, MEN), [" "], "no visible"),
        (["[X] was [MASK]" + " it" * 70], (WOMEN, MEN), ["good"], "more tokens than"),
    ],
)
def test_bad_input_is_a_sentence(
    bert: Bert, templates: list[str], groups: tuple[Group, Group], fillers: list[str], expected: str
) -> None:
    with pytest.raises(ValueError, match=expected):
        score_templates(bert, templates, groups, fillers)


def test_words_that_the_vocabulary_lacks_are_left_out(bert: Bert) -> None:
    audit = TemplateAudit("x", ("[X] [MASK]",), (WOMEN, Group("b", ("he", "\u4e00"))), ("good",))
    assert known_audit(bert, audit).groups == (WOMEN, Group("b", ("he",)))
    audit = TemplateAudit("x", ("[X] [MASK]",), (WOMEN, Group("b", ("\u4e00",))), ("good",))
    with pytest.raises(ValueError, match="no word of 'b' can be written"):
        known_audit(bert, audit)


def test_xlnet_whose_last_token_has_a_segment_of_its_own(tmp_path: Path) -> None:
    make_other("XLNetLMHeadModel", tmp_path)
    xlnet = opened(tmp_path)
    pieces = [piece[1:] for piece in xlnet.tokenizer.vocab if piece[0] == "▁" and piece[1:]]
    one, other, filler = [p for p in pieces if len(xlnet.tokenizer.encode_word(p)) == 1][:3]
    groups = Group("a", (one,)), Group("b", (other,))
    found = score_templates(xlnet, ["[X] saw <mask>"], groups, [filler])
    encoding = xlnet.tokenize(f"<mask> saw {filler}")
    assert 2 in encoding.segment_ids
    _, table = xlnet.mask_probabilities(encoding)
    expected = [float(table[0, xlnet.tokenizer.encode_word(w)[0]].log()) for w in (one, other)]
    np.testing.assert_allclose(found.log_p[0, 0], expected, atol=1e-5)
