"""Tagged files as people have them: an always right tagger scores 100% on each of them."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

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
from bertcore.network.task_heads import TaskNetwork
from bertcore.tasks import TASKS, TaskModel, find_task, read_task_data, score_model
from bertcore.tasks.read import read_examples, survey
from tests.support import what_opens
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
    data = read_task_data(
        path, model.task, model.tokenizer, max_length=32, labels=model.labels, columns=columns
    )
    found = score_model(model.module, data, model.task).scores
    run = run_file(model, path, columns=columns)
    assert run.metrics().metrics == pytest.approx(found.metrics)
    assert run.notes == (*data.notes, *found.notes)
    assert run.right.all() == (found.metrics["accuracy"] == 1.0)
    return found.metrics


@opens(
    "Tags",
    "schemes",
    "IOB1, IOB2, BIOES, BILOU, BMEWO, `B_PER`, `PER-B`, `PER`",
    "entities as seqeval, in the scheme of the checkpoint",
)
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


def words_and_numbers(path: Path) -> Path:
    """GermEval: a comment, then number, word, outer and inner entity."""
    lines = []
    for (words, _), row in zip(SENTENCES, TAGS["IOB2"].split("|"), strict=True):
        lines.append("#\thttp://example.org [2009-10-17]")
        cells = zip(words, row.split(), strict=True)
        lines += [f"{i}\t{word}\t{tag}\tO" for i, (word, tag) in enumerate(cells, 1)] + [""]
    path.write_text("\n".join(lines))
    return path


def multiconer(path: Path) -> Path:
    lines = []
    for i, ((words, _), row) in enumerate(zip(SENTENCES, TAGS["IOB2"].split("|"), strict=True)):
        lines.append(f"# id 5239d808-f300-46ea-aa3b-{i}\tdomain=train")
        lines += [f"{w} _ _ {t}" for w, t in zip(words, row.split(), strict=True)] + [""]
    path.write_text("\n".join(lines))
    return path


def kaggle(path: Path) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["Sentence #", "Word", "POS", "Tag"])
        for i, ((words, _), row) in enumerate(zip(SENTENCES, TAGS["IOB2"].split("|"), strict=True)):
            for j, (word, tag) in enumerate(zip(words, row.split(), strict=True)):
                writer.writerow(["" if j else f"Sentence: {i + 1}", word, "NN", tag])
    return path


def lists_as_text(path: Path) -> Path:
    """The lists of a data set, as pandas writes them into CSV."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["tokens", "ner_tags"])
        for (words, _), row in zip(SENTENCES, TAGS["IOB2"].split("|"), strict=True):
            writer.writerow([str(list(words)), str(row.split())])
    return path


def _texts() -> list[tuple[str, list[tuple[int, int, str]]]]:
    texts = []
    for words, entities in SENTENCES:
        starts = [len(" ".join(words[:i])) + bool(i) for i in range(len(words))]
        ends = [start + len(word) for start, word in zip(starts, words, strict=True)]
        spans = [(starts[first], ends[end - 1], kind) for kind, first, end in entities]
        texts.append((" ".join(words), spans))
    return texts


def _lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    return path


def doccano(path: Path) -> Path:
    return _lines(
        path, [{"id": 1, "text": t, "label": [list(s) for s in spans]} for t, spans in _texts()]
    )


def spacy(path: Path) -> Path:
    return _lines(path, [{"text": t, "entities": spans} for t, spans in _texts()])


def label_studio(path: Path) -> Path:
    rows = []
    for i, (text, spans) in enumerate(_texts()):
        result = [
            {
                "id": "a",
                "type": "labels",
                "value": {"start": a, "end": b, "text": text[a:b], "labels": [kind]},
            }
            for a, b, kind in spans
        ]
        rows.append({"id": i, "annotations": [{"result": result}], "data": {"text": text}})
    return _lines(path, rows)


def label_studio_array(path: Path) -> Path:
    """The export "JSON": one array, with what is beside the annotations."""
    rows = [json.loads(line) for line in label_studio(path).read_text().splitlines()]
    for row in rows:
        row |= {"file_upload": "x.txt", "predictions": [], "drafts": [], "meta": {}, "project": 1}
        for one in row["annotations"]:
            one |= {"id": 7, "completed_by": 1, "was_cancelled": False, "ground_truth": False}
    path.write_text(json.dumps(rows))
    return path


