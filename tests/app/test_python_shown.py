"""The Python that each page offers runs as it stands, also for a text with quotes and marks.

That the Python of each view gives its numbers, tests/app/test_views.py says.
"""

from pathlib import Path
from typing import Any

import pytest

from app.navigation import DOOR, PAGES
from tests.support.browser.wording import layers_beyond
from tests.support.opened import all_of, ok, page_of, python_shown, with_results
from tests.support.tiny import causal_bert, tiny_bert, tiny_config

TEXTS = {
    "text_a": 'He said "don\'t" \\ {braces} </script> the [MASK] river\n\u2028 \u202e was',
    "text_b": "it's 'quoted' \"\"\" too",
}
ADDRESSES: dict[str, dict[str, str | list[str]]] = {
    "attention": {"view": "heat-map", "measure": "norms", "heads": ["2"]},
    "what_if": {
        "off": ["0.3", "1.0"],
        "rank": "1",
        "steer_a": "it's, 'river'",
        "steer_b": '"bank"',
    },
    "minimal_pair": {"other_a": "the 'other' bank", "pair_head": "1", "pair_states": "1"},
    "heads": {"heads_open": "1.2"},
    "masked_words": {"ranks": "1", "masking": "1", "surprise": "1"},
    "sentence_pairs": {"between": "1", "several": "1"},
    "objectives": {"objective": "next-sentence"},
    "layer_map": {"map_method": "pca"},
}
"""What else is in the address of some pages, so that more is shown."""
TESTED_ELSEWHERE = ("compare", "inspect_checkpoint")
"""Pages whose Python needs another checkpoint: their own tests execute it, as of those that need
none, or a run."""


def run_snippets(page: str) -> list[dict[str, Any]]:
    """Draw a page and return what each of its snippets defines."""
    query = TEXTS | ADDRESSES.get(page, {})
    app = ok(with_results(page_of(page, seconds=300, **query).run()))
    assert layers_beyond(all_of(app), tiny_config().num_hidden_layers) == []
    made = []
    for snippet in dict.fromkeys(python_shown(app)):
        names: dict[str, Any] = {}
        exec(compile(snippet, "shown", "exec"), names)
        made.append(names)
    return made


SHOWN = [page for page, info in PAGES.items() if info.needs_checkpoint and page != DOOR]


@pytest.mark.parametrize("page", [page for page in SHOWN if page not in TESTED_ELSEWHERE])
def test_every_snippet_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tiny_bert().save(tmp_path / "a 'checkpoint'")
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(folder))
    made = run_snippets(page)
    assert made
    assert all(names["result"] for names in made if "bert" not in names)
    if page != "heads":  # it measures sentences of its own
        assert all(names["trace"].text_a == TEXTS["text_a"] for names in made if "trace" in names)


@pytest.mark.parametrize("page", ["attention", "glance"])
def test_every_snippet_runs_without_a_head(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(causal_bert().save(tmp_path)))
    assert run_snippets(page)
