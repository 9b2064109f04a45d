"""Tag schemes as people have them, against seqeval where it knows them, and by hand elsewhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities

from bertcore.data.tag_schemes import Entity, TagScheme, scheme_of
from tests.support.cases import cases

NEIGHBOURS = [Entity("PER", 0, 2), Entity("PER", 2, 3), Entity("LOC", 4, 5)]
APART = [Entity("PER", 0, 2), Entity("LOC", 3, 4)]
TAGS = dict(cases("tag_schemes"))


@pytest.mark.parametrize("name", TAGS)
def test_entities_of_every_scheme(name: str) -> None:
    tags = TAGS[name].split()
    scheme = scheme_of(tags)
    assert scheme.entities(tags) == NEIGHBOURS


def test_types_alone_are_entities_beside_o() -> None:
    tags = "PER PER O LOC".split()
    scheme = scheme_of(tags)
    assert (scheme.entities(tags), scheme.tags(APART, 4)) == (APART, tags)
    assert scheme.name == "types without B- and I-"


@pytest.mark.parametrize("tags", cases("no_tag_schemes"))
def test_what_is_no_scheme(tags: str) -> None:
    assert scheme_of(tags.split()) is None


def test_letters_alone_are_entities_of_one_type() -> None:
    """BioBERT's files: chakki-works/seqeval#67."""
    scheme = scheme_of(["O", "B", "I"])
    assert scheme.entities(list("OBIIBO")) == [Entity("entity", 1, 4), Entity("entity", 4, 5)]
    assert scheme.tags([Entity("entity", 0, 2)], 3) == ["B", "I", "O"]


def test_classes_for_special_tokens_are_no_entities() -> None:
    """As taggers have them that were trained on padded rows."""
    scheme = scheme_of(["O", "B-PER", "I-PER", "X", "[CLS]", "[SEP]", "<PAD>"])
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
