"""The file of published figures: a source for each, and what our own code can compute of them."""

import pytest

from bertcore.lessons.papers import FILE, Ablation, Source, parse_papers, read_papers
from bertcore.model.architecture.config import bert_base, bert_of
from bertcore.model.objectives.masking import MASKED_LM_PROB
from tests.support.cases import cases

LITERATURE = read_papers()
CLAIMS = {claim.told: claim.true for claim in LITERATURE.claims}
FACTS = {fact.what: fact for fact in LITERATURE.facts}


def true_of(word: str) -> str:
    """Return what is true, of the one claim in which the word stands."""
    (told,) = (told for told in CLAIMS if word in told)
    return CLAIMS[told]


def test_each_entry_has_a_source_that_can_be_found() -> None:
    sources: list[Source] = []
    for group in (LITERATURE.facts, LITERATURE.contrasts, LITERATURE.ways, LITERATURE.claims):
        for entry in group:
            assert entry.source, entry
            sources += entry.source
    for row in (*LITERATURE.glue, *LITERATURE.squad, *LITERATURE.ablations):
        sources.append(row.source)
    assert len(sources) > 60
    for source in sources:
        assert source.where.strip()
        assert source.paper.url.startswith("https://")
        assert source.paper in LITERATURE.papers
    urls = [paper.url for paper in LITERATURE.papers]
    assert len(set(urls)) == len(urls)


@pytest.mark.parametrize(("old", "new", "match"), cases("bad_papers"))
def test_an_entry_without_source_or_score_is_refused(old: str, new: str, match: str) -> None:
    text = FILE.read_text(encoding="utf-8")
    assert old in text
    with pytest.raises(ValueError, match=match):
        parse_papers(text.replace(old, new, 1))


@pytest.mark.parametrize("ablation", LITERATURE.ablations, ids=lambda ablation: ablation.name)
def test_points_are_from_the_first_row(ablation: Ablation) -> None:
    first, *others = ablation.rows
    assert len(ablation.points) == len(others) * len(ablation.columns)
    for point in ablation.points:
        place = ablation.columns.index(point.task)
        (row,) = (row for row in others if row.name == point.variant)
        assert (point.own, point.score) == (first.scores[place], row.scores[place])
        assert point.points == round(point.score - point.own, 2)


def test_averages_are_the_papers() -> None:
    """The BERT paper averages nine columns: both parts of MNLI count."""
    published = [row for row in LITERATURE.glue if row.published_average is not None]
    assert [row.name for row in published] == ["Large", "Base"]
    for row in published:
        assert round(row.average, 1) == row.published_average
        assert str(row.published_average) in true_of("GLUE average")
    averages = [row.average for row in LITERATURE.glue]
    assert averages == sorted(averages, reverse=True)


def test_parameters_are_counted_on_our_network() -> None:
    by_name = {row.name: row for row in LITERATURE.glue}
    assert by_name["Base"].num_parameters == bert_base().num_parameters == 110_106_428
    assert by_name["Large"].num_parameters == 336_226_108
    assert FACTS["Parameters"].base == f"{by_name['Base'].num_parameters / 1e6:.0f} million"
    # 336 million with both heads; the paper rounds to 340.
    assert (
        FACTS["Parameters"].large
        == f"{round(by_name['Large'].num_parameters / 1e6, -1):.0f} million"
    )
    for name, shape in (
        ("Base", FACTS["Layers, width, heads"].base),
        ("Large", FACTS["Layers, width, heads"].large),
    ):
        row = by_name[name]
        config = bert_of(
            vocab_size=30522, num_hidden_layers=row.num_layers, hidden_size=row.hidden_size
        )
        assert shape == f"{row.num_layers}, {row.hidden_size}, {config.num_attention_heads}"


def test_ratios_are_worked_out() -> None:
    distilled = true_of("DistilBERT")
    assert f"{668 / 410:.2f} times" in distilled
    assert f"{1 - 410 / 668:.0%} less" in distilled
    assert f"{77.0 / 79.5:.1%}" in distilled
    assert f"{1 - 66 / 110:.0%} fewer" in next(told for told in CLAIMS if "DistilBERT" in told)
    assert f"{0.8 * MASKED_LM_PROB:.0%} of the places" in true_of("mismatch")


def test_scores_of_claims_are_those_of_the_tables() -> None:
    squad = {(row.version, row.split, row.model): row for row in LITERATURE.squad}
    one, two = true_of("SQuAD 1.1 F1"), true_of("SQuAD 2.0 F1")
    assert f"Base {squad['1.1', 'dev', 'Base'].f1}" in one
    assert f"Large {squad['1.1', 'dev', 'Large'].f1}" in one
    assert f"{squad['1.1', 'test', 'seven Large, also trained on TriviaQA'].f1} is" in one
    large = next(row for row in LITERATURE.glue if row.name == "Large")
    sst = large.scores[LITERATURE.glue_columns.index("SST-2")]
    assert f"{sst} is Large on SST-2" in one
    assert f"Large {squad['2.0', 'test', 'Large'].f1}" in two
    assert f"{squad['2.0', 'test', 'people'].exact} is the exact match of people" in two


def test_four_networks_stand_beside_each_other() -> None:
    by_aspect = {one.aspect: one for one in LITERATURE.contrasts}
    assert len(by_aspect) == len(LITERATURE.contrasts)
    scores = by_aspect["GLUE, mean of the test scores"]
    glue = {row.name: row.average for row in LITERATURE.glue}
    assert scores.bert == f"{glue['Base']:.1f} (Base), {glue['Large']:.1f} (Large)"
    assert f"GPT, as large, {scores.gpt}" in FACTS["Best when it came out"].base
    assert by_aspect["Parameters"].bert.startswith(FACTS["Parameters"].base)
    for one in LITERATURE.contrasts:
        assert all((one.transformer, one.elmo, one.gpt, one.bert)), one.aspect
