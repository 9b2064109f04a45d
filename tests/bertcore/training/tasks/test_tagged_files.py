"""Tagged files as people have them: an always right tagger scores 100% on each of them."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from seqeval.metrics import f1_score
from torch import Tensor

from bertcore.analysis.attribution import run_file
from bertcore.configs import Columns
from bertcore.data.files import BadRows
from bertcore.data.guess import guess
from bertcore.data.labels import order_labels
from bertcore.data.tag_schemes import Entity, TagScheme, scheme_of
from bertcore.model.network.task_heads import TaskNetwork
from bertcore.training.tasks import TASKS, TaskModel, find_task, score_model
from bertcore.training.tasks.read import read_examples, survey
from tests.support import what_opens
from tests.support.cases import cases
from tests.support.finetuning_files import data_of
from tests.support.tiny import tiny_config, tiny_network, tiny_tokenizer
from tests.support.what_opens import opens

SENTENCES = (
    (("the", "new", "fish", "was"), (Entity("PER", 1, 3),)),
    (("paris", "and", "old", "milk", "house"), (Entity("LOC", 0, 1), Entity("ORG", 2, 5))),
    (("she", "ran", "very", "bad"), ()),
    (("man", "cat", "berlin"), (Entity("PER", 0, 2), Entity("LOC", 2, 3))),
)
TAGS = {
    "IOB2": "O B-PER I-PER O|B-LOC O B-ORG I-ORG I-ORG|O O O O|B-PER I-PER B-LOC",
    "IOB1": "O I-PER I-PER O|I-LOC O I-ORG I-ORG I-ORG|O O O O|I-PER I-PER I-LOC",
    "BIOES": "O B-PER E-PER O|S-LOC O B-ORG I-ORG E-ORG|O O O O|B-PER E-PER S-LOC",
    "BILOU": "O B-PER L-PER O|U-LOC O B-ORG I-ORG L-ORG|O O O O|B-PER L-PER U-LOC",
    "BMEWO": "O B-PER E-PER O|W-LOC O B-ORG M-ORG E-ORG|O O O O|B-PER E-PER W-LOC",
    "underscore": "O B_PER I_PER O|B_LOC O B_ORG I_ORG I_ORG|O O O O|B_PER I_PER B_LOC",
    "suffix": "O PER-B PER-I O|LOC-B O ORG-B ORG-I ORG-I|O O O O|PER-B PER-I LOC-B",
    "bare": "O PER PER O|LOC O ORG ORG ORG|O O O O|PER PER LOC",
}


class Lookup(TaskNetwork):
    """A tagger that knows the tag of each word."""

    def __init__(self, tags: dict[str, int], num_labels: int) -> None:
        super().__init__(tiny_network(tiny_config()), "token", num_labels)
        self.says = torch.zeros(tiny_tokenizer().vocab_size, num_labels)
        for word, tag in tags.items():
            self.says[tiny_tokenizer().token_to_id(word), tag] = 9.0

    def forward(self, input_ids: Tensor, *args: object, **kwargs: object) -> Tensor:
        """Return logits, [B, T, C]."""
        return self.says[input_ids]

    encode = forward

    def read(self, hidden: Tensor, *args: object, **kwargs: object) -> Tensor:
        """Return what `encode` did."""
        return hidden


def tagger(scheme: str, *, more: Sequence[str] = ()) -> TaskModel:
    """Return a model that has all tags of a scheme right."""
    tags = [row.split() for row in TAGS[scheme].split("|")]
    labels = (*order_labels(tag for row in tags for tag in row), *more)
    words = {
        word: labels.index(tag)
        for (sentence, _), row in zip(SENTENCES, tags, strict=True)
        for word, tag in zip(sentence, row, strict=True)
    }
    model = Lookup(words, len(labels)).eval()
    return TaskModel(TASKS["tag"], model, tiny_tokenizer(), labels, "always right")


def conll(path: Path, scheme: str, *, before: str = "", middle: str = " ") -> Path:
    rows = [row.split() for row in TAGS[scheme].split("|")]
    lines = []
    for (words, _), tags in zip(SENTENCES, rows, strict=True):
        lines += [middle.join((word, tag)) for word, tag in zip(words, tags, strict=True)] + [""]
    path.write_text(before + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def scores(model: TaskModel, path: Path, columns: Columns = Columns()) -> dict[str, float]:  # noqa: B008
    """Return the metrics of evaluate, after checking that Inspect has the same."""
    data = data_of(path, model, columns=columns)
    found = score_model(model.module, data, model.task).scores
    run = run_file(model, path, columns=columns)
    assert run.metrics().metrics == pytest.approx(found.metrics)
    assert run.notes == (*data.notes, *found.notes)
    assert run.right.all() == (found.metrics["accuracy"] == 1.0)
    return found.metrics


@opens("schemes")
@pytest.mark.parametrize("file", TAGS)
@pytest.mark.parametrize("model", TAGS)
def test_an_always_right_tagger_has_all_right(model: str, file: str, tmp_path: Path) -> None:
    """Whatever scheme it was trained on, and whatever that of the file."""
    found = scores(tagger(model), conll(tmp_path / "a.txt", file))
    assert (found["f1"], found["accuracy"]) == (1.0, 1.0)


def test_an_iob1_tagger_with_b_tags_too_is_judged_in_its_scheme(tmp_path: Path) -> None:
    """dbmdz's taggers: B- stands between neighbours of one type alone, so hardly ever."""
    model = tagger("IOB1", more=("B-PER", "B-LOC", "B-ORG"))
    for file in ("IOB1", "IOB2", "BILOU"):
        found = scores(model, conll(tmp_path / f"{file}.txt", file))
        assert (found["f1"], found["accuracy"]) == (1.0, 1.0)


