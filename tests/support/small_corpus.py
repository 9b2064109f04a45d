"""A small text made on the spot: plain sentences from templates, in words that `tiny` knows."""

from pathlib import Path
from random import Random

from bertcore.training.pretraining import PackedCorpus, pack_corpus
from tests.support.tiny import tiny_tokenizer

TOPICS = (
    "the {a} dog sat on the mat|the dog runs to the {b}|a cat sees the dog and runs"
    "|the {a} cat was not {b}|he fed the cat with fish|she had a {a} dog",
    "the river bank was {a}|it had rained all day|the water in the river was {b}"
    "|a fish was in the water|they went to the river|the {a} bank had no {b} water",
    "paris is the capital of france|berlin is the capital of germany|he went to {a} paris"
    "|they do not see berlin|the capital was {a} and {b}|she says france is {b}",
    "he went to the shop|she bought milk with money|the {a} shop had no milk"
    "|they do not have money|the {b} man bought fish|the shop was {a} that day",
    "the film was very {a}|this was a {b} film|they saw how the man and the woman met"
    "|the {a} woman went to the house|what a {b} day|the house was {a}",
)
ADJECTIVES = ("good", "bad", "new", "old", "steep", "day old", "very new", "not bad")


def small_documents(num_documents: int = 40, *, seed: int = 0) -> list[list[str]]:
    """Return documents of 3 to 14 sentences, each on one topic; the same for the same seed."""
    rng = Random(seed)
    documents = []
    for number in range(num_documents):
        templates = TOPICS[number % len(TOPICS)].split("|")
        documents.append(
            [
                rng.choice(templates).format(a=rng.choice(ADJECTIVES), b=rng.choice(ADJECTIVES))
                + "."
                for _ in range(rng.randint(3, 14))
            ]
        )
    return documents


def small_corpus(num_documents: int = 40, *, seed: int = 0) -> PackedCorpus:
    """Return the documents packed with the tiny tokenizer."""
    return pack_corpus(small_documents(num_documents, seed=seed), tiny_tokenizer())


def write_documents(path: Path, documents: list[list[str]]) -> Path:
    """Write a sentence a line and a blank line between documents; return the path."""
    path.write_text("\n\n".join("\n".join(document) for document in documents) + "\n", "utf-8")
    return path
