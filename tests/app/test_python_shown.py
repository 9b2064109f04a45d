"""The Python that each view offers runs as it stands, also for a text with quotes and marks.

That it gives the view's numbers is tested where the numbers are (tests/app, tests/pages).
"""

from typing import Any

import pytest

from app.navigation import PAGES
from bertcore import Bert
from tests.support.exhaustive import all_but
from tests.support.opened import ok, page_of, with_results
from tests.support.tiny import tiny_bert, tiny_config, tiny_network, tiny_tokenizer

TEXTS = {
    "text_a": 'He said "don\'t" \\ {braces} </script> the [MASK] river\n\u2028 \u202e was',
    "text_b": "it's 'quoted' \"\"\" too",
}
VIEWS: dict[str, tuple[str, dict[str, str | list[str]], int]] = {
    # page, what is in the address, how many snippets there are at least
    "lines": ("attention", {"view": "lines", "layer": "1", "heads": ["0", "2"]}, 2),
    "heat map": ("attention", {"view": "heat-map", "layers": ["0", "1"]}, 2),
    "neurons": ("attention", {"view": "neurons", "layer": "1", "heads": ["3"]}, 2),
    "head view": ("attention", {"view": "bertviz", "bertviz": "head"}, 2),
    "model view": ("attention", {"view": "bertviz", "bertviz": "model"}, 2),
    "neuron view": ("attention", {"view": "bertviz", "bertviz": "neuron", "heads": ["2"]}, 2),
    "norms": ("attention", {"view": "heat-map", "measure": "norms", "heads": ["2"]}, 2),
    "value zeroing": ("attention", {"view": "heat-map", "measure": "zeroing"}, 2),
    "rollout": ("attention", {"view": "heat-map", "measure": "rollout", "layer": "1"}, 2),
    "what if": (
        "what_if",
        {
            "off": ["0.3", "1.0"],
            "segment": ["2.1"],
            "cell": ["0.1:2-5:0.75"],
            "rank": "1",
            "steer_a": "it's, 'river'",
            "steer_b": '"bank"',
        },
        3,
    ),
    "minimal pair": (
        "minimal_pair",
        {
            "other_a": "the 'other' bank",
            "pair_head": "1",
            "pair_attention": "1",
            "pair_states": "1",
        },
        3,
    ),
    "heads": ("heads", {"heads_open": "1.2"}, 2),
    "masked words": ("masked_words", {"ranks": "1", "masking": "1", "surprise": "1"}, 4),
    "sentence pairs": ("sentence_pairs", {"between": "1", "several": "1"}, 3),
    "tokens": ("tokens", {}, 2),
    "probe": ("layer_map", {"map_view": "probe", "probe_sentences": "100"}, 1),
    "where else": ("layer_map", {"map_view": "nearest"}, 1),
    "objectives": ("objectives", {}, 2),
    "one objective": ("objectives", {"objective": "next-sentence"}, 2),
    "layer map": ("layer_map", {"map_method": "pca"}, 1),
    "layer map by UMAP": ("layer_map", {}, 1),
    "geometry": (
        "layer_map",
        {
            "map_view": "geometry",
            "map_source": "senses",
            "map_unit": "tokens",
        },
        2,
    ),
    "layer map of a word": (
        "layer_map",
        {"map_source": "senses", "map_unit": "word", "map_word": "bank", "map_method": "pca"},
        1,
    ),
}
TESTED_ELSEWHERE = ("compare", "inspect_checkpoint")
"""Pages whose Python needs another checkpoint: their own tests execute it, as of those that need
none, or a run."""
VIEWS |= {
    page: (page, {}, 1)
    for page, info in PAGES.items()
    if info.needs_checkpoint
    and page not in {*TESTED_ELSEWHERE, *(listed for listed, _, _ in VIEWS.values())}
}


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny_bert().save(tmp_path_factory.mktemp("a 'checkpoint'")))


@pytest.fixture(scope="module")
def causal(tmp_path_factory: pytest.TempPathFactory) -> str:
    """It has parts, and no head for masked words or next sentences."""
    network = tiny_network(tiny_config(is_decoder=True), heads=frozenset({"mlm"}))
    return str(Bert(network, tiny_tokenizer()).save(tmp_path_factory.mktemp("causal")))


@pytest.fixture
def run(checkpoint: str, monkeypatch: pytest.MonkeyPatch):
    """Draw a view and return what each of its snippets defines."""
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", checkpoint)

    def run_snippets(page: str, address: dict[str, Any]) -> list[dict[str, Any]]:
        app = ok(with_results(page_of(page, seconds=300, **TEXTS, **address).run()))
        made = []
        for snippet in dict.fromkeys(code.value for code in app.code if code.language == "python"):
            is_excerpt = snippet.startswith("def ")  # of bertcore/lowlevel.py, to be read
            names: dict[str, Any] = (
                {"Tensors": Any, "Config": Any, "Tensor": Any} if is_excerpt else {}
            )
            exec(compile(snippet, "shown", "exec"), names)
            made.append(names)
        return made

    return run_snippets


FIRST = list({page: view for view, (page, _, _) in reversed(VIEWS.items())}.values())
"""The first view of each page."""
LONG = ("probe",)
"""Pages whose own tests execute their Python, on less."""


@pytest.mark.parametrize("view", all_but([view for view in FIRST if view not in LONG], VIEWS))
def test_every_snippet_runs(run, view: str) -> None:
    page, address, least = VIEWS[view]
    made = run(page, address)
    assert len(made) >= least
    loading = [names for names in made if "bert" in names]
    assert all("bertcore" in names for names in loading)
    measured = [names for names in made if "bert" not in names]
    # The table of equal time and the code of a step need no checkpoint.
    assert len(measured) == (view in ("objectives", "inside_layer"))
    assert all("attend" in names or names["result"] for names in measured)
    if page != "heads":  # it measures sentences of its own
        assert all(names["trace"].text_a == TEXTS["text_a"] for names in made if "trace" in names)


@pytest.mark.parametrize(
    "view",
    ["norms", "rollout", "glance"],
)
def test_every_snippet_runs_without_a_head(
    run, causal: str, monkeypatch: pytest.MonkeyPatch, view: str
) -> None:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", causal)
    page, address, _ = VIEWS[view]
    assert run(page, address)
