"""Tokenizers that AutoTokenizer builds: its ids, or a refusal; and no file outside the folder."""

import inspect
import json
import os
import secrets
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
import transformers

from bertcore.model.tokenizer import open_tokenizer
from bertcore.model.tokenizer.auto import _LISTS, _NAMES, _SWITCHES
from bertcore.model.tokenizer.files import VOCABULARIES
from tests.support.cases import cases
from tests.support.exhaustive import spread
from tests.support.kit import edit
from tests.support.odd_tokenizers import CLASS, W, check_same, from_json, made, put
from tests.support.reopened import REFUSALS
from tests.support.tiny_families import byte_level_bpe, save_fast, unigram
from tests.support.what_opens import opens

AS_NAMED = cases("tokenizer_classes")
"""Class, model_type, and which tokenizer lies in the folder."""


@opens("who names the class")
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

REFUSED = {
    "BertJapaneseTokenizer": "bert",
    "RoFormerTokenizer": "roformer",
    "CpmTokenizer": "bert",
    "BertweetTokenizer": "roberta",
    "FlaubertTokenizer": "bert",
    "RoCBertTokenizer": "bert",
    "TapasTokenizer": "bert",
    "LayoutLMv2Tokenizer": "bert",
}
"""Classes with a part outside the tokenizers library, and a model_type."""


@opens("classes with a program of their own")
@pytest.mark.parametrize(
    ("class_name", "place", "has_json"),
    spread(REFUSED, ["tokenizer_config.json", "config.json"], [True, False]),
)
def test_a_class_with_a_program_of_its_own_is_never_read_plainly(
    class_name: str, place: str, has_json: bool, tmp_path: Path
) -> None:
    if has_json:
        from_json(tmp_path, lambda c: None)
    else:
        made(tmp_path)
    model_type = REFUSED[class_name]
    contents: dict[str, Any] = {"tokenizer_config.json": {}, "config.json": {}}
    contents["config.json"]["model_type"] = model_type
    contents[place]["tokenizer_class"] = class_name
    for name, content in contents.items():
        put(tmp_path, name, content)
    with pytest.raises(
        RuntimeError, match=rf"{class_name}, which does more.*write PreTrainedTokenizerFast into"
    ):
        open_tokenizer(tmp_path)
    # What the sentence advises opens.
    from_json(tmp_path, lambda c: None, tokenizer_class="PreTrainedTokenizerFast")
    put(tmp_path, "config.json", {"model_type": model_type})
    check_same(tmp_path)


@pytest.mark.parametrize("model_type", ["roformer", "esm", "roc_bert", "flaubert", "xlm"])
def test_a_family_whose_class_has_a_program_is_refused_without_a_name_too(
    model_type: str, tmp_path: Path
) -> None:
    made(tmp_path, config=None, model_type=model_type)
    with pytest.raises(RuntimeError, match="does more than the tokenizers library"):
        open_tokenizer(tmp_path)


def test_a_class_that_changes_texts_first_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told by its ids, not by its name."""
    save_fast(byte_level_bpe(), tmp_path)
    put(tmp_path, "tokenizer_config.json", {"tokenizer_class": "RobertaTokenizer"})
    whole = transformers.RobertaTokenizer._encode_plus
    monkeypatch.setattr(
        transformers.RobertaTokenizer,
        "_encode_plus",
        lambda self, text, *given, **named: whole(self, text.lower(), *given, **named),
    )
    with pytest.raises(RuntimeError, match="RobertaTokenizer, which does more than"):
        open_tokenizer(tmp_path, tokens={})


@opens("a tokenizer of the checkpoint's own code")
@pytest.mark.parametrize(
    ("file", "programs", "class_name"),
    spread(
        ["tokenizer_config.json", "config.json"],
        [
            {"AutoTokenizer": [None, "tokenization_kobert.KoBertTokenizer"]},
            {"AutoTokenizer": "tokenization_kobert.KoBertTokenizer"},
            ["tokenization_kobert.KoBertTokenizer", None],
        ],
        ["KoBertTokenizer", "BertTokenizer", None],
    ),
)
def test_a_tokenizer_of_the_checkpoints_own_code_is_refused(
    class_name: str | None, programs: object, file: str, tmp_path: Path
) -> None:
    made(tmp_path)
    edit(tmp_path, file, tokenizer_class=class_name, auto_map=programs)
    with pytest.raises(RuntimeError, match=rf"{file} says .* own code.*tokenization_kobert.KoBert"):
        open_tokenizer(tmp_path)
    # Code of the model alone does not matter.
    put(tmp_path, "config.json", {"model_type": "bert", "auto_map": {"AutoModel": "own.Model"}})
    put(tmp_path, "tokenizer_config.json", {**CLASS, "auto_map": {"AutoTokenizer": [None, None]}})
    assert open_tokenizer(tmp_path).vocab == W


@pytest.mark.parametrize(
    "name",
    [5, ["BertTokenizer"], {"a": 1}, "x" * 3000, "__class__", "pipeline", "../x", "AutoTokenizer"],
)
def test_a_class_that_is_no_name_is_refused(name: object, tmp_path: Path) -> None:
    made(tmp_path, config={**CLASS, "tokenizer_class": name})
    with pytest.raises(RuntimeError, match="tokenizer_class is"):
        open_tokenizer(tmp_path)


@pytest.mark.parametrize(("name", "message"), cases("classes_of_other_files"))
def test_classes_that_read_other_files_are_refused(
    name: str | None, message: str, tmp_path: Path
) -> None:
    made(tmp_path, config=name and {"tokenizer_class": name}, model_type="roberta")
    with pytest.raises(FileNotFoundError, match=f"{name or 'RobertaTokenizer'}, which {message}"):
        open_tokenizer(tmp_path)


# --- files of others ------------------------------------------------------------------------------

LISTED = (*_SWITCHES, *_NAMES, *_LISTS, "extra_ids", "added_tokens_decoder", "unk_token")
OTHERS = (
    *("vocab", "vocab_file", "merges", "merges_file", "tokenizer_file", "tokenizer_object"),
    *("gguf_file", "spm_file", "sp_model", "sp_model_kwargs", "name_or_path", "init_inputs"),
    *("fast_tokenizer_files", "subfolder", "cache_dir", "chat_template", "post_processor"),
    *("entity_vocab_file", "_spm_precompiled_charsmap", "_name_or_path", "max_length"),
    *("from_slow", "trust_remote_code", "local_files_only", "revision", "token", "errors"),
    *("tokenizer_truncation", "tokenizer_padding", "dropout", "backend", "__class__", "self"),
)
"""Keys of one class or another that are not handed on."""
CLASSES = (
    *("AlbertTokenizer", "BertTokenizer", "CamembertTokenizer", "DebertaV2Tokenizer"),
    *("GPT2Tokenizer", "RobertaTokenizer", "T5Tokenizer", "TokenizersBackend"),
    *("XLMRobertaTokenizer", "XLNetTokenizer"),
)
TEXT = "A film of the river."


class Watch:
    """The files that Python opens meanwhile."""

    def __init__(self) -> None:
        self.is_on = False
        self.opened: list[str] = []
        sys.addaudithook(self)

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.is_on and event == "open" and isinstance(arguments[0], str | bytes | os.PathLike):
            self.opened.append(os.path.realpath(os.fsdecode(arguments[0])))


WATCH = Watch()


@pytest.fixture
def secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file beside the checkpoint's folder that nothing may open; and no network."""

    def refuse(*address: object) -> None:
        pytest.fail(f"asked the network: {address}")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    file = tmp_path / "of-the-user.txt"
    file.write_text("\n".join(["[UNK]", "a", "canary" + secrets.token_hex(8)]))
    return file


