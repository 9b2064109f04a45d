"""Byte-level BPE and Unigram: as transformers cuts text, with places, cuts and clear refusals."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
import transformers

from bertcore.model.tokenizer import explain, open_tokenizer
from tests.support.cases import cases
from tests.support.kit import edit, put
from tests.support.nasty_text import NASTY
from tests.support.tiny_families import byte_level_bpe, save_fast, unigram

TEXT, PAIR = "The river bank was steep.", "It had rained: naïve 🙂!"
MADE = {
    "byte-level BPE": byte_level_bpe,
    "Unigram": lambda: unigram(albert=True),
    "XLM": lambda: unigram(albert=False),
}


@pytest.fixture(params=MADE, scope="module")
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tokenizer")
    save_fast(MADE[request.param](), path)
    return path


def their(folder: Path) -> Any:
    return transformers.AutoTokenizer.from_pretrained(folder)


@pytest.mark.parity
def test_ids_segments_and_words_are_those_of_transformers(folder: Path) -> None:
    ours, theirs = open_tokenizer(folder), their(folder)
    mask = ours.mask_token
    texts = [TEXT, PAIR, f"The  {mask} bank", f"a{mask}b", *NASTY]
    for text in texts:
        wanted = theirs(text, truncation=True, max_length=60)
        got = ours.encode(text)
        assert got.input_ids == wanted["input_ids"], text
        assert [w for w in got.word_ids if w >= 0] == [
            w for w in wanted.word_ids() if w is not None
        ]
        pair = ours.encode(text, PAIR, max_length=40)
        wanted = theirs(text, PAIR, truncation="longest_first", max_length=40)
        assert pair.input_ids == wanted["input_ids"], text
        numbers = [-1 if number is None else number for number in wanted.sequence_ids()]
        assert pair.text_ids == numbers
        if "token_type_ids" in wanted:
            assert pair.segment_ids == wanted["token_type_ids"]


def test_saving_and_opening_again_changes_nothing(folder: Path, tmp_path: Path) -> None:
    tokenizer = open_tokenizer(folder)
    tokenizer.save(tmp_path)
    again = open_tokenizer(tmp_path)
    assert again.fingerprint == tokenizer.fingerprint
    assert again.encode(TEXT, PAIR) == tokenizer.encode(TEXT, PAIR)
    assert their(tmp_path)(TEXT, PAIR)["input_ids"] == tokenizer.encode(TEXT, PAIR).input_ids
    assert again.mask_token == their(tmp_path).mask_token
    with pytest.raises(ValueError, match="not WordPiece: its steps cannot be explained"):
        explain(TEXT, again)


# --- files ----------------------------------------------------------------------------------------


@pytest.fixture
def two_files(tmp_path: Path) -> Path:
    fast = byte_level_bpe()
    fast.model.save(str(tmp_path))
    vocab = json.loads((tmp_path / "vocab.json").read_text())
    vocab.setdefault("<mask>", len(vocab))
    put(tmp_path, "vocab.json", vocab)
    return tmp_path


NEW = {"content": "<new>", "lstrip": False, "rstrip": False, "single_word": False}
MASK = {**NEW, "content": "<mask>", "lstrip": True, "special": True, "normalized": False}


def decoder(size: int, *tokens: dict[str, Any]) -> dict[str, Any]:
    named = {str(size - 1 + number): token for number, token in enumerate([MASK, *tokens])}
    return {"tokenizer_config.json": {"added_tokens_decoder": named}}


ADDED = {
    "added_tokens.json": lambda size: {"added_tokens.json": {"<new>": size}},
    "decoder": lambda size: decoder(size, {**NEW, "special": False, "normalized": True}),
    "strips": lambda size: decoder(
        size, {**MASK, "content": "<new>"}, {**MASK, "content": "<last>", "lstrip": False}
    ),
    "extra": lambda size: {"tokenizer_config.json": {"extra_special_tokens": ["<new>"]}},
    "both": lambda size: {
        "tokenizer_config.json": {"additional_special_tokens": ["<more>", "<new>"]},
        "added_tokens.json": {"<new>": size},
    },
    "map": lambda size: {"special_tokens_map.json": {"additional_special_tokens": ["<new>"]}},
}
"""Where tokens are named that the vocabulary lacks."""


@pytest.mark.parity
@pytest.mark.parametrize("has_json", [True, False], ids=["tokenizer.json", "two files"])
@pytest.mark.parametrize("place", ADDED)
def test_tokens_that_other_files_add_are_kept_whole(
    place: str, has_json: bool, two_files: Path
) -> None:
    fast = byte_level_bpe()
    roles = {"bos_token": "<s>", "eos_token": "</s>", "cls_token": "<s>", "sep_token": "</s>"}
    roles |= {"pad_token": "<pad>", "unk_token": "<unk>", "mask_token": "<mask>"}
    told = {"tokenizer_config.json": {"tokenizer_class": "RobertaTokenizer", **roles}}
    for name, content in ADDED[place](fast.get_vocab_size()).items():
        told[name] = {**told.get(name, {}), **content}
    for name, content in told.items():
        put(two_files, name, content)
    if has_json:
        fast.save(str(two_files / "tokenizer.json"))
    ours, theirs = open_tokenizer(two_files), their(two_files)
    assert "<new>" in ours.vocab
    for text in ("the <new> bank", "the<new>bank <last> <more>", TEXT):
        assert ours.encode(text).input_ids == theirs(text)["input_ids"], text
    assert "<new>" in ours.encode("the <new> bank").tokens


@pytest.mark.parity
@pytest.mark.parametrize(
    "name",
    ["RobertaTokenizer", "GPT2TokenizerFast", "PreTrainedTokenizerFast", "TokenizersBackend"],
)
@pytest.mark.parametrize("space", [True, False, None])
def test_a_space_before_the_text_is_added_as_transformers_does(
    space: bool | None, name: str, tmp_path: Path
) -> None:
    save_fast(byte_level_bpe(), tmp_path)
    roles = {"bos_token": "<s>", "eos_token": "</s>"}
    fields = {**roles, "add_prefix_space": space, "tokenizer_class": name}
    edit(tmp_path, "tokenizer_config.json", **fields)
    ours, theirs = open_tokenizer(tmp_path), their(tmp_path)
    for texts in (("bank",), ("bank", "bank")):
        assert ours.encode(*texts).input_ids == theirs(*texts)["input_ids"]
    ours.save(tmp_path)
    assert open_tokenizer(tmp_path).encode("bank") == ours.encode("bank")


def test_what_is_told_and_refused_of_added_tokens_and_of_files(two_files: Path) -> None:
    size = byte_level_bpe().get_vocab_size()
    put(two_files, "added_tokens.json", {"<new>": size + 7})
    put(two_files, "tokenizer_config.json", {"tokenizer_class": "RobertaTokenizer"})
    remark = f"'<new>' has the id {size + 7} in added_tokens.json, but transformers gives it {size}"
    assert any(remark in told for told in open_tokenizer(two_files).remarks)
    for file in two_files.iterdir():
        file.unlink()
    with pytest.raises(FileNotFoundError, match=r"neither vocab.txt nor tokenizer.json \(nor voc"):
        open_tokenizer(two_files)
    (two_files / "spiece.model").write_bytes(b"x")
    with pytest.raises(RuntimeError, match=r"spiece.model cannot be read \(.*Copy it again"):
        open_tokenizer(two_files, model_type="albert")
    with pytest.raises(FileNotFoundError, match=r"BertTokenizer, which reads tokenizer\.json or"):
        open_tokenizer(two_files, model_type="bert")


@pytest.mark.parametrize("tokens", [5, "<new>", [["<new>"]], {"a": 5}, [{"name": "<new>"}]])
def test_additional_special_tokens_of_another_form_are_refused(
    tokens: object, two_files: Path
) -> None:
    put(two_files, "tokenizer_config.json", {"additional_special_tokens": tokens})
    with pytest.raises(RuntimeError, match="have an unexpected form"):
        open_tokenizer(two_files)


def change(target: Path, **changes: Any) -> Path:
    save_fast(byte_level_bpe(), target)
    content = json.loads((target / "tokenizer.json").read_text())
    put(target, "tokenizer.json", {**content, **changes})
    return target


def template(single: str, pair: str) -> dict[str, Any]:
    """Return a post_processor of RoBERTa's tokens; a letter and a segment stand for a part."""

    def part(name: str) -> dict[str, Any]:
        token, _, segment = name.partition(":")
        kind = "Sequence" if token in "AB" else "SpecialToken"
        return {kind: {"id": token, "type_id": int(segment or 0)}}

    return {
        "type": "TemplateProcessing",
        "single": [part(name) for name in single.split()],
        "pair": [part(name) for name in pair.split()],
        "special_tokens": {
            name: {"id": name, "ids": [id], "tokens": [name]}
            for name, id in (("<s>", 0), ("</s>", 2), ("<gone>", 9999))
        },
    }


