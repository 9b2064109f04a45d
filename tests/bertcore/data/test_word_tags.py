"""Files of tagged words as a corpus: the tags as columns of the rows, worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from bertcore import Bert, load
from bertcore.corpus import Cluster, EncodeSettings, encode_corpus, open_corpus, open_encoded
from bertcore.data.word_tags import WordTags, row_tags, spans_in
from tests.support.tiny import tiny_bert

SETTINGS = EncodeSettings(layers=(0, 2), dtype="float32")


def row(place: str, form: str, *tags: str, misc: str = "_") -> str:
    """Return a line of CoNLL-U; tags are UPOS, XPOS, head and relation."""
    upos, xpos, head, relation = tags or ("_", "_", "_", "_")
    return "\t".join([place, form, "_", upos, xpos, "_", head, relation, "_", misc])


TREES = "\n".join(
    [
        "# newdoc",
        "# text = The dog didn't  run.",
        row("1", "The", "DET", "DT", "2", "det"),
        row("2", "dog", "NOUN", "NN", "5", "nsubj"),
        row("3-4", "didn't"),
        row("3", "did", "AUX", "VBD", "5", "aux"),
        row("4", "n't", "PART", "_", "5", "advmod"),
        row("4.1", "ever", "ADV", "RB", "_", "_"),
        row("5", "run", "VERB", "VB", "0", "root", misc="SpaceAfter=No"),
        row("6", ".", "PUNCT", ".", "5", "punct"),
        "",
        "# text = it was very steep",
        row("1", "it", "PRON", "PRP", "2", "nsubj"),
        row("2", "rained", "VERB", "VBD", "0", "root"),
        "",
        "# newdoc id = b",
        row("1-2", "du"),
        row("1", "de", "ADP", "_", "3", "case"),
        row("2", "le", "DET", "_", "3", "det"),
        row("3", "river", "_", "_", "0", "root"),
        "",
    ]
)
NER = (
    "-DOCSTART- O\n\nthe O\nriver I-LOC\nbank I-LOC\n\nit O\nrained O\n\n"
    "-DOCSTART- O\n\nshe B-PER\n"
)
FOUR = "paris NNP I-NP I-LOC\nrained VBD I-VP O\n"


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Bert:
    model = load(tiny_bert().save(tmp_path_factory.mktemp("checkpoint") / "tiny"), device="cpu")
    assert isinstance(model, Bert)
    return model


def write(path: Path, content: str) -> Path:
    path.write_text(content, "utf-8")
    return path


def test_sentences_and_tags_of_a_treebank(tmp_path: Path) -> None:
    corpus = open_corpus([write(tmp_path / "a.conllu", TREES)])
    assert [field.name for field in corpus.word_fields] == [
        "upos", "xpos", "deprel", "head_distance",
    ]  # fmt: skip
    found = list(corpus.texts())
    assert [(one.document, one.sentence, one.text) for one in found] == [
        (0, 0, "The dog didn't  run."),
        (0, 1, "it rained"),  # `# text =` has other words
        (1, 0, "du river"),
    ]
    assert found[0].tags == WordTags(
        ("The", "dog", "did", "n't", "run", "."),
        ((0, 3), (4, 7), (8, 11), (11, 14), (16, 19), (19, 20)),
        (
            ("DET", "NOUN", "AUX", "PART", "VERB", "PUNCT"),
            ("DT", "NN", "VBD", None, "VB", "."),
            ("det", "nsubj", "aux", "advmod", "root", "punct"),
            (1, 3, 2, 1, None, -1),
        ),
    )
    assert found[2].tags is not None
    assert found[2].tags.spans == ((0, 2), (0, 2), (3, 8))
    assert corpus.num_joined == 1
    assert corpus.first_joined.startswith("line 13 of ")


def test_rows_of_tokens_have_the_tags_of_their_words(bert: Bert, tmp_path: Path) -> None:
    path, notes = write(tmp_path / "a.conllu", TREES), list[str]()
    encode_corpus(bert, path, tmp_path / "out", SETTINGS, on_note=notes.append)
    found = open_encoded(tmp_path / "out")
    assert found.manifest.word_columns == ("upos", "xpos", "deprel", "head_distance")
    assert found.columns[-4:] == found.manifest.word_columns
    # "didn't" is cut before ' and t; of the pieces of "didn" the last begins in "n't".
    det, noun = ("DET", "DT", "det", 1), ("NOUN", "NN", "nsubj", 3)
    verb = ("VERB", "VB", "root", None)
    part = ("PART", None, "advmod", 1)
    wanted = [
        ("The", det), ("dog", noun), ("didn", ("AUX", "VBD", "aux", 2)), ("didn", part),
        ("'", part), ("t", part), ("run", verb), (".", ("PUNCT", ".", "punct", -1)),
        ("it", ("PRON", "PRP", "nsubj", 1)), ("rained", ("VERB", "VBD", "root", None)),
        ("du", ("ADP", None, "case", 2)), ("river", (None, None, "root", None)),
    ]  # fmt: skip
    names = ("word", *found.manifest.word_columns)
    rows = [tuple(one.values()) for one in found.rows(names).to_pylist()]
    assert list(dict.fromkeys((word, tuple(tags)) for word, *tags in rows)) == wanted
    assert [one["piece"] for one in found.rows(("piece",)).to_pylist()[3:6]] == [
        "##i",
        "##d",
        "##n",
    ]
    sentences = found.sentences()
    assert sentences.column_names == ["document", "sentence", "text"]
    assert "1 sentence is put together from the words" in " ".join(found.manifest.notes)
    lost = next(note for note in found.manifest.notes if "tagged word" in note)
    assert lost.startswith("1 tagged word has no row")
    assert "'le' in sentence 0 of document 1" in lost
    assert set(found.manifest.notes) <= set(notes)


def test_special_tokens_have_no_tag(bert: Bert, tmp_path: Path) -> None:
    settings = replace(SETTINGS, special_tokens=True)
    path = write(tmp_path / "a.conllu", TREES)
    encode_corpus(bert, path, tmp_path / "out", settings)
    rows = open_encoded(tmp_path / "out").rows(("piece", "upos", "deprel")).to_pylist()
    special = [one for one in rows if one["piece"] in ("[CLS]", "[SEP]")]
    assert len(special) == 6
    assert all(one["upos"] is None and one["deprel"] is None for one in special)
    notes = read_notes(tmp_path / "out")
    assert not any("in no word" in note for note in notes)


def read_notes(folder: Path) -> list[str]:
    return open_encoded(folder).manifest.notes


def test_words_and_sentences(bert: Bert, tmp_path: Path) -> None:
    path = write(tmp_path / "a.conllu", TREES)
    encode_corpus(bert, path, tmp_path / "words", replace(SETTINGS, unit="word"))
    rows = open_encoded(tmp_path / "words").rows(("word", "upos")).to_pylist()
    assert [tuple(one.values()) for one in rows][:7] == [
        ("The", "DET"), ("dog", "NOUN"), ("didn", "AUX"), ("'", "PART"), ("t", "PART"),
        ("run", "VERB"), (".", "PUNCT"),
    ]  # fmt: skip
    encode_corpus(bert, path, tmp_path / "sentences", replace(SETTINGS, unit="sentence"))
    found = open_encoded(tmp_path / "sentences")
    assert found.manifest.word_columns == ()
    assert "upos" not in found.rows().column_names
    assert not any("tagged word" in note for note in found.manifest.notes)


@pytest.mark.parametrize(
    ("content", "names", "tags"),
    [
        (NER, ["ner"], [("O",), ("B-LOC",), ("I-LOC",), ("O",), ("O",), ("B-PER",)]),
        (FOUR, ["pos", "chunk", "ner"], [("NNP", "I-NP", "B-LOC"), ("VBD", "I-VP", "O")]),
        ("the\tDET\nriver\tNOUN\n", ["tag"], [("DET",), ("NOUN",)]),
    ],
)
def test_conll_with_two_and_four_columns(
    bert: Bert, tmp_path: Path, content: str, names: list[str], tags: list[tuple[str, ...]]
) -> None:
    path = write(tmp_path / "a.conll", content)
    corpus = open_corpus([path])
    assert [field.name for field in corpus.word_fields] == names
    encode_corpus(bert, path, tmp_path / "out", SETTINGS)
    rows = open_encoded(tmp_path / "out").rows(names).to_pylist()
    assert [tuple(one.values()) for one in rows] == tags


def test_documents_of_conll(tmp_path: Path) -> None:
    path = write(tmp_path / "a.conll", NER)
    found = [(one.document, one.sentence, one.text) for one in open_corpus([path, path]).texts()]
    assert found == [
        (0, 0, "the river bank"), (0, 1, "it rained"), (1, 0, "she"),
        (2, 0, "the river bank"), (2, 1, "it rained"), (3, 0, "she"),
    ]  # fmt: skip


def test_a_word_without_a_piece_is_told(bert: Bert, tmp_path: Path) -> None:
    # BERT drops control characters: a word of one has no piece, and neither has its sentence.
    content = "the O\n\u200d O\nriver B-LOC\n\n\u200c O\n\n"
    encode_corpus(bert, write(tmp_path / "a.conll", content), tmp_path / "out", SETTINGS)
    found = open_encoded(tmp_path / "out")
    assert found.rows(("word", "ner")).to_pylist() == [
        {"word": "the", "ner": "O"}, {"word": "river", "ner": "B-LOC"},
    ]  # fmt: skip
    (lost,) = (note for note in found.manifest.notes if "tagged" in note)
    assert lost.startswith("2 tagged words have no row")
    assert "'\\u200d' in sentence 0 of document 0" in lost


def many(path: Path) -> Path:
    """Write some hundred sentences of a treebank."""
    line = "\n".join(
        [
            row("1", "the", "DET", "DT", "2", "det"),
            row("2", "river", "NOUN", "NN", "3", "nsubj"),
            row("3", "rained", "VERB", "VBD", "0", "root"),
        ]
    )
    odd = "\n".join([row("1", "it", "PRON", "PRP", "0", "root"), row("2-3", "du")])
    odd += f"\n{row('2', 'de', 'ADP', '_', '1', 'case')}\n{row('3', 'le', 'DET', '_', '1', 'det')}"
    return write(path, "".join(f"{odd if i % 9 == 0 else line}\n\n" for i in range(1500)))


def test_a_stopped_run_goes_on_with_the_same_columns(bert: Bert, tmp_path: Path) -> None:
    path = many(tmp_path / "a.conllu")
    encode_corpus(bert, path, tmp_path / "whole", SETTINGS, part_bytes=1)
    whole = open_encoded(tmp_path / "whole")
    calls = count()
    stopped = encode_corpus(
        bert,
        path,
        tmp_path / "out",
        SETTINGS,
        part_bytes=1,
        should_stop=lambda: next(calls) > 2,
    )
    assert not stopped.complete
    assert 0 < len(stopped.parts) < len(whole.manifest.parts)
    encode_corpus(bert, path, tmp_path / "out", SETTINGS, resume=True, part_bytes=1)
    found = open_encoded(tmp_path / "out")
    assert found.rows().equals(whole.rows())
    assert found.manifest.parts == whole.manifest.parts
    assert found.manifest.notes == whole.manifest.notes
    assert any("167 tagged words have no row" in note for note in found.manifest.notes)


@pytest.mark.slow
@pytest.mark.exhaustive
def test_workers_of_a_cluster_write_the_same_columns(bert: Bert, tmp_path: Path) -> None:
    path = many(tmp_path / "a.conllu")
    encode_corpus(bert, path, tmp_path / "whole", SETTINGS, part_bytes=1)
    cluster = Cluster("local", 2)
    encode_corpus(bert, path, tmp_path / "out", SETTINGS, part_bytes=1, cluster=cluster)
    whole, found = open_encoded(tmp_path / "whole"), open_encoded(tmp_path / "out")
    assert found.rows().equals(whole.rows())
    assert found.manifest.parts == whole.manifest.parts
    assert found.manifest.word_columns == whole.manifest.word_columns


def test_bad_sentences_are_refused_or_counted(tmp_path: Path) -> None:
    bad = TREES + "\n" + row("7", "the", "DET", "DT", "0", "root") + "\n" + row("2", "x") + "\n\n"
    path = write(tmp_path / "a.conllu", bad + row("1", "it", "PRON", "PRP", "0", "root"))
    with pytest.raises(ValueError, match=r"the word's number is '7'.*--skip-bad-rows"):
        list(open_corpus([path]).texts())
    corpus = open_corpus([path], skip_bad_rows=True)
    assert [one.text for one in corpus.texts()][2:] == ["du river", "it"]
    assert "1 bad row was left out" in str(corpus.bad_rows.sentence())


@pytest.mark.parametrize(
    ("name", "content", "options", "sentence"),
    [
        ("a.conllu", "1\ta\n", {}, "2 columns; expected 10"),
        ("a.conll", "a b c\n", {}, "line 1 .* has 3 columns; expected a word and its tag"),
        ("a.conll", "a O\nnew york O\n", {}, "line 2 .* has 3 columns, but .* have 2"),
        ("a.conll", "a NN X O\nb\n", {}, "line 2 .* has 1 columns"),
        ("a.conll", "\n", {}, "has no sentence"),
        ("a.conllu", TREES, {"text_column": "text"}, "text_column is 'text'"),
        ("a.conllu", TREES, {"split": True}, "split is True"),
        ("a.conll", "river O\n" * 20_001, {}, "more than 20,000 words.*blank line"),
        ("a.conll", f"{'x' * 20_001} O\n", {}, "20,001 characters; expected at most 20,000"),
    ],
)
def test_what_cannot_be_read_is_refused(
    tmp_path: Path, name: str, content: str, options: dict[str, object], sentence: str
) -> None:
    path = write(tmp_path / name, content)
    with pytest.raises(ValueError, match=sentence):
        list(open_corpus([path], **options).texts())  # type: ignore[arg-type]


def test_files_that_do_not_belong_together(tmp_path: Path) -> None:
    trees, two = write(tmp_path / "a.conllu", TREES), write(tmp_path / "a.conll", NER)
    with pytest.raises(ValueError, match=r"mixes \.conllu and other files"):
        open_corpus([trees, two])
    with pytest.raises(ValueError, match=r"mixes \.conllu and other files"):
        open_corpus([trees, write(tmp_path / "a.txt", "a")])
    with pytest.raises(ValueError, match=r"has the tags pos, chunk, ner, but .* has ner"):
        open_corpus([two, write(tmp_path / "b.conll", FOUR)])


def test_spans_move_over_white_space_alone() -> None:
    assert spans_in("a b", [(0, 1), (2, 3)], " a\u00a0 b ") == ((1, 2), (4, 5))
    assert spans_in("a b", [(0, 1)], "a c") is None
    assert spans_in("a b", [(0, 1)], "a b c") is None


def test_rows_between_words_are_counted() -> None:
    tags = WordTags(("a", "b"), ((0, 1), (4, 5)), (("X", None),))
    starts = np.array([0, 2, 4])
    special = np.zeros(3, bool)
    found = row_tags([5], [tags], [pa.string()], np.zeros(3, np.int64), starts, special)
    assert found.columns[0].to_pylist() == ["X", None, None]
    assert (found.num_lost, found.first_lost, found.num_untagged) == (0, None, 1)
