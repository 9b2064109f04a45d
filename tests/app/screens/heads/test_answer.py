"""What is said of a head: numbers, and whether they are more than chance or place."""

import dataclasses

import numpy as np
import pytest

from app.screens.heads.answer import cell_meaning, ends, place_name, sentences
from app.screens.heads.names import HABITS, QUESTIONS
from app.screens.heads.views import head_bars
from bertcore.analysis.heads.report import HeadReport, Measured, report_heads
from bertcore.analysis.heads.texts import HeadTexts, bundled_trees, of_trees, split_pairs
from tests.support.tiny import tiny_bert, tiny_config

TEXTS = HeadTexts(split_pairs(["the man went to the river bank", "it had rained ||| he went"]), ())


@pytest.fixture(scope="module")
def report() -> HeadReport:
    return report_heads(tiny_bert(), TEXTS, of_trees(bundled_trees().trees[:20]))


def of(report: HeadReport, key: str) -> Measured:
    (measured,) = [measured for measured in report.measured if measured.key == key]
    return measured


def with_hits(report: HeadReport, share: float) -> HeadReport:
    """Return a report in which head 0.0 finds this fraction of the objects."""
    scores = report.scores
    hits = np.zeros_like(scores.hits)
    arcs = np.flatnonzero(scores.pairs[:, 3] == scores.names.index("obj"))
    hits[arcs[: round(share * len(arcs))], :, 0, 0] = True
    return dataclasses.replace(report, scores=dataclasses.replace(scores, hits=hits))


def test_every_measure_and_relation_has_a_sentence(report: HeadReport) -> None:
    known = {measured.key: measured for measured in report.measured}
    assert set(QUESTIONS) <= set(known)
    for measured in known.values():
        said = sentences(measured, (1, 2), is_best=False)
        assert said.startswith("**Layer 1 head 2**: ")
        assert said.endswith(".")
        assert not {"{", "}"} & set(said)
    assert cell_meaning(known["b_to_a"]) == "the mean over 1 sentence, in percent"
    assert cell_meaning(known["entropy"]) == "the mean over 2 sentences, in nats"
    num_cases = report.scores.cases("obj", "to_head")
    assert f" {num_cases} cases" in cell_meaning(known["obj>to_head"])


def test_a_relation_is_held_against_the_fixed_place(report: HeadReport) -> None:
    offset, baseline = report.scores.baseline("obj", "to_dependent")
    assert 0.1 < baseline < 0.9
    for share, verdict in ((1.0, "than any one place"), (0.0, "does worse"), (baseline, "cannot")):
        measured = of(with_hits(report, share), "obj>to_dependent")
        said = sentences(measured, (0, 0), is_best=share == 1)
        assert verdict in said
        assert f"{place_name(offset)} is right in {baseline:.1%}" in said
        assert ("does it most" in said) == (share == 1)
        assert ("best of 8 heads" in said) == (share == 1)


def test_a_share_no_larger_than_a_uniform_heads_is_no_habit(report: HeadReport) -> None:
    """A random head attends to all tokens about alike."""
    said = sentences(of(report, "to_previous"), (0, 1), is_best=True)
    value = report.statistics.of("to_previous").mean[0, 1]
    assert f"{value:.1%} of its attention" in said
    assert said.endswith("so this is no habit.")


def test_what_no_head_does_is_done_most_by_none() -> None:
    bert = tiny_bert(tiny_config(is_decoder=True), heads=frozenset({"mlm"}))
    report = report_heads(bert, TEXTS, of_trees(bundled_trees().trees[:20]))
    said = sentences(of(report, "a_to_b"), (0, 0), is_best=True)
    assert said.startswith("**Layer 0 head 0**: from tokens of text A, 0.0% of its attention")
    assert "gives 0.0%, so this is no habit." in said


def test_between_texts_and_units_are_in_words(report: HeadReport) -> None:
    value = report.statistics.of("a_to_b").mean[0, 1]
    said = sentences(of(report, "a_to_b"), (0, 1), is_best=True)
    # One of the texts is a pair.
    expected = f"from tokens of text A, {value:.1%} of its attention goes to text B (1 sentence: "
    assert expected in said
    layer, head = of(report, "entropy").best or (-1, -1)
    mean, low, high = (float(part[layer, head]) for part in report.statistics.of("entropy"))
    assert sentences(of(report, "entropy"), (layer, head), is_best=True) == (
        f"**Layer {layer} head {head}** has the highest entropy: {mean:.2f} nats (95%: {low:.2f} "
        f"to {high:.2f}; 2 sentences)."
    )
    said = sentences(of(report, "distance"), (0, 1), is_best=False)
    distance = report.statistics.of("distance").mean[0, 1]
    assert f"its mean distance is {distance:.2f} tokens (" in said


def test_bars_are_fractions_of_the_attention_alone(report: HeadReport) -> None:
    bars, uniform = head_bars(report, (0, 1)).traces
    known = {measured.key for measured in report.measured}
    shown = [name for name in HABITS if name != "evenness" and name in known]
    assert list(bars["y"]) == list(uniform["y"]) == [HABITS[name] for name in reversed(shown)]


def test_names_of_places_and_ends() -> None:
    assert [place_name(n) for n in (-3, 1)] == ["word 3 places before", "word after"]
    assert ends("obj", "to_head") == ("a direct object", "its verb")
    assert ends("x:y", "to_dependent") == ("a head word", "its x:y")
    assert ends("all", "to_head") == ("a dependent", "its head word")
