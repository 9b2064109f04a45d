"""The sentences on which heads are measured: bundled, or files of text or trees."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from pathlib import Path

from bertcore.analysis.heads.syntax import as_inputs
from bertcore.data.conllu import ParsedSentence, read_conllu
from bertcore.data.files import kind_of, open_text, whole_lines
from bertcore.data.texts import MAX_FILE_BYTES, PAIR_MARK, Sentence, read_upload, shown_name

BUNDLED = Path(__file__).parent / "data" / "sentences.txt"
"""Sixty varied sentences and pairs, written for this project."""
BUNDLED_TREES = Path(__file__).parent / "data" / "trees.conllu"
"""Short sentences with their syntax, written for this project."""
MAX_LINES = 10_000
"""Maximum number of sentences taken from a file: a text, a table or a treebank."""


@dataclass(frozen=True, slots=True)
class HeadTexts:
    """Sentences to measure heads on, and their trees, if any."""

    sentences: tuple[Sentence, ...]
    trees: tuple[ParsedSentence, ...]
    """One for each sentence, or ()."""
    notes: tuple[str, ...] = ()
    """What was cut off or assumed, one sentence each."""


@lru_cache(maxsize=1)
def bundled_sentences() -> HeadTexts:
    """Return our sixty sentences and pairs."""
    return HeadTexts(split_pairs(_lines(BUNDLED)), ())


@lru_cache(maxsize=1)
def bundled_trees() -> HeadTexts:
    """Return our short sentences with their trees."""
    return of_trees(read_conllu(_lines(BUNDLED_TREES), BUNDLED_TREES.name))


def of_trees(trees: Sequence[ParsedSentence], notes: Sequence[str] = ()) -> HeadTexts:
    """Return parsed sentences with their texts; those beyond MAX_LINES are left out with a note."""
    if len(trees) > MAX_LINES:
        notes = (*notes, f"There are more than {MAX_LINES:,} sentences; the rest is left out.")
    kept = tuple(trees[:MAX_LINES])
    return HeadTexts(as_inputs(kept), kept, tuple(notes))


def read_texts(data: bytes | Path, name: str) -> HeadTexts:
    """Read a file: trees if its name ends in .conllu, a table by its ending or content, else lines.

    The name, of any characters, is shown cleaned and shortened. ValueError if it is empty, too
    large, not text, damaged, or has no sentence.
    """
    data = data.read_bytes() if isinstance(data, Path) else data
    path, file = Path(shown_name(name)[1:-1]), BytesIO(data)
    if kind_of(path) != ".conllu":
        texts = read_upload(data, name, max_rows=MAX_LINES)
        return HeadTexts(_split(texts.sentences), (), texts.notes)
    if len(data) > MAX_FILE_BYTES:
        raise ValueError(
            f"{str(path)!r} has {len(data) / 2**20:.0f} MiB; at most {MAX_FILE_BYTES / 2**20:.0f} "
            "MiB can be read. Give a part of the file."
        )
    with open_text(path, file) as text:
        return of_trees(read_conllu(whole_lines(text, path), shown_name(name)))


def split_pairs(lines: Iterable[str]) -> tuple[Sentence, ...]:
    """Return the sentences of lines, blank ones left out; ||| makes a pair.

    >>> split_pairs(["It rained.", "He ran. ||| He was late."])
    (Sentence(text='It rained.', text_pair=None, label=''),
     Sentence(text='He ran.', text_pair='He was late.', label=''))
    """
    return _split([Sentence(line.strip()) for line in lines if line.strip()])


def _split(sentences: Iterable[Sentence]) -> tuple[Sentence, ...]:
    split = []
    for sentence in sentences:
        first, mark, second = sentence.text.partition(PAIR_MARK)
        if mark and sentence.text_pair is None:
            sentence = Sentence(first.strip(), second.strip(), sentence.label)
        split.append(sentence)
    return tuple(split)


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")
