"""Files of a tokenizer that reach for what is not theirs: other files, memory, time."""

from __future__ import annotations

import itertools
import json
import os
import secrets
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bertcore.tokenizer import Tokenizer, open_tokenizer
from bertcore.tokenizer.files import VOCABULARIES
from tests.support.exhaustive import all_but, spread
from tests.support.refused import REFUSALS
from tests.support.tiny_families import CORPUS, byte_level_bpe, save_fast

ROLES = ("unk_token", "cls_token", "sep_token", "pad_token", "mask_token", "bos_token", "eos_token")
CLASSES = (
    *("AlbertTokenizer", "BertTokenizer", "BertJapaneseTokenizer", "CamembertTokenizer"),
    *("CanineTokenizer", "DebertaTokenizer", "DebertaV2Tokenizer", "FlaubertTokenizer"),
    *("GPT2Tokenizer", "LlamaTokenizerFast", "LukeTokenizer", "MistralCommonBackend"),
    *("MPNetTokenizer", "PreTrainedTokenizerFast", "RoCBertTokenizer", "RobertaTokenizer"),
    *("T5Tokenizer", "TokenizersBackend", "XLMRobertaTokenizer", "XLNetTokenizerFast"),
)
KEYS = (
    *("vocab", "vocab_file", "merges", "merges_file", "tokenizer_file", "tokenizer_object"),
    *("gguf_file", "spm_file", "sp_model", "entity_vocab", "entity_vocab_file", "name_or_path"),
    *("init_inputs", "fast_tokenizer_files", "subfolder", "cache_dir", "chat_template"),
    *("_spm_precompiled_charsmap", "post_processor", "auto_map", "sp_model_kwargs"),
)


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file of the server, in the form of each vocabulary, with a word that nobody can guess."""
    word = "canary" + secrets.token_hex(8)
    file = tmp_path / "of-the-server.txt"
    file.write_text("\n".join([*ROLES, "a", word]))
    return file


def word_in(secret: Path) -> str:
    return secret.read_text().splitlines()[-1]


def said(folder: Path) -> str:
    """Open by both ways; return all that can be seen: the vocabulary, a text's tokens, errors."""
    seen: list[str] = []
    openers: list[Callable[[Path], Tokenizer]] = [
        open_tokenizer,
        lambda folder: open_tokenizer(folder, tokens={}),
    ]
    for opener in openers:
        try:
            tokenizer = opener(folder)
            seen += [*tokenizer.vocab, repr(tokenizer.special_tokens), repr(tokenizer.encode("a"))]
        except REFUSALS as error:
            while error is not None:
                seen.append(repr(error))
                error = error.__cause__  # type: ignore[assignment]
    return "\n".join(seen)


def intruder(folder: Path, path: str, *, file: str, class_name: str, vocabulary: str) -> Path:
    """Return a folder that names a foreign file under each key."""
    folder.mkdir()
    (folder / vocabulary).write_bytes(b"x")
    keys: dict[str, Any] = dict.fromkeys(KEYS, path)
    keys["init_inputs"], keys["fast_tokenizer_files"] = [path], [path]
    keys["auto_map"] = {"AutoTokenizer": [path, path]}
    roles = {role: role for role in ROLES}
    config = {"tokenizer_class": class_name, **roles}
    contents = {"tokenizer_config.json": config, "special_tokens_map.json": roles}
    contents[file] = {**contents.get(file, {"model_type": "albert"}), **keys}
    for name, content in contents.items():
        (folder / name).write_text(json.dumps(content))
    return folder


@pytest.mark.parametrize(
    ("class_name", "file"), spread(CLASSES, ["tokenizer_config.json", "special_tokens_map.json"])
)
def test_no_class_opens_a_file_that_the_checkpoint_names(
    class_name: str, file: str, tmp_path: Path, secret: Path
) -> None:
    paths = (str(secret), f"../{secret.name}")
    for number, (vocabulary, path) in enumerate(itertools.product(VOCABULARIES, paths)):
        folder = intruder(
            tmp_path / str(number), path, file=file, class_name=class_name, vocabulary=vocabulary
        )
        assert word_in(secret) not in said(folder)


@pytest.mark.parametrize(
    ("key", "file"), spread(KEYS, ["tokenizer_config.json", "special_tokens_map.json"])
)
def test_no_key_of_a_whole_tokenizer_opens_a_file(
    key: str, file: str, tmp_path: Path, secret: Path
) -> None:
    folder = tmp_path / "folder"
    save_fast(byte_level_bpe(), folder)
    model = json.loads((folder / "tokenizer.json").read_text())["model"]
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.json").write_text(json.dumps(model["vocab"]))
    (folder / "merges.txt").write_text("\n".join(" ".join(merge) for merge in model["merges"]))
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    settings["tokenizer_class"] = "RobertaTokenizer"
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    expected = open_tokenizer(folder, tokens={}).encode(CORPUS[0]).input_ids
    content = json.loads((folder / file).read_text()) if (folder / file).is_file() else {}
    (folder / file).write_text(json.dumps({**content, key: str(secret)}))
    assert word_in(secret) not in said(folder)
    if (key, file) == ("auto_map", "tokenizer_config.json"):
        with pytest.raises(RuntimeError, match="no code of a checkpoint is run"):
            open_tokenizer(folder, tokens={})
    else:
        assert open_tokenizer(folder, tokens={}).encode(CORPUS[0]).input_ids == expected


