"""Tokenizer folders: round trips with transformers, old layouts, and clear errors.

Hermetic: the vocabulary is trained here.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer, BertTokenizerFast, PreTrainedTokenizerFast

from bertcore.model.loading.loader import open_tokenizer as load_tokenizer
from bertcore.model.tokenizer import (
    SPECIAL_TOKENS,
    AddedToken,
    Tokenizer,
    explain,
    open_tokenizer,
    open_wordpiece,
    train_vocabulary,
)
from tests.support.kit import edit, put
from tests.support.nasty_text import LETTERS, NASTY, PARAGRAPH

TEXTS = [*NASTY, PARAGRAPH[:200], "the [E1] COVID covidriver [e1] [E1]x"]
OPTIONS = [
    {"do_lower_case": True},
    {"do_lower_case": False},
    {"do_lower_case": True, "strip_accents": False, "tokenize_chinese_chars": False},
]
ADDED = [AddedToken("[E1]"), AddedToken("covid", normalized=True, special=False)]


@pytest.fixture(scope="module")
def vocab() -> list[str]:
    return train_vocabulary([PARAGRAPH, LETTERS], vocab_size=310, do_lower_case=False)


def write_vocab(folder: Path, vocab: list[str]) -> None:
    (folder / "vocab.txt").write_text("\n".join(vocab) + "\n", encoding="utf-8")


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("added", [[], ADDED], ids=["plain", "added"])
def test_transformers_opens_what_we_save(
    tmp_path: Path, vocab: list[str], options: dict[str, bool], added: list[AddedToken]
) -> None:
    ours = Tokenizer(vocab, added_tokens=added, model_max_length=64, **options)
    ours.save(tmp_path / "new" / "folder")
    theirs = AutoTokenizer.from_pretrained(tmp_path / "new" / "folder")
    assert theirs.model_max_length == 64
    assert len(theirs) == ours.vocab_size
    assert (theirs.mask_token_id, theirs.pad_token_id) == (ours.mask_id, ours.pad_id)
    for text in TEXTS:
        assert theirs(text)["input_ids"] == ours.encode(text, max_length=1000).input_ids, text


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("files", ["all", "vocab.txt", "tokenizer.json"])
def test_a_saved_folder_opens_again(
    tmp_path: Path, vocab: list[str], options: dict[str, bool], files: str
) -> None:
    ours = Tokenizer(vocab, added_tokens=ADDED, model_max_length=100, **options)
    ours.save(tmp_path)
    if files == "vocab.txt":
        (tmp_path / "tokenizer.json").unlink()
    elif files == "tokenizer.json":
        (tmp_path / "vocab.txt").unlink()
    again = open_wordpiece(tmp_path)
    assert again.fingerprint == ours.fingerprint
    assert again.added_tokens == ours.added_tokens
    assert again.vocab == ours.vocab
    assert again.num_pieces == ours.num_pieces == 310
    if files == "tokenizer.json":  # alone it is believed about the case
        for name in ("tokenizer_config.json", "special_tokens_map.json"):
            (tmp_path / name).unlink()
        assert open_wordpiece(tmp_path).do_lower_case is options["do_lower_case"]
    elif files == "all":
        split = Tokenizer([*vocab, "a\nb", "c\rd"])
        split.save(tmp_path / "split")
        assert not (tmp_path / "split" / "vocab.txt").exists()
        assert open_tokenizer(tmp_path / "split").ids == split.ids


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_we_open_what_transformers_saves(
    tmp_path: Path, vocab: list[str], options: dict[str, bool]
) -> None:
    theirs = BertTokenizerFast(vocab={t: i for i, t in enumerate(vocab)}, **options)
    theirs.add_special_tokens({"additional_special_tokens": ["[E1]"]})
    theirs.add_tokens(["covid"])
    theirs.save_pretrained(tmp_path)
    ours = open_wordpiece(tmp_path)
    assert ours.model_max_length == 512
    assert ours.vocab == [*vocab, "[E1]", "covid"]
    for text in TEXTS:
        assert ours.encode(text).input_ids == theirs(text)["input_ids"], text


def test_the_oldest_layout_opens(tmp_path: Path, vocab: list[str]) -> None:
    write_vocab(tmp_path, vocab)
    put(tmp_path, "tokenizer_config.json", {"do_lower_case": False})
    roles = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    special: dict[str, Any] = {
        role: {"content": token, "lstrip": False} if role == "mask_token" else token
        for role, token in zip(roles, SPECIAL_TOKENS, strict=True)
    }
    special["additional_special_tokens"] = ["[E1]"]
    put(tmp_path, "special_tokens_map.json", special)
    put(tmp_path, "added_tokens.json", {"covid": 311, "[E1]": 310})
    put(tmp_path, "config.json", {"max_position_embeddings": 128, "model_type": "bert"})
    ours, theirs = open_wordpiece(str(tmp_path)), AutoTokenizer.from_pretrained(tmp_path)
    assert ours.do_lower_case is False
    assert ours.model_max_length == 128
    assert [token.content for token in ours.added_tokens[5:]] == ["[E1]", "covid"]
    assert ours.encode("The [E1] covid").tokens[2:4] == ["[E1]", "covid"]
    for text in TEXTS:
        assert ours.encode(text).input_ids == theirs(text)["input_ids"], text
    for stated in ("Infinity", "1e30", "1e999", "null"):
        (tmp_path / "tokenizer_config.json").write_text(f'{{"model_max_length": {stated}}}')
        assert open_wordpiece(tmp_path).model_max_length == 128


@pytest.mark.parity
@pytest.mark.parametrize("key", ["additional_special_tokens", "extra_special_tokens"])
@pytest.mark.parametrize("has_json", [True, False])
def test_special_tokens_without_an_id_get_the_next(
    has_json: bool, key: str, tmp_path: Path, vocab: list[str]
) -> None:
    Tokenizer(vocab).save(tmp_path)
    settings = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, key: ["[ENT]", "the"]}
    put(tmp_path, "tokenizer_config.json", settings)
    if not has_json:
        (tmp_path / "tokenizer.json").unlink()
    ours, theirs = open_wordpiece(tmp_path), AutoTokenizer.from_pretrained(tmp_path)
    assert ours.vocab == [*vocab, "[ENT]"]
    for text in ("the [ENT] river [ent]", "The other", "there"):
        assert ours.encode(text).input_ids == theirs(text)["input_ids"], text


@pytest.mark.parity
@pytest.mark.parametrize(
    "name", ["BertTokenizer", "PreTrainedTokenizerFast", "TokenizersBackend", "BertTokenizerFast"]
)
@pytest.mark.parametrize(
    "change",
    [
        lambda c: c["normalizer"].update(lowercase=False),
        lambda c: c["normalizer"].update(strip_accents=False, handle_chinese_chars=False),
        lambda c: c["normalizer"].update(clean_text=False),
        lambda c: c["model"].update(unk_token="[MASK]"),
        lambda c: c["post_processor"].update(
            pair=[
                {"Sequence" if id in "AB" else "SpecialToken": {"id": id, "type_id": 0}}
                for id in ("[CLS]", "A", "[SEP]", "B", "[SEP]")
            ]
        ),
    ],
    ids=["lowercase", "accents", "clean_text", "unk_token", "post_processor"],
)
def test_tokenizer_json_is_obeyed_where_the_class_follows_it(
    change: Any, name: str, tmp_path: Path, vocab: list[str]
) -> None:
    Tokenizer(vocab, do_lower_case=True).save(tmp_path)
    content = json.loads((tmp_path / "tokenizer.json").read_text())
    change(content)
    put(tmp_path, "tokenizer.json", content)
    settings = {"tokenizer_class": name, "strip_accents": True, "tokenize_chinese_chars": True}
    edit(tmp_path, "tokenizer_config.json", **settings)
    ours, theirs = open_tokenizer(tmp_path), AutoTokenizer.from_pretrained(tmp_path)
    single = ("The RIVER", "na\u00efve \u548c\u5e73", "a\x00b \u2603 c")
    for texts in (*((text,) for text in single), ("the", "river")):
        wanted = theirs(*texts, return_token_type_ids=True)
        encoding = ours.encode(*texts)
        assert encoding.input_ids == wanted["input_ids"], texts
        assert encoding.segment_ids == wanted["token_type_ids"], texts


def test_no_post_processor_is_refused_where_the_class_adds_no_special_tokens(
    tmp_path: Path, vocab: list[str]
) -> None:
    """`transformers` adds no [CLS] there; with BertTokenizer it does."""
    Tokenizer(vocab).save(tmp_path)
    content = json.loads((tmp_path / "tokenizer.json").read_text())
    put(tmp_path, "tokenizer.json", content | {"post_processor": None})
    ours = open_tokenizer(tmp_path).encode("the river").input_ids
    assert ours == AutoTokenizer.from_pretrained(tmp_path)("the river")["input_ids"]
    edit(tmp_path, "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast")
    assert len(AutoTokenizer.from_pretrained(tmp_path)("the river")["input_ids"]) == len(ours) - 2
    with pytest.raises(RuntimeError, match=r"tokenizer.json: it adds no special tokens before and"):
        open_tokenizer(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.update(normalizer=None), "is WordPiece by rules of its own with the special"),
        (lambda c: c.update(pre_tokenizer={"type": "WhitespaceSplit"}), "by rules of its own"),
        (lambda c: c["model"].update(continuing_subword_prefix="@@"), "by rules of its own"),
        (lambda c: c["model"].update(max_input_chars_per_word=50), "by rules of its own"),
        (lambda c: c["model"].update(unk_token="the"), r"WordPiece with the special tokens \[PAD"),
        (lambda c: c["model"].update(type="BPE"), r"cannot be read \("),
        (lambda c: c["model"]["vocab"].update(extra=10**9), "its ids go up to 1,000,000,000"),
        (lambda c: c["model"]["vocab"].update(extra="x"), r"cannot be read \("),
    ],
)
def test_other_kinds_of_tokenizer_json_are_not_berts(
    tmp_path: Path, vocab: list[str], change: Any, message: str
) -> None:
    Tokenizer(vocab).save(tmp_path)
    (tmp_path / "tokenizer_config.json").unlink()
    content = json.loads((tmp_path / "tokenizer.json").read_text())
    change(content)
    put(tmp_path, "tokenizer.json", content)
    with pytest.raises(RuntimeError, match=message):
        open_wordpiece(tmp_path)
    if "its own" in message:
        encoding = open_tokenizer(tmp_path).encode("the river")
        with pytest.raises(ValueError, match="not WordPiece: its steps cannot be"):
            explain("the river", open_tokenizer(tmp_path))
        theirs = PreTrainedTokenizerFast.from_pretrained(tmp_path)
        assert encoding.input_ids == theirs("the river")["input_ids"]


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("vocab.txt", "\udcff\udcfe"),
        ("tokenizer.json", "{"),
        ("tokenizer_config.json", '{"model_max_length": NaN}'),
        ("tokenizer_config.json", '{"model_max_length": "abc"}'),
        ("tokenizer_config.json", '{"model_max_length": -5}'),
        ("tokenizer_config.json", '{"added_tokens_decoder": {"x": {"content": "the"}}}'),
        ("tokenizer_config.json", '{"added_tokens_decoder": ["x"]}'),
        ("tokenizer_config.json", '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}"),
        ("added_tokens.json", '{"the": Infinity}'),
        ("added_tokens.json", '{"the": "x"}'),
        ("config.json", '{"max_position_embeddings": Infinity}'),
    ],
)
def test_files_of_another_form_are_refused(
    file: str, content: str, tmp_path: Path, vocab: list[str]
) -> None:
    write_vocab(tmp_path, vocab)
    (tmp_path / file).write_bytes(content.encode(errors="surrogateescape"))
    for opener in (open_wordpiece, open_tokenizer, load_tokenizer):
        with pytest.raises(RuntimeError, match=r"[Cc]opy (it|them) again") as raised:
            opener(tmp_path)
        assert str(tmp_path) in str(raised.value)
        assert not isinstance(raised.value, RecursionError)


@pytest.mark.parametrize("name", ["special_tokens_map.json", "vocab.txt"])
def test_a_link_out_of_the_folder_is_not_followed(
    name: str, vocab: list[str], tmp_path: Path
) -> None:
    Tokenizer(vocab).save(tmp_path / "a")
    file = tmp_path / "a" / name
    (tmp_path / "a" / "tokenizer.json").unlink()
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RuntimeError, match=f"{name} is a link to a file outside its folder"):
        open_tokenizer(tmp_path / "a")
    file.unlink()
    (tmp_path / "elsewhere").rename(tmp_path / "a" / "beside")
    file.symlink_to("beside")
    assert open_tokenizer(tmp_path / "a").vocab == vocab


@pytest.mark.parametrize("name", ["special_tokens_map.json", "vocab.txt", "merges.txt"])
def test_a_file_that_is_too_large_is_not_read(name: str, vocab: list[str], tmp_path: Path) -> None:
    Tokenizer(vocab).save(tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    if name == "merges.txt":
        put(tmp_path, "vocab.json", {})
        put(tmp_path, "tokenizer_config.json", {"tokenizer_class": "RobertaTokenizer"})
    with (tmp_path / name).open("ab") as stream:
        stream.truncate(200_000_001)
    with pytest.raises(RuntimeError, match=f"{name} has over 200,000,000 bytes"):
        open_tokenizer(tmp_path)
