"""Reading and packing text: documents as written, every mistake in a file told in a sentence."""

import gzip
import lzma
from pathlib import Path

import numpy as np
import pytest

from bertcore.training.pretraining import pack_corpus, read_documents
from bertcore.training.pretraining.data.corpus import ArrayFile, open_corpus, pack_corpus_to
from tests.support.small_corpus import small_corpus, small_documents
from tests.support.tiny import tiny_tokenizer

TEXT = "One line.\nTwo. Three!\n\n\n  \nA second document.\n\r\nThird, without an end"
DOCUMENTS = [["One line.", "Two. Three!"], ["A second document."], ["Third, without an end"]]


@pytest.mark.parametrize("suffix", [".txt", ".xz", ".gz", ".XZ", ""])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_documents_of_plain_and_packed_files(tmp_path: Path, suffix: str, mark: bytes) -> None:
    content = mark + TEXT.encode()
    packed = {".xz": lzma.compress, ".gz": gzip.compress}.get(suffix.lower(), bytes)(content)
    path = tmp_path / f"text{suffix}"
    path.write_bytes(packed)
    told: list[int] = []
    assert list(read_documents([path, str(path)], on_read=told.append)) == DOCUMENTS * 2
    assert sum(told) == 2 * len(packed)


def test_packing_keeps_every_sentence_and_border() -> None:
    tokenizer = tiny_tokenizer()
    documents = small_documents()
    corpus = pack_corpus([*documents, ["", "  "], []], tokenizer)
    assert corpus.num_documents == len(documents)
    assert corpus.num_sentences == sum(map(len, documents))
    for number, document in enumerate(documents):
        first, end = corpus.document_starts[number : number + 2]
        assert end - first == len(document)
        for sentence, text in zip(range(first, end), document, strict=True):
            start, stop = corpus.sentence_starts[sentence : sentence + 2]
            assert corpus.ids[start:stop].tolist() == tokenizer.encode_ids([text])[0]
    assert corpus.sentence_starts[-1] == corpus.num_tokens
    assert corpus.ids.dtype == np.uint16


def test_a_corpus_packed_to_a_folder_is_that_packed_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bertcore.training.pretraining.data.corpus._BATCH_SENTENCES", 7)
    monkeypatch.setattr("bertcore.training.pretraining.data.corpus._HASHED_AT_ONCE", 100)
    mapped = pack_corpus_to(tmp_path / "deep" / "packed", small_documents(), tiny_tokenizer())
    monkeypatch.undo()
    corpus = small_corpus()
    assert isinstance(mapped.ids, np.memmap)
    assert not isinstance(corpus.ids, np.memmap)
    assert mapped.fingerprint == corpus.fingerprint
    for name in ("ids", "sentence_starts", "document_starts"):
        ours, theirs = getattr(mapped, name), getattr(corpus, name)
        assert ours.dtype == theirs.dtype
        assert np.array_equal(ours, theirs)


def test_an_array_that_was_not_finished_reads_as_empty(tmp_path: Path) -> None:
    numbers = ArrayFile(tmp_path / "numbers.npy", np.dtype(np.int64))
    numbers.append(np.arange(10))
    numbers.close()
    assert len(np.load(tmp_path / "numbers.npy")) == 0


def test_the_fingerprint_tells_texts_and_borders_apart() -> None:
    tokenizer = tiny_tokenizer()
    texts = ([["the dog", "sat"]], [["the", "dog sat"]], [["the dog"], ["sat"]], [["the cat"]])
    assert len({pack_corpus(text, tokenizer).fingerprint for text in texts}) == 4


def test_special_tokens_in_a_text_are_unknown_words() -> None:
    tokenizer = tiny_tokenizer()
    corpus = pack_corpus([["the [SEP] dog [CLS] sat [MASK] on [PAD] mat [UNK]"]], tokenizer)
    tokens = [tokenizer.vocab[int(id)] for id in corpus.ids]
    assert tokens == "the [UNK] dog [UNK] sat [UNK] on [UNK] mat [UNK]".split()


def test_a_saved_corpus_opens_again(tmp_path: Path) -> None:
    packed = pack_corpus_to(tmp_path / "packed", small_documents(), tiny_tokenizer())
    assert open_corpus(tmp_path / "packed").fingerprint == packed.fingerprint
    (tmp_path / "packed" / "fingerprint").unlink()
    with pytest.raises(RuntimeError, match="cannot be read"):
        open_corpus(tmp_path / "packed")


@pytest.mark.parametrize("documents", [[], [[]], [["", " "]]])
def test_no_text_is_refused(documents: list[list[str]]) -> None:
    with pytest.raises(ValueError, match="the corpus has no text"):
        pack_corpus(documents, tiny_tokenizer())


def refusal(path: Path) -> str:
    with pytest.raises(ValueError, match=r"\.") as caught:
        list(read_documents([path]))
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert "does not exist" in refusal(tmp_path / "nowhere.txt")
    assert "is a folder, not a file" in refusal(tmp_path)
    latin = tmp_path / "latin.txt"
    latin.write_bytes("é.\n".encode() * 3000 + "café\n".encode("latin-1"))
    assert "line 3001 of" in refusal(latin)
    assert "a byte 0xE9 that is not UTF-8" in refusal(latin)
    text = "\n\n".join(str(number) * 50 for number in range(4000)).encode()
    for suffix, compress in ((".xz", lzma.compress), (".gz", gzip.compress)):
        whole = compress(text)
        path = tmp_path / f"cut{suffix}"
        broken = bytearray(whole)
        broken[len(broken) // 2] ^= 0xFF
        path.write_bytes(broken)
        refusal(path)  # what is unpacked before the damage is seen may not even be text