@pytest.mark.parametrize(("single", "pair", "made"), cases("impossible_post_processors"))
def test_an_impossible_post_processor_is_refused(
    single: str, pair: str, made: str, tmp_path: Path
) -> None:
    changed = change(tmp_path / "x", post_processor=template(single, pair))
    with pytest.raises(RuntimeError, match=f"its post_processor makes '{made}' of"):
        open_tokenizer(changed)
    with pytest.raises(RuntimeError, match="adds no special tokens"):
        open_tokenizer(change(tmp_path / "x", post_processor=None))


@pytest.mark.parametrize(
    ("single", "pair"),
    [("A </s> <s>", "A </s> B </s> <s>"), ("A </s>", "A </s> B </s>"), ("<s> A", "A B")],
)
def test_other_post_processors_open(single: str, pair: str, tmp_path: Path) -> None:
    changed = change(tmp_path / "x", post_processor=template(single, pair))
    ours, theirs = open_tokenizer(changed), their(changed)
    assert ours.encode(TEXT).input_ids == theirs(TEXT)["input_ids"]
    assert ours.encode(TEXT, PAIR).input_ids == theirs(TEXT, PAIR)["input_ids"]


NAMES = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "T"]
WORD_LEVEL = {"type": "WordLevel", "vocab": {n: i for i, n in enumerate(NAMES)}, "unk_token": "?"}
UNIGRAM = {"type": "Unigram", "unk_id": None, "vocab": [[name, -1.0] for name in NAMES]}


