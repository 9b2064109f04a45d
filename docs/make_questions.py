"""Make the questions that the shipped checkpoint `qa` learned from, and those it is scored on.

    python docs/make_questions.py SQUAD-1.1 SQUAD-2.0 QAMR-TRAIN QAMR-TEST OUT

The files are SQuAD's JSON, packed with xz: a part of the dev sets of SQuAD 1.1 and 2.0, of which
2.0 gives the questions without an answer; and sentences of QAMR. SQuAD is divided by article.
"""

import hashlib
import json
import lzma
import random
import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"'(])")
AROUND = ((0, 2), (1, 1), (2, 0), (1, 2), (2, 1))
"""Sentences before and after the answer's that are kept of a paragraph."""
WITHOUT = 0.12
"""Share of the questions that are also asked of sentences without their answer."""

Article = dict[str, Any]


def read(path: str) -> list[Article]:
    with lzma.open(path) as file:
        articles: list[Article] = json.load(file)["data"]
    return articles


def by_hash(title: str) -> str:
    return hashlib.sha256(title.encode()).hexdigest()


def of_titles(titles: list[str], v1: list[Article], v2: list[Article]) -> list[Article]:
    """Return articles of 1.1, and what 2.0 has of them without an answer."""
    none = []
    for article in (a for a in v2 if a["title"] in titles):
        paragraphs = [
            {"context": p["context"], "qas": [q for q in p["qas"] if not q["answers"]]}
            for p in article["paragraphs"]
        ]
        kept = [p for p in paragraphs if p["qas"]]
        none.append({"title": article["title"], "paragraphs": kept})
    return [a for a in v1 if a["title"] in titles] + none


def usual_first(question: dict[str, Any]) -> dict[str, Any]:
    """Return a question with its most frequent answer first: fine-tuning learns the first."""
    if not question["answers"]:
        return question
    given = Counter((a["text"], a["answer_start"]) for a in question["answers"])
    best = max(given, key=lambda one: (given[one], -len(one[0])))
    answers = sorted(question["answers"], key=lambda a: (a["text"], a["answer_start"]) != best)
    return {**question, "answers": answers}


def with_questions(
    articles: list[Article], of: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]
) -> list[Article]:
    return [
        {**a, "paragraphs": [{**p, "qas": of(p["qas"])} for p in a["paragraphs"]]} for a in articles
    ]


def of_sentences(articles: list[Article], most: int, none: float, seed: int) -> list[Article]:
    """Return `most` questions of each sentence, and some of another's, which have no answer."""
    rng, made = random.Random(seed), []
    for number, article in enumerate(articles):
        (paragraph,) = article["paragraphs"]
        own = paragraph["qas"]
        own = [usual_first(q) for q in (rng.sample(own, most) if len(own) > most else own)]
        step = 1 + rng.randrange(len(articles) - 2)
        (other,) = articles[(number + step) % len(articles)]["paragraphs"]
        count = min(sum(rng.random() < none for _ in own), len(other["qas"]))
        odd = rng.sample(other["qas"], count)
        odd = [{**q, "id": q["id"] + "-none", "answers": []} for q in odd]
        qas = {"context": paragraph["context"], "qas": own + odd}
        made.append({"title": article["title"], "paragraphs": [qas]})
    return made


def shortened(articles: list[Article], whole: float, seed: int) -> list[Article]:
    """Return each question with the sentences around its answer; `whole` of them with all."""
    rng = random.Random(seed)
    made = []
    for article in articles:
        paragraphs: list[dict[str, Any]] = []
        for paragraph in article["paragraphs"]:
            for question in paragraph["qas"]:
                paragraphs += _shortened(paragraph["context"], question, whole, rng, seed)
        made.append({"title": article["title"], "paragraphs": paragraphs})
    return made


def _shortened(
    text: str, question: dict[str, Any], whole: float, rng: random.Random, seed: int
) -> list[dict[str, Any]]:
    starts = [0, *(match.end() for match in SENTENCE_END.finditer(text))]
    ends = [*starts[1:], len(text)]
    answers = question["answers"][:1]
    near = answers or question.get("plausible_answers", [])[:1]
    asked = {"id": f"{question['id']}-{seed}", "question": question["question"], "answers": answers}
    if rng.random() < whole or len(starts) < 3:
        return [{"context": text, "qas": [asked]}]
    if near:
        begin = near[0]["answer_start"]
        last = begin + len(near[0]["text"])
        first = max(i for i, start in enumerate(starts) if start <= begin)
        final = max(i for i, start in enumerate(starts) if start < last)
    else:
        first = final = rng.randrange(len(starts))
    before, after = rng.choice(AROUND)
    low, high = max(0, first - before), min(len(starts) - 1, final + after)
    if answers:
        moved = near[0]["answer_start"] - starts[low]
        asked["answers"] = [{"text": near[0]["text"], "answer_start": moved}]
    made = [{"context": text[starts[low] : ends[high]].rstrip(), "qas": [asked]}]
    if answers and rng.random() < WITHOUT:
        rest = [i for i in range(len(starts)) if not first <= i <= final]
        start = rng.choice(rest)
        stop = min([len(starts), start + 3, *(i for i in (first,) if i > start)])
        other = text[starts[start] : ends[stop - 1]].rstrip()
        if near[0]["text"] not in other:
            gone = {**asked, "id": f"{question['id']}-gone-{seed}", "answers": []}
            made.append({"context": other, "qas": [gone]})
    return made


def main(squad_1: str, squad_2: str, qamr: str, qamr_test: str, out: str) -> None:
    """Write train.json, dev.json, test-squad.json and test-qamr.json."""
    v1, v2 = read(squad_1), read(squad_2)
    both = sorted((a["title"] for a in v2), key=by_hash)
    only = sorted((a["title"] for a in v1 if a["title"] not in both), key=by_hash)
    test, dev = both[:3] + only[:4], both[3:4] + only[4:6]
    rest = [a["title"] for a in v1 if a["title"] not in test + dev]
    sentences = sorted(read(qamr), key=lambda a: by_hash(a["title"]))
    dev_sentences, learned = sentences[:20], sentences[20:]

    def first(qas: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [usual_first(q) for q in qas]

    squad = with_questions(of_titles(rest, v1, v2), first)
    rng = random.Random(5)
    files = {
        "train": [
            *(
                a
                for seed, share in ((11, 0.25), (12, 0.2), (13, 0.15))
                for a in shortened(squad, share, seed)
            ),
            *with_questions(
                of_sentences(learned, 20, 0.15, 52),
                lambda qas: [q for q in qas if rng.random() < 0.78],
            ),
        ],
        "dev": [
            *with_questions(of_titles(dev, v1, v2), first),
            *of_sentences(dev_sentences, 20, 0.3, 53),
        ],
        "test-squad": of_titles(test, v1, v2),
        "test-qamr": read(qamr_test),
    }
    for name, data in files.items():
        content = json.dumps({"version": "v2.0", "data": data})
        (Path(out) / f"{name}.json").write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
