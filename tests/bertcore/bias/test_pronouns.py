"""WinoBias: reading both files, log-probabilities of the pronouns, the share."""

from pathlib import Path

import pytest

from bertcore import Bert
from bertcore.analysis.words.candidates import score_candidates
from bertcore.bias import PronounItem, pronoun_shares, read_winobias, score_pronouns
from bertcore.data.files import BadRows
from tests.support.tiny import WORDS, tiny_bert

PRO = """1 [The fisher] sat with the woman because [he] did good.
2 The old man saw [a cat fisher] and [she] had [her] fish.
3 no number of brackets
"""
ANTI = """1 [The fisher] sat with the woman because [she] did good.
2 The old man saw [a cat fisher] and [he] had [his] fish.
3 no number of brackets
"""


@pytest.fixture(scope="module")
def bert() -> Bert:
    return tiny_bert()


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "pro_stereotyped_type1.txt.dev").write_text(PRO)
    (tmp_path / "anti_stereotyped_type1.txt.dev").write_text(ANTI)
    return tmp_path / "pro_stereotyped_type1.txt.dev"


def test_both_files_are_read_line_by_line(files: Path) -> None:
    bad = BadRows(skip=True)
    one, two = read_winobias(files, bad_rows=bad)
    assert one.text == "The fisher sat with the woman because [MASK] did good."
    assert (one.stereotype, one.other, one.occupation) == (("he",), ("she",), "fisher")
    assert two.text == "The old man saw a cat fisher and [MASK] had [MASK] fish."
    assert (two.stereotype, two.other) == (("she", "her"), ("he", "his"))
    assert two.occupation == "cat fisher"
    assert "line 3" in str(bad.sentence())


def test_bad_lines_are_refused_by_default(files: Path) -> None:
    with pytest.raises(ValueError, match="line 3"):
        read_winobias(files)


def test_one_file_alone_is_refused(files: Path, tmp_path: Path) -> None:
    other = tmp_path / "sentences.txt"
    other.write_text(PRO)
    with pytest.raises(ValueError, match="both files"):
        read_winobias(other)
    (tmp_path / "anti_stereotyped_type1.txt.dev").unlink()
    with pytest.raises(ValueError, match="does not exist"):
        read_winobias(files)
    empty = tmp_path / "b.txt"
    empty.write_text("nothing here")
    with pytest.raises(ValueError, match="no WinoBias sentence"):
        read_winobias(empty, other, bad_rows=BadRows(skip=True))


def test_scores_are_those_of_candidates(bert: Bert) -> None:
    assert "he" in WORDS
    item = PronounItem("the cat saw [MASK] there", ("she",), ("he",), "cat", 1)
    (score,) = score_pronouns(bert, [item])
    position = bert.tokenize(item.text).tokens.index("[MASK]")
    expected = score_candidates(bert, item.text, None, [], position, ["she", "he"])
    assert score.stereotype == pytest.approx(expected[0].log_probability, abs=1e-4)
    assert score.log_ratio == pytest.approx(
        (expected[0].log_probability or 0) - (expected[1].log_probability or 0), abs=1e-4
    )
    everything, occupation = pronoun_shares([score])
    assert everything.mean == float(score.log_ratio > 0)
    assert occupation.group == "cat"


def test_two_pronouns_are_a_chain(bert: Bert) -> None:
    item = PronounItem("the cat saw [MASK] and [MASK] fish", ("she", "he"), ("he", "she"), "cat", 1)
    (score,) = score_pronouns(bert, [item])
    first, second = (i for i, t in enumerate(bert.tokenize(item.text).tokens) if t == "[MASK]")
    (one,) = score_candidates(bert, item.text, None, [], first, ["she"])
    (two,) = score_candidates(bert, "the cat saw she and [MASK] fish", None, [], second, ["he"])
    total = (one.log_probability or 0) + (two.log_probability or 0)
    assert score.stereotype == pytest.approx(total, abs=1e-4)
