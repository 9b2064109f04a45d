"""Inspect: what a fine-tuned checkpoint answers, why, what would change it, and where it fails."""

from dataclasses import replace
from typing import Any, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore.analysis.attribution import (
    BASELINES,
    OCCLUSIONS,
    Counterfactual,
    LabelTarget,
    Search,
    can_differentiate,
    can_follow_layers,
    task_input,
)
from bertcore.model.checkpoints.source import FINE_TUNED
from bertcore.training.tasks.model import TaskModel

from ...plots import exactly, percent, plain, shorten_middle
from ...server.checkpoints import HOW_TO_CHOOSE
from ...server.policy import policy
from ...shell import (
    TEXT_A,
    TEXT_B,
    Compute,
    Field,
    cache,
    computed,
    frame,
    offer,
    one_of,
    show,
    sidebar,
)
from ...shell.sentence_box import DEFAULT, REVIEW
from ...shell.words import tr
from . import PAGE
from .contents import show_contents
from .file_results import show_file
from .tasks import TASK_VIEWS, WHY, ExplainedTarget, TaskPage, Texts
from .views import FAITHFULNESS, LAYERS, METHODS, SWAPS, WORDS, unit, word_fills

STEPS = (20, 50, 200)
BASELINE = Field("inspect_baseline", BASELINES[0], BASELINES)
NUM_STEPS = Field("inspect_steps", STEPS[1], STEPS)
METHODS_IN_LINKS = {"ig": "ig", "gradient": "gradient", "erasure": "occlusion"}
"""Names of METHODS in links; occlusion used to be called erasure."""
METHOD = Field("inspect_method", "ig")
FAITHFUL_OPEN = Field("inspect_faithful", False)
LARGE_DELTA = 0.05
"""Fraction of the change above which the page warns of the convergence delta."""
COMPUTE = Compute(stage="Explaining the answer", stopped="Stopped.")
SEARCH = Compute(stage="Trying other words", stopped="Stopped.")
NO_GRADIENTS = (
    "This tagger was trained on the vectors of a frozen encoder (feature-based), so gradients do "
    "not reach the words; occlusion needs none."
)
SHOWN = 6
"""Texts with another answer that are shown."""
_AROUND = 90
"""Characters shown on each side of a swap."""


PATH = (
    "Gradients are summed along the path from a text without content to yours. In that text every "
    "word is {mask}, {pad}, or a vector of zeros; {added} stay."
)
INEXACT = (
    "The convergence delta is {delta}, over 5% of the change to be explained: the sum is not exact "
    "yet. Choose more steps under *More*."
)


class How(NamedTuple):
    """How an answer is explained."""

    baseline: str
    """One of BASELINES."""
    steps: int


def choose_how(task: TaskPage, menu: DeltaGenerator) -> How:
    """Draw in `menu` where gradients begin, and their steps."""
    tokenizer = task.model.tokenizer
    mask, pad = tokenizer.mask_token, tokenizer.id_to_token(tokenizer.pad_id)
    added = ", ".join(dict.fromkeys(task.page.marks[:2]))
    baselines = {"mask": mask, "pad": pad, "zero": "zeros"}
    with menu:
        baseline = one_of(
            "Gradients begin from",
            {name: baselines[name] for name in BASELINES},
            BASELINE,
            with_label=True,
            help=tr(PATH, mask=plain(mask), pad=plain(pad), added=plain(added)),
        )
        num_steps = one_of(
            "Steps on the path",
            STEPS,
            NUM_STEPS,
            with_label=True,
            help="More steps make the sum more exact but take longer.",
        )
    return How(baseline, num_steps)


def _say_cut(task: TaskPage) -> None:
    """Report whether the texts were cut, and by which limit."""
    cut, most = task.source.truncation, task.model.max_length
    if cut is None:
        return
    why = ""
    if max(map(len, task.source.rows)) < most:
        why = (
            " The limit is that of its fine-tuning, which never saw longer texts; the other pages "
            f"read up to {most} tokens."
        )
    st.warning(plain(cut.sentence()) + why)


def show_words(task: TaskPage, target: Any, how: How, where: DeltaGenerator) -> None:
    """Draw the text in the colours of one method; `where` is the place of the methods."""
    arguments = (*task.texts, target, *how, OCCLUSIONS[0])
    alone = (*arguments, False)  # the methods are compared under their own heading
    explanation = computed(WORDS, task.page, *alone, compute=COMPUTE)
    links = {link: name for link, name in METHODS_IN_LINKS.items() if name in explanation.words}
    default = next(iter(links))
    METHOD.key(default=default, options=list(links))
    method = links[METHOD.value]
    title = unit(explanation.target)
    drawn = {"value": method, "scale_title": title, "is_dark": task.page.is_dark}
    names = {link: METHODS[name] for link, name in links.items()}
    one_of("Method", names, METHOD, default=default, where=where, with_label=True)
    fills: dict[str, Any] = {**word_fills(explanation, method)}
    show(WORDS, task.page, *alone, drawn=drawn, compute=COMPUTE, **fills)
    if explanation.delta is not None and explanation.baseline is not None:
        _warn_of_delta(explanation.delta, explanation.value - explanation.baseline)
    if len(links) == 1:
        st.caption(tr(NO_GRADIENTS))
    show_faithfulness(task.page, arguments)


