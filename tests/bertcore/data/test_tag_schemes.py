"""Tag schemes as people have them, against seqeval where it knows them, and by hand elsewhere."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities
from seqeval.scheme import BILOU, IOB1, IOB2, IOBES, Entities

from bertcore.data.tag_schemes import Entity, TagScheme, scheme_of

NEIGHBOURS = [Entity("PER", 0, 2), Entity("PER", 2, 3), Entity("LOC", 4, 5)]
APART = [Entity("PER", 0, 2), Entity("LOC", 3, 4)]
TAGS = {
    "IOB2": "B-PER I-PER B-PER O B-LOC",
    "IOB1": "I-PER I-PER B-PER O I-LOC",
    "BIOES": "B-PER E-PER S-PER O S-LOC",
    "BILOU": "B-PER L-PER U-PER O U-LOC",
    "BMEWO": "B-PER E-PER W-PER O W-LOC",
    "underscore": "B_PER I_PER B_PER O B_LOC",
    "colon": "B:PER I:PER B:PER O B:LOC",
    "suffix": "PER-B PER-I PER-B O LOC-B",
    "suffix BIOES": "PER_B PER_E PER_S O LOC_S",
    "small": "b-PER i-PER b-PER o b-LOC",
    "zero": "B-PER I-PER B-PER 0 B-LOC",
}


@pytest.mark.parametrize("name", TAGS)
def test_entities_of_every_scheme(name: str) -> None:
    tags = TAGS[name].split()
    scheme = scheme_of(tags)
    assert scheme is not None
    assert scheme.entities(tags) == NEIGHBOURS


@pytest.mark.parametrize("name", [name for name in TAGS if name != "IOB1"])
def test_entities_are_written_back_as_they_stood(name: str) -> None:
    """IOB1 is read as IOB, which is written as IOB2."""
    tags = TAGS[name].split()
    scheme = scheme_of(tags)
    assert scheme is not None
    assert scheme.tags(NEIGHBOURS, len(tags)) == tags


def test_types_alone_are_entities_beside_o() -> None:
    tags = "PER PER O LOC".split()
    scheme = scheme_of(tags)
    assert scheme is not None
    assert (scheme.entities(tags), scheme.tags(APART, 4)) == (APART, tags)
    assert scheme.name == "types without B- and I-"


@pytest.mark.parametrize(
    "tags",
    [
        "NOUN VERB DET",
        "N O V S ^",  # parts of speech of tweets, where O is a pronoun
        "0 1 2",
        "PRP$ , . NN",
        "B-PER NOUN",
        "B-PER I_PER",
        "B-PER PER-I O",
    ],
)
def test_what_is_no_scheme(tags: str) -> None:
    assert scheme_of(tags.split()) is None


def test_letters_alone_are_entities_of_one_type() -> None:
    """BioBERT's files: chakki-works/seqeval#67."""
    scheme = scheme_of(["O", "B", "I"])
    assert scheme is not None
    assert scheme.entities(list("OBIIBO")) == [Entity("entity", 1, 4), Entity("entity", 4, 5)]
    assert scheme.tags([Entity("entity", 0, 2)], 3) == ["B", "I", "O"]


def test_classes_for_special_tokens_are_no_entities() -> None:
    """As taggers have them that were trained on padded rows."""
    scheme = scheme_of(["O", "B-PER", "I-PER", "X", "[CLS]", "[SEP]", "<PAD>"])
    assert scheme is not None
    assert scheme.entities(["[CLS]", "B-PER", "X", "I-PER", "[SEP]"]) == [
        Entity("PER", 1, 2),
        Entity("PER", 3, 4),
    ]


KINDS = st.sampled_from(["PER", "LOC", "B-C", "per_son"])


@given(st.lists(st.one_of(st.just("O"), st.tuples(st.sampled_from("BIES"), KINDS)), max_size=12))
def test_any_sequence_has_the_entities_of_seqeval(parts: list[object]) -> None:
    """Valid or not, as in its default mode, which is conlleval's."""
    tags = [part if isinstance(part, str) else "-".join(part) for part in parts]  # type: ignore[arg-type]
    scheme = TagScheme("prefix", "-", "BEIS")
    theirs = [Entity(kind, first, last + 1) for kind, first, last in get_entities(tags)]
    assert scheme.entities(tags) == theirs


@pytest.mark.parametrize(
    ("name", "theirs"), [("IOB1", IOB1), ("IOB2", IOB2), ("BIOES", IOBES), ("BILOU", BILOU)]
)
def test_valid_sequences_have_the_entities_of_seqevals_schemes(name: str, theirs: object) -> None:
    rng = random.Random(0)
    for _ in range(200):
        entities, place = [], 0
        while place < 10:
            length = rng.randint(1, 3)
            if rng.random() < 0.6:
                entities.append(Entity(rng.choice(["PER", "LOC"]), place, place + length))
            place += length
        tags = _written(name, entities, place)
        found = Entities([tags], theirs).entities[0]
        assert [Entity(one.tag, one.start, one.end) for one in found] == entities
        scheme = scheme_of(tags)
        assert (scheme.entities(tags) if scheme else []) == entities


def _written(name: str, entities: list[Entity], length: int) -> list[str]:
    if name != "IOB1":
        letters = {"IOB2": "BI", "BIOES": "BEIS", "BILOU": "BILU"}[name]
        return TagScheme("prefix", "-", letters).tags(entities, length)
    tags, before = ["O"] * length, Entity("", -1, -1)
    for entity in entities:
        for place in range(entity.first, entity.end):
            is_neighbour = (before.end, before.kind) == (entity.first, entity.kind)
            letter = "B" if place == entity.first and is_neighbour else "I"
            tags[place] = f"{letter}-{entity.kind}"
        before = entity
    return tags
