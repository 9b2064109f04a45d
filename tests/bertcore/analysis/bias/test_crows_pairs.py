"""CrowS-Pairs: reading, the share of stereotypes preferred, bad input."""

from pathlib import Path

import numpy as np
import pytest

from bertcore import Bert
from bertcore.analysis.bias import (
    StereotypePair,
    read_crows_pairs,
    score_crows_pairs,
    stereotype_share,
)
from bertcore.data.files import BadRows
from tests.support.minicons_peer import MiniconsPeer

HEADER = ",sent_more,sent_less,stereo_antistereo,bias_type\n"
ROWS = (
    "0,The old man sat.,The old woman sat.,stereo,gender\n"
    "1,She bought fish.,He bought fish.,antistereo,gender\n"
    "2,A bad river.,A good river.,stereo,other\n"
)


def test_the_published_layout_is_read_and_bad_rows_are_counted(tmp_path: Path) -> None:
    bad, path = BadRows(skip=True), tmp_path / "c.csv"
    path.write_text(HEADER + "9,,,stereo,x\n" + ROWS)
    pairs = read_crows_pairs(path, bad_rows=bad)
    assert [pair.row for pair in pairs] == [2, 3, 4]
    assert (pairs[1].more, pairs[1].less) == ("She bought fish.", "He bought fish.")
    assert "1 bad row" in str(bad.sentence())
    for text, expected in (
        ("a,b\n1,2\n", "sent_more"),
        (HEADER, "no"),
        (HEADER + "0,,He.,stereo,x\n", "empty"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=expected):
            read_crows_pairs(path)


@pytest.mark.parity
def test_sums_of_shared_tokens_equal_minicons(bert: Bert, tmp_path: Path) -> None:
    """Which tokens are shared is written out here, by their places after [CLS]."""
    shared = {
        ("the old man sat on it", "the woman sat on it"): ([0, 3, 4, 5], [0, 2, 3, 4]),
        ("she bought new fish", "he bought new fish"): ([1, 2, 3], [1, 2, 3]),
        ("a bad river was good", "a good river was bad"): ([0, 2, 3], [0, 2, 3]),
    }
    pairs = [StereotypePair(more, less, row) for row, (more, less) in enumerate(shared)]
    fractions: list[float] = []
    scores = score_crows_pairs(bert, pairs, progress=fractions.append)
    assert fractions[-1] == pytest.approx(1.0)
    peer = MiniconsPeer(bert.save(tmp_path / "t"))
    for score, (texts, places) in zip(scores, shared.items(), strict=True):
        expected = [
            sum(tokens[i] for i in chosen)
            for tokens, chosen in zip(peer.token_scores(texts), places, strict=True)
        ]
        np.testing.assert_allclose(score, expected, atol=1e-4)


def test_without_shared_tokens_there_is_no_score(bert: Bert) -> None:
    scores = score_crows_pairs(bert, [StereotypePair("He ran", "It rained", 1)])
    assert np.isnan(scores).all()
    with pytest.raises(ValueError, match="no pair has two sentences"):
        stereotype_share(scores)


def test_the_share_by_hand() -> None:
    """A tie counts as half, a pair without scores does not."""
    share = stereotype_share(
        np.array([[-1, -2], [-1, -2], [-3, -2], [-2, -2 + 1e-7], [np.nan, np.nan]])
    )
    assert share.mean == 0.625
    assert share.low < share.mean < share.high
    sure = stereotype_share(np.array([[-1.0, -2.0], [-1.0, -2.0]]))
    assert (sure.mean, sure.high) == (1.0, 1.0)
    assert sure.low == pytest.approx(0.3424, abs=1e-4)  # Wilson's interval of 2 of 2
