"""The page What the papers say: every view, its numbers, its links."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from app.navigation import PAGES
from app.papers.page import (
    ABLATION_NAMES,
    ABLATIONS,
    CLAIMS,
    NUMBERS,
    READING,
    RECORDED_PARTS,
    SCORES,
    TOPICS,
    TRANSFORMER,
    WAYS,
)
from app.tokens.page import VIEWS as TOKENS_VIEWS
from bertcore.finetuning.recorded import PARTS, recorded_accuracy
from bertcore.papers import read_papers
from tests.support.opened import charts, numbers, ok, page_of, said

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
        assert claim.view is None or (claim.page == "tokens" and claim.view in TOKENS_VIEWS)


def test_base_and_large_are_told_with_their_sources() -> None:
    shown = said(opened(papers_view=NUMBERS))
    for fact in LITERATURE.facts:
        assert f"| {fact.what} | {fact.base} | {fact.large} | " in shown
    assert "110,106,428" in shown


def test_scores_are_drawn_where_they_are() -> None:
    app = opened()
    (chart,) = charts(app)
    drawn: dict[float, float] = {}
    for trace in chart["data"]:
        drawn |= dict(zip(numbers(trace["x"]), numbers(trace["y"]), strict=True))
    wanted = {row.num_parameters: row.average for row in LITERATURE.glue}
    assert drawn == pytest.approx(wanted)
    for row in LITERATURE.squad:
        assert f"{row.exact:.1f} | **{row.f1:.1f}**" in said(app)


@pytest.mark.parametrize("name", ABLATION_NAMES)
def test_each_variant_is_a_dot_at_its_distance(name: str) -> None:
    app = opened(papers_view=ABLATIONS, papers_ablation=name)
    ablation = LITERATURE.ablation(name)
    (chart,) = charts(app)
    dots = [trace for trace in chart["data"] if "markers" in trace["mode"]]
    assert [trace["name"] for trace in dots] == [row.name for row in ablation.rows[1:]]
    for trace, points, row in zip(dots, ablation.differences()[1:], ablation.rows[1:], strict=True):
        assert numbers(trace["x"]) == pytest.approx(points)
        assert trace["text"] == [f"{score:.1f}" for score in row.scores]
    lanes = [lane for trace in dots for lane in numbers(trace["y"])]
    assert len(set(lanes)) == len(lanes)
    assert f"read_ablation(name={name!r})" in max((code.value for code in app.code), key=len)


def test_recorded_fine_tunings_have_a_line_for_each_part() -> None:
    app = opened(papers_view=ABLATIONS, papers_ablation=RECORDED_PARTS)
    (chart,) = charts(app)
    medians = {
        (trace["name"], labels): score
        for trace in chart["data"]
        for labels, score in zip(numbers(trace["x"]), numbers(trace["y"]), strict=True)
    }
    assert medians == pytest.approx(dict(recorded_accuracy()))
    assert {trace["name"] for trace in chart["data"]} == set(PARTS)


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
    (chart,) = charts(app)
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


@pytest.mark.parametrize("view", [SCORES, NUMBERS, WAYS, TRANSFORMER])
def test_each_column_of_a_table_has_a_name(view: str) -> None:
    tables = [box.value for box in opened(papers_view=view).markdown if "| --- |" in box.value]
    assert tables
    for table in tables:
        assert all(name.strip() for name in table.splitlines()[0].strip("|").split("|"))


def test_a_claim_leads_to_the_page_that_shows_it() -> None:
    app = page_of("papers", papers_view=CLAIMS).run()
    seen = [button.label for button in app.button if button.label.startswith("See it")]
    assert seen == ["See it: Tokens & embeddings"] * 2


def test_the_figure_of_both_phases_is_one_click_away() -> None:
    labels = [button.label for button in opened(papers_view=WAYS).button]
    assert [label for label in labels if label.endswith(PAGES["training_example"].title)]
