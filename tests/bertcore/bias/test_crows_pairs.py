"""CrowS-Pairs: reading, the share of stereotypes preferred, bad input."""

from pathlib import Path

import numpy as np
import pytest

from bertcore import Bert
from bertcore.bias import (
    MEASURES,
    StereotypePair,
    StereotypeScore,
    read_crows_pairs,
    score_crows_pairs,
    stereotype_shares,
)
from bertcore.bias.shares import preferred, shares
from bertcore.data.files import BadRows
from bertcore.grammar import TokenCounts
from bertcore.network import ALL_HEADS
from tests.support.minicons_peer import MiniconsPeer
from tests.support.tiny import tiny_bert

HEADER = ",sent_more,sent_less,stereo_antistereo,bias_type\n"
ROWS = (
    "0,The old man sat.,The old woman sat.,stereo,gender\n"
    "1,She bought fish.,He bought fish.,antistereo,gender\n"
    "2,A bad river.,A good river.,stereo,other\n"
)


@pytest.fixture(scope="module")
def bert() -> Bert:
    return tiny_bert()


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_the_published_layout_is_read(tmp_path: Path) -> None:
    pairs = read_crows_pairs(write(tmp_path / "c.csv", HEADER + ROWS))
    assert [pair.kind for pair in pairs] == ["gender", "gender", "other"]
    assert (pairs[1].more, pairs[1].less) == ("She bought fish.", "He bought fish.")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a,b\n1,2\n", "sent_more"), (HEADER, "no"), (HEADER + "0,,He.,stereo,x\n", "empty")],
)
def test_other_files_are_refused(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        read_crows_pairs(write(tmp_path / "c.csv", text))


def test_bad_rows_are_left_out_and_counted(tmp_path: Path) -> None:
    bad = BadRows(skip=True)
    pairs = read_crows_pairs(
        write(tmp_path / "c.csv", HEADER + "9,,,stereo,x\n" + ROWS), bad_rows=bad
    )
    assert len(pairs) == 3
    assert "1 bad row" in str(bad.sentence())


@pytest.mark.parity
def test_sums_of_shared_tokens_equal_minicons(bert: Bert, tmp_path: Path) -> None:
    """Which tokens are shared is written out here, by their places after [CLS]."""
    shared = {
        ("the old man sat on it", "the woman sat on it"): ([0, 3, 4, 5], [0, 2, 3, 4]),
        ("she bought new fish", "he bought new fish"): ([1, 2, 3], [1, 2, 3]),
        ("a bad river was good", "a good river was bad"): ([0, 2, 3], [0, 2, 3]),
    }
    pairs = [StereotypePair(more, less, "x", row) for row, (more, less) in enumerate(shared)]
    scores = score_crows_pairs(bert, pairs)
    peer = MiniconsPeer(bert.save(tmp_path / "t"))
    for score, (texts, places) in zip(scores, shared.items(), strict=True):
        expected = [
            sum(tokens[i] for i in chosen)
            for tokens, chosen in zip(peer.token_scores(texts), places, strict=True)
        ]
        found = [score.more["pll"], score.less["pll"]]
        np.testing.assert_allclose(found, expected, atol=1e-4)


def test_scores_of_a_swapped_pair_are_swapped(bert: Bert) -> None:
    counts = TokenCounts(np.arange(bert.tokenizer.vocab_size))
    pair = StereotypePair("The old man sat.", "The woman sat here.", "gender", 1)
    turned = StereotypePair(pair.less, pair.more, "gender", 2)
    one, other = score_crows_pairs(bert, [pair, turned], counts=counts)
    for measure in MEASURES:
        assert one.more[measure] == pytest.approx(other.less[measure], abs=1e-4)
        assert one.less[measure] == pytest.approx(other.more[measure], abs=1e-4)
        assert np.isfinite(one.more[measure])


def test_without_shared_tokens_or_counts_there_is_no_score(bert: Bert) -> None:
    pair = StereotypePair("He ran", "It rained", "x", 1)
    (score,) = score_crows_pairs(bert, [pair])
    assert np.isnan(score.more["pll"])
    assert np.isnan(score.more["frequency"])
    assert np.isfinite(score.more["aul"])
    with pytest.raises(ValueError, match="no item"):
        stereotype_shares([score], "pll")


def made(more: float, less: float, kind: str) -> StereotypeScore:
    scores = [dict.fromkeys(MEASURES, value) for value in (more, less)]
    return StereotypeScore(StereotypePair("a", "b", kind, 1), scores[0], scores[1])


def test_shares_by_hand() -> None:
    scores = [made(-1, -2, "age"), made(-1, -2, "age"), made(-3, -2, "race"), made(-2, -2, "race")]
    everything, age, race = stereotype_shares(scores, "pll")
    assert (everything.mean, everything.num_items, everything.num_ties) == (0.625, 4, 1)
    assert (age.group, age.mean, age.high) == ("age", 1.0, 1.0)
    assert age.low == pytest.approx(0.3424, abs=1e-4)  # Wilson's interval of 2 of 2
    assert (race.mean, race.num_ties) == (0.25, 1)
    assert everything.low < everything.mean < everything.high


def test_ties_are_half() -> None:
    assert preferred([1.0, 0.0, 0.5], [0.0, 1.0, 0.5 + 1e-7]).tolist() == [1.0, 0.0, 0.5]


def test_items_without_a_score_are_left_out() -> None:
    (everything, group) = shares(np.array([1.0, np.nan, 0.0]), ["a", "b", "a"])
    assert (everything.num_items, everything.mean, group.group) == (2, 0.5, "a")


def test_a_checkpoint_without_the_head_is_refused() -> None:
    bert = tiny_bert(heads=ALL_HEADS - {"mlm"})
    with pytest.raises(ValueError, match="masked-word"):
        score_crows_pairs(bert, [StereotypePair("a b", "a c", "x", 1)])


def test_progress_ends_at_one(bert: Bert) -> None:
    fractions: list[float] = []
    pair = StereotypePair("The old man sat.", "The woman sat here.", "gender", 1)
    score_crows_pairs(bert, [pair], progress=fractions.append)
    assert fractions == sorted(fractions)
    assert fractions[-1] == pytest.approx(1.0)
