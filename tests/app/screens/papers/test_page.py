"""The page What the papers say: every view, its numbers, its links."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from app.navigation import PAGES
from app.screens.papers.page import (
    ABLATION_NAMES,
    ABLATIONS,
    CLAIMS,
    NUMBERS,
    READING,
    RECORDED_PARTS,
    SQUAD,
    TOPICS,
    TRANSFORMER,
    WAYS,
)
from app.screens.papers.views import WORTH
from app.screens.tokens.page import VIEWS as TOKENS_VIEWS
from bertcore.lessons.papers import read_papers
from bertcore.training.finetuning.recorded import PARTS, recorded_accuracy
from tests.support.opened import charts, numbers, ok, page_of, python_shown, said

LITERATURE = read_papers()


def opened(**query: str) -> AppTest:
    return ok(page_of("papers", **query).run())


@pytest.mark.parametrize("topic", TOPICS)
def test_each_claim_stands_beside_what_is_true(topic: str) -> None:
    app = opened(papers_view=CLAIMS, papers_topic=topic)
    shown = said(app)
    for claim in LITERATURE.claims:
        assert (claim.told in shown) == (claim.topic == topic), claim.told
        if claim.topic == topic:
            assert claim.true in shown
            for source in claim.source:
                assert f"({source.paper.url}), {source.where}" in shown


def test_pages_that_show_it_exist() -> None:
    for claim in LITERATURE.claims:
        assert claim.page is None or claim.page in PAGES
        of_page = (
            claim.page == "tokens" and claim.view in TOKENS_VIEWS
        ) or claim.view == WORTH.name
        assert claim.view is None or of_page


def test_base_and_large_are_told_with_their_sources() -> None:
    shown = said(opened(papers_view=NUMBERS))
    for fact in LITERATURE.facts:
        assert f"| {fact.what} | {fact.base} | {fact.large} | " in shown
    assert "110,106,428" in shown


def test_scores_are_drawn_where_they_are() -> None:
    app = opened(papers_view=SQUAD)
    (chart,) = charts(app)
    wanted = sorted(LITERATURE.glue, key=lambda row: -row.num_parameters)
    assert numbers(chart["data"][0]["x"]) == pytest.approx([row.average for row in wanted])
    for row in LITERATURE.squad:
        assert f"{row.exact:.1f} | **{row.f1:.1f}**" in said(app)


@pytest.mark.parametrize("name", ABLATION_NAMES)
def test_each_variant_is_a_dot_at_its_distance(name: str) -> None:
    app = opened(papers_view=ABLATIONS, papers_ablation=name)
    ablation = LITERATURE.ablation(name)
    _, chart = charts(app)
    drawn = {trace["name"] or ablation.rows[1].name: trace["x"] for trace in chart["data"]}
    first, *others = ablation.rows
    for row in others:
        points = [score - own for score, own in zip(row.scores, first.scores, strict=True)]
        assert numbers(drawn[row.name]) == pytest.approx(points, abs=1e-9)
    assert f"read_ablation(name={name!r})" in max(python_shown(app), key=len)


def test_recorded_fine_tunings_have_a_line_for_each_part() -> None:
    app = opened(papers_view=ABLATIONS, papers_ablation=RECORDED_PARTS)
    medians = {
        (trace["name"], labels): score
        for trace in charts(app)[1]["data"]
        if trace.get("name")
        for labels, score in zip(numbers(trace["x"]), numbers(trace["y"]), strict=True)
    }
    assert medians == pytest.approx(dict(recorded_accuracy()), abs=1e-4)
    assert {part for part, _ in medians} == set(PARTS)


def test_what_pretraining_is_worth_stands_beside_its_claim() -> None:
    app = opened(papers_view=CLAIMS, papers_topic="Training")
    found, known = {}, recorded_accuracy()
    for trace in charts(app)[1]["data"]:
        if trace.get("name"):
            found[trace["name"]] = dict(zip(numbers(trace["x"]), numbers(trace["y"]), strict=True))
    (claim,) = (claim for claim in LITERATURE.claims if claim.view == WORTH.name)
    for start, part in (("pretrained", "all"), ("random weights", "untrained")):
        for labels, score in found[start].items():
            assert score == pytest.approx(known[part, labels], abs=1e-4)
        for labels in (50, 400, 2387):
            assert f"{known[part, labels]:.1%}" in claim.true


def test_the_transformer_and_the_reading_list() -> None:
    shown = said(opened(papers_view=TRANSFORMER))
    for contrast in LITERATURE.contrasts:
        four = (contrast.transformer, contrast.elmo, contrast.gpt, contrast.bert)
        assert f"| {' | '.join(four)} |" in shown
    shown = said(opened(papers_view=READING))
    listed = re.findall(r"\]\((https://[^)]+)\)", shown)
    assert listed == [paper.url for paper in LITERATURE.papers]


def test_each_way_reads_what_its_head_reads() -> None:
    app = opened(papers_view=WAYS)
    _, chart = charts(app)
    texts = [note["text"] for note in chart["layout"]["annotations"]]
    boxes = [shape for shape in chart["layout"]["shapes"] if shape["type"] == "rect"]
    lines = [shape for shape in chart["layout"]["shapes"] if shape["type"] == "line"]
    assert texts.count("BERT") == len(LITERATURE.ways)
    said_by_heads = [answer for way in LITERATURE.ways for answer in way.says.values()]
    assert [text[3:-4] for text in texts if text[3:-4] in said_by_heads] == said_by_heads
    assert len(lines) == len(said_by_heads)
    inputs = sum(len(way.inputs) for way in LITERATURE.ways)
    assert len(boxes) == inputs + len(said_by_heads) + len(LITERATURE.ways)
    shown = said(app)
    for way in LITERATURE.ways:
        assert f"| {way.head} | {way.sets} | `--task {way.task}` |" in shown
