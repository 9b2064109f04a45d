"""Which class splits text for a folder: that of AutoTokenizer, or a refusal that helps."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import pytest
import transformers

from bertcore.tokenizer import open_tokenizer
from tests.support.exhaustive import spread
from tests.support.odd_tokenizers import CLASS, W, check_same, from_json, made, put, said
from tests.support.what_opens import opens

AS_NAMED: list[tuple[str | None, str, str]] = [
    ("AlbertTokenizer", "albert", "albert"),
    ("XLMRobertaTokenizer", "xlm-roberta", "xlm-roberta"),
    ("CamembertTokenizer", "camembert", "xlm-roberta"),
    ("BigBirdTokenizer", "big_bird", "xlm-roberta"),
    ("T5TokenizerFast", "t5", "xlm-roberta"),
    ("DebertaV2TokenizerFast", "deberta-v2", "albert"),
    ("XLNetTokenizer", "xlnet", "xlm-roberta"),
    ("FNetTokenizer", "fnet", "albert"),
    ("RobertaTokenizerFast", "roberta", "roberta"),
    ("LongformerTokenizer", "longformer", "roberta"),
    ("DebertaTokenizer", "deberta", "roberta"),
    ("GPT2Tokenizer", "roberta", "roberta"),
    ("HerbertTokenizerFast", "bert", "roberta"),
    ("RemBertTokenizer", "rembert", "albert"),
    ("BertTokenizer", "bert", "albert"),
    ("BertTokenizer", "bert", "roberta"),
    (None, "bert", "albert"),
    (None, "bert", "roberta"),
    (None, "roberta", "roberta"),
    (None, "albert", "albert"),
    (None, "modernbert", "roberta"),
    ("LlamaTokenizerFast", "modernbert", "albert"),
    ("RobertaTokenizer", "modernbert", "albert"),
    ("LlamaTokenizer", "bert", "roberta"),
    ("LlamaTokenizer", "bert", "xlm-roberta"),
    ("KoBertTokenizer", "bert", "albert"),
    ("KoBertTokenizer", "distilbert", "roberta"),
    ("PreTrainedTokenizer", "bert", "albert"),
    ("PreTrainedTokenizerFast", "roberta", "roberta"),
    ("TokenizersBackend", "electra", "albert"),
    ("MPNetTokenizer", "mpnet", "bert"),
    ("DistilBertTokenizerFast", "distilbert", "bert"),
    ("ElectraTokenizer", "electra", "bert"),
    ("ConvBertTokenizer", "convbert", "bert"),
    ("MobileBertTokenizerFast", "mobilebert", "bert"),
    ("DPRQuestionEncoderTokenizer", "dpr", "bert"),
    ("DPRReaderTokenizerFast", "dpr", "bert"),
    ("SplinterTokenizer", "splinter", "bert"),
    ("LayoutLMTokenizer", "layoutlm", "bert"),
    (None, "electra", "bert"),
    (None, "distilbert", "bert"),
    (None, "megatron-bert", "bert"),
    (None, "nystromformer", "albert"),
    ("BertTokenizerFast", "roberta", "bert"),
    ("BertTokenizerFast", "albert", "bert"),
    ("BertTokenizer", "nystromformer", "bert"),
    ("RetriBertTokenizer", "bert", "bert"),
    ("ErnieTokenizer", "ernie", "bert"),
]
"""Class, model_type, and which tokenizer lies in the folder."""


@opens(
    "Tokenizers",
    "who names the class",
    "`tokenizer_config.json`, `config.json`, neither",
    "as `AutoTokenizer`",
)
@pytest.mark.parity
@pytest.mark.parametrize(
    ("row", "place"), spread(AS_NAMED, ["tokenizer_config.json", "config.json"])
)
def test_the_class_is_that_of_autotokenizer(
    row: tuple[str | None, str, str], place: str, tmp_path: Path
) -> None:
    class_name, model_type, source = row
    from_json(tmp_path, lambda c: None, model_type=source)
    settings = json.loads((tmp_path / "tokenizer_config.json").read_text())
    del settings["tokenizer_class"]
    contents = {"tokenizer_config.json": settings, "config.json": {"model_type": model_type}}
    if class_name is not None:
        contents[place]["tokenizer_class"] = class_name
    for name, content in contents.items():
        put(tmp_path, name, content)
    ours = check_same(tmp_path, tokens={})
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert ours.mask_token in (theirs.mask_token, "")


# --- refused --------------------------------------------------------------------------------------

NEEDS = {
    "BertJapaneseTokenizer": ("bert", "splits Japanese into words with MeCab, Sudachi or Juman"),
    "RoFormerTokenizer": ("roformer", "splits Chinese into words with rjieba"),
    "RoFormerTokenizerFast": ("bert", "splits Chinese into words with rjieba"),
    "CpmTokenizerFast": ("bert", "splits Chinese into words with Jieba"),
    "CpmTokenizer": ("bert", "splits Chinese into words with Jieba"),
    "BertweetTokenizer": ("roberta", "normalises tweets"),
    "PhobertTokenizer": ("roberta", "reads Vietnamese that another program has split"),
    "FlaubertTokenizer": ("bert", "sacremoses"),
    "XLMTokenizer": ("bert", "a program for each language"),
    "RoCBertTokenizer": ("bert", "the shape and the sound of Chinese characters"),
    "EsmTokenizer": ("bert", "has rules of its own"),
    "TapasTokenizer": ("bert", "has rules of its own"),
    "LukeTokenizer": ("bert", "has rules of its own"),
    "BertTokenizerLegacy": ("bert", "has rules of its own"),
}


@opens(
    "Tokenizers",
    "classes with a program of their own",
    "MeCab, Jieba, tweets, Sudachi",
    "refused: which program, and how to split texts before",
)
@pytest.mark.parametrize(
    ("class_name", "place", "has_json"),
    spread(NEEDS, ["tokenizer_config.json", "config.json"], [True, False]),
)
def test_a_class_with_a_program_of_its_own_is_never_read_plainly(
    class_name: str, place: str, has_json: bool, tmp_path: Path
) -> None:
    model_type, reason = NEEDS[class_name]
    if has_json:
        from_json(tmp_path, lambda c: None)
    else:
        made(tmp_path)
    contents = {"tokenizer_config.json": {"do_lower_case": True}, "config.json": {}}
    contents["config.json"]["model_type"] = model_type
    contents[place]["tokenizer_class"] = class_name
    for name, content in contents.items():
        put(tmp_path, name, content)
    with pytest.raises(RuntimeError, match=reason) as refused:
        open_tokenizer(tmp_path)
    advised = (
        "BertTokenizer" if class_name == "BertJapaneseTokenizer" else "PreTrainedTokenizerFast"
    )
    assert f"write {advised} into tokenizer_config.json" in str(refused.value)
    # What the sentence advises opens.
    from_json(tmp_path, lambda c: None, tokenizer_class="PreTrainedTokenizerFast")
    put(tmp_path, "config.json", {"model_type": model_type})
    check_same(tmp_path)


@pytest.mark.parametrize("subword", ["wordpiece", "character", None])
def test_japanese_that_is_split_before_opens_as_the_refusal_says(
    subword: str | None, tmp_path: Path
) -> None:
    """Tokens are those of WordpieceTokenizer, the second half of the class, on each word."""
    library = transformers.models.bert_japanese.tokenization_bert_japanese
    words = [*W[:5], *"東京 都 に 住む 東 京 住 む ##む ##京 ##都 。".split()]
    settings = {"do_lower_case": False, "word_tokenizer_type": "mecab"}
    settings |= {} if subword is None else {"subword_tokenizer_type": subword}
    made(tmp_path, words, config=settings, tokenizer_class="BertJapaneseTokenizer")
    advice = "put it there" if subword == "character" else "that the program has split before"
    with pytest.raises(RuntimeError, match=advice):
        open_tokenizer(tmp_path)
    if subword == "character":
        return
    advised = {"tokenizer_class": "BertTokenizer", "tokenize_chinese_chars": False}
    put(tmp_path, "tokenizer_config.json", {**settings, **advised})
    theirs = library.WordpieceTokenizer(dict.fromkeys(words), unk_token="[UNK]")
    for text in ("東京 都 に 住む 。", "東京都 に 住む", "東 都 京 住むむ"):
        expected = [piece for word in text.split() for piece in theirs.tokenize(word)]
        assert check_same(tmp_path).encode(text).tokens[1:-1] == expected


@pytest.mark.parametrize("model_type", ["roformer", "esm", "roc_bert", "flaubert", "xlm", "luke"])
def test_a_family_whose_class_has_a_program_is_refused_without_a_name_too(
    model_type: str, tmp_path: Path
) -> None:
    made(tmp_path, config=None, model_type=model_type)
    with pytest.raises(RuntimeError, match="cannot be run here: a plain reading would give other"):
        open_tokenizer(tmp_path)


@opens(
    "Tokenizers",
    "a tokenizer of the checkpoint's own code",
    "`auto_map`, KoBERT",
    "refused: its code is never run",
)
@pytest.mark.parametrize("file", ["tokenizer_config.json", "config.json"])
@pytest.mark.parametrize(
    "programs",
    [
        {"AutoTokenizer": ["tokenization_kobert.KoBertTokenizer", None]},
        {"AutoTokenizer": [None, "tokenization_kobert.KoBertTokenizer"]},
        {"AutoTokenizer": "tokenization_kobert.KoBertTokenizer"},
        ["tokenization_kobert.KoBertTokenizer", None],
    ],
    ids=str,
)
@pytest.mark.parametrize("class_name", ["KoBertTokenizer", "BertTokenizer", None])
def test_a_tokenizer_of_the_checkpoints_own_code_is_refused(
    class_name: str | None, programs: object, file: str, tmp_path: Path
) -> None:
    made(tmp_path)
    content = json.loads((tmp_path / file).read_text())
    content.pop("tokenizer_class", None)
    named = {} if class_name is None else {"tokenizer_class": class_name}
    put(tmp_path, file, {**content, **named, "auto_map": programs})
    with pytest.raises(RuntimeError, match=rf"{file} says .* own code.*tokenization_kobert.KoBert"):
        open_tokenizer(tmp_path)


def test_own_code_of_the_model_alone_does_not_matter(tmp_path: Path) -> None:
    made(tmp_path)
    content = json.loads((tmp_path / "config.json").read_text())
    put(tmp_path, "config.json", {**content, "auto_map": {"AutoModel": "own.Model"}})
    put(tmp_path, "tokenizer_config.json", {**CLASS, "auto_map": {"AutoTokenizer": [None, None]}})
    assert open_tokenizer(tmp_path).vocab == W


@pytest.mark.parametrize(
    "name", ["KoBertTokenizer", "DNATokenizer", "__class__", "pipeline", "../x"]
)
def test_an_unknown_class_without_tokenizer_json_is_refused(name: str, tmp_path: Path) -> None:
    made(tmp_path, config={**CLASS, "tokenizer_class": name})
    with pytest.raises(FileNotFoundError, match=f"names a {name}, which reads tokenizer.json or"):
        open_tokenizer(tmp_path)


@pytest.mark.parametrize("name", [5, ["BertTokenizer"], {"a": 1}, "x" * 3000])
def test_a_class_that_is_no_name_is_refused(name: object, tmp_path: Path) -> None:
    made(tmp_path, config={**CLASS, "tokenizer_class": name})
    with pytest.raises(RuntimeError, match="its tokenizer_class"):
        open_tokenizer(tmp_path)


# --- what the report says -------------------------------------------------------------------------


def test_two_names_of_the_class_are_told(tmp_path: Path) -> None:
    made(tmp_path, tokenizer_class="BertJapaneseTokenizer")
    ours = check_same(tmp_path)
    assert said(ours, "tokenizer_config.json names a BertTokenizer and config.json a BertJapanese")


def test_a_class_that_only_the_files_tell_is_named(tmp_path: Path) -> None:
    ours = open_tokenizer(made(tmp_path, config=None, model_type="roberta"))
    assert said(ours, "reads vocab.txt, so it is read as that of a BertTokenizer")
    assert ours.encode("the bank").tokens == ["[CLS]", "the", "bank", "[SEP]"]


def test_a_vocabulary_beside_tokenizer_json_that_differs_is_told(tmp_path: Path) -> None:
    from_json(tmp_path, lambda c: None)
    (tmp_path / "vocab.txt").write_text("\n".join(W))
    assert not check_same(tmp_path).remarks
    (tmp_path / "vocab.txt").write_text("\n".join([*W[:5], *W[:4:-1], "new"]))
    ours = check_same(tmp_path)
    assert said(ours, "vocab.txt is not the vocabulary of tokenizer.json, which is read, as in tr")
    (tmp_path / "vocab.txt").write_bytes(b"\xff\xfe\x00")
    assert said(check_same(tmp_path), "vocab.txt beside tokenizer.json cannot be read")


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no modes here")
def test_a_vocabulary_without_permission_beside_tokenizer_json_is_told() -> None:
    """As another user if root runs the test: root reads every file."""
    with tempfile.TemporaryDirectory() as name:  # a user's folder of pytest is closed to others
        folder = Path(name)
        folder.chmod(0o755)
        from_json(folder, lambda c: None)
        (folder / "vocab.txt").write_text("\n".join(W))
        (folder / "vocab.txt").chmod(0)
        user = os.geteuid()
        try:
            os.seteuid(user or 65534)
            ours = open_tokenizer(folder)
        finally:
            os.seteuid(user)
    assert said(ours, "vocab.txt beside tokenizer.json cannot be read and is not needed")
    assert ours.encode("the bank").tokens == ["[CLS]", "the", "bank", "[SEP]"]


def test_a_setting_that_the_class_does_not_use_is_told(tmp_path: Path) -> None:
    from_json(tmp_path, lambda c: None, model_type="xlm-roberta", do_lower_case=True)
    assert said(check_same(tmp_path), "do_lower_case is true, which TokenizersBackend does not use")
