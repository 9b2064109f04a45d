"""Attribution of an answer to words, by several methods, with their faithfulness."""

from typing import Any

import streamlit as st

from bertcore.analysis.attribution import PARTS, ScoreTarget, SpanTarget

from ..plots import exactly, plain, signed
from ..shell import Compute, Field, Picture, capabilities, frame, one_of
from ..task_model.model import (
    Explanation,
    Query,
    explain,
    explain_by_layer,
    explain_by_part,
    setup,
    stand_ins,
)
from .attribution_figures import (
    attributed_text,
    conductance_arrays,
    conductance_map,
    faithfulness_dots,
    faithfulness_table,
    layer_faithfulness,
    method_rows,
    word_table,
)

METHODS = {
    "ig": "Integrated gradients",
    "gradient": "Gradient × input",
    "occlusion": "Occlusion",
}
"""Methods that give a number to each word."""
_METHODS_IN_LINKS = {"ig": "ig", "gradient": "gradient", "erasure": "occlusion"}
"""Names of METHODS in links; occlusion used to be called erasure."""
METHOD = Field("inspect_method", "ig")
LARGE_DELTA = 0.05
"""Fraction of the change above which the page warns of the convergence delta."""
STOPPED = "Stopped."

_WORDS_CODE = """
from bertcore.analysis.attribution import (
    faithfulness,
    gradient_x_input,
    integrated_gradients,
    occlusion,
    random_faithfulness,
)

{methods}
faithfulness(model, source, target, words, how={occlusion!r})
random_faithfulness(model, source, target, how={occlusion!r})
"""
_BY_GRADIENTS = """\
gradients = integrated_gradients(model, source, target, baseline={baseline!r}, steps={steps})
gradients.delta
words = {{
    "ig": source.merge(gradients.parts["token"]),
    "gradient": source.merge(gradient_x_input(model, source, target).parts["token"]),
    "occlusion": occlusion(model, source, target, how={occlusion!r}).importance,
}}"""
_BY_OCCLUSION = """\
words = {{"occlusion": occlusion(model, source, target, how={occlusion!r}).importance}}"""
_LAYERS_CODE = """
from bertcore.analysis.attribution import faithfulness, layer_conductance

conductance = layer_conductance(model, source, target, baseline={baseline!r}, steps={steps})
words = source.merge(conductance.layers)  # [L, W]
rows = {{str(layer): row for layer, row in enumerate(words)}}
faithfulness(model, source, target, rows, how={occlusion!r})
"""

