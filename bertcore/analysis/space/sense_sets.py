"""Sentences with one word in several senses, written for this project."""

import csv
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from bertcore.data.texts import Sentence

FILE = Path(__file__).parent / "data" / "senses.tsv"
"""A row for each sentence: the word, its sense, the text; those of a word stand together."""


def _sets() -> dict[str, tuple[Sentence, ...]]:
    with FILE.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        next(rows)  # the names of the columns
        return {
            word: tuple(Sentence(text, None, sense) for _, sense, text in of_word)
            for word, of_word in groupby(rows, key=itemgetter(0))
        }


SETS = _sets()
"""For each word its sentences, labelled by sense."""