def opened(folder: Path, secret: Path) -> list[int] | str:
    """Return the ids of TEXT, or the refusal; the secret may neither be opened nor shown."""
    WATCH.opened, WATCH.is_on = [], True
    seen: list[int] | str
    try:
        tokenizer = open_tokenizer(folder, tokens={})
        seen, shown = tokenizer.encode(TEXT).input_ids, repr(tokenizer.vocab)
    except REFUSALS as error:
        seen = shown = repr(error)
        assert len(seen) < 3000
    finally:
        WATCH.is_on = False
    assert secret.read_text().splitlines()[-1] not in shown
    assert os.path.realpath(secret) not in WATCH.opened
    return seen


def folder_of(class_name: str, folder: Path, secret: Path) -> list[int]:
    """Write a folder that a class opens; return its ids of TEXT."""
    for fast in (unigram(albert=False), byte_level_bpe()):
        save_fast(fast, folder)
        edit(folder, "tokenizer_config.json", tokenizer_class=class_name)
        ids = opened(folder, secret)
        if not isinstance(ids, str):
            return ids
    raise AssertionError(ids)


@pytest.mark.parametrize("class_name", CLASSES)
def test_no_key_but_the_listed_ones_reaches_a_class(
    class_name: str, tmp_path: Path, secret: Path
) -> None:
    folder = tmp_path / "folder"
    ids = folder_of(class_name, folder, secret)
    own = inspect.signature(getattr(transformers, class_name).__init__).parameters
    keys = [k for k in {*own, *OTHERS} - {*LISTED} if not k.endswith("_token")]
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    for value in (str(secret), f"../{secret.name}", [str(secret)], {"vocab": str(secret)}, 10**300):
        hostile = dict.fromkeys(keys, value)
        put(folder, "tokenizer_config.json", {**hostile, **settings})
        put(folder, "special_tokens_map.json", hostile)
        put(folder, "config.json", {**hostile, "model_type": "albert"})
        assert opened(folder, secret) == ids
    (folder / "config.json").unlink()
    for key in LISTED:
        for value in (str(secret), 10**300, -1.5, [None, {}, 0], {"a": [0]}):
            put(folder, "tokenizer_config.json", {**settings, key: value})
            assert opened(folder, secret)


@pytest.mark.parametrize("name", ["vocab", "vocab_file", "merges_file", "name_or_path"])
def test_no_file_is_read_that_two_files_name(name: str, tmp_path: Path, secret: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    byte_level_bpe().model.save(str(folder))
    settings = {"tokenizer_class": "RobertaTokenizer"}
    put(folder, "tokenizer_config.json", settings)
    ids = opened(folder, secret)
    assert not isinstance(ids, str)
    put(folder, "tokenizer_config.json", {**settings, name: str(secret)})
    assert opened(folder, secret) == ids


@pytest.mark.parametrize(
    "name", [*VOCABULARIES, "tokenizer.json", "added_tokens.json", "special_tokens_map.json"]
)
def test_no_link_leads_out(name: str, tmp_path: Path, secret: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    class_of = {"vocab.txt": "BertTokenizer", "spiece.model": "AlbertTokenizer"}
    class_name = class_of.get(name, "RobertaTokenizer")
    put(folder, "tokenizer_config.json", {"tokenizer_class": class_name})
    if name not in VOCABULARIES:
        (folder / "vocab.txt").write_text("\n".join(W))
    os.mkfifo(tmp_path / "pipe")
    for target in (secret, Path("..") / secret.name, Path("/dev/zero"), tmp_path / "pipe"):
        (folder / name).symlink_to(target)
        assert isinstance(opened(folder, secret), str)
        (folder / name).unlink()