def conll2003(path: Path) -> Path:
    lines = ["-DOCSTART- -X- -X- O", ""]
    for (words, _), row in zip(SENTENCES, TAGS["IOB1"].split("|"), strict=True):
        lines += [f"{w} NN I-NP {t}" for w, t in zip(words, row.split(), strict=True)] + [""]
    path.write_text("\n".join(lines))
    return path


FILES = {
    # name: (what writes it, the file, an example of it)
    "CoNLL-2003": (conll2003, "eng.testa", "`-DOCSTART- -X- -X- O`, `EU NNP I-NP I-ORG`"),
    "GermEval": (words_and_numbers, "a.tsv", "`1`⇥`word`⇥`B-PER`⇥`O`, `# source`"),
    "MultiCoNER": (multiconer, "a.conll", "`# id ...`, `word _ _ B-PER`"),
    "NER corpus of Kaggle": (kaggle, "a.csv", "`Sentence #,Word,POS,Tag`"),
    "lists": (lists_as_text, "a.csv", "`\"['EU', ...]\",\"['B-ORG', ...]\"`"),
    "doccano": (doccano, "a.jsonl", '`{"text": ..., "label": [[0, 2, "ORG"]]}`'),
    "spaCy": (spacy, "a.jsonl", '`{"text": ..., "entities": [[0, 2, "ORG"]]}`'),
    "Label Studio": (label_studio_array, "a.json", '`[{"annotations": [{"result": [...]}]}]`'),
}
for name, (_, _, example) in FILES.items():
    what_opens.add("Tags", name, example, "a tag a word, and entities")


@pytest.mark.parametrize("name", FILES)
def test_other_files_hold_the_same_sentences(name: str, tmp_path: Path) -> None:
    write, file, _ = FILES[name]
    path = write(tmp_path / file)
    examples = list(read_examples(path, find_task("tag"), bad_rows=BadRows()))
    assert [tuple(one.words) for one in examples] == [words for words, _ in SENTENCES]  # type: ignore[attr-defined]
    assert "|".join(" ".join(one.labels) for one in examples) == TAGS["IOB2"]
    assert scores(tagger("BILOU"), path)["f1"] == 1.0
    found = guess(path)
    assert found.task == "tag"
    labels = survey(path, "tag", columns=found.chosen).labels
    assert [labels[tag] for tag in ("B-PER", "B-LOC", "B-ORG")] == [2, 2, 1]


# ---- columns ----


def tagged(path: Path, *lines: str, **columns: str) -> list[tuple[list[str], list[str]]]:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = read_examples(path, find_task("tag"), columns=Columns(**columns), bad_rows=BadRows())
    return [(one.words, list(one.labels)) for one in found]  # type: ignore[attr-defined]


@opens("Tags", "other spaces in words", "`10`U+00A0`000 B-NUM`", "one word")
def test_columns_are_parted_by_tabs_and_spaces_alone(tmp_path: Path) -> None:
    """No-break and ideographic spaces, and signs that no tokenizer keeps, are words."""
    words = ["10\u00a0000", "\u3000", "\u200b", "\u0096", "\u2009", "New\u00a0York", "\u0085x"]
    for sign, name in ((" ", "a.txt"), ("\t", "b.tsv")):
        rows = [f"{word}{sign}NN{sign}I-NP{sign}B-X" for word in words]
        assert tagged(tmp_path / name, *rows, "") == [(words, ["B-X"] * len(words))]
    two = [f"{word} O" for word in words]
    assert tagged(tmp_path / "c.txt", *two, "", "x B-X")[0] == (words, ["O"] * len(words))


def test_a_word_that_the_tokenizer_drops_keeps_its_tag_and_place(tmp_path: Path) -> None:
    model = tagger("IOB2")
    path = tmp_path / "a.txt"
    path.write_text("the O\n\u200b O\nnew B-PER\nfish I-PER\n\u3000 O\nwas O\n\nparis B-LOC\n")
    data = read_task_data(path, model.task, model.tokenizer, max_length=32, labels=model.labels)
    assert data.sentence_lengths is not None
    assert data.sentence_lengths.tolist() == [6, 1]
    assert scores(model, path)["f1"] == 1.0


