"""Every class that is run, and every key of its settings with a hostile value.

What no list names has no effect; what a list names is refused in a sentence unless it is of its
type. No file is opened but those of the folder.
"""

from __future__ import annotations

import inspect
import itertools
import json
import os
import secrets
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import transformers

from bertcore.tokenizer import open_tokenizer
from bertcore.tokenizer.classes import _CLASSES, _LISTS, _NUMBERS, _SWITCHES
from tests.support.refused import REFUSALS
from tests.support.tiny_families import byte_level_bpe, save_fast, unigram

CLASSES = sorted(_CLASSES)
LISTED = (*_SWITCHES, *_NUMBERS, *_LISTS, "added_tokens_decoder", "model_max_length", "unk_token")
"""Keys that are read, if they are of their type."""
OTHERS = (
    *("vocab", "vocab_file", "merges", "merges_file", "tokenizer_file", "tokenizer_object"),
    *("gguf_file", "spm_file", "sp_model", "sp_model_kwargs", "name_or_path", "init_inputs"),
    *("fast_tokenizer_files", "subfolder", "cache_dir", "chat_template", "post_processor"),
    *("padding_side", "truncation_side", "truncation_strategy", "stride", "max_length"),
    *("model_input_names", "clean_up_tokenization_spaces", "processor_class", "backend"),
    *("from_slow", "trust_remote_code", "local_files_only", "revision", "token", "use_auth_token"),
    *("wordpieces_prefix", "errors", "dropout", "continuing_subword_prefix", "src_lang"),
    *("tgt_lang", "word_delimiter_token_id", "device", "dtype", "pattern", "__class__", "self"),
)
"""Keys of one class or another that are not handed on."""
TEXT = "A film of the river."


class Watch:
    """The files that Python opens meanwhile."""

    def __init__(self) -> None:
        self.is_on = False
        self.opened: list[str] = []
        sys.addaudithook(self)

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.is_on and event == "open":
            self.opened.append(os.fsdecode(arguments[0]) if _is_path(arguments[0]) else "")


def _is_path(name: object) -> bool:
    return isinstance(name, str | bytes | os.PathLike)


WATCH = Watch()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file of the server, a pipe, and below it the checkpoints."""
    place = tmp_path_factory.mktemp("server")
    (place / "secret").write_text("\n".join(["[UNK]", "a", "canary" + secrets.token_hex(8)]))
    os.mkfifo(place / "pipe")
    return place


def values(place: Path) -> list[object]:
    levels: object = "a"
    for _ in range(200):
        levels = [levels]
    return [
        str(place / "secret"),
        "../secret",
        "/dev/zero",
        str(place / "pipe"),
        10**300,
        -1,
        1e308,
        levels,
        {"type": "Replace", "pattern": {"Regex": "(a+)+$"}, "content": "a" * 1000},
        "(a+)+$",
        "a" * 100_000,
        ["a" * 100_000] * 3,
        [None, {}, 0],
        "os.system",
    ]


@cache
def keys_of(class_name: str) -> tuple[str, ...]:
    """Return the keys that a class takes, and those of all others, of which none is listed."""
    own = inspect.signature(getattr(transformers, class_name).__init__).parameters
    return tuple(name for name in dict.fromkeys((*own, *OTHERS)) if not _is_listed(name))


def _is_listed(name: str) -> bool:
    return name in (*LISTED, "kwargs", "args") or name.endswith("_token")


def folder_of(class_name: str, place: Path) -> tuple[Path, dict[str, Any], list[int] | str]:
    """Return a folder that a class opens, its settings, and its ids of TEXT (see `opened`)."""
    folder = place / class_name
    for fast in (unigram(albert=False), unigram(albert=True), byte_level_bpe()):
        save_fast(fast, folder)
        settings = json.loads((folder / "tokenizer_config.json").read_text())
        settings["tokenizer_class"] = class_name
        ids = opened(folder, settings, place)
        if not isinstance(ids, str):
            return folder, settings, ids
    assert class_name == "GPTNeoXTokenizer", ids  # adds no special tokens, which is refused
    return folder, settings, ids


def opened(folder: Path, settings: dict[str, Any], place: Path) -> list[int] | str:
    """Return the ids of TEXT, or the refusal; no other file may be opened or shown."""
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    WATCH.opened, WATCH.is_on = [], True
    seen: list[int] | str
    try:
        tokenizer = open_tokenizer(folder, tokens={})
        seen = tokenizer.encode(TEXT).input_ids
        shown = repr(sorted(tokenizer.vocab))
    except REFUSALS as error:
        seen = shown = repr(error)
        assert len(seen) < 3000
    finally:
        WATCH.is_on = False
    assert (place / "secret").read_text().splitlines()[-1] not in shown
    outside = {str(place / "secret"), str(place / "pipe"), "/dev/zero"}
    assert not outside & {os.path.realpath(name) for name in WATCH.opened}
    return seen


@pytest.mark.parametrize("class_name", CLASSES)
def test_no_key_of_a_class_takes_a_hostile_value(class_name: str, place: Path) -> None:
    folder, settings, ids = folder_of(class_name, place)
    all_values = values(place)
    turn = CLASSES.index(class_name)
    for value in all_values[turn % 3 :: 3]:
        hostile = dict.fromkeys(keys_of(class_name), value)
        assert opened(folder, {**hostile, **settings}, place) == ids
    for number, key in enumerate(LISTED):
        for value in itertools.islice(
            itertools.cycle(all_values), turn + number, turn + number + 2
        ):
            found = opened(folder, {**settings, key: value}, place)
            assert isinstance(found, str) or len(found) < 100, (key, value)


def test_all_values_of_a_listed_key_are_refused_or_read(place: Path) -> None:
    folder, settings, _ = folder_of("RobertaTokenizer", place)
    for key in LISTED:
        refused = [
            isinstance(opened(folder, {**settings, key: value}, place), str)
            for value in values(place)
        ]
        assert any(refused)
