"""Objectives with checkpoints of other families: each answers to its own, in its own tokens."""

from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from bertcore.analysis.objectives.answers import shipped_for
from bertcore.model.objectives.table import OBJECTIVES
from tests.support.opened import PAIR, component_data, ok, page_of, said
from tests.support.tiny_families import make
from tests.support.tiny_others import make_other

NATIVE = {
    "RobertaForMaskedLM": {"masked-words", "whole-words", "spans"},
    "ElectraForPreTraining": {"replaced-tokens"},
    "AlbertForPreTraining": {"masked-words", "whole-words", "spans", "sentence-order"},
    "AlbertModel": set(),
}
OTHER = {
    "T5ForConditionalGeneration": {"t5-spans"},
    "BartForConditionalGeneration": {name for name in OBJECTIVES if name.startswith("bart")},
    "XLNetLMHeadModel": {"permutation"},
    "GPT2LMHeadModel": {"causal"},
}
"""Class -> the objectives that it answers to."""


def drawn(app: AppTest) -> list[dict[str, Any]]:
    sent = component_data(app)
    found: list[dict[str, Any]] = next(one for one in sent if "objectives" in one)["objectives"]
    return found


@pytest.mark.parametrize("class_name", [*NATIVE, *OTHER])
def test_each_family(class_name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    st.cache_resource.clear()
    answered = NATIVE.get(class_name, OTHER.get(class_name, set()))
    (make if class_name in NATIVE else make_other)(class_name, tmp_path)
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(tmp_path))
    rows = {row["name"]: row for row in drawn(ok(page_of("objectives", **PAIR).run()))}
    refused = {name for name, row in rows.items() if row["error"]}
    if class_name.startswith("GPT2"):  # without a mask token
        assert refused >= {"masked-words", "bart-infilling", "mass", "t5-spans"}
    else:
        assert refused == set()
    for name in sorted(answered) + sorted({"sentence-order", "causal"} - answered):
        app = ok(page_of("objectives", **PAIR, objective=name).run())
        shipped = None if name in answered else shipped_for(name)
        assert bool(drawn(app)[0]["answers"]) == (name in answered or shipped is not None), name
        assert ("reads and answers here" in said(app)) == (shipped is not None)
