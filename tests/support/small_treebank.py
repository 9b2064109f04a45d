"""A made-up treebank in CoNLL-U, and the same words with tags in CoNLL columns."""

import numpy as np

from tests.support.tiny import WORDS

_NOUNS = [word for word in WORDS if word.isalpha()]
_VERBS = ("went", "sat", "was", "walked", "fished")


def _sentences(count: int) -> list[tuple[str, str, str, str]]:
    generator = np.random.default_rng(0)
    found: dict[tuple[str, str, str, str], None] = {}
    while len(found) < count:
        first, second = generator.choice(_NOUNS, 2)
        verb, end = generator.choice(_VERBS), generator.choice([".", "!"])
        found[str(first), str(verb), str(second), str(end)] = None
    return list(found)


def conllu(count: int) -> str:
    """Return different sentences of five words, such as "the river went bank ."."""
    blocks = []
    for first, verb, second, end in _sentences(count):
        rows = [
            (1, "the", "DET", 2, "det"),
            (2, first, "NOUN", 3, "nsubj"),
            (3, verb, "VERB", 0, "root"),
            (4, second, "NOUN", 3, "obj"),
            (5, end, "PUNCT", 3, "punct"),
        ]
        lines = [
            f"{place}\t{word}\t_\t{tag}\t_\t_\t{head}\t{relation}\t_\t_"
            for place, word, tag, head, relation in rows
        ]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n\n"


def conll(count: int, *, entities: bool = False, tags: str = "") -> str:
    """Return different sentences, a word and its tag a line.

    `tags` is that of every word; `entities` tags the first noun as a person, all else as none.
    """
    blocks = []
    for first, verb, second, end in _sentences(count):
        own = (
            ("O", "B-PER", "O", "O", "O") if entities else ("DET", "NOUN", "VERB", "NOUN", "PUNCT")
        )
        words = ("the", first, verb, second, end)
        pairs = zip(words, own, strict=True)
        blocks.append("\n".join(f"{word} {tags or tag}" for word, tag in pairs))
    return "\n\n".join(blocks) + "\n\n"
