"""Attribution of an answer to words, by several methods, with their faithfulness."""

from typing import Any

import streamlit as st

from bertcore.analysis.attribution import ScoreTarget, SpanTarget

from ..plots import exactly, plain
from ..shell import Compute, Field, Picture, frame, one_of
from ..task_model.model import Explanation, How, Layers, TaskPage, explain, explain_by_layer
from .attribution_figures import (
    attributed_text,
    conductance_map,
    faithfulness_dots,
    faithfulness_table,
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
BY_LAYER = Picture(
    name="inspect-layers",
    figure=conductance_map,
    table=word_table,
    how=(
        "How much of the integrated gradients passes through each word's vector after each layer "
        "(conductance; Dhamdhere et al. 2019). Every row sums to {change} in {unit}, "
        "apart from a convergence delta of at most {delta}. The rows show where the decision "
        "gathers: a classifier's ends up in what its head reads, the vector of \\[CLS\\], of the "
        "last token if attention is causal, or of all tokens if it takes their mean."
    ),
    code="""
from bertcore.analysis.attribution import layer_conductance

conductance = layer_conductance(model, source, target, baseline={baseline!r}, steps={steps})
source.merge(conductance.layers)  # [L, W]
""",
)


def unit(how: How) -> str:
    """Return the unit of attributions."""
    is_score = isinstance(how.target, ScoreTarget) and not how.target.is_sigmoid
    return "score" if is_score else "log-odds"


def show_words(task: TaskPage, how: How) -> None:
    """Draw the text in the colours of one method, all methods, and their faithfulness."""
    compute = Compute(name="inspect-words", stopped=STOPPED)
    explanation: Explanation = compute(explain, task.key, task.texts, how)
    links = {link: name for link, name in _METHODS_IN_LINKS.items() if name in explanation.words}
    default = next(iter(links))
    METHOD.key(default=default, options=list(links))
    method = links[METHOD.value]
    page, rows = task.page, (task.source.words, explanation.words)
    code = _code_values(task, how)
    methods = _BY_GRADIENTS if "ig" in explanation.words else _BY_OCCLUSION
    code["methods"] = methods.format(**code)
    about = frame.own_filled(_METHOD_TEXTS[method], **_numbers(explanation, task, how))
    drawn = {"method": method, "is_dark": page.is_dark, "unit": unit(how)}
    WORDS.show(page, *rows, drawn=drawn, with_caption=False, method=about, **code)
    names = {link: METHODS[name] for link, name in links.items()}
    one_of("Method", names, METHOD, default=default, with_label=True)
    WORDS.caption(method=about)
    if unit(how) == "log-odds":
        st.caption(_SPAN_LOG_ODDS if isinstance(how.target, SpanTarget) else _LOG_ODDS)
    if explanation.delta is not None and explanation.baseline is not None:
        _warn_of_delta(explanation.delta, explanation.value - explanation.baseline)
    if len(links) == 1:
        st.caption(_NO_GRADIENTS)
    st.header("Which method is faithful to the model?", anchor=False)
    by_name = {METHODS[name]: scores for name, scores in explanation.faithfulness.items()}
    lost: dict[str, Any] = {
        "unit": "score" if isinstance(how.target, ScoreTarget) else "probability",
        "num": len(explanation.random),
    }
    left, right = st.container(key="inspect_true").columns([5, 4], gap="large")
    with left:
        compared = (by_name, explanation.random)
        drawn = {"unit": lost["unit"]}
        FAITHFULNESS.show(page, *compared, drawn=drawn, with_caption=False, **lost, **code)
    with right:
        st.markdown("**The methods side by side**")
        drawn = {"is_dark": page.is_dark, "most_named": 11, "names": METHODS}
        BY_METHOD.show(page, *rows, drawn=drawn, **code)
    FAITHFULNESS.caption(**lost)


def show_layers(task: TaskPage, how: How) -> None:
    """Draw the conductance of every layer."""
    compute = Compute(name="inspect-layers", stopped=STOPPED)
    layers: Layers = compute(explain_by_layer, task.key, task.texts, how)
    largest = max(layers.deltas.tolist(), key=abs)
    BY_LAYER.show(
        task.page,
        task.source.words,
        {str(layer): values for layer, values in enumerate(layers.words)},
        drawn={"is_dark": task.page.is_dark},
        change=exactly(layers.change, 3),
        unit=unit(how),
        delta=f"{abs(largest):.3f}",
        **_code_values(task, how),
    )
    _warn_of_delta(largest, layers.change)


def _code_values(task: TaskPage, how: How) -> dict[str, Any]:
    """Return the Python before that of a picture, and what fills its braces."""
    return {
        "setup": task.setup(how.target),
        "baseline": how.baseline,
        "steps": how.steps,
        "occlusion": how.occlusion,
    }


def _numbers(explanation: Explanation, task: TaskPage, how: How) -> dict[str, str]:
    """Return what fills the braces of a method's text."""
    mask, pad = (plain(name) for name in task.stand_ins)
    ways = {"mask": mask, "pad": pad, "zero": "a zero vector"}
    value, baseline = explanation.value, explanation.baseline
    return {
        "change": "" if baseline is None else exactly(value - baseline, 3),
        "value": exactly(value, 3),
        "begin": "" if baseline is None else exactly(baseline, 3),
        "delta": "" if explanation.delta is None else exactly(explanation.delta, 4),
        "unit": unit(how),
        "stand_in": ways[how.baseline],
        "gone": f"replaced by {mask}" if how.occlusion == "mask" else "left out",
    }


def _warn_of_delta(delta: float, change: float) -> None:
    """Warn if the gradients do not sum to the change of the target."""
    if abs(delta) > LARGE_DELTA * max(abs(change), 1e-3):
        st.warning(
            f"The convergence delta is {exactly(delta, 3)}, over 5% of the change to be explained: "
            "the sum is not exact yet. Choose more steps under *How to explain*."
        )
