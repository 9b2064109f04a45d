"""The file of `bertscope export --live`: what it holds, and which checkpoints it refuses."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

import bertcore
from app.live.live_file import PAGES, live_file
from app.live.weights import pack_weights
from bertcore import Bert
from bertcore.model.tokenizer import AddedToken
from tests.support.command_line import invoke, refusal, succeed
from tests.support.tiny import tiny_bert, tiny_config, tiny_network, tiny_vocabulary
from tests.support.tiny_families import make


def test_the_file_asks_for_nothing_and_shows_hostile_words_as_text() -> None:
    words = tiny_vocabulary()
    words[-1] = "</script><script>alert(1)</script><!--"
    bert = Bert(tiny_network(tiny_config()), bertcore.Tokenizer(words), name="<b>&\u202e")
    written = live_file(bert)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', written)
    assert "default-src 'none'" in policy[1]
    assert policy[1].count("unsafe") == policy[1].count("'wasm-unsafe-eval'") == 1
    assert not re.search(r'(src|href)="(?!data:)', written)
    assert written.count("</script>") == 4  # the blocks' own
    assert "&lt;b&gt;&amp;\u2039U+202E\u203a" in written
    assert settings_of(written)["examples"][0]["first"].startswith("The fisherman")


def settings_of(written: str) -> dict[str, Any]:
    settings = re.search(r'id="settings">(.+?)</script>', written)
    found: dict[str, Any] = json.loads(settings[1])
    return found


def test_the_examples_are_those_of_the_checkpoint() -> None:
    for name, text in (("zh", "我爱[MASK]习。"), ("default", "He opened the door")):
        bert = bertcore.load(name, device="cpu")
        settings = settings_of(live_file(bert, source=name))
        assert settings["examples"][0]["first"].startswith(text)


def test_a_fine_tuned_head_that_is_left_out_is_named() -> None:
    bert = bertcore.load("sentiment", device="cpu")
    assert "what a fine-tuned head answers is left out" in live_file(bert)
    assert "<bdi>masked words and next sentence</bdi>" in live_file(tiny_bert())


def test_what_a_browser_does_not_compute_is_refused(tmp_path: Path) -> None:
    deep = tiny_bert(tiny_config(num_hidden_layers=13))
    with pytest.raises(ValueError, match="13 layers; a browser computes up to 12"):
        pack_weights(deep)
    words = tiny_vocabulary()
    tokenizer = bertcore.Tokenizer(words, added_tokens=[AddedToken(words[-1], normalized=True)])
    with pytest.raises(ValueError, match="which it looks for in the normalised text"):
        pack_weights(Bert(tiny_network(tiny_config()), tokenizer, name="tiny"))
    with pytest.raises(ValueError, match="reads BERT only"):
        pack_weights(tiny_bert(tiny_config(hidden_act="relu")))


def test_the_command(tmp_path: Path) -> None:
    folder, out = tiny_bert().save(tmp_path / "tiny"), tmp_path / "live.html"
    words = ("--live", out, "--checkpoint", folder, "--weights", "float32")
    assert "Open it in a browser" in succeed("export", *words)
    written = out.read_text(encoding="utf-8")
    assert "<title>BERT on your own sentence" in written
    assert settings_of(written)["pages"] == [*PAGES]


def test_the_command_writes_a_site_of_the_pages_that_are_named(tmp_path: Path) -> None:
    folder, out = tiny_bert().save(tmp_path / "tiny"), tmp_path / "new" / "site"
    words = ("--site", out, "--checkpoint", folder, "--pages", "attention", "tokens")
    assert "lesson: From text to word pieces (13 of 14 steps)" in succeed("export", *words)
    written = {path.name: path.read_bytes() for path in out.iterdir()}
    assert b"unsafe" not in written["index.html"].partition(b"<title>")[0]
    settings = settings_of(written["index.html"].decode())
    assert settings["pages"] == ["attention", "tokens"]
    files = settings["files"]
    assert {*written} == {"index.html", files["worker"], files["weights"]}
    for name in (files["worker"], files["weights"]):
        assert name.split(".")[1] == hashlib.sha256(written[name]).hexdigest()[:16]
    weights = written[files["weights"]]
    assert files["size"] == len(weights)
    assert settings["hash"] == hashlib.sha256(weights).hexdigest()
    assert weights[:99] not in written["index.html"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (["--live", "a.txt"], "expected a name that ends in .html"),
        (["--live", "a.html", "--pages", "tokens", "bias"], "--pages has 'bias'; expected some of"),
        (["--live", "a.html", "--site", "b"], "give one of --live FILE.html and --site FOLDER"),
        (["--site", "."], "Name a new folder"),
        (["--live", "a.html", "--weights", "int4"], "expected one of rounded, float16, float32"),
        (["folder", "--live", "a.html"], "`bertscope export folder` was removed in 0.3.0"),
        (["--atlas", "a.parquet"], "`bertscope export --atlas` was removed in 0.3.0"),
        ([], "give one of --live FILE.html"),
    ],
)
def test_a_wrong_line_is_a_sentence(
    line: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    assert told in refusal("export", *line)
    assert [path.name for path in tmp_path.iterdir()] == ["here"]


def test_another_family_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "roberta"
    make("RobertaForMaskedLM", folder)
    done = invoke("export", "--live", tmp_path / "a.html", "--checkpoint", folder)
    assert done.exit_code == 2
    assert "Error:" in done.stderr
    assert not (tmp_path / "a.html").exists()
