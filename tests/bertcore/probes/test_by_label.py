"""Recall by label: scikit-learn's, of the words of the test part."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import recall_score

from bertcore.probes import ProbeSettings, bundled_data, label_scores, read_probe_data, run_probes
from bertcore.probes.live import label_words
from tests.support.small_treebank import conllu
from tests.support.tiny import tiny_bert


def test_recall_is_that_of_scikit_learn(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(conllu(80))
    bert = tiny_bert()
    settings = ProbeSettings(control=False, twin=False, code=False, cumulative=False)
    report = run_probes(bert, read_probe_data(path, "dep"), settings)
    done: list[float] = []
    found = label_scores(bert, report, progress=done.append)
    each = [label_words(bert, report, sentence.text) for sentence in report.test]
    gold = [label for one in each for label in one.gold or ()]
    assert found.layers == (0, 1, 2)
    assert sum(found.num_words) == len(gold) == report.num_words["test"]
    assert list(found.num_words) == [gold.count(label) for label in found.labels]
    assert list(found.num_words) == sorted(found.num_words, reverse=True)
    for place, row in enumerate(found.recall):
        predicted = [label for one in each for label in one.labels[place]]
        theirs = recall_score(gold, predicted, labels=list(found.labels), average=None)
        np.testing.assert_allclose([score.value for score in row], theirs)
        assert all(score.low <= score.value <= score.high for score in row)
        # The mean of the recalls, weighted by words, is the accuracy.
        weighted = np.average([score.value for score in row], weights=found.num_words)
        assert weighted == pytest.approx(report.layers[place].main.value)
    assert done == sorted(done)
    assert done[-1] < 1


def test_it_stops_where_progress_raises() -> None:
    class Stop(Exception):  # noqa: N818
        pass

    def stop(fraction: float) -> None:
        raise Stop

    bert = tiny_bert()
    settings = ProbeSettings(
        control=False, twin=False, code=False, cumulative=False, max_sentences=40, layers=(1,)
    )
    report = run_probes(bert, bundled_data("pos"), settings)
    with pytest.raises(Stop):
        label_scores(bert, report, progress=stop)
