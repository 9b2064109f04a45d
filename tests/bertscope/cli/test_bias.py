"""`bertscope bias`: each measure prints what the core says, and bad input is a sentence."""

import json
from pathlib import Path
from typing import Any

import pytest

from bertcore import Model, load
from bertcore.analysis.bias import (
    Estimate,
    along_direction,
    associate,
    association_tests,
    debias_table,
    known_audit,
    known_tests,
    lean,
    measure_effects,
    read_crows_pairs,
    score_crows_pairs,
    score_templates,
    stereotype_share,
    template_audits,
)
from bertcore.data.files import BadRows
from tests.support.command_line import refusal, succeed


@pytest.fixture(autouse=True)
def short_exam(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do without the grammar exam, with which each run of the command ends."""

    def exam(bert: Model) -> Estimate:
        return Estimate(0.75, 0.5, 1.0)

    monkeypatch.setattr("bertcore.analysis.bias.grammar_exam", exam)


@pytest.fixture
def crows(tmp_path: Path) -> Path:
    path = tmp_path / "crows.csv"
    path.write_text(
        "sent_more,sent_less,bias_type\nThe old man sat.,The old woman sat.,gender\n,He sat.,x\n"
        "A [red]bad river.,A good river.,other\n"
    )
    return path


def found(*words: str | Path) -> dict[str, Any]:
    return dict(json.loads(succeed("bias", *words, "--json")))


@pytest.mark.parametrize("layer", [None, 1])
def test_our_own_sets_are_those_of_the_core(layer: int | None, tiny: Path) -> None:
    words = () if layer is None else ("--layers", str(layer))
    report, bert = found("--checkpoint", tiny, *words), load(tiny, device="cpu")
    audit = known_audit(bert, template_audits()[0])
    scores = score_templates(bert, audit.templates, audit.groups, audit.fillers)
    assert len(report["templates"]) == len(template_audits())
    assert report["templates"][0]["mean"] == pytest.approx(lean(scores).mean, abs=1e-5)
    assert report["templates"][0]["over_words"] == [None, None]
    tests = known_tests(bert, association_tests())
    for each, test in zip(report["associations"], tests, strict=True):
        expected = associate(bert, test, layer=layer)
        assert each["effect_size"] == pytest.approx(expected.effect_size, abs=1e-5)
        assert each["p_value"] == pytest.approx(expected.p_value)
    along = along_direction(bert, layer=layer)
    assert report["direction"]["explained"] == pytest.approx(along.explained)
    assert report["direction"]["probes"]["LEACE"]["accuracy"] == along.probes["LEACE"].accuracy
    assert report["minimal_pairs"]["mean"] == 0.75
    assert "Goldfarb-Tarrant" in report["notes"][-1]


def test_the_tables_name_what_was_measured(tiny: Path) -> None:
    out = succeed("bias", "--checkpoint", tiny)
    for name in (*(audit.name for audit in template_audits()), "nurse", "neutralised", "75.0%"):
        assert name in out


def test_crows_pairs(tiny: Path, crows: Path) -> None:
    words = ("--data", crows, "--checkpoint", tiny)
    report, bert = found(*words), load(tiny, device="cpu")
    pairs = read_crows_pairs(crows, bad_rows=BadRows(skip=True))
    share = stereotype_share(score_crows_pairs(bert, pairs))
    assert report["crows_pairs"]["mean"] == share.mean
    assert [item["row"] for item in report["items"]] == [1, 3]
    assert "1 bad row" in report["notes"][0]
    out = succeed("bias", *words)
    assert f"{share.low:.4g}" in out
    assert "Blodgett" in out


def test_a_corrected_checkpoint_is_saved_with_its_price(tiny: Path, tmp_path: Path) -> None:
    saved = tmp_path / "debiased"
    report = found("--save", saved, "--checkpoint", tiny)
    bert = load(tiny, device="cpu")
    corrected = debias_table(bert)
    effects = measure_effects(bert, corrected)
    assert [row["measure"] for row in report["effects"]] == [effect.name for effect in effects]
    assert report["effects"][0]["after"] == pytest.approx(effects[0].after.mean, abs=1e-5)
    text = "she was [MASK]."
    assert load(saved, device="cpu").fill_mask(text) == corrected.fill_mask(text)
    assert "is not empty" in refusal("bias", "--save", saved, "--checkpoint", tiny)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--data", "nowhere.csv"), "nowhere.csv"),
        (("--data", "a.csv", "--save", "x"), "--data, --layers and --save each"),
        (("--layers", "99"), "layer is 99"),
        (("crows-pairs", "a.csv"), "`bertscope bias crows-pairs` was removed"),
    ],
)
def test_bad_input_is_a_sentence(words: tuple[str, ...], expected: str, tiny: Path) -> None:
    assert expected in refusal("bias", *words, "--checkpoint", tiny)