def test_a_wrong_tagger_has_the_f1_of_seqeval(tmp_path: Path) -> None:
    model = tagger("IOB2")
    model.module.says[:, model.labels.index("I-ORG")] += 20  # type: ignore[operator]
    gold = [row.split() for row in TAGS["IOB2"].split("|")]
    told = [["I-ORG"] * len(row) for row in gold]
    assert scores(model, conll(tmp_path / "a.txt", "BIOES"))["f1"] == pytest.approx(
        f1_score(gold, told)
    )


def test_classes_for_special_tokens_do_not_hide_the_entities(tmp_path: Path) -> None:
    model = tagger("IOB2", more=("X", "[CLS]", "[SEP]"))
    assert scores(model, conll(tmp_path / "a.txt", "IOB2"))["f1"] == 1.0


def test_types_are_matched_by_letters_beginnings_and_by_hand(tmp_path: Path) -> None:
    path = conll(tmp_path / "a.txt", "BIOES")
    text = path.read_text().replace("-PER", "-person").replace("-ORG", "-Organization")
    path.write_text(text)
    assert scores(tagger("IOB2"), path)["f1"] == 1.0
    path.write_text(text.replace("-LOC", "-GPE"))
    with pytest.raises(ValueError, match=r"'GPE', which is not one of .*'LOC'.*--label-map GPE="):
        scores(tagger("IOB2"), path)
    assert scores(tagger("IOB2"), path, Columns(label_map="GPE=LOC"))["f1"] == 1.0
    assert scores(tagger("IOB2"), path, Columns(label_map="GPE=O"))["f1"] < 1.0


# ---- other files with the same entities ----


FILES = dict(cases("tagged_files"))
"""The file, its content, and an example of it."""
for name, (_, _, example) in FILES.items():
    what_opens.add("Tags", name, example, "a tag a word, and entities")


@pytest.mark.parametrize("name", FILES)
def test_other_files_hold_the_same_sentences(name: str, tmp_path: Path) -> None:
    file, content, _ = FILES[name]
    path = tmp_path / file
    path.write_text(content)
    examples = list(read_examples(path, find_task("tag"), bad_rows=BadRows()))
    assert [tuple(one.words) for one in examples] == [words for words, _ in SENTENCES]  # type: ignore[attr-defined]
    assert "|".join(" ".join(one.labels) for one in examples) == TAGS["IOB2"]
    assert scores(tagger("BILOU"), path)["f1"] == 1.0
    found = guess(path)
    assert found.task == "tag"
    labels = survey(path, "tag", columns=found.chosen).labels
    assert [labels[tag] for tag in ("B-PER", "B-LOC", "B-ORG")] == [2, 2, 1]


# ---- words and spans ----


def tagged(path: Path, content: str) -> tuple[list[str], BadRows]:
    """Return the sentences of a file, each as word/tag, and what was said of it."""
    path.write_text(content, encoding="utf-8")
    bad = BadRows()
    examples = read_examples(path, find_task("tag"), bad_rows=bad)
    pairs = (zip(one.words, one.labels, strict=True) for one in examples)  # type: ignore[attr-defined]
    return [" ".join(map("/".join, sentence)) for sentence in pairs], bad


READ = dict(cases("tagged_words"))
"""The file, its content, and its sentences."""


