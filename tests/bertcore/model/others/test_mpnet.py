"""MPNet: positions from padding, BERT's word pieces with other special tokens; and EuroBERT."""

from pathlib import Path

import pytest
import torch
import transformers
from sentence_transformers.sentence_transformer.modules import Normalize
from transformers.models.mpnet.modeling_mpnet import create_position_ids_from_input_ids

import bertcore
from bertcore.model.tokenizer.wordpiece import explain
from tests.support.kit import edit
from tests.support.sentence_encoders import make_sentence_encoder
from tests.support.tiny_others import PAIR, TEXT, make_other, opened

CLOSE = {"atol": 1e-5, "rtol": 0.0}


@pytest.mark.parity
def test_a_sentence_encoder_gives_the_vectors_of_sentence_transformers(tmp_path: Path) -> None:
    """In the form of all-mpnet-base-v2: the mean over tokens, normalised."""
    theirs = make_sentence_encoder(tmp_path / "st", "MPNetModel", after=(Normalize(),))
    texts = [TEXT, "milk", f"{TEXT} {PAIR}"]
    ours = bertcore.load(tmp_path / "st", device="cpu").encode(texts)
    expected = torch.tensor(theirs.encode(texts))
    torch.testing.assert_close(ours, expected, **CLOSE)
    torch.testing.assert_close(ours.norm(dim=1), torch.ones(3), **CLOSE)


@pytest.mark.parity
def test_positions_leave_padding_out(tmp_path: Path) -> None:
    """Also padding that is typed: the token after it has the position that it would have had."""
    model = make_other("MPNetModel", tmp_path)
    bert = opened(tmp_path)
    trace = bert.trace("the <pad> dog was")
    ids = torch.tensor([trace.input_ids])
    assert 1 in trace.input_ids
    assert trace.position_ids == create_position_ids_from_input_ids(ids, 1)[0].tolist()
    assert trace.position_ids[0] == 2
    table = model.embeddings.position_embeddings.weight
    torch.testing.assert_close(trace.embeddings.position, table[trace.position_ids].detach())
    assert bert.max_length == 60
    assert bert.config.max_length == 62  # of 64 rows, two belong to no token


@pytest.mark.parametrize("has_json", [True, False], ids=["tokenizer.json", "vocab.txt"])
def test_its_word_pieces_are_those_of_its_tokenizer(has_json: bool, tmp_path: Path) -> None:
    make_other("MPNetModel", tmp_path)
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    if not has_json:
        ids = theirs.get_vocab()
        text = "".join(f"{token}\n" for token in sorted(ids, key=ids.__getitem__))
        (tmp_path / "vocab.txt").write_text(text)
        (tmp_path / "tokenizer.json").unlink()
        for name in ("tokenizer_config.json", "special_tokens_map.json"):
            (tmp_path / name).unlink(missing_ok=True)
    bert = opened(tmp_path)
    for texts in ((TEXT,), (TEXT, PAIR), ("Éé the <mask> steepest 水",)):
        encoding = bert.tokenize(*texts)
        assert encoding.input_ids == theirs(*texts).input_ids
        assert encoding.segment_ids == [0] * len(encoding)
    first, *_, last = bert.tokenize(TEXT, PAIR).tokens
    assert (first, last, bert.tokenizer.mask_token) == ("<s>", "</s>", "<mask>")
    steps = explain(TEXT, bert.tokenizer)
    pieces = [piece.token for word in steps for piece in word.pieces]
    assert pieces == bert.tokenize(TEXT).tokens[1:-1]


def test_a_llama_checkpoint_is_not_read_as_eurobert(tmp_path: Path) -> None:
    """Both name their tensors alike, but attend differently."""
    make_other("EuroBertForMaskedLM", tmp_path)
    edit(tmp_path, model_type="llama")
    with pytest.raises(ValueError, match="has model_type 'llama'"):
        bertcore.load(tmp_path, device="cpu")
