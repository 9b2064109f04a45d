"""Probes of a whole checkpoint: vectors of words, every score, what is left out."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from bertcore import Bert
from bertcore.analysis.probes import ProbeData, ProbeSentence, ProbeSettings, run_probes
from bertcore.analysis.probes import vectors as vectors_module
from bertcore.analysis.probes.data_sets import divide, joined
from bertcore.analysis.probes.linear import Words, commonest_classes, control_classes, fit_best
from bertcore.analysis.probes.run import difference_score, ratio_score, right_counts
from bertcore.analysis.probes.vectors import word_vectors
from tests.support.tiny import WORDS


def of_words(words: Sequence[str], labels: Sequence[str] = ()) -> ProbeSentence:
    text, spans = joined(words)
    return ProbeSentence(text, tuple(words), spans, tuple(labels) or ("X",) * len(words))


def sentences_of(count: int, seed: int = 0) -> ProbeData:
    """Sentences whose labels are those of their words, so that embeddings tell all."""
    generator = np.random.default_rng(seed)
    names = ("X", "Y", "Z")
    made = []
    for _ in range(count):
        numbers = generator.integers(0, len(WORDS), generator.integers(3, 9))
        words = [WORDS[number] for number in numbers]
        made.append(of_words(words, [names[number % 3] for number in numbers]))
    return ProbeData("pos", tuple(made))


def test_vectors_are_the_hidden_states_of_a_trace(bert: Bert) -> None:
    sentences = [
        of_words(["The", "riverbanks", "was", "steep", "."]),
        of_words(["☃", "Paris"]),  # a sign that the tokenizer knows or not
        of_words(["unsteeping"] * 3),
    ]
    vectors = word_vectors(bert, sentences, (0, 2))
    assert vectors.states.shape[0] == 2
    assert vectors.states.shape[1] + vectors.num_left_out == 10
    for row, (number, place) in enumerate(zip(vectors.sentence, vectors.word, strict=True)):
        sentence = sentences[number]
        trace = bert.trace(sentence.text)
        start, end = sentence.spans[place]
        pieces = [
            token
            for token, (a, _) in enumerate(trace.offsets)
            if trace.text_ids[token] == 0 and start <= a < end
        ]
        expected = trace.hidden_states[[0, 2]][:, pieces].mean(1)
        np.testing.assert_allclose(vectors.states[:, row], expected, atol=4e-3)


def test_what_does_not_fit_into_memory_is_told(bert: Bert, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors_module, "free_memory", lambda device: 200)
    with pytest.raises(RuntimeError, match="the vectors of 2 words"):
        word_vectors(bert, [of_words(["The", "river"])], (0, 1, 2))


def test_a_report_has_the_scores_of_the_test_part(bert: Bert) -> None:
    data = sentences_of(150)
    stages: list[str] = []
    report = run_probes(bert, data, progress=lambda _, stage: stages.append(stage))
    assert [result.layer for result in report.layers] == [0, 1, 2]
    assert report.num_sentences == {"train": 90, "dev": 30, "test": 30}
    parts = divide(data)
    rows = {
        name: [(n, w) for n in sorted(part) for w in range(len(data.sentences[n].words))]
        for name, part in parts.items()
    }
    assert report.num_words == {name: len(words) for name, words in rows.items()}
    vectors = word_vectors(bert, data.sentences, (0, 1, 2))
    places = [*zip(vectors.sentence.tolist(), vectors.word.tolist(), strict=True)]
    words = [data.sentences[n].words[w] for n, w in places]
    classes = np.array(["XYZ".index(data.sentences[n].labels[w]) for n, w in places])
    indices = {
        name: np.array([places.index(place) for place in part]) for name, part in rows.items()
    }
    is_train = np.isin(np.arange(len(places)), indices["train"])
    test = indices["test"]
    majority, by_word = commonest_classes(words, classes, is_train)
    assert report.majority.value == pytest.approx((majority == classes)[test].mean())
    assert report.by_word.value == pytest.approx((by_word == classes)[test].mean())
    control = control_classes(words, classes, is_train)
    for result in report.layers:
        states = vectors.states[result.layer]
        for score, wanted in ((result.accuracy, classes), (result.control, control)):
            train, dev = (
                Words(states[indices[part]], wanted[indices[part]]) for part in ("train", "dev")
            )
            answers = fit_best(train, dev).predict(states[test])
            assert score.value == pytest.approx((answers == wanted[test]).mean())
            assert score.low <= score.value <= score.high
        assert result.selectivity.value == pytest.approx(
            result.accuracy.value - result.control.value
        )
    assert report.layers[0].accuracy.low > report.majority.value + 0.1  # the label is the word's
    assert report.best == max(report.layers, key=lambda result: result.accuracy.value)
    assert any("after layer 1, control task" in stage for stage in stages)


def test_the_same_seed_gives_the_same_numbers_and_what_is_left_out_is_told(bert: Bert) -> None:
    sentences = tuple(
        of_words([*sentence.words, "\u200b"], [*sentence.labels, "X"])
        for sentence in sentences_of(60).sentences
    )
    data, settings = ProbeData("pos", sentences), ProbeSettings(layers=(-1,), max_sentences=40)
    first, second = (run_probes(bert, data, settings) for _ in range(2))
    assert first == second
    assert [result.layer for result in first.layers] == [0, 2]
    assert "40 of 60" in first.notes[0]
    assert "40 words are left out" in first.notes[1]
    other = run_probes(bert, data, replace(settings, seed=1))
    assert [r.control for r in other.layers] != [r.control for r in first.layers]


def test_bad_settings_are_sentences(bert: Bert) -> None:
    with pytest.raises(ValueError, match="layer 9 does not exist"):
        run_probes(bert, sentences_of(30), ProbeSettings(layers=(9,)))
    same = tuple(replace(s, labels=("X",) * len(s.words)) for s in sentences_of(30).sentences)
    with pytest.raises(ValueError, match="the training part has only 'X'"):
        run_probes(bert, ProbeData("pos", same))
    with pytest.raises(ValueError, match="no word has a piece"):
        run_probes(bert, ProbeData("pos", (of_words(["\u200b"]),) * 20))


def test_scores_are_ratios_with_intervals_over_sentences() -> None:
    sentence = np.array([3, 3, 5, 5, 5, 9])
    right = np.array([True, False, True, True, True, False])
    counts = right_counts(right, sentence)
    assert counts.tolist() == [[1, 2], [3, 3], [0, 1]]
    score = ratio_score(counts)
    assert score.value == pytest.approx(4 / 6)
    assert 0 <= score.low < score.value < score.high <= 1
    same = difference_score(counts, counts)  # the same sentences are drawn for both
    assert (same.value, same.low, same.high) == (0, 0, 0)