@frame.closed(FAITHFULNESS.question, FAITHFUL_OPEN)
def show_faithfulness(page: frame.Page, arguments: tuple[Any, ...]) -> None:
    """Draw how faithful each method is."""
    show(FAITHFULNESS, page, *arguments, compute=COMPUTE)


@frame.closed(LAYERS.question, WHY, at="layers")
def show_layers(page: frame.Page, texts: Texts, target: Any, how: How) -> None:
    """Draw the conductance of every layer."""
    arguments = (*texts, target, *how)
    drawn = {"is_dark": page.is_dark}
    layers = show(LAYERS, page, *arguments, drawn=drawn, compute=COMPUTE)
    assert layers is not None  # the choice is not offered without it
    _warn_of_delta(max(layers.deltas.tolist(), key=abs), layers.change)


def _warn_of_delta(delta: float, change: float) -> None:
    """Warn if the gradients do not sum to the change of the target."""
    if abs(delta) > LARGE_DELTA * max(abs(change), 1e-3):
        st.warning(tr(INEXACT, delta=exactly(delta, 3)))


def proposer(key: cache.BertKey) -> cache.BertKey:
    """Return the checkpoint that proposes words for a model: its own if it has the head."""
    if "mlm" in cache.opened(key).capabilities:
        return key
    return cache.bert_key("default", key.device, key.dtype)


@frame.closed(SWAPS.question, WHY, at="swaps")
def show_swaps(page: frame.Page, texts: Texts, explained: ExplainedTarget) -> None:
    """Draw the texts with another answer, each with a button that uses it on all pages."""
    task, _ = TaskPage.of(page, page.task_model, texts)
    proposed_by = proposer(task.page.bert_key)
    if proposed_by != task.page.bert_key:
        st.caption(
            tr(
                "This checkpoint no longer has a masked-word head, so the shipped checkpoint "
                "proposes the words."
            )
        )
    # The label whose yes or no is explained; none if a text has one answer.
    label = explained.target.label if isinstance(explained.target, LabelTarget) else None
    text, text_pair, choices = task.texts
    change = TASK_VIEWS[task.model.task.name].choose_score_change()
    arguments = (text, text_pair, proposed_by, choices, explained.word, label, change)
    search = computed(SWAPS, task.page, *arguments, compute=SEARCH)
    _show_search(task, search, explained.word)
    spelled = {"proposer": f"bertcore.load({proposed_by.source!r})"}
    offer(SWAPS, task.page, search, *arguments, spelled=spelled)


def _show_search(task: TaskPage, search: Search, word: int | None) -> None:
    ran, found = f"{search.forwards:,}", search.counterfactuals
    if not found:
        none = (
            "No other answer was found in {runs} runs: none of the swaps tried (up to four words) "
            "changes the answer."
        )
        limit = (
            "No other answer was found within the limit of {runs} runs. There may be one beyond it."
        )
        st.info(tr(limit if search.is_cut else none, runs=ran))
        if search.closest is not None:
            st.markdown(tr("The text that came closest:"))
            _row(task, search.closest, 0, word)
        return
    told = (
        "**Words to swap: {words}.** {texts} texts with another answer, at most {most} of them "
        "below; runs of the model: {runs}."
    )
    facts = {"words": len(found[0].swaps), "texts": len(found), "most": SHOWN}
    st.markdown(tr(told, **facts, runs=ran))
    for number, counterfactual in enumerate(found[:SHOWN]):
        _row(task, counterfactual, number, word)


def _row(task: TaskPage, counterfactual: Counterfactual, number: int, word: int | None) -> None:
    with st.container(border=True):
        st.markdown(_marked(task, counterfactual))
        row = st.container(horizontal=True, vertical_alignment="center")
        row.markdown(
            TASK_VIEWS[task.model.task.name].in_words(counterfactual.answer, word), width="content"
        )
        swaps = sorted(counterfactual.swaps, key=lambda swap: swap.word)
        usual = " · ".join(f"{plain(s.after)} {percent(s.probability)}" for s in swaps)
        row.caption(tr("BERT's probability there: {words}", words=usual), width="stretch")
        if row.button(
            tr("Use this text"),
            key=f"swap_{number}",
            icon=":material/edit:",
            on_click=_use,
            args=(counterfactual.text, counterfactual.text_pair, task.texts.text_pair is not None),
        ):
            st.rerun()  # the text is of the whole page, and this heading runs alone


