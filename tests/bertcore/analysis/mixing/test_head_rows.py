"""The rows of a head: the shown Python, run with `transformers`, gives the trace's queries."""

from pathlib import Path

import pytest
import torch

from bertcore import Model, load
from bertcore.analysis import head_rows
from bertcore.model.network.modern import ModernAttention
from tests.support.tiny import tiny_bert
from tests.support.tiny_families import make
from tests.support.tiny_others import make_other

FAMILIES = ("Bert", "DistilBert", "Roberta", "Electra", "Albert", "ModernBert")


def opened(family: str, folder: Path) -> Model:
    if family == "Bert":
        tiny_bert().save(folder)
    else:
        make(f"{family}ForMaskedLM", folder)
    return load(folder, device="cpu")


@pytest.mark.parity
@pytest.mark.parametrize("family", FAMILIES)
def test_the_shown_python_gives_the_queries_of_the_trace(
    family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bert = opened(family, tmp_path / "made")
    monkeypatch.chdir(tmp_path)
    trace = bert.trace("the river bank was steep")
    for layer, head in ((0, 1), (bert.config.num_hidden_layers - 1, 3)):
        block = bert.module.layers[layer].attention
        states = trace.hidden_states[layer]
        result = head_rows(bert, layer, head)
        names = {"bert": bert}
        exec(result.python, names)
        with torch.no_grad():
            if isinstance(block, ModernAttention):
                queries = block.turned(block.normalized(states) @ names["rows"].T)
                assert result.num_stored == 3 * bert.config.hidden_size
                assert "bias" not in names
            else:
                queries = states @ names["rows"].T + names["bias"]
                assert torch.equal(names["bias"], result.bias)
        torch.testing.assert_close(queries, trace.queries[layer, head], atol=1e-5, rtol=1e-5)
        assert torch.equal(names["rows"], result.weight[result.start : result.end])


def test_berts_own_names() -> None:
    result = head_rows(tiny_bert(), 1, 2)
    size = tiny_bert().config.head_size
    path = "model.encoder.layer[1].attention.self.query"
    assert f"{path}.weight[{2 * size}:{3 * size}]" in result.python
    assert f"{path}.bias[{2 * size}:{3 * size}]" in result.python


def test_what_there_is_not(tmp_path: Path) -> None:
    for arguments, message in (
        ((9, 0), "layer is 9"),
        ((0, -1), "head is -1"),
    ):
        with pytest.raises(ValueError, match=message):
            head_rows(tiny_bert(), *arguments)
    make_other("GPT2LMHeadModel", tmp_path)
    with pytest.raises(ValueError, match="GPT-2"):
        head_rows(load(tmp_path, device="cpu"))
