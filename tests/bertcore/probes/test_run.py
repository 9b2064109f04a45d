"""Probes of a whole checkpoint: vectors of words, every score, what is left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bertcore import Bert
from bertcore.loading.untrained import untrained
from bertcore.probes import ProbeData, ProbeSettings, run_probes
from bertcore.probes import vectors as vectors_module
from bertcore.probes.data_sets import divide, of_words
from bertcore.probes.vectors import split_words, word_vectors
from bertcore.probes.word_run import commonest_classes
from bertcore.tokenizer.encoding import Pieces
from tests.support.tiny import WORDS, tiny_bert


@pytest.fixture(scope="module")
def bert() -> Bert:
    return tiny_bert()


def sentences_of(count: int, seed: int = 0) -> ProbeData:
    """Sentences whose labels are those of their words, so that embeddings tell all."""
    generator = np.random.default_rng(seed)
    names = ("X", "Y", "Z")
    found = []
    for _ in range(count):
        numbers = generator.integers(0, len(WORDS), generator.integers(3, 9))
        words = [WORDS[number] for number in numbers]
        found.append(of_words(words, [names[number % 3] for number in numbers]))
    return ProbeData("pos", tuple(found))


@pytest.mark.parametrize("pooling", ["mean", "first"])
def test_vectors_are_the_hidden_states_of_a_trace(bert: Bert, pooling: str) -> None:
    sentences = [
        of_words(["The", "riverbanks", "was", "steep", "."]),
        of_words(["☃", "Paris"]),  # a sign that the tokenizer knows or not
        of_words(["unsteeping"] * 3),
    ]
    vectors = word_vectors(bert, sentences, (0, 2), pooling=pooling)
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
        states = trace.hidden_states[[0, 2]][:, pieces]
        expected = states.mean(1) if pooling == "mean" else states[:, 0]
        np.testing.assert_allclose(vectors.states[:, row], expected, atol=4e-3)
    assert vectors.rows([2, 0]).tolist() == [
        *range(len(vectors.word) - 3, len(vectors.word)),
        *range(5),
    ]


def test_words_of_a_text_are_those_of_the_tokenizer(bert: Bert) -> None:
    found = split_words(bert, "The riverbanks, was!")
    assert found.words == ("The", "riverbanks", ",", "was", "!")
    with pytest.raises(ValueError, match="no word"):
        split_words(bert, "  ")


def test_a_tokenizer_without_words_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    bert = tiny_bert()
    cut = bert.tokenizer.encode_pieces

    def without(texts: list[str]) -> list[Pieces]:
        return [pieces._replace(word_ids=[0] * len(pieces.ids)) for pieces in cut(texts)]

    monkeypatch.setattr(bert.tokenizer, "encode_pieces", without)
    with pytest.raises(ValueError, match="'tiny' does not mark where a word ends"):
        split_words(bert, "The river bank")
    assert split_words(bert, "riverbanks").words == ("riverbanks",)
    # A file says itself where its words end.
    found = word_vectors(bert, [of_words(["The", "riverbank"])], (0,))
    assert found.word.tolist() == [0, 1]


def test_what_does_not_fit_into_memory_is_told(bert: Bert, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors_module, "free_memory", lambda device: 1000)
    with pytest.raises(RuntimeError, match=r"2 words.*fewer layers"):
        word_vectors(bert, [of_words(["The", "river"])], (0, 1, 2), num_bytes=10)


def test_a_report_has_every_number(bert: Bert) -> None:
    data = sentences_of(150)
    stages: list[str] = []
    report = run_probes(bert, data, progress=lambda _, stage: stages.append(stage))
    assert [result.layer for result in report.layers] == [0, 1, 2]
    assert [result.layer for result in report.twin] == [0, 1, 2]
    assert report.num_sentences == {"train": 90, "dev": 30, "test": 30}
    parts = divide(data)
    words = [word for n in parts["test"] for word in data.sentences[n].words]
    assert report.num_words["test"] == len(words)
    embeddings = report.layers[0]
    majority = report.baselines["majority"]["accuracy"].value
    assert embeddings.main.low > majority + 0.1  # the label is the word's
    assert report.baselines["word"]["accuracy"].value > 0.9
    for result in report.layers:
        assert result.main.low <= result.main.value <= result.main.high
        assert result.control is not None
        assert result.selectivity is not None
        assert result.selectivity.value == pytest.approx(result.main.value - result.control.value)
        assert result.code is not None
        assert result.code.ends[-1] == report.num_words["train"]
    assert embeddings.code is not None
    assert embeddings.code.compression > 1.1
    assert len(report.cumulative) == 3
    assert report.cumulative[0] == embeddings.main.value
    assert any("layer 2" in stage for stage in stages)
    assert any("untrained" in stage for stage in stages)


def test_the_baselines_are_those_of_the_test_part(bert: Bert) -> None:
    data = sentences_of(60, seed=1)
    report = run_probes(bert, data, ProbeSettings(layers=(0,), twin=False, code=False))
    parts = divide(data)
    rows = [
        (word, label, part)
        for part in ("train", "test")
        for n in parts[part]
        for word, label in zip(data.sentences[n].words, data.sentences[n].labels, strict=True)
    ]
    classes = np.array(["XYZ".index(label) for _, label, _ in rows])
    is_train = np.array([part == "train" for *_, part in rows])
    majority, by_word = commonest_classes([word for word, *_ in rows], classes, is_train)
    for name, answers in (("majority", majority), ("word", by_word)):
        expected = (answers == classes)[~is_train].mean()
        assert report.baselines[name]["accuracy"].value == pytest.approx(expected)
    assert report.twin == ()
    assert report.layers[0].code is None
    assert report.cumulative == ()


def test_the_same_seed_gives_the_same_numbers(bert: Bert) -> None:
    data = sentences_of(60)
    settings = ProbeSettings(layers=(1,), code=False, max_sentences=40)
    one, two = (run_probes(bert, data, settings) for _ in range(2))
    assert [result.scores for result in one.layers] == [result.scores for result in two.layers]
    assert [result.scores for result in one.twin] == [result.scores for result in two.twin]
    assert "40 of 60" in one.notes[0]
    other = run_probes(bert, data, replace(settings, seed=1))
    assert [r.control for r in other.layers] != [r.control for r in one.layers]


def test_entities_have_f1_and_a_lost_word_counts(bert: Bert) -> None:
    generator = np.random.default_rng(0)
    found = []
    for _ in range(80):
        words = [WORDS[n] for n in generator.integers(0, len(WORDS), 5)]
        tags = ["B-A" if word in ("river", "bank", "paris", "france") else "O" for word in words]
        found.append(of_words([*words, "\u200b"], [*tags, "B-A"]))  # no piece begins in the last
    report = run_probes(
        bert, ProbeData("ner", tuple(found)), ProbeSettings(layers=(0,), twin=False, code=False)
    )
    scores = report.layers[0].scores
    assert list(scores) == ["f1", "accuracy"]
    assert scores["accuracy"].value > 0.9
    assert scores["f1"].value < 0.7  # every sentence has an entity that no vector stands for
    assert "80 words are left out" in " ".join(report.notes)


def test_bad_settings_are_sentences(bert: Bert) -> None:
    with pytest.raises(ValueError, match=r"'last'.*mean or first"):
        ProbeSettings(pooling="last")
    with pytest.raises(ValueError, match="layer 9 does not exist"):
        run_probes(bert, sentences_of(30), ProbeSettings(layers=(9,)))
    one = tuple(replace(s, labels=("X",) * len(s.words)) for s in sentences_of(30).sentences)
    with pytest.raises(ValueError, match="only 'X'"):
        run_probes(bert, ProbeData("pos", one), ProbeSettings(twin=False))


def test_a_stop_stops(bert: Bert) -> None:
    def progress(fraction: float, stage: str) -> None:
        if "probing layer 1" in stage:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        run_probes(bert, sentences_of(30), progress=progress)


def test_the_twin_is_the_network_that_the_seed_makes(bert: Bert) -> None:
    data = sentences_of(40)
    report = run_probes(bert, data, ProbeSettings(code=False, seed=3))
    own = run_probes(untrained(bert, 3), data, ProbeSettings(code=False, seed=3, twin=False))
    assert [r.scores for r in report.twin] == [r.scores for r in own.layers]
