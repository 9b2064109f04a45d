"""Links made by version 0.1.0, and by commit e3c29e99 after it, open with every choice in them.

They were recorded from their pages on the tiny checkpoint of tests.support, after those pages had
read and written them; those of e3c29e99 have each field of each page at least once, if it has a
value that stays in the address of that page.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from app.navigation import REMOVED
from tests.support.opened import ok, page_of

DATA = Path(__file__).parents[1] / "data"
VERSIONS = ("0.1.0", "e3c29e99")
LONG = {"bias", "layer_map", "objectives", "tokens"}
"""Pages that compute for seconds with the choices of e3c29e99."""
LINKS = [
    pytest.param(
        link,
        id=f"{link['page']}-{version}",
        marks=[pytest.mark.exhaustive] if version != "0.1.0" and link["page"] in LONG else [],
    )
    for version in VERSIONS
    for link in json.loads((DATA / f"links_{version}.json").read_text(encoding="utf-8"))
    if link["page"] not in REMOVED  # tests/browser/test_removed.py
]


REMOVED_FIELDS = {
    "map_rogue_off": "1",
    "map_second_seed": "1",
    "map_method": "pacmap",
    "map_source": "corpus",
    "pair_all": "1",
    "compare_cka": "debiased",
    "inspect_against": "1",
    "inspect_by": "1",
    "inspect_by_measure": "1",
    "inspect_by_label": "1",
    "inspect_swap_set": "own",
    "inspect_swap_pairs": "1",
    "inspect_swap_open": "after",
    "bias_view": "erase",
    "bias_erase_state": "1",
    "bias_erase_method": "direction",
    "bias_erase_text": "1",
    "bias_items": "1",
    "heads_order": "value",
    "heads_rare": "1",
    "rank_by": "1",
}
"""Fields and values that went in 0.3.0: a link with them opens without them."""
OPENED = "masking several between pair_attention bias_near rank steer".split()
"""Headings that have been closed since: a choice under one opens it."""
OF_0_2_0 = {
    "minimal_pair": {"pair_view": "Over many pairs", "patch_source": "own", "pair_hides": "1"},
    "masked_words": {"masked": "1", "lens_fit": "1", "lens_own_text": "A cat.", "ranks": "2"},
    "what_if": {"masked": "1", "rank": "1", "removal": "1"},
    "bias": {"bias_view": "published", "bias_pairs": "own", "bias_templates_source": "mine"},
    "inspect_checkpoint": {"inspect_view": "groups", "inspect_why": "class", "inspect_by": "x"},
    "compare": {"compare_view": "Gradients", "compare_cka": "debiased"},
    "layer_map": {"map_view": "rogue", "map_method": "pca", "map_source": "corpus"},
    "attention": {"measure": "flow", "mix_layer": "1", "mix_head": "0", "mix_target": "next"},
    "training": {"training_view": "Coach"},
    "lessons": {"lesson": "08-pretraining", "lesson_step": "16"},
}
"""By page: views, values and fields that 0.2.0 wrote and 0.3.0 does not read."""


def as_lists(query: dict[str, Any]) -> dict[str, list[str]]:
    return {name: [value] if isinstance(value, str) else value for name, value in query.items()}


@pytest.mark.parametrize("link", LINKS)
def test_old_links(link: dict[str, Any], checkpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", checkpoint)
    app = ok(page_of(link["page"], **link["query"]).run())
    found, expected = as_lists(dict(app.query_params)), as_lists(link["query"])
    for name, value in REMOVED_FIELDS.items():
        if expected.get(name) == [value]:
            del expected[name]
            found.pop(name, None)
    if expected.get("map_method") == ["umap"]:  # since, the default: left out once it is drawn
        found.pop("map_method", None)
        del expected["map_method"]
    for name in {"pair_layer", "pair_head"} & {*expected}:  # the head that differs most is open
        found.setdefault(name, expected[name])
    for name in {*OPENED} - {*expected}:
        found.pop(name, None)
    assert found == expected


@pytest.mark.parametrize("page", OF_0_2_0)
def test_a_link_of_0_2_0_opens_without_what_went(
    page: str, checkpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", checkpoint)
    texts = {"text_a": "The café is closed today.", "text_b": "Fruit flies like a banana."}
    app = ok(page_of(page, **texts, **OF_0_2_0[page]).run())
    assert not app.warning


@pytest.mark.parametrize(
    ("page", "choices", "opened"),
    [
        ("masked_words", {"share": "40"}, "masking"),
        ("sentence_pairs", {"similar_a": "1"}, "several"),
        ("what_if", {"rank_by": "hidden"}, "rank"),
        ("what_if", {"steer_a": "dry"}, "steer"),
        ("minimal_pair", {"pair_head": "1", "other_a": "It is open."}, "pair_attention"),
    ],
)
def test_a_choice_under_a_closed_heading_opens_it(
    page: str,
    choices: dict[str, str],
    opened: str,
    checkpoint: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", checkpoint)
    texts = {"text_a": "It is closed.", "text_b": "Flies like it."}
    app = ok(page_of(page, **texts, **choices).run())
    assert as_lists(dict(app.query_params))[opened] == ["1"]
    assert opened not in ok(page_of(page, **texts, **choices, **{opened: "0"}).run()).query_params
