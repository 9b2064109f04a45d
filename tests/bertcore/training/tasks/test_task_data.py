"""From examples to rows: what transformers' tokenizer gives, windows, tags, batches, labels."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import transformers

from bertcore.data.examples import QuestionExample
from bertcore.training.tasks import TaskData, find_task, read_task_data
from bertcore.training.tasks.questions import find_answers, question_rows
from bertcore.training.tasks.rows import IGNORED, RowBuilder, share_padding, shuffled_batches
from tests.support.finetuning_files import write_reviews
from tests.support.tiny import tiny_tokenizer

TOKENIZER = tiny_tokenizer()


def read(path: Path, task: str, *, max_length: int = 32, **more: Any) -> TaskData:
    return read_task_data(path, find_task(task), TOKENIZER, max_length=max_length, **more)


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("tokenizer")
    TOKENIZER.save(folder)
    return transformers.AutoTokenizer.from_pretrained(folder)


@pytest.mark.parity
def test_rows_are_those_of_transformers(tmp_path: Path, theirs: Any) -> None:
    """Ids, segments and mask of a padded batch of pairs, cut `longest_first`."""
    pairs = [("the cat sat on the mat", "no"), ("yes", "paris is the capital of france and berlin")]
    lines = [json.dumps({"text": a, "text_pair": b, "label": i}) for i, (a, b) in enumerate(pairs)]
    path = tmp_path / "p.jsonl"
    path.write_text("\n".join(lines))
    data = read(path, "pair", max_length=10)
    batch = data.rows.batch([0, 1])
    wanted = theirs(
        *map(list, zip(*pairs, strict=True)),
        padding=True,
        truncation="longest_first",
        max_length=10,
        return_tensors="pt",
    )
    assert batch.input_ids.equal(wanted.input_ids)
    assert batch.segment_ids.equal(wanted.token_type_ids)
    assert batch.attention_mask is None or batch.attention_mask.long().equal(wanted.attention_mask)
    assert batch.targets.tolist() == [0, 1]
    assert data.rows.num_cut == 1
    assert "1 of 2 rows of p.jsonl were truncated at 10 tokens" in data.notes[0]


@pytest.mark.parity
def test_words_are_cut_and_labelled_as_in_transformers(tmp_path: Path, theirs: Any) -> None:
    words, tags = ["Paris", "bankers", "x.", "ran"], ["B-LOC", "O", "O", "O"]
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps({"tokens": words, "tags": tags}))
    data = read(path, "tag")
    batch = data.rows.batch([0])
    wanted = theirs(words, is_split_into_words=True)
    assert batch.input_ids[0].tolist() == wanted.input_ids
    seen: set[int | None] = {None}
    expected = []
    for word in wanted.word_ids():
        expected.append(IGNORED if word in seen else data.labels.index(tags[word]))
        seen.add(word)
    assert batch.targets[0].tolist() == expected


def test_a_long_sentence_becomes_rows_without_losing_a_word(tmp_path: Path) -> None:
    words = ["the", "unbelievable", "cat"] * 20
    tags = [f"T{i % 7}" for i in range(60)]
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps({"tokens": words, "tags": tags}))
    data = read(path, "tag", max_length=16)
    assert len(data.rows) > 10
    assert data.rows.lengths.max() <= 16
    kept = data.rows.targets[data.rows.targets != IGNORED]
    assert [data.labels[i] for i in kept] == tags
    assert data.sentence_lengths.tolist() == [60]


def test_labels_get_their_order_and_unseen_ones_are_named(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("text\tlabel\na\t10\nb\t9\nc\t10\n")
    data = read(path, "classify")
    assert data.labels == ("9", "10")
    assert data.rows.targets.tolist() == [1, 0, 1]
    moved = read(path, "classify", labels=("x", "10", "9"))
    assert moved.rows.targets.tolist() == [1, 2, 1]
    with pytest.raises(
        ValueError, match=r"row 2 of .* has the label '9', which is not one of '10'"
    ):
        read(path, "classify", labels=("10", "11"))
    skipped = read(path, "classify", labels=("10", "11"), skip_bad_rows=True)
    assert skipped.num_examples == 2
    assert "1 bad row was left out" in skipped.notes[0]
    with pytest.raises(ValueError, match="has no example to use"):
        read(path, "classify", labels=("11",), skip_bad_rows=True)


def test_batches_hold_every_example_once_with_little_padding(tmp_path: Path) -> None:
    data = read(write_reviews(tmp_path / "t.tsv", 500), "classify")
    first, again = (shuffled_batches(data.rows, 16, seed=3) for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert sorted(np.concatenate(first)) == list(range(500))
    other = shuffled_batches(data.rows, 16, seed=4)
    assert not np.array_equal(np.concatenate(first), np.concatenate(other))
    plain = [np.arange(i, min(i + 16, 500)) for i in range(0, 500, 16)]
    assert share_padding(data.rows, first) < 0.3 * share_padding(data.rows, plain)
    lengths = [data.rows.lengths[batch].max() for batch in first]
    assert lengths != sorted(lengths)


def test_choices_are_rows_of_one_example() -> None:
    builder = RowBuilder(TOKENIZER, 16)
    for end in ([9], [9, 10], [11], [12]):
        builder.add([8, 8], end)
    rows = builder.build(np.array([1, 0]), group=2)
    assert len(rows) == 2
    batch = rows.batch([1, 0])
    assert batch.input_ids.shape == (2, 2, 7)
    assert batch.targets.tolist() == [0, 1]
    assert batch.input_ids[1, 0, :6].tolist() == [2, 8, 8, 3, 9, 3]


def one_question(context: str, answer: str) -> QuestionExample:
    return QuestionExample("q", "where is he", context, [(answer, context.index(answer))], 1)


def test_windows_cover_the_text_and_hold_the_answer() -> None:
    context = " ".join(f"{word} house" for word in ("the", "old", "new", "good") * 10) + " paris ."
    rows, questions = question_rows(
        [one_question(context, "paris")], TOKENIZER, max_length=24, doc_stride=8, is_train=False
    )
    room = 24 - 3 - 3
    starts = [window.first_token for window in questions.windows]
    assert starts == list(range(0, len(starts) * 8, 8))
    covered: set[int] = set()
    for window in questions.windows:
        covered |= set(range(window.first_token, window.first_token + window.num_tokens))
    assert covered == set(range(82))
    assert all(window.num_tokens <= room for window in questions.windows)
    for row, window in enumerate(questions.windows):
        first, last = rows.targets[row]
        ids = rows.batch([row]).input_ids[0]
        holds = window.first_token <= 80 < window.first_token + window.num_tokens
        assert (first > 0) == holds
        if holds:
            assert TOKENIZER.decode(ids[first : last + 1].tolist()) == "paris"


def test_a_right_pair_of_logits_is_the_text_of_the_answer() -> None:
    """Perfect logits give the answer back letter by letter, whichever window it is in."""
    examples = [
        one_question("He sat.  In PARIS-Berlin, he ran " + "on the mat " * 12, "PARIS-Berlin"),
        one_question("the mat " * 14 + "is in the Bank's river", "Bank's"),
        QuestionExample("q", "who", "the cat sat", [], 1),
    ]
    rows, questions = question_rows(
        examples, TOKENIZER, max_length=24, doc_stride=6, is_train=False
    )
    logits = []
    for row in range(len(rows)):
        values = np.full((int(rows.lengths[row]), 2), -5.0, dtype=np.float32)
        first, last = rows.targets[row]
        values[first, 0], values[last, 1] = 5.0, 5.0
        logits.append(values)
    answers = find_answers(questions, logits)
    assert [answer.text for answer in answers[:2]] == ["PARIS-Berlin", "Bank's"]
    assert answers[0].null_difference == -20.0  # in the window of the answer [CLS] has -10
    assert answers[2].null_difference == 20.0


def test_an_answer_is_never_backwards_or_too_long() -> None:
    context = "the cat sat " * 15
    rows, questions = question_rows(
        [one_question(context, "cat")], TOKENIZER, max_length=64, is_train=False
    )
    values = np.zeros((int(rows.lengths[0]), 2), dtype=np.float32)
    offset = questions.windows[0].row_offset
    values[offset + 40, 0] = values[offset + 3, 1] = 9.0  # backwards: 18 together
    values[offset + 1, 0] = 5.0  # 37 tokens before the next end
    values[offset + 38, 1] = 6.0
    found = find_answers(questions, [values])[0]
    assert found.score == 14.0  # from 1 to 3
    assert found.text == "cat sat the"


def test_a_question_leaves_room_for_the_text() -> None:
    asked = QuestionExample("q", "where " * 40, "in paris", [("paris", 3)], 1)
    with pytest.raises(ValueError, match="leaves no room for text after a question of 40 tokens"):
        question_rows([asked], TOKENIZER, max_length=32, is_train=True)
