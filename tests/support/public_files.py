"""Labelled files of well-known data sets, a few rows each, as they are published."""

import gzip
import json
from collections.abc import Iterable, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

from tests.support import what_opens


class Case(NamedTuple):
    """A file, and what it holds."""

    file: str
    """Its name."""
    content: str | bytes
    task: str
    first: tuple[str, ...]
    """Text, second text if there is one, and label or labels of the first example."""
    labels: tuple[str, ...]
    """All labels; () for scores."""
    kind: str
    """The rest is its row in docs/what-opens.md."""
    example: str
    comes: str = "one label a text"


def lines(*rows: str, times: int = 1) -> str:
    return "\n".join(rows * times) + "\n"


def json_lines(rows: Sequence[dict[str, Any]]) -> str:
    return lines(*map(json.dumps, rows))


SHORT = (
    *("the old house", "a new film", "she ran", "the cat was bad", "paris and berlin", "milk"),
    *("a good house", "the old man", "very bad fish", "new shop", "the river", "a dog"),
)
STARS = ("5", "1", "3", "5", "1", "3")
LIKED = ("positive", "negative") * 3


def numbered(form: str, *more: Iterable[object]) -> list[str]:
    """Return a row for each short text: {0} its number, {1} the text, {2} ... of `more`."""
    return [
        form.format(i, *values)
        for i, values in enumerate(zip(SHORT, *map(cycle, more), strict=False))
    ]


JIGSAW = ("toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate")
GLUE_TWO = ("0", "1") * 3
NLI = ("neutral", "entailment", "contradiction") * 2

