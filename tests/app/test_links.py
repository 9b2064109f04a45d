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
}
"""Fields and values that went in 0.3.0: a link with them opens without them."""


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
    assert found == expected
