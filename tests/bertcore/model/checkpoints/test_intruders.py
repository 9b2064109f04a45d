"""Whole checkpoints that reach for what is not theirs, by folder, zip, command and hub."""

import contextlib
import io
import json
import os
import secrets
import shutil
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import bertcore
from bertcore.model.checkpoints import hub as hub_module
from bertcore.model.checkpoints import read_card
from bertcore.model.checkpoints.archive import unpack_checkpoint
from bertcore.model.checkpoints.hub import download
from tests.support.adapters import make_adapter
from tests.support.command_line import app, runner
from tests.support.exhaustive import spread
from tests.support.hub import Hub, hub_server, use_empty_cache
from tests.support.kit import edit, put
from tests.support.reopened import REFUSALS
from tests.support.tiny import tiny_bert
from tests.support.tiny_families import make
from tests.support.tiny_others import make_other

TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")
PATH_KEYS = ("vocab", "vocab_file", "merges_file", "tokenizer_file", "gguf_file", "name_or_path")
CONFIG_KEYS = (
    *("_name_or_path", "name_or_path", "transformers_weights", "adapter_path", "gguf_file"),
    *("quantization_config", "auto_map", "tokenizer_class", "torch_dtype", "dtype"),
    *("attn_implementation", "_attn_implementation_internal", "to_dict", "base_model_tp_plan"),
    *("per_layer_config", "generation_config", "chat_template", "vision_config", "text_config"),
)
OTHERS = ("MPNetForMaskedLM", "GPT2LMHeadModel")


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub on this machine, with an empty cache."""
    use_empty_cache(tmp_path, monkeypatch)
    with hub_server() as hub:
        monkeypatch.setattr(hub_module, "download", partial(download, endpoint=hub.endpoint))
        yield hub


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file of the server that is a vocabulary too, with a word that nobody can guess."""
    words = ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]", "a", "canary" + secrets.token_hex(8)]
    file = tmp_path / "of-the-server.txt"
    file.write_text("\n".join(words))
    return file


def shown(opening: Callable[[], Any]) -> str:
    """Open; return all that a page shows of it, or the sentence and all before it."""
    try:
        bert = opening()
    except REFUSALS as error:
        return "".join(traceback.format_exception(error))
    values = json.dumps(bert.config.to_hf_dict(), default=str)
    return "\n".join([*bert.tokenizer.vocab, *bert.report.sentences(), values])


@pytest.mark.parametrize("class_name", ["BertTokenizer", "GPT2Tokenizer", "AlbertTokenizer"])
def test_the_secret_comes_back_by_no_way(
    class_name: str, tmp_path: Path, secret: Path, hub: Hub
) -> None:
    folder = tmp_path / "intruder"
    make("AlbertForMaskedLM", folder)
    for name in TOKENIZER_FILES:
        (folder / name).unlink(missing_ok=True)
    (folder / "spiece.model").write_bytes(b"x")
    words = secret.read_text().splitlines()
    roles = dict(zip(("pad", "unk", "cls", "sep", "mask"), words, strict=False))
    settings = {f"{role}_token": word for role, word in roles.items()}
    settings |= dict.fromkeys(PATH_KEYS, str(secret)) | {"tokenizer_class": class_name}
    put(folder, "tokenizer_config.json", settings)
    hub.add("user/intruder", folder)
    archive = io.BytesIO(Path(shutil.make_archive(str(folder), "zip", folder)).read_bytes())
    ways: list[Callable[[], Any]] = [
        lambda: bertcore.load(folder, device="cpu"),
        lambda: bertcore.load(unpack_checkpoint(archive, tmp_path / "zip"), device="cpu"),
        lambda: bertcore.load("user/intruder", device="cpu"),
    ]
    for way in ways:
        seen = shown(way)
        assert words[-1] not in seen
        assert ("cannot be read" if class_name == "AlbertTokenizer" else "tokenizer_class") in seen
    said = runner.invoke(app, ["inspect", "--checkpoint", str(folder), "--json"])
    assert said.exit_code != 0
    assert words[-1] not in said.output


