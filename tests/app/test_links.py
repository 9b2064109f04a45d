"""Links made by version 0.1.0, and by commit e3c29e99 after it, open with every choice in them.

They were recorded from their pages on the tiny checkpoint of tests.support, after those pages had
read and written them; those of e3c29e99 have each field of each page at least once, if it has a
value that stays in the address of that page.
"""

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from app.navigation import REMOVED
from tests.support.opened import ok, page_of

DATA = Path(__file__).parents[1] / "data"
VERSIONS = ("0.1.0", "e3c29e99")
LONG = {"bias", "layer_map", "objectives", "tokens"}
"""Pages that compute for seconds with the choices of their links."""
LINKS = [
    pytest.param(
        link,
        id=f"{link['page']}-{version}",
        marks=[pytest.mark.exhaustive] if link["page"] in LONG else [],
    )
    for version in VERSIONS
    for link in json.loads((DATA / f"links_{version}.json").read_text(encoding="utf-8"))
    if link["page"] not in REMOVED  # tests/browser/test_walk.py
]


REMOVED_FIELDS = {
    "map_rogue_off": "1",
    "map_second_seed": "1",
    "map_method": "pacmap",
    "map_source": "corpus",
    "map_overview": "1",
    "map_colour": "position",
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
    "similar_order": "Similar ones together",
    "segment": ["0", "1"],
    "position": ["0", "1"],
    "cell": ["0", "1"],
    "inspect_slices": "1",
    "tune_sample": "1",
}
"""Fields and values that went in 0.3.0: a link with them opens without them."""
OPENED = (
    "masking several between pair_attention bias_near rank steer after_layers own_words other_heads"
    " compare_view"
).split()
"""Headings that have been closed since: a choice under one opens it."""
OF_0_2_0 = {
    "minimal_pair": "pair_view=Over+many+pairs&patch_source=own&pair_hides=1",
    "masked_words": "masked=1&lens_fit=1&lens_own_text=A+cat.&ranks=2",
    "what_if": "masked=1&rank=1&removal=1",
    "bias": "bias_view=published&bias_pairs=own&bias_templates_source=mine",
    "inspect_checkpoint": "inspect_view=groups&inspect_why=class&inspect_by=x",
    "compare": "compare_view=Gradients&compare_cka=debiased",
    "layer_map": "map_view=rogue&map_method=pca&map_source=corpus",
    "attention": "measure=flow&mix_layer=1&mix_head=0&mix_target=next",
    "training": "training_view=Coach",
    "lessons": "lesson=08-pretraining&lesson_step=16",
}
"""By page: views, values and fields that 0.2.0 wrote and 0.3.0 does not read."""


def as_lists(query: dict[str, Any]) -> dict[str, list[str]]:
    return {name: [value] if isinstance(value, str) else value for name, value in query.items()}


@pytest.fixture(autouse=True)
def _tiny(checkpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", checkpoint)


@pytest.mark.parametrize("link", LINKS)
def test_old_links(link: dict[str, Any]) -> None:
    app = ok(page_of(link["page"], **link["query"]).run())
    found, expected = as_lists(dict(app.query_params)), as_lists(link["query"])
    for name, value in (*REMOVED_FIELDS.items(), ("map_source", "file")):
        if expected.get(name) in ([value], value):
            del expected[name]
            found.pop(name, None)
    if expected.get("map_method") == ["umap"]:  # since, the default: left out once it is drawn
        found.pop("map_method", None)
        del expected["map_method"]
    if link["page"] == "tokens" and expected.get("token") == [str(app.session_state["token"])]:
        del expected["token"]  # since, the default: a word in pieces
        found.pop("token", None)
    for name in {"pair_layer", "pair_head"} & {*expected}:  # the head that differs most is open
        found.setdefault(name, expected[name])
    if "masked" in expected:
        expected["masked"] = [place for place in expected["masked"] if place != "0"]  # [CLS]
    for name in {*OPENED, "masked"} - {*expected}:  # a page that asks for a hidden word has one
        found.pop(name, None)
    assert found == expected


@pytest.mark.parametrize("page", OF_0_2_0)
def test_a_link_of_0_2_0_opens_without_what_went(page: str) -> None:
    texts = {"text_a": "The café is closed today.", "text_b": "Fruit flies like a banana."}
    app = ok(page_of(page, **texts, **dict(parse_qsl(OF_0_2_0[page]))).run())
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
    page: str, choices: dict[str, str], opened: str
) -> None:
    texts = {"text_a": "It is closed.", "text_b": "Flies like it."}
    app = ok(page_of(page, **texts, **choices).run())
    assert as_lists(dict(app.query_params))[opened] == ["1"]
    assert opened not in ok(page_of(page, **texts, **choices, **{opened: "0"}).run()).query_params