WORDS = Picture(
    name="inspect-words",
    figure=attributed_text,
    table=word_table,
    how="Blue words support what is explained, orange ones oppose it{method}",
    code=_WORDS_CODE,
)
_METHOD_TEXTS = {
    "ig": (
        ". Gradients are summed along the path from a text of {stand_in} ({unit} {begin}) to yours "
        "({value}); all numbers sum to the difference, {change}, apart from the convergence delta, "
        "{delta}. Word pieces are summed. Integrated gradients: Sundararajan et al. 2017."
    ),
    "gradient": (
        ": the gradient of the {unit} with respect to each token embedding, times that embedding. "
        "It sees only small changes of the text. In BERT it is small and often says little: a "
        "LayerNorm follows, so token, segment and position together cancel to 0. Shrikumar et al. "
        "2016."
    ),
    "occlusion": (
        ": how much the {unit} ({value} for the whole text) falls if this word alone is {gone}. "
        "Two words with the same meaning can stand in for each other. \\[CLS\\] and \\[SEP\\] are "
        "never occluded. Li et al. 2016."
    ),
}
_LOG_ODDS = (
    "Log-odds are ln(p / (1 − p)) of the probability p of what is explained: 0 is 50%, +2 is 88%, "
    "+4 is 98%, −2 is 12%. A word with +2 moves 50% to 88%."
)
_SPAN_LOG_ODDS = (
    "Log-odds are those of the answer's start, ln(p / (1 − p)), plus those of its end: 0 is 50% "
    "each, +4 is 88% each, −4 is 12% each."
)
_NO_GRADIENTS = (
    "This tagger was trained on the vectors of a frozen encoder (feature-based), so gradients do "
    "not reach the words; occlusion needs none."
)
FAITHFULNESS = Picture(
    name="inspect-faithfulness",
    figure=faithfulness_dots,
    table=faithfulness_table,
    how=(
        "An explanation is tested on the model itself. The top 1, 5, 10, 20 and 50% of the words "
        "(at least one) are occluded, and the {unit} that is lost is *comprehensiveness*; or only "
        "they are kept, and the loss is *sufficiency*. Both are means over the five fractions "
        "(DeYoung et al. 2020, AOPC). The diamond is the mean of {num} random orders of the words, "
        "its line is their range: a method within that line is no better than chance. One text "
        "proves little, and texts with occluded words are unusual for the model."
    ),
    code=_WORDS_CODE,
)
BY_METHOD = Picture(
    name="inspect-methods",
    figure=method_rows,
    table=word_table,
    how=(
        "Each row is scaled by its own strongest word, since the methods have different units. If "
        "they disagree, trust the more faithful one."
    ),
    code=_WORDS_CODE,
)
BY_PART = Picture(
    name="inspect-parts",
    figure=method_rows,
    table=word_table,
    how=(
        "All embeddings move along the path together: {begins}. All rows share one scale. The sums "
        "in brackets add up to {change} in {unit}, apart from the convergence delta, {delta}.{rows}"
    ),
    code="""
from bertcore.analysis.attribution import PARTS, integrated_gradients

gradients = integrated_gradients(
    model, source, target, parts=PARTS, baseline={baseline!r}, steps={steps}
)
{{name: source.merge(values) for name, values in gradients.parts.items()}}
""",
)
_BEGINS = {
    "token": "tokens from the empty text",
    "segment": "segments from segment 0",
    "position": "positions from position 0 everywhere",
}
"""Where the path of each of PARTS begins."""
_ROWS = {
    "segment": " In the row *segment*, words of segment 0 have no attribution.",
    "position": (
        " In the row *position*, the first token has no attribution; large values there mean that "
        "the order of the words matters."
    ),
}
BY_LAYER = Picture(
    name="inspect-layers",
    figure=conductance_map,
    table=conductance_arrays,
    how=(
        "How much of the integrated gradients passes through each word's vector after each layer "
        "(conductance; Dhamdhere et al. 2019). Every row sums to {change} in {unit}, "
        "apart from a convergence delta of at most {delta}. The rows show where the decision "
        "gathers: a classifier's ends up in what its head reads, the vector of \\[CLS\\], of the "
        "last token if attention is causal, or of all tokens if it takes their mean."
    ),
    code=_LAYERS_CODE,
)
LAYER_FAITHFULNESS = Picture(
    name="inspect-layer-faithfulness",
    figure=layer_faithfulness,
    table=faithfulness_table,
    how=(
        "How faithful is the order of the words by each layer's row? The dotted line is chance. In "
        "late layers a word's vector is no longer about that word alone, so these rows often fall "
        "to chance."
    ),
    code=_LAYERS_CODE,
)


def unit(query: Query) -> str:
    """Return the unit of attributions."""
    target = query.target
    is_score = isinstance(target, ScoreTarget) and not target.is_sigmoid
    return "score" if is_score else "log-odds"


def measured(query: Query) -> str:
    """Return what is lost when words are occluded."""
    return "score" if isinstance(query.target, ScoreTarget) else "probability"


def show_words(page: frame.Page, query: Query) -> None:
    """Draw the text in the colours of one method, all methods, and their faithfulness."""
    explanation = Compute(name="inspect-words", stopped=STOPPED)(explain, query)
    links = {link: name for link, name in _METHODS_IN_LINKS.items() if name in explanation.words}
    default = next(iter(links))
    METHOD.key(default=default, options=list(links))
    method = links[METHOD.value]
    rows = (query.texts.source.words, explanation.words)
    code = _code_values(query)
    methods = _BY_GRADIENTS if "ig" in explanation.words else _BY_OCCLUSION
    code["methods"] = methods.format(**code)
    drawn = {"method": method, "is_dark": page.is_dark, "unit": unit(query)}
    about = frame.own_filled(_METHOD_TEXTS[method], **_numbers(explanation, query))
    WORDS.show(page, *rows, drawn=drawn, with_caption=False, method=about, **code)
    names = {link: METHODS[name] for link, name in links.items()}
    one_of("Method", names, METHOD, default=default, with_label=True)
    WORDS.caption(method=about)
    if unit(query) == "log-odds":
        st.caption(_SPAN_LOG_ODDS if isinstance(query.target, SpanTarget) else _LOG_ODDS)
    if explanation.delta is not None and explanation.baseline is not None:
        _warn_of_delta(explanation.delta, explanation.value - explanation.baseline)
    if len(links) == 1:
        st.caption(_NO_GRADIENTS)
    st.header("Which method is faithful to the model?", anchor=False)
    named = {METHODS[name]: faithfulness for name, faithfulness in explanation.faithfulness.items()}
    compared = (named, explanation.random)
    lost: dict[str, Any] = {"unit": measured(query), "num": len(explanation.random)}
    left, right = st.container(key="inspect_true").columns([5, 4], gap="large")
    with left:
        drawn = {"unit": measured(query)}
        FAITHFULNESS.show(page, *compared, drawn=drawn, with_caption=False, **lost, **code)
    with right:
        st.markdown("**The methods side by side**")
        drawn = {"is_dark": page.is_dark, "most_named": 11, "names": METHODS}
        BY_METHOD.show(page, *rows, drawn=drawn, **code)
    FAITHFULNESS.caption(**lost)


