"""Rows in context, and the neighbours of a token: against the text itself and a trace."""

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from bertcore import Bert, load
from bertcore.corpus import EncodedCorpus, EncodeSettings, encode_corpus, open_encoded
from bertcore.corpus.search import ExactIndex, Places, neighbours, open_index, query_of
from bertcore.corpus.search.places import shares
from tests.support.encoded_arrays import encoded_arrays
from tests.support.small_corpus import small_documents, write_documents
from tests.support.tiny import tiny_bert

TEXT = "The river bank was steep, he says."
DOCUMENTS = [*small_documents(60), ["he had unseen rain.", "( the bank <b>bank</b>?"]]


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Bert:
    model = load(tiny_bert().save(tmp_path_factory.mktemp("checkpoint") / "t"), device="cpu")
    assert isinstance(model, Bert)
    return model


@pytest.fixture(scope="module", params=["token", "word", "sentence"])
def encoded(
    request: pytest.FixtureRequest, bert: Bert, tmp_path_factory: pytest.TempPathFactory
) -> EncodedCorpus:
    folder = tmp_path_factory.mktemp(request.param)
    corpus = write_documents(folder / "text.txt", DOCUMENTS)
    settings = EncodeSettings(layers=(0, 2), dtype="float32", unit=request.param)
    encode_corpus(bert, corpus, folder / "out", settings, part_bytes=1)
    found = open_encoded(folder / "out")
    assert len(found.manifest.parts) > 1 or request.param == "sentence"
    return found


def test_hits_stand_where_the_rows_do(encoded: EncodedCorpus) -> None:
    rows = np.random.default_rng(0).permutation(len(encoded))[:200]
    hits = Places(encoded).hits(rows, np.zeros(len(rows)))
    table = encoded.rows().to_pylist()
    texts = {(s["document"], s["sentence"]): s["text"] for s in encoded.sentences().to_pylist()}
    for row, hit in zip(rows, hits, strict=True):
        expected = table[row]
        assert hit.row == row
        assert hit.text == texts[expected["document"], expected["sentence"]]
        for name in ("document", "sentence", "position", "start", "end"):
            assert getattr(hit, name) == expected[name]
        if encoded.unit == "sentence":
            assert hit.word == hit.before == hit.after == ""
            continue
        assert (hit.word, hit.piece) == (expected["word"], expected["piece"])
        # Words and signs, as BERT's basic tokenizer cuts plain English.
        words = [(m.start(), m.end()) for m in re.finditer(r"\w+|[^\w\s]", hit.text)]
        number = next(i for i, (low, high) in enumerate(words) if low <= hit.start < high)
        named = ["", *(hit.text[low:high] for low, high in words), ""]
        assert (hit.before, hit.word, hit.after) == tuple(named[number : number + 3])
    with pytest.raises(ValueError, match=f"row {len(encoded)} "):
        Places(encoded).hits([len(encoded)], [0.0])


def test_a_word_is_found_wherever_it_stands(encoded: EncodedCorpus) -> None:
    places = Places(encoded)
    if encoded.unit == "sentence":
        with pytest.raises(ValueError, match="--unit token or word"):
            places.occurrences("bank")
        return
    every = " \n".join(text for document in DOCUMENTS for text in document)
    words = encoded.rows(("word", "piece"))
    for word in ("bank", "The", "unseen", "rain", "zebra"):
        found = places.occurrences(f" {word.upper()} ")
        times = len(re.findall(rf"\b{word}\b", every, re.IGNORECASE))
        assert len(found.rows) == len(found.ends) == times, word
        for low, high in zip(found.rows, found.ends, strict=True):
            assert {w.lower() for w in words["word"][low:high].to_pylist()} == {word.lower()}
    assert (places.occurrences("bank").ends > places.occurrences("bank").rows).all()