def test_a_tab_separated_word_may_hold_spaces(tmp_path: Path) -> None:
    rows = ("New York\tB-LOC", "is \tO", "\tO", "")
    assert tagged(tmp_path / "a.tsv", *rows) == [(["New York", "is", ""], ["B-LOC", "O", "O"])]


def test_comments_stand_before_sentences_and_number_signs_within(tmp_path: Path) -> None:
    rows = ("# newdoc", "# O", "win O", "", "# text = a # b", "a O", "# O", "b B-X", "")
    assert tagged(tmp_path / "a.txt", *rows) == [
        (["#", "win"], ["O", "O"]),
        (["a", "#", "b"], ["O", "O", "B-X"]),
    ]


def test_a_header_is_no_word(tmp_path: Path) -> None:
    assert tagged(tmp_path / "a.txt", "word pos tag", "a NN O", "b NN B-X", "") == [
        (["a", "b"], ["O", "B-X"])
    ]


def test_numbered_words_of_a_treebank_under_another_name(tmp_path: Path) -> None:
    rows = [
        f"{i}\t{w}\t{w}\t{t}\tX\t_\t0\troot\t_\t_"
        for i, (w, t) in enumerate([("go", "VERB"), ("!", "PUNCT")], 1)
    ]
    assert (
        tagged(tmp_path / "a.txt", "# sent_id = 1", *rows, "", *rows)
        == [(["go", "!"], ["VERB", "PUNCT"])] * 2
    )


@opens("Tags", "words without a tag", "`-100`, `null`", "left out and counted")
def test_words_without_a_tag_are_left_out_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        json.dumps({"tokens": ["[CLS]", "a", "b"], "labels": [-100, "O", "B-X"]})
        + "\n"
        + json.dumps({"tokens": ["c"], "labels": [None]})
    )
    bad = BadRows()
    found = list(read_examples(path, find_task("tag"), bad_rows=bad))
    assert [(one.words, one.labels) for one in found] == [(["a", "b"], ["O", "B-X"])]  # type: ignore[attr-defined]
    assert any("2 words without a tag" in note for note in bad.notes())


@opens("Tags", "numbers", '`{"tokens": [...], "ner_tags": [3, 0]}`', "the ids of the checkpoint")
def test_numbers_are_the_ids_of_the_checkpoint(tmp_path: Path) -> None:
    """ner_tags of the hub's data sets."""
    model = tagger("IOB2")
    path = tmp_path / "a.jsonl"
    rows = [
        {"tokens": words, "ner_tags": [model.labels.index(tag) for tag in row.split()]}
        for (words, _), row in zip(SENTENCES, TAGS["IOB2"].split("|"), strict=True)
    ]
    assert scores(model, _lines(path, rows))["f1"] == 1.0  # type: ignore[arg-type]


def test_numbered_words_with_chunks_and_entities(tmp_path: Path) -> None:
    """XuezheMax/NeuroNLP2#9: number, word, part of speech, chunk, entity."""
    rows = ("1 EU NNP I-NP I-ORG", "2 rejects VBZ I-VP O", "", "1 Peter NNP I-NP I-PER", "")
    assert tagged(tmp_path / "a.txt", *rows) == [
        (["EU", "rejects"], ["B-ORG", "O"]),
        (["Peter"], ["B-PER"]),
    ]


@opens("Tags", "brackets", "`(PERSON*`, `*)`", "refused: how to write them")
def test_brackets_of_ontonotes_are_refused(tmp_path: Path) -> None:
    """sfu-natlang/glm-parser#70."""
    rows = ("the DT (DATE*", "summer NN *)", "of IN *", "Oslo NNP (GPE)", "", "go VB *", "")
    with pytest.raises(ValueError, match=r"has tags in brackets, as OntoNotes .*'\(DATE\*'"):
        tagged(tmp_path / "a.conll", *rows)