@pytest.mark.parametrize("name", ["BertForMaskedLM", *OTHERS])
def test_no_key_of_a_config_reaches_anything(name: str, tmp_path: Path, secret: Path) -> None:
    if name in OTHERS:
        make_other(name, tmp_path / "folder")
    else:
        tiny_bert().save(tmp_path / "folder")
    kinds: list[type] = []

    def opening() -> bertcore.Model:
        bert = bertcore.load(tmp_path / "folder", device="cpu")
        kinds.append(type(bert.module))
        return bert

    word = secret.read_text().splitlines()[-1]
    values = json.loads((tmp_path / "folder" / "config.json").read_text())
    for key in CONFIG_KEYS:
        kinds.clear()
        for value in (str(secret), {"quant_method": "gptq", "path": str(secret)}):
            put(tmp_path / "folder", "config.json", {**values, key: value})
            assert word not in shown(opening)
        own = "OtherNetwork" if name in OTHERS else "Network"
        assert key == "quantization_config" or kinds[-1].__name__ == own


def test_an_adapter_of_the_hub_opens_no_folder_of_this_machine(
    tmp_path: Path, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = tiny_bert().save(tmp_path / "base")
    make_adapter(base, tmp_path / "adapter", target_modules=["query"])
    monkeypatch.chdir(tmp_path)
    for number, place in enumerate((str(base), "base", "./base", "adapter/../base")):
        edit(tmp_path / "adapter", "adapter_config.json", base_model_name_or_path=place)
        hub.add(f"user/adapter{number}", tmp_path / "adapter")
        with pytest.raises(ValueError, match="comes from the hub, but its base is"):
            bertcore.load(f"user/adapter{number}", device="cpu")
    edit(tmp_path / "adapter", "adapter_config.json", base_model_name_or_path=str(base))
    bertcore.load(tmp_path / "adapter", device="cpu")  # the user's own folder names another


@pytest.mark.parametrize("path", ["/etc", "../secret", "a/../../secret", "."])
def test_a_module_of_a_sentence_encoder_lies_in_its_folder(path: str, tmp_path: Path) -> None:
    tiny_bert().save(tmp_path / "folder")
    (tmp_path / "secret").mkdir()
    shutil.copy(tmp_path / "folder" / "config.json", tmp_path / "secret" / "config.json")
    modules = [
        {"idx": 0, "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "path": path, "type": "sentence_transformers.models.Pooling"},
    ]
    put(tmp_path / "folder", "modules.json", modules)
    with pytest.raises(RuntimeError, match=r"not beside it|no config\.json"):
        bertcore.load(tmp_path / "folder", device="cpu")


FILES = (
    *("config.json", "model.safetensors", "model.safetensors.index.json", "pytorch_model.bin"),
    *("vocab.txt", "vocab.json", "merges.txt", "spiece.model", "tokenizer.json", "README.md"),
    *("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "modules.json"),
    *("generation_config.json", "adapter_config.json", "adapter_model.safetensors"),
    *("sentence_bert_config.json", "1_Pooling/config.json"),
)


@pytest.mark.parametrize(
    ("name", "kind"), spread(FILES, ["absolute link", "relative link", "device", "pipe"])
)
def test_no_file_of_a_checkpoint_may_be_another(
    name: str, kind: str, tmp_path: Path, secret: Path
) -> None:
    folder = tiny_bert().save(tmp_path / "folder")
    if "_Pooling" in name or name.startswith("sentence"):
        parts = {"": "Transformer", "1_Pooling": "Pooling"}
        modules = [
            {"idx": i, "path": path, "type": f"sentence_transformers.models.{part}"}
            for i, (path, part) in enumerate(parts.items())
        ]
        put(folder, "modules.json", modules)
    file = folder / name
    file.parent.mkdir(exist_ok=True)
    file.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(file)
    else:
        upwards = Path("/".join([".."] * (1 + name.count("/")))) / secret.name
        targets = {"absolute link": secret, "relative link": upwards, "device": Path("/dev/zero")}
        file.symlink_to(targets[kind])
    word = secret.read_text().splitlines()[-1]
    assert word not in shown(lambda: bertcore.load(folder, device="cpu"))
    assert word not in (read_card(folder) or "")
    with contextlib.suppress(*REFUSALS):
        bertcore.load(folder, device="cpu")