def _use(text: str, pair: str | None, has_pair: bool) -> None:
    TEXT_A.put(text)
    if has_pair:
        TEXT_B.put(pair or "")


def _marked(task: TaskPage, counterfactual: Counterfactual) -> str:
    """Return both texts as Markdown with the swapped words marked; long ones around them only."""
    texts = (counterfactual.text, counterfactual.text_pair)
    source = task_input(task.model, *texts, choices=task.texts.choices)
    lines = []
    for text_id, text in enumerate(texts):
        line, last = "", 0
        for swap in sorted(counterfactual.swaps, key=lambda swap: swap.word):
            word = source.words[swap.word]
            if text is not None and word.text_id == text_id:
                start, _ = source.encoding.offsets[word.start]
                line += plain(shorten_middle(text[last:start], 2 * _AROUND))
                _, last = source.encoding.offsets[word.end - 1]
                after = plain(text[start:last])
                line += f":orange-background[{plain(swap.before)}] → :blue-background[**{after}**]"
        if text is not None:
            lines.append(line + plain(shorten_middle(text[last:], 2 * _AROUND)))
    return "  \n".join(lines)


WHY_EXAMPLE = "the classifier **{example}**{on}, since {name} has no decision to inspect."
EXAMPLE = "sentiment"
"""The checkpoint that is shown instead of one without a head for a task."""
FINETUNE = """bertscope finetune --task classify --train train.tsv --dev dev.tsv --out my-classifier
bertscope    # in the same folder; choose my-classifier"""
NOT_SHIPPED = (
    "No checkpoint for named entities or for inference ships, because the data that teach them "
    "(CoNLL-2003, SICK, RTE) are licensed for research or non-commercial use only; from a file of "
    "your own:"
)
FINETUNE_OTHERS = """bertscope finetune --task tag --train names.conll --held-out 0.1 --out my-names
bertscope finetune --task pair --train inference.tsv --held-out 0.1 --out my-inference"""


def _show_example(page: frame.Page) -> frame.Page:
    """Note that a shipped classifier is shown; return the page with it, on a text to judge."""
    is_untouched = page.text_a == DEFAULT.text_a
    text = REVIEW.text_a if is_untouched else page.text_a
    on = tr(" on “{text}”", text=plain(text)) if is_untouched else ""
    name = plain(sidebar.brief_name(page.bert_key.source))
    row = frame.example_row(tr(WHY_EXAMPLE, example=EXAMPLE, on=on, name=name))
    with row.popover(tr("Your text or checkpoint")):
        for shipped in FINE_TUNED:
            label = tr("{name} on your text", name=shipped)
            st.button(label, key=f"open_{shipped}", on_click=sidebar.choose, args=(shipped,))
        how = (
            "Choose a fine-tuned checkpoint in the sidebar, or fine-tune one on a table with a "
            "text and a label in each row, on *Training* or in a terminal."
        )
        how = HOW_TO_CHOOSE if policy().is_closed else how
        reads = (
            "This page reads classifiers, taggers, and regression, question-answering and "
            "multiple-choice models of BERT, DistilBERT, RoBERTa, XLM-RoBERTa, ELECTRA, ALBERT, "
            "ModernBERT, DeBERTa, MobileBERT, MPNet, XLNet and EuroBERT."
        )
        st.markdown(f"{tr(how)} {tr(reads)}")
        st.code(FINETUNE, language="bash")
        st.markdown(tr(NOT_SHIPPED))
        st.code(FINETUNE_OTHERS, language="bash")
    key = sidebar.key_of(EXAMPLE)
    return replace(page, bert_key=key, text_a=text, text_b=None if is_untouched else page.text_b)


def show_text(page: frame.Page, model: TaskModel) -> None:
    """Draw the answer to the text in the box, and one way to explain it."""
    for note in model.notes:
        st.caption(plain(note))
    view = TASK_VIEWS[model.task.name]
    task, answered = view.answered(page, model)
    _say_cut(task)
    if not task.source.text_words:
        return
    above, why = st.container(), st.empty()
    row = why.container(horizontal=True, vertical_alignment="center")
    row.header(tr("Why?"), anchor=False, width="content")
    menu = frame.more(row)
    with above:
        explained = view.show(task, answered.answer, menu)
    if explained is None:
        why.empty()
        return
    how = choose_how(task, menu)
    with frame.guard():
        show_words(task, explained.target, how, menu)
    if can_differentiate(model) and can_follow_layers(model):
        show_layers(page, task.texts, explained.target, how)
    show_swaps(page, task.texts, explained)


def draw() -> None:
    """Draw the page."""
    of = page = frame.begin(PAGE, shows_trace=False, as_typed=True)
    if not page.bert.has_task_head:
        page = _show_example(page)
    with frame.guard():
        show_text(page, page.task_model)
        show_file(page)
    show_contents(of)