def test_lists_under_text_and_labels(tmp_path: Path) -> None:
    """huggingface/transformers#28886: punctuation as types."""
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"text": ["to", "tak", "si"], "labels": ["O", "QUESTION", "O"]}))
    assert guess(path).chosen == Columns(text="text", label="labels")
    [example] = read_examples(path, find_task("tag"), bad_rows=BadRows())
    assert list(example.labels) == ["O", "QUESTION", "O"]


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


# ---- spans ----


def spans(path: Path, text: str, *marks: object) -> list[tuple[str, str]]:
    path.write_text(json.dumps({"text": text, "label": marks}) + "\n")
    [example] = read_examples(path, find_task("tag"), bad_rows=BadRows())
    return list(zip(example.words, example.labels, strict=True))  # type: ignore[attr-defined]


def test_a_text_is_cut_as_bert_cuts_it_and_where_spans_end(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    assert spans(path, "Mr Kim lives in Oslo.", [3, 6, "PER"], [16, 20, "LOC"]) == [
        ("Mr", "O"),
        ("Kim", "B-PER"),
        ("lives", "O"),
        ("in", "O"),
        ("Oslo", "B-LOC"),
        (".", "O"),
    ]
    assert spans(path, "我住在奥斯陆", [3, 6, "LOC"])[2:4] == [("在", "O"), ("奥", "B-LOC")]
    assert spans(path, "anti-Kim ", [5, 9, "PER"])[-1] == ("Kim", "B-PER")
    assert spans(path, "Kims", [0, 3, "PER"]) == [("Kim", "B-PER"), ("s", "O")]


def test_spans_with_spaces_and_with_ids_for_types(tmp_path: Path) -> None:
    """doccano/doccano-transformer#21 and doccano/doccano#113."""
    path = tmp_path / "a.jsonl"
    assert spans(path, "Obama was there", [0, 6, "Person"])[:2] == [
        ("Obama", "B-Person"),
        ("was", "O"),
    ]
    mark = {"label": 7, "start_offset": 0, "end_offset": 2, "user": 1}
    row = {"id": 15, "text": "EU rejects", "annotations": [mark], "meta": {}}
    path.write_text(json.dumps(row) + "\n")
    [example] = read_examples(path, find_task("tag"), bad_rows=BadRows())
    assert list(example.labels) == ["B-7", "O"]


def test_javascripts_places_and_overlaps(tmp_path: Path) -> None:
    """Label Studio counts an emoji as two, and says what it marked."""
    text = "\U0001f600 Kim"
    mark = {"start": 3, "end": 6, "text": "Kim", "labels": ["PER"]}
    assert spans(tmp_path / "a.jsonl", text, mark)[-1] == ("Kim", "B-PER")
    found = spans(tmp_path / "a.jsonl", "New York Times", [0, 8, "LOC"], [0, 14, "ORG"])
    assert [tag for _, tag in found] == ["B-ORG", "I-ORG", "I-ORG"]


@opens("Tags", "marks outside of their text", '`[3, 999, "PER"]`', "refused, with the row")
@pytest.mark.parametrize(
    ("mark", "match"),
    [
        ([3, 99, "PER"], "the span 3 to 99 .* its text has 3 characters"),
        ([2, 2, "PER"], "the span 2 to 2"),
        (["0", 2, "PER"], "in place of a span"),
    ],
)
def test_spans_that_are_none(mark: object, match: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"text": "Kim", "label": [[0, 3, "PER"], mark]}) + "\n")
    columns = Columns(text="text", label="label")
    with pytest.raises(ValueError, match=match):
        list(read_examples(path, find_task("tag"), columns=columns, bad_rows=BadRows()))


def test_spans_are_no_classes(tmp_path: Path) -> None:
    path = doccano(tmp_path / "a.jsonl")
    with pytest.raises(ValueError, match="spans of the text, which the task tag reads"):
        list(read_examples(path, find_task("classify"), bad_rows=BadRows()))


@opens("Tags", "one word a row without sentences", "`word,tag`", "refused: what is missing")
def test_one_word_a_row_without_sentences_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("word,tag\nthe,O\nparis,B-LOC\n")
    with pytest.raises(ValueError, match="no column with the number of its sentence"):
        list(read_examples(path, find_task("tag"), bad_rows=BadRows()))


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
