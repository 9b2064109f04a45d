"""The file of `bertscope export --live`: what it holds, and which checkpoints it refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import bertcore
from app.live.live_file import live_file
from app.live.weights import pack_weights
from bertcore import Bert
from bertcore.tokenizer import AddedToken
from bertscope.cli.main import app
from tests.support.tiny import tiny_bert, tiny_config, tiny_network, tiny_vocabulary
from tests.support.tiny_families import make

runner = CliRunner(env={"COLUMNS": "160", "TERM": "dumb"})


def test_the_file_asks_for_nothing_and_shows_hostile_words_as_text() -> None:
    words = tiny_vocabulary()
    words[-1] = "</script><script>alert(1)</script><!--"
    bert = Bert(tiny_network(tiny_config()), bertcore.Tokenizer(words), name="<b>&\u202e")
    written = live_file(bert)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', written)
    assert policy is not None
    assert "default-src 'none'" in policy[1]
    assert "unsafe" not in policy[1].replace("style-src 'unsafe-inline'", "")
    assert not re.search(r'(src|href)="(?!data:)', written)
    assert written.count("</script>") == 4  # the blocks' own
    assert "&lt;b&gt;&amp;\u2039U+202E\u203a" in written
    settings = re.search(r'id="settings">(.+?)</script>', written)
    assert settings is not None
    assert json.loads(settings[1])["examples"][0]["first"].startswith("The fisherman")


def test_the_examples_are_those_of_the_checkpoint() -> None:
    for name, text in (("zh", "我爱[MASK]习。"), ("default", "The fisherman")):
        bert = bertcore.load(name, device="cpu")
        assert isinstance(bert, Bert)
        settings = re.search(r'id="settings">(.+?)</script>', live_file(bert, source=name))
        assert settings is not None
        assert json.loads(settings[1])["examples"][0]["first"].startswith(text)


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
    line = ["export", "--live", str(out), "--checkpoint", str(folder), "--weights", "float32"]
    done = runner.invoke(app, line)
    assert done.exit_code == 0, done.output
    assert "Open it in a browser" in done.stdout
    assert "<title>BERT on your own sentence" in out.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (["--live", "a.txt"], "expected a name that ends in .html"),
        (["--live", "a.html", "--weights", "int4"], "expected one of int8, float16, float32"),
        (["--live", "a.html", "--layers", "1"], "--layers would have no effect"),
        (["folder", "--live", "a.html"], "would have no effect: it is for --atlas"),
        (["folder", "--atlas", "a.parquet", "--weights", "int8"], "it is for --live"),
        (["--atlas", "a.parquet"], "--atlas needs the folder"),
        ([], "give --live FILE.html"),
    ],
)
def test_a_wrong_line_is_a_sentence(
    line: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = runner.invoke(app, ["export", *line])
    assert done.exit_code == 2
    assert told in done.stderr
    assert not [*tmp_path.iterdir()]


def test_another_family_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "roberta"
    make("RobertaForMaskedLM", folder)
    done = runner.invoke(
        app, ["export", "--live", str(tmp_path / "a.html"), "--checkpoint", str(folder)]
    )
    assert done.exit_code == 2
    assert "Error:" in done.stderr
    assert not (tmp_path / "a.html").exists()
