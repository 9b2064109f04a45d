"""Swapped words: answers of models whose words are known, and those of the file run by itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bertcore.analysis.attribution import answer, run_file, task_input
from bertcore.bias import flip_file, parse_pairs
from bertcore.bias.flips import MOST_TEXTS
from bertcore.debiasing import swap_pairs
from tests.support.finetuning_files import write_label_lists, write_scored_pairs
from tests.support.rigged_models import bag_of_words, random_model

PAIRS = (("she", "he"),)
WORDS = {"she": (1.0, 0.0), "good": (0.0, 0.5), "bad": (2.0, 0.0)}
"""The word "she" makes a text "bad" unless something speaks for "good" twice."""


def softmax(*logits: float) -> float:
    """Return the probability of the second label."""
    values = np.exp(logits)
    return float(values[1] / values.sum())


def write(path: Path, *rows: str) -> Path:
    path.write_text("\n".join(["text,label", *rows]), encoding="utf-8")
    return path


def test_a_known_model_changes_as_worked_by_hand(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.csv",
        "she was good,good",  # bad (1 against 0.5) -> good: changes
        "he was good,good",  # good -> bad: changes
        "he was bad,bad",  # bad -> bad
        "the dog was good,good",  # none of the words
        "he and she,bad",  # both: the words change places
    )
    found = flip_file(bag_of_words(WORDS), path, PAIRS)
    assert (found.num_examples, found.num_with_words, found.is_whole) == (5, 4, True)
    assert found.changed is not None
    assert (found.changed.mean, found.changed.num_cases) == (0.5, 4)
    assert 0.14 < found.changed.low < 0.16  # Wilson, 2 of 4
    texts = {one.row: one for one in found.texts}
    assert sorted(texts) == [1, 2, 3, 5]
    first = texts[1]
    assert (first.flipped, first.gold, first.before, first.after) == (
        "he was good",
        "good",
        "bad",
        "good",
    )
    assert first.swaps == (("she", "he"),)
    before, after = 1 - softmax(1, 0.5), 1 - softmax(0, 0.5)
    assert first.change == pytest.approx(after - before, abs=1e-6)
    assert texts[5].change == pytest.approx(0, abs=1e-6)
    assert [one.is_changed for one in found.texts] == [True, True, False, False]
    assert found.change.mean == pytest.approx(np.mean([abs(one.change) for one in found.texts]))
    # Of the texts with one side alone: p(good) with "he" minus p(good) with "she".
    good = next(one for one in found.leans if one.label == "good")
    expected = [
        softmax(0, 0.5) - softmax(1, 0.5),
        softmax(0, 0.5) - softmax(1, 0.5),
        softmax(2, 0) - softmax(3, 0),
    ]
    assert good.difference.num_cases == 3
    assert good.difference.mean == pytest.approx(np.mean(expected), abs=1e-6)
    reversed_pairs = flip_file(bag_of_words(WORDS), path, [("he", "she")])
    other = next(one for one in reversed_pairs.leans if one.label == "good")
    assert other.difference.mean == pytest.approx(-good.difference.mean, abs=1e-6)


def test_answers_are_those_of_the_file_and_of_the_swapped_file(tmp_path: Path) -> None:
    rows = [
        f"{('she', 'he', 'the man')[i % 3]} {'was ' * (i % 4)}{('good', 'new', 'bad')[i % 3]}"
        for i in range(30)
    ]
    model = random_model("classify")
    path = write(tmp_path / "a.csv", *(f"{row},good" for row in rows))
    found = flip_file(model, path, PAIRS, rows_at_once=7)
    before = run_file(model, path)
    assert found.num_with_words == 20
    for one in found.texts:
        assert one.before == model.labels[before.predicted[one.row - 1]]
        probabilities = answer(model, task_input(model, one.flipped)).probabilities
        assert one.after == model.labels[int(probabilities.argmax())]
        label = model.labels.index(one.before)
        change = probabilities[label] - before.confidence[one.row - 1]
        assert one.change == pytest.approx(change, abs=1e-5)


def test_scores_and_pairs(tmp_path: Path) -> None:
    path = write_scored_pairs(tmp_path / "a.tsv", 20)
    text = path.read_text().replace("the", "she", 20)
    path.write_text(text)
    model = random_model("regress")
    found = flip_file(model, path, PAIRS)
    assert found.changed is None
    assert [one.label for one in found.leans] == [None]
    for one in found.texts:
        score = answer(model, task_input(model, one.flipped, one.flipped_pair)).score
        old = answer(model, task_input(model, one.text, one.text_pair)).score
        assert one.change == pytest.approx(score - old, abs=1e-5)
        assert one.flipped_pair is not None


def test_several_labels(tmp_path: Path) -> None:
    path = write_label_lists(tmp_path / "a.tsv", 24)
    model = random_model("multilabel")
    found = flip_file(model, path, PAIRS)
    assert found.num_with_words
    assert len(found.leans) == len(model.labels)
    for one in found.texts:
        old, new = (
            answer(model, task_input(model, text)).probabilities for text in (one.text, one.flipped)
        )
        assert abs(one.change) == pytest.approx(np.abs(new - old).max(), abs=1e-5)
        assert one.is_changed == bool(((old > 0.5) != (new > 0.5)).any())


def test_the_texts_that_change_most_are_kept(tmp_path: Path) -> None:
    num = 2 * MOST_TEXTS + 90
    path = write(tmp_path / "a.csv", *(f"she {'good ' * (i % 5)},good" for i in range(num)))
    found = flip_file(bag_of_words(WORDS), path, PAIRS, rows_at_once=100)
    assert found.num_with_words == num
    assert len(found.texts) == MOST_TEXTS
    assert found.changed is not None
    # Of the five texts those with one and two "good" turn: 196 in all.
    turned = [one.is_changed for one in found.texts]
    assert sum(turned) == round(found.changed.mean * num) == 2 * num // 5
    assert turned == sorted(turned, reverse=True)


def test_no_word_a_stop_and_pronouns(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", *["the dog ran,good"] * 6, *["her dog ran,good"] * 3)
    model = bag_of_words(WORDS)
    found = flip_file(model, path, PAIRS)
    assert (found.num_with_words, found.texts, found.leans) == (0, (), ())
    assert found.changed is not None
    assert np.isnan(found.changed.mean)
    stopped = flip_file(model, path, PAIRS, rows_at_once=2, should_stop=lambda: True)
    assert (stopped.num_examples, stopped.is_whole) == (2, False)
    found = flip_file(model, path, swap_pairs("gender"))
    assert found.texts[0].flipped == "his dog ran"
    assert any("3" in note and "her" in note for note in found.notes)


def test_what_cannot_be_swapped_is_a_sentence(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "she ran,good")
    with pytest.raises(ValueError, match="'tag'"):
        flip_file(random_model("tag"), path, PAIRS)
    with pytest.raises(ValueError, match="two pairs"):
        flip_file(bag_of_words(WORDS), path, [("she", "he"), ("she", "it")])
    with pytest.raises(ValueError, match="no pair of words"):
        flip_file(bag_of_words(WORDS), path, [])


def test_pairs_are_parsed() -> None:
    assert parse_pairs("woman = man,\n girl=boy;") == (("woman", "man"), ("girl", "boy"))
    hostile = "<img src=x onerror=alert(1)>"
    for text in ("woman", "a=b=c", "a=", hostile):
        with pytest.raises(ValueError, match="not a pair"):
            parse_pairs(f"x=y, {text}")
    with pytest.raises(ValueError, match="two pairs"):
        parse_pairs("she=he, she=it")
