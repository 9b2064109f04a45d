"""Links made by version 0.1.0 still open with every choice in them.

They were recorded from its pages on the tiny checkpoint of tests.support, after its own pages had
read and written them.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.opened import ok, page_of

FILE = Path(__file__).parents[1] / "data" / "links_0.1.0.json"
LINKS: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))


def as_lists(query: dict[str, Any]) -> dict[str, list[str]]:
    return {name: [value] if isinstance(value, str) else value for name, value in query.items()}


@pytest.mark.parametrize("link", LINKS, ids=lambda link: link["page"])
def test_old_links(link: dict[str, Any], checkpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", checkpoint)
    app = ok(page_of(link["page"], **link["query"]).run())
    found, expected = as_lists(dict(app.query_params)), as_lists(link["query"])
    if expected.get("map_method") == ["umap"]:  # since, the default: left out once it is drawn
        found.pop("map_method", None)
        del expected["map_method"]
    assert found == expected
