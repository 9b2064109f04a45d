"""`bertscope bias`: each measure prints what the core says, and bad input is a sentence."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bertcore import load
from bertcore.bias import (
    Group,
    association,
    association_tests,
    erase,
    fit_erasure,
    lean,
    measure_erasure,
    score_templates,
    table_vectors,
    template_audits,
)
from bertcore.bias.direction import along_direction
from bertcore.bias.shares import Estimate, grammar_exam
from bertcore.model import Model
from bertscope.cli.main import app
from tests.support.tiny import tiny_bert

runner = CliRunner(env={"COLUMNS": "200", "TERM": "dumb"})
TYPED = ("templates", "--template", "[X] was [MASK].", "--group", "w=she,woman", "--group", "m=he")


@pytest.fixture(scope="module", autouse=True)
def one_exam() -> Iterator[None]:
    """Let each checkpoint sit the grammar exam once: each run of the command ends with it."""
    taken: dict[str, Estimate] = {}

    def kept(bert: Model) -> Estimate:
        assert bert.report is not None
        name = bert.report.fingerprint
        if name not in taken:
            taken[name] = grammar_exam(bert)
        return taken[name]

    with pytest.MonkeyPatch.context() as patch:
        # The package has a function of the module's name.
        patch.setattr(sys.modules["bertcore.bias.shares"], "grammar_exam", kept)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert().save(tmp_path_factory.mktemp("checkpoint") / "tiny")


def run(*words: str | Path) -> str:
    result = runner.invoke(app, ["bias", *map(str, words), "--device", "cpu"])
    assert result.exit_code == 0, (result.stderr, result.exception)
    return result.stdout


def refusal(*words: str | Path) -> str:
    result = runner.invoke(app, ["bias", *map(str, words), "--device", "cpu"])
    assert result.exit_code == 2, (result.stdout, result.stderr, result.exception)
    return result.stderr


def test_typed_templates_are_those_of_the_core(folder: Path) -> None:
    found = json.loads(run(*TYPED, "--filler", "good,bad", "--checkpoint", folder, "--json"))
    groups = [Group("w", ("she", "woman")), Group("m", ("he",))]
    scores = score_templates(load(folder), ["[X] was [MASK]."], groups, ["good", "bad"])
    (audit,) = found["audits"]
    assert audit["mean"] == pytest.approx(lean(scores).mean, abs=1e-5)
    assert audit["over_words"] == [None, None]
    assert 0 <= found["grammar_exam"] <= 1
    assert "Goldfarb-Tarrant" in found["notes"][-1]


def test_our_own_sets_are_printed() -> None:
    out = run("templates", "--checkpoint", "default")
    for audit in template_audits():
        assert audit.name in out
    assert "nurse" in out


def test_crows_pairs(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "crows.csv"
    path.write_text(
        "sent_more,sent_less,bias_type\nThe old man sat.,The old woman sat.,gender\n"
        "A [red]bad river.,A good river.,[b]other\n"
    )
    out = run("crows-pairs", path, "--checkpoint", folder)
    assert "[b]other" in out  # no markup of the terminal
    assert "Blodgett" in out
    found = json.loads(run("crows-pairs", path, "--checkpoint", folder, "--json"))
    assert {share["group"] for share in found["shares"]["aula"]} == {"all", "gender", "[b]other"}
    assert len(found["items"]) == 2
    assert "frequency" not in found["shares"]


def test_stereoset_and_winobias(folder: Path, tmp_path: Path) -> None:
    roles = ("stereotype", "anti-stereotype", "unrelated")
    sentences = [
        {"sentence": f"The man was {word}.", "gold_label": role}
        for word, role in zip(("bad", "good", "fish"), roles, strict=True)
    ]
    item = {"id": "1", "target": "man", "bias_type": "gender", "context": "The man was BLANK."}
    path = tmp_path / "dev.json"
    path.write_text(json.dumps({"data": {"intrasentence": [{**item, "sentences": sentences}]}}))
    found = json.loads(run("stereoset", path, "--checkpoint", folder, "--json"))
    assert found["scores"][0]["num_items"] == 1
    for name, word in (("pro", "he"), ("anti", "she")):
        line = f"1 [The fisher] sat with the woman because [{word}] did good.\n"
        (tmp_path / f"{name}_stereotyped_type1.txt.dev").write_text(line)
    out = run("winobias", tmp_path / "pro_stereotyped_type1.txt.dev", "--checkpoint", folder)
    assert "fisher" in out


def test_weat_on_the_table_and_on_a_layer() -> None:
    found = json.loads(run("weat", "--json"))
    bert, test = load("default", device="cpu"), association_tests()[1].test
    sets = [table_vectors(bert, words) for words in (*test.targets, *test.attributes)]
    expected = association(*sets)
    assert found["tests"][1]["effect_size"] == pytest.approx(expected.effect_size)
    assert found["tests"][1]["p_value"] == pytest.approx(expected.p_value)
    other = json.loads(run("weat", "--layer", "2", "--pooling", "cls", "--json"))
    assert other["tests"][1]["effect_size"] != pytest.approx(expected.effect_size)


def test_direction() -> None:
    found = json.loads(run("direction", "--json"))
    assert sum(found["explained"]) == pytest.approx(1)
    expected = along_direction(load("default", device="cpu"))
    assert {name: each["accuracy"] for name, each in found["probes"].items()} == {
        name: pytest.approx(each.accuracy) for name, each in expected.probes.items()
    }
    assert found["cosines"]["nurse"] == pytest.approx(
        float(expected.cosines[expected.words.index("nurse")]), abs=1e-5
    )


def test_a_debiased_checkpoint_is_saved(tmp_path: Path) -> None:
    folder = tmp_path / "debiased"
    found = json.loads(run("direction", "--save", folder, "--json"))
    assert found["saved"] == str(folder)
    assert "neutralised" in " ".join(found["notes"])
    after = json.loads(run("direction", "--checkpoint", folder, "--json"))
    # The direction is found anew from the equalised pairs, so what is left is not quite zero.
    reach = [max(map(abs, each["cosines"].values())) for each in (found, after)]
    assert reach[1] < reach[0] / 3
    assert "not empty" in refusal("direction", "--save", folder)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("love",), "the measure is 'love'"),
        (("crows-pairs",), "needs a file"),
        (("stereoset", "nowhere.json"), "nowhere.json"),
        (TYPED, "together"),
        (("templates", "--template", "x", "--group", "a", "--filler", "y"), "a name and words"),
        ((*TYPED, "--filler", "\u4e00"), "cannot be written"),
        (("templates", "a.csv"), "takes no file"),
        (("templates", "--save", "x"), "--save is for"),
        (("weat", "--layer", "99"), "layer is 99"),
        (("weat", "--layer", "1", "--pooling", "sum"), "pooling is 'sum'"),
    ],
)
def test_bad_input_is_a_sentence(words: tuple[str, ...], expected: str, folder: Path) -> None:
    checkpoint = () if "weat" in words else ("--checkpoint", str(folder))
    assert expected in " ".join(refusal(*words, *checkpoint).split())


def test_an_erasure_is_measured_and_saved(folder: Path, tmp_path: Path) -> None:
    saved = tmp_path / "erased"
    found = json.loads(
        run("erase", "--layer", "2", "--checkpoint", folder, "--save", saved, "--json")
    )
    bert = load(folder)
    erasure = fit_erasure(bert, 2, "leace")
    effects = measure_erasure(bert, erasure)
    assert [each["name"] for each in found["effects"]] == [each.name for each in effects]
    for each, effect in zip(found["effects"], effects, strict=True):
        assert each["after"]["mean"] == pytest.approx(effect.after.mean, abs=1e-5)
    text = "she was [MASK]."
    answer = load(saved).fill_mask(text)
    for (one, p), (other, q) in zip(
        answer[0], erase(bert, erasure).fill_mask(text)[0], strict=True
    ):
        assert one == other
        assert p == pytest.approx(q, abs=1e-5)


def test_an_erasure_that_cannot_be_folded_is_a_sentence(folder: Path, tmp_path: Path) -> None:
    words = ("erase", "--layer", "1", "--checkpoint", folder)
    assert "residual" in refusal(*words, "--save", tmp_path / "e")
    assert not (tmp_path / "e").exists()
    assert "leace, inlp" in refusal(*words, "--method", "magic")
    assert "no hidden state 9" in refusal("erase", "--layer", "9", "--checkpoint", folder)
    assert "no file" in refusal("erase", "x.csv", "--checkpoint", folder)


def test_a_report_is_one_file(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    assert "report" in run("--checkpoint", folder, "--report", path)
    html = path.read_text(encoding="utf-8")
    fingerprint = load(folder).report
    assert fingerprint is not None
    assert fingerprint.fingerprint in html
    assert html.count("<h2>") == 6  # quality, four measures of our own sets, what was left out
    assert "already exists" in refusal("--checkpoint", folder, "--report", path)
    # Told before the checkpoint is opened, which there is not.
    nowhere = refusal("--checkpoint", "none", "--report", tmp_path / "no" / "report.html")
    assert "--report is" in nowhere
    assert "does not exist. Create it first." in nowhere
    assert "needs a file" in refusal(
        "winobias", "--checkpoint", folder, "--report", tmp_path / "other.html"
    )