CASES = (
    Case(
        "IMDB Dataset.csv",
        lines(
            "review,sentiment",
            '"the old house.<br /><br />A ""new"" film, she said",positive',
            *numbered("{1} {0},{2}", LIKED[::-1])[1:],
        ),
        "classify",
        ('the old house.<br /><br />A "new" film, she said', "positive"),
        ("negative", "positive"),
        "IMDB",
        "`review,sentiment`",
    ),
    Case(
        "train.csv",
        lines(
            '"id","comment_text",' + ",".join(f'"{name}"' for name in JIGSAW),
            *(
                f'"{i:016x}","the {text}\n\n""old"" house",{i % 2},0,0,{int(i == 3)},{i % 2},0'
                for i, text in enumerate(SHORT)
            ),
        ),
        "multilabel",
        ('the the old house\n\n"old" house', ""),
        JIGSAW,
        "Jigsaw (toxic comments)",
        "`id,comment_text,toxic,severe_toxic,...`",
        "several labels a text, from all columns of 0 and 1",
    ),
    Case(
        "ag_news.csv",
        lines(*numbered('"{2}","{1}","{1} and {1}"', ("3", "4", "1") * 2)),
        "classify",
        ("the old house and the old house", "3"),
        ("1", "3", "4"),
        "AG News, without a header",
        '`"3","title","description"`',
    ),
    Case(
        "training.1600000.processed.noemoticon.csv",
        lines(
            *numbered(
                '"{2}","146781036{0}","Mon Apr 06 22:19:4{0} PDT 2009","NO_QUERY","_user{0}_",'
                '"@you {1} caf\u00e9, \u00bd price"',
                ("0", "4") * 3,
            )
        ).encode("latin-1"),
        "classify",
        ("@you the old house caf\u00e9, \u00bd price", "0"),
        ("0", "4"),
        "Sentiment140, in Latin-1 and without a header",
        '`"0","1467810369","Mon Apr 06 ...","NO_QUERY","user","text"`',
        "one label a text; the encoding is guessed and shown",
    ),
    Case(
        "labeled_data.csv",
        lines(
            ",count,hate_speech,offensive_language,neither,class,tweet",
            *numbered('{0},3,0,{2},{2},{2},"!!! RT @you: {1}"', GLUE_TWO),
        ),
        "classify",
        ("!!! RT @you: the old house", "0"),
        ("0", "1"),
        "hate speech and offensive language (Davidson)",
        "`,count,hate_speech,...,class,tweet`",
    ),
    Case(
        "go_emotions.tsv",
        lines(*numbered("{1}\t{2}\teebbqe{0}", ("27", "2,27", "2", "27", "3,27", "3"))),
        "multilabel",
        ("the old house", "27"),
        ("2", "3", "27"),
        "GoEmotions, without a header",
        "`text`⇥`2,27`⇥`eebbqej`",
        "several labels a text, by their ids",
    ),
    Case(
        "multinli_dev.jsonl",
        json_lines(
            [
                {
                    "annotator_labels": [label, "neutral"],
                    "gold_label": label,
                    "pairID": f"{i}n",
                    "sentence1": text,
                    "sentence1_parse": f"(ROOT (S {text}))",
                    "sentence2": f"not {text}",
                    "sentence2_parse": f"(ROOT (S not {text}))",
                }
                for i, (text, label) in enumerate(
                    zip((*SHORT, "and"), (*NLI * 2, "-"), strict=True)
                )
            ]
        ),
        "pair",
        ("the old house", "not the old house", "neutral"),
        ("contradiction", "entailment", "neutral"),
        "MultiNLI's JSON lines",
        '`{"gold_label": "-", "sentence1": ...}`',
        "one label a pair; `-` is no label and is counted",
    ),
    Case(
        "stsb.csv",
        lines(
            "split,genre,dataset,year,sid,score,sentence1,sentence2",
            *numbered("dev,main-news,MSRvid,2012test,000{0},{2},{1},not {1}", map(float, range(6))),
        ),
        "regress",
        ("the old house", "not the old house", "0.0"),
        (),
        "STS-B with a header",
        "`split,genre,...,score,sentence1,sentence2`",
        "a score a pair",
    ),
    Case(
        "Reviews.csv",
        lines(
            "Id,ProductId,UserId,ProfileName,HelpfulnessNumerator,HelpfulnessDenominator,Score,"
            "Time,Summary,Text",
            *numbered(
                '{0},B001E4KFG{0},A3SGXH7AUHU8G{0},name{0},1,1,{2},130386240{0},{1},"{1}, {1}"',
                STARS,
            ),
        ),
        "regress",
        ("the old house, the old house", "5"),
        (),
        "Amazon's fine foods",
        "`Id,ProductId,...,Score,Time,Summary,Text`",
        "a score a text; `--task classify` reads stars as labels",
    ),
    Case(
        "amazon.json.gz",
        gzip.compress(
            json_lines(
                [
                    {
                        "overall": float(stars),
                        "verified": True,
                        "reviewTime": f"01 1{i}, 2015",
                        "reviewerID": f"A3478QRKQDOPQ{i}",
                        "asin": "0700026657",
                        "reviewText": f"{text} and more",
                        "summary": "old",
                        "unixReviewTime": 1424304000 + i,
                    }
                    for i, (text, stars) in enumerate(zip(SHORT, cycle(STARS), strict=False))
                ]
            ).encode()
        ),
        "classify",
        ("the old house and more", "5"),
        ("1", "3", "5"),
        "Amazon's JSON lines",
        '`{"overall": 5.0, "reviewText": ...}` in .json.gz',
    ),
    Case(
        "train.ft.txt",
        lines(*numbered("__label__{2} {1}: old, {0}", ("2", "1") * 3)),
        "classify",
        ("the old house: old, 0", "2"),
        ("1", "2"),
        "fastText (Amazon of Kaggle)",
        "`__label__2 text`",
    ),
    Case(
        "SMSSpamCollection",
        lines(*numbered("{2}\t{1}, and {0}...", ("ham", "spam") * 3)),
        "classify",
        ("the old house, and 0...", "ham"),
        ("ham", "spam"),
        "SMS spam, without a header or an ending",
        "`ham`⇥`text`",
    ),
    Case(
        "spam.csv",
        lines("v1,v2,,,", *numbered('{2},"{1}, \u00a3{0}",,,', ("ham", "spam") * 3)).encode(
            "latin-1"
        ),
        "classify",
        ("the old house, \u00a30", "ham"),
        ("ham", "spam"),
        "SMS spam of Kaggle, in Latin-1",
        "`v1,v2,,,`",
    ),
    Case(
        "clinc.json",
        json.dumps(
            {
                "val": [[text, label] for text, label in zip(SHORT, cycle(LIKED), strict=False)],
                "train": [[text, label] for text, label in zip(SHORT, cycle(LIKED), strict=False)],
            }
        ),
        "classify",
        (),
        (),
        "several tables in one file (CLINC150)",
        '`{"train": [["text", "label"], ...], "val": ...}`',
        "refused: several tables",
    ),
    Case(
        "boolq.jsonl",
        json_lines(
            [
                {
                    "question": f"is it {text}",
                    "title": "Milk",
                    "answer": i % 2 == 0,
                    "passage": f"{text} and {text}",
                }
                for i, text in enumerate(SHORT)
            ]
        ),
        "pair",
        ("is it the old house", "the old house and the old house", "true"),
        ("false", "true"),
        "BoolQ",
        '`{"question": ..., "passage": ..., "answer": true}`',
        "one label a pair",
    ),
    Case(
        "doccano_classes.jsonl",
        json_lines(
            [
                {"id": i, "text": text, "label": [label]}
                for i, (text, label) in enumerate(zip(SHORT, cycle(LIKED), strict=False))
            ]
        ),
        "multilabel",
        ("the old house", "positive"),
        ("negative", "positive"),
        "doccano, classes",
        '`{"text": ..., "label": ["pos"]}`',
        "several labels a text; `--task classify` where each has one",
    ),
)
for case in CASES:
    what_opens.add("Tables", case.kind, case.example, case.comes)


def made(case: Case, folder: Path) -> Path:
    path = folder / case.file
    content = case.content if isinstance(case.content, bytes) else case.content.encode()
    path.write_bytes(content)
    return path