def show_parts(page: frame.Page, query: Query) -> None:
    """Draw integrated gradients of token, segment and position embeddings, one row each."""
    attribution = Compute(name="inspect-parts", stopped=STOPPED)(explain_by_part, query)
    source = query.texts.source
    parts = attribution.parts
    rows = {name: source.merge(parts[name]) for name in PARTS if name in parts}
    assert attribution.baseline is not None
    assert attribution.delta is not None
    names = {name: f"{name} ({signed(float(values.sum()))})" for name, values in rows.items()}
    change = attribution.value - attribution.baseline
    BY_PART.show(
        page,
        source.words,
        rows,
        drawn={"is_dark": page.is_dark, "own_scale": False, "names": names},
        begins=", ".join(_BEGINS[name] for name in rows),
        rows="".join(_ROWS.get(name, "") for name in rows),
        change=exactly(change, 3),
        delta=exactly(attribution.delta, 4),
        unit=unit(query),
        **_code_values(query),
    )
    if "segment" not in parts:
        capabilities.note(page, "segments")
    if "position" not in parts:
        capabilities.note(page, "positions")
    _warn_of_delta(attribution.delta, change)


def show_layers(page: frame.Page, query: Query) -> None:
    """Draw the conductance of every layer, and the faithfulness of each layer's order of words."""
    layers = Compute(name="inspect-layers", stopped=STOPPED)(explain_by_layer, query)
    code = _code_values(query)
    BY_LAYER.show(
        page,
        query.texts.source.words,
        layers.words,
        layers.deltas,
        drawn={"is_dark": page.is_dark},
        change=exactly(layers.change, 3),
        unit=unit(query),
        delta=f"{max(map(abs, layers.deltas.tolist())):.3f}",
        **code,
    )
    _warn_of_delta(max(layers.deltas.tolist(), key=abs), layers.change)
    named = {
        f"layer {layer}": faithfulness for layer, faithfulness in enumerate(layers.faithfulness)
    }
    drawn = {"unit": measured(query)}
    LAYER_FAITHFULNESS.show(page, named, layers.random, drawn=drawn, **code)


def _code_values(query: Query) -> dict[str, Any]:
    """Return the Python before that of a picture, and what fills its braces."""
    return {
        "setup": setup(query.texts, query.target),
        "baseline": query.baseline,
        "steps": query.steps,
        "occlusion": query.occlusion,
    }


def _numbers(explanation: Explanation, query: Query) -> dict[str, str]:
    """Return what fills the braces of a method's text."""
    mask, pad = (plain(name) for name in stand_ins(query.texts.key))
    ways = {"mask": mask, "pad": pad, "zero": "a zero vector"}
    value, baseline = explanation.value, explanation.baseline
    return {
        "change": "" if baseline is None else exactly(value - baseline, 3),
        "value": exactly(value, 3),
        "begin": "" if baseline is None else exactly(baseline, 3),
        "delta": "" if explanation.delta is None else exactly(explanation.delta, 4),
        "unit": unit(query),
        "stand_in": ways[query.baseline],
        "gone": f"replaced by {mask}" if query.occlusion == "mask" else "left out",
    }


def _warn_of_delta(delta: float, change: float) -> None:
    """Warn if the gradients do not sum to the change of the target."""
    if abs(delta) > LARGE_DELTA * max(abs(change), 1e-3):
        st.warning(
            f"The convergence delta is {exactly(delta, 3)}, over 5% of the change to be explained: "
            "the sum is not exact yet. Choose more steps under *How to explain*."
        )