@pytest.mark.parametrize("model", [WORD_LEVEL, UNIGRAM], ids=["WordLevel", "Unigram"])
def test_what_a_vocabulary_without_unk_lacks_is_refused(
    model: dict[str, Any], tmp_path: Path
) -> None:
    changed = change(tmp_path / "x", model=model, added_tokens=[], pre_tokenizer=None)
    ours = open_tokenizer(changed)
    assert ours.encode("T").tokens == ["<s>", "T", "</s>"]
    for cut in (ours.encode, ours.encode_word):
        with pytest.raises(
            ValueError, match=r"cannot split this text \(.*(?i:unk).*\)\. Leave it out"
        ):
            cut("The river")
    with pytest.raises(ValueError, match="cannot split this text"):
        ours.encode_pieces(["T", "The river"])


def test_panics_of_the_library_are_sentences(tmp_path: Path) -> None:
    damaged = {"type": "Precompiled", "precompiled_charsmap": "AAAA"}
    with pytest.raises(RuntimeError, match=r"tokenizer\.json cannot be read \(.*Precompiled"):
        open_tokenizer(change(tmp_path / "x", normalizer=damaged))
    # A trie with places for ASCII only: the library looks up others outside it.
    table = base64.b64encode((512).to_bytes(4, "little") + bytes(512)).decode()
    half = {"type": "Precompiled", "precompiled_charsmap": table}
    ours = open_tokenizer(change(tmp_path / "y", normalizer=half))
    for cut in (ours.encode, ours.encode_word):
        with pytest.raises(ValueError, match=r"cannot split this text \(.*out of bounds"):
            cut("é")
    assert ours.decode(ours.encode("the").input_ids, skip_special_tokens=True) == "the"


def test_a_special_token_without_a_row_in_the_table_is_refused(tmp_path: Path) -> None:
    post_processor = template("<s> A <gone>", "<s> A B")
    last = byte_level_bpe().get_vocab_size() - 1
    post_processor["special_tokens"]["<gone>"]["ids"] = [last]
    changed = change(tmp_path / "x", post_processor=post_processor)
    edit(changed, "tokenizer_config.json", mask_token="<unk>")
    with pytest.raises(ValueError, match=f"special token <mask> has the id {last} but"):
        open_tokenizer(changed).for_network(last)


def test_special_tokens_that_nobody_tells_are_named(tmp_path: Path) -> None:
    save_fast(byte_level_bpe(), tmp_path)
    file = tmp_path / "tokenizer.json"
    file.write_text(file.read_text().replace("<mask>", "<hole>"))
    (tmp_path / "tokenizer_config.json").unlink()
    with pytest.raises(RuntimeError, match=r"neither tokenizer_config.json nor.*the mask_token"):
        open_tokenizer(tmp_path)
    put(tmp_path, "special_tokens_map.json", {"mask_token": "<hole>"})
    assert open_tokenizer(tmp_path).mask_token == "<hole>"