@pytest.mark.parametrize("name", [*VOCABULARIES, "tokenizer.json", "added_tokens.json"])
def test_no_link_leads_out(name: str, tmp_path: Path, secret: Path) -> None:
    folder = intruder(
        tmp_path / "folder",
        "",
        file="config.json",
        class_name="BertTokenizer",
        vocabulary="vocab.txt",
    )
    (folder / name).unlink(missing_ok=True)
    for target in (secret, Path("..") / secret.name):
        (folder / name).symlink_to(target)
        assert word_in(secret) not in said(folder)
        (folder / name).unlink()


_OPEN = """
import sys
from pathlib import Path
from bertcore.tokenizer import open_tokenizer
for opener in (open_tokenizer, lambda folder: open_tokenizer(folder, tokens={})):
    try:
        opener(Path(sys.argv[1]))
    except (RuntimeError, ValueError, FileNotFoundError):
        pass
"""


def ends(folder: Path) -> None:
    """Open in a process of its own with little memory; it must end by itself, without a crash."""
    limits = ["prlimit", f"--as={6 * 2**30}", "--cpu=60"]
    command = [*limits, sys.executable, "-c", _OPEN, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.parametrize(
    ("class_name", "path"),
    spread(
        ["BertTokenizer", "GPT2Tokenizer", "AlbertTokenizer"], ["/dev/zero", "/dev/urandom", "pipe"]
    ),
)
def test_devices_and_pipes_are_never_read(class_name: str, path: str, tmp_path: Path) -> None:
    if path == "pipe":
        os.mkfifo(tmp_path / path)
        path = str(tmp_path / path)
    folder = intruder(
        tmp_path / "folder",
        path,
        file="tokenizer_config.json",
        class_name=class_name,
        vocabulary="spiece.model",
    )
    for name in ("vocab.txt", "merges.txt", "added_tokens.json"):
        (folder / name).symlink_to(path)
    ends(folder)


def rules(**parts: Any) -> dict[str, Any]:
    return {**json.loads(byte_level_bpe().to_str()), **parts}


def replaced(text: str, by: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"String": text}, "content": by}


def sequence(name: str, parts: list[Any]) -> dict[str, Any]:
    return {"type": "Sequence", name: parts}


SPLIT = {"type": "Split", "behavior": "Isolated", "invert": False}
TEMPLATE: dict[str, Any] = {
    "type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}] * 2
    + [{"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [{"Sequence": {"id": name, "type_id": 0}} for name in "AB"],
    "special_tokens": {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}},
}
TWICE = {**TEMPLATE, "single": TEMPLATE["single"] + TEMPLATE["single"]}
MANY = {"id": "<s>", "ids": [0] * 1000, "tokens": ["<s>"] * 1000}
BOMBS: dict[str, Callable[[], dict[str, Any]]] = {
    "replacements": lambda: {
        "normalizer": sequence("normalizers", [replaced("a", "a" * 1000)] * 4),
    },
    "replacements of nothing": lambda: {
        "normalizer": sequence("normalizers", [replaced("", "ab")] * 40),
    },
    "bytes of bytes": lambda: {
        "pre_tokenizer": sequence(
            "pretokenizers",
            [{"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True}] * 40,
        )
    },
    "a long prefix": lambda: {"normalizer": {"type": "Prepend", "prepend": "a" * 1_000_000}},
    "a template of many tokens": lambda: {
        "post_processor": {
            **TEMPLATE,
            "single": TEMPLATE["single"] * 100_000,
            "special_tokens": {"<s>": MANY},
        }
    },
    "a token of many ids": lambda: {
        "post_processor": {**TEMPLATE, "special_tokens": {"<s>": MANY}}
    },
    "templates of templates": lambda: {"post_processor": sequence("processors", [TWICE] * 12)},
    "rules in rules": lambda: {
        "normalizer": sequence("normalizers", [{"type": "NFKD"}] * 100_000),
    },
    "a pattern": lambda: {"pre_tokenizer": {**SPLIT, "pattern": {"Regex": "x*x*[^x]"}}},
    "a long pattern": lambda: {"pre_tokenizer": {**SPLIT, "pattern": {"Regex": "x" * 100_000}}},
    "added tokens": lambda: {
        "added_tokens": [
            {
                "id": id,
                "content": f"t{id}",
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": True,
                "special": False,
            }
            for id in range(1000, 200_000)
        ]
    },
    "a long piece": lambda: {
        "model": {"type": "WordPiece", "vocab": {"a" * 10_000_000: 0, "[UNK]": 1}}
    },
    "pieces": lambda: {
        "model": {"type": "WordLevel", "vocab": {str(i): i for i in range(2_000_001)}},
    },
    "long words": lambda: {
        "model": {
            "type": "WordPiece",
            "vocab": {"[UNK]": 0},
            "max_input_chars_per_word": 10**9,
        }
    },
}


@pytest.mark.parametrize("bomb", all_but([bomb for bomb in BOMBS if bomb != "pieces"], BOMBS))
def test_rules_that_take_time_or_memory_are_refused_before_a_library_sees_them(
    bomb: str, tmp_path: Path
) -> None:
    save_fast(byte_level_bpe(), tmp_path)
    (tmp_path / "tokenizer.json").write_text(json.dumps(rules(**BOMBS[bomb]())))
    for opener in (open_tokenizer, lambda folder: open_tokenizer(folder, tokens={})):
        with pytest.raises(RuntimeError, match=r"tokenizer.json cannot be read \(its "):
            opener(tmp_path)