@pytest.mark.parametrize("name", READ)
def test_words_and_their_tags(name: str, tmp_path: Path) -> None:
    file, content, sentences = READ[name]
    assert tagged(tmp_path / file, content)[0] == sentences
    if name != "spaces in words":
        assert guess(tmp_path / file).task == "tag"


REFUSED = dict(cases("untagged_files"))
"""The words of the refusal of each content."""


@opens("marks outside of their text")
@opens("brackets")
@opens("one word a row without sentences")
@pytest.mark.parametrize("content", REFUSED, ids=range(len(REFUSED)))
def test_what_has_no_tagged_words_is_named(content: str, tmp_path: Path) -> None:
    ending = {"{": "jsonl", "t": "conll", "w": "csv"}[content[0]]
    with pytest.raises(ValueError, match=REFUSED[content]):
        tagged(tmp_path / f"a.{ending}", content)


def test_spans_are_no_classes(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(FILES["doccano"][1])
    with pytest.raises(ValueError, match="spans of the text, which the task tag reads"):
        list(read_examples(tmp_path / "a.jsonl", find_task("classify"), bad_rows=BadRows()))


@opens("other spaces in words")
def test_columns_are_parted_by_tabs_and_spaces_alone(tmp_path: Path) -> None:
    """No-break and ideographic spaces, and signs that no tokenizer keeps, are words."""
    words = ["10\u00a0000", "\u3000", "\u200b", "\u0096", "\u2009", "New\u00a0York", "\u0085x"]
    expected = [" ".join(f"{word}/B-X" for word in words)]
    for sign, name in ((" ", "a.txt"), ("\t", "b.tsv")):
        rows = "".join(f"{word}{sign}NN{sign}I-NP{sign}B-X\n" for word in words)
        assert tagged(tmp_path / name, rows + "\n")[0] == expected
    two = "".join(f"{word} B-X\n" for word in words)
    assert tagged(tmp_path / "c.txt", two + "\nx B-X\n")[0] == [*expected, "x/B-X"]


@opens("words without a tag")
def test_words_without_a_tag_are_left_out_and_counted(tmp_path: Path) -> None:
    rows = [{"tokens": ["[CLS]", "a", "b"], "labels": [-100, "O", "B-X"]}]
    rows.append({"tokens": ["c"], "labels": [None]})
    found, bad = tagged(tmp_path / "a.jsonl", "\n".join(map(json.dumps, rows)))
    assert found == ["a/O b/B-X"]
    assert any("2 words without a tag" in note for note in bad.notes())


@opens("numbers")
def test_numbers_are_the_ids_of_the_checkpoint(tmp_path: Path) -> None:
    """ner_tags of the hub's data sets."""
    model, path = tagger("IOB2"), tmp_path / "a.jsonl"
    rows = [
        {"tokens": words, "ner_tags": [model.labels.index(tag) for tag in tags.split()]}
        for (words, _), tags in zip(SENTENCES, TAGS["IOB2"].split("|"), strict=True)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    assert scores(model, path)["f1"] == 1.0


def test_a_word_that_the_tokenizer_drops_keeps_its_tag_and_place(tmp_path: Path) -> None:
    model = tagger("IOB2")
    path = tmp_path / "a.txt"
    path.write_text("the O\n\u200b O\nnew B-PER\nfish I-PER\n\u3000 O\nwas O\n\nparis B-LOC\n")
    data = data_of(path, model)
    assert data.sentence_lengths.tolist() == [6, 1]
    assert scores(model, path)["f1"] == 1.0


def test_one_unnamed_type_is_that_of_a_head_with_one(tmp_path: Path) -> None:
    model = tagger("IOB2")
    labels = ("O", "B-Disease", "I-Disease")
    words = {"man": 1, "cat": 2, "ran": 0, "paris": 1}
    model = TaskModel(
        TASKS["tag"], Lookup(words, 3).eval(), tiny_tokenizer(), labels, "always right"
    )
    path = tmp_path / "a.tsv"
    path.write_text("man\tB\ncat\tI\nran\tO\n\nparis\tB\n")
    assert scores(model, path)["f1"] == 1.0


def test_a_new_head_learns_entities_by_their_usual_names(tmp_path: Path) -> None:
    """B-PER, which transformers' pipelines need, whatever the file writes; bare types stay."""
    for name in TAGS:
        labels = survey(conll(tmp_path / f"{name}.txt", name), "tag").labels
        scheme = scheme_of(labels)
        assert scheme is not None
        if name == "bare":
            assert set(labels) == {"O", "PER", "LOC", "ORG"}
        else:
            assert all(label[1] == "-" for label in labels if label != "O")
            assert scheme == TagScheme("prefix", "-", scheme.letters)