def test_a_query_has_the_vector_that_the_corpus_would_have(
    encoded: EncodedCorpus, bert: Bert
) -> None:
    """A sentence of the corpus finds itself, with a cosine of 1, and the words beside it."""
    row = len(encoded) // 3
    expected = encoded.rows().to_pylist()[row]
    (hit,) = Places(encoded).hits([row], [1.0])
    trace = bert.trace(hit.text)
    if encoded.unit == "token":
        position = expected["position"]
    elif encoded.unit == "word":
        position = trace.word_ids.index(expected["word_id"])
    else:
        position = 0
    query = query_of(trace, position, encoded)
    for layer in encoded.layers:
        stored = np.array(encoded.vectors(layer)[row], np.float32)
        np.testing.assert_allclose(query.vectors[layer], stored, atol=5e-3)
    assert (query.word, query.before, query.after) == (hit.word, hit.before, hit.after)
    index = open_index(encoded, 2)
    found = neighbours(index, Places(encoded), query, 2, 5)
    assert found.hits[0].cosine == pytest.approx(1, abs=1e-4)
    assert hit.text in [one.text for one in found.hits]
    without = neighbours(index, Places(encoded), query, 2, 5, own_text=hit.text)
    assert len(without.hits) == 5
    assert hit.text not in [one.text for one in without.hits]


def test_shares_are_counted(bert: Bert, encoded: EncodedCorpus) -> None:
    trace = bert.trace(TEXT)
    query = query_of(trace, 3, encoded)
    found = neighbours(ExactIndex(encoded.vectors(0)), Places(encoded), query, 0, 20)
    cosines = [hit.cosine for hit in found.hits]
    assert len(cosines) == 20
    assert cosines == sorted(cosines, reverse=True)
    if encoded.unit == "sentence":
        assert np.isnan([found.same_word, found.same_before, found.same_after]).all()
        return
    assert (query.word, query.before, query.after) == ("bank", "river", "was")
    counted = Counter(hit.word.lower() for hit in found.hits)
    assert found.same_word == counted["bank"] / 20
    assert found.same_before == sum(hit.before.lower() == "river" for hit in found.hits) / 20
    assert found.same_after == sum(hit.after.lower() == "was" for hit in found.hits) / 20
    assert [share.num for share in shares(hit.word for hit in found.hits)] == [
        count for _, count in counted.most_common()
    ]


def test_special_tokens_and_pairs_have_no_words_beside_them(
    bert: Bert, encoded: EncodedCorpus
) -> None:
    trace = bert.trace("the dog runs", "a cat")
    if encoded.unit == "sentence":
        return
    first = query_of(trace, 0, encoded)
    assert (first.word, first.before, first.after) == ("[CLS]", "", "")
    last = query_of(trace, 3, encoded)
    assert (last.word, last.before, last.after) == ("runs", "dog", "")
    of_b = query_of(trace, 5, encoded)
    assert (of_b.word, of_b.before, of_b.after) == ("a", "", "cat")
    with pytest.raises(ValueError, match=r"token 9 .*0 to 7"):
        query_of(trace, 9, encoded)


def test_shares_join_cases_and_leave_out_nothing() -> None:
    found = shares(["Bank", "bank", "", "Rome", "Rome", "Rome"])
    assert [tuple(share) for share in found] == [("Rome", 3), ("bank", 2)]


def test_a_sentence_of_the_corpus_many_times_over(tmp_path: Path) -> None:
    """All nearest rows are the query's own sentence: the search goes on until it finds others."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(400, 8)).astype(np.float16)
    encoded = encoded_arrays(tmp_path / "a", vectors)
    index, places = ExactIndex(vectors), Places(encoded)
    near = index.search(vectors[:1], 1)[0]
    assert near.rows[0] == 0

    class Asked:
        word, before, after = "w0", "", "w1"
        vectors = np.asarray(encoded.vectors(0)[:1], np.float32)

    own = places.hits([0], [1.0])[0].text
    found = neighbours(index, places, Asked(), 0, 396, own_text=own)  # type: ignore[arg-type]
    assert len(found.hits) == 395  # all but the five of its own sentence
