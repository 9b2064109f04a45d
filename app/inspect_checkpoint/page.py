"""Inspect: what a fine-tuned checkpoint answers, why, what would change it, and where it fails."""

from dataclasses import replace
from typing import Any, NamedTuple

import streamlit as st

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
from bertcore.tasks.model import TaskModel

from ..access.checkpoints import HOW_TO_CHOOSE
from ..access.policy import policy
from ..plots import exactly, percent, plain, shorten_middle
from ..shell import (
    TEXT_A,
    TEXT_B,
    Compute,
    Field,
    cache,
    caption,
    computed,
    frame,
    offer,
    one_of,
    show,
    sidebar,
)
from ..shell.sentence_box import DEFAULT, REVIEW
from ..task_model.model import has_head
from ..task_model.model import model as open_model
from . import PAGE
from .choices import VIEW, VIEWS
from .contents import show_contents
from .file_results import show_file
from .tasks import TASK_VIEWS, ExplainedTarget, TaskPage
from .views import FAITHFULNESS, LAYERS, METHOD_ROWS, METHODS, SWAPS, WORDS, word_fills

STEPS = (20, 50, 200)
BASELINE = Field("inspect_baseline", BASELINES[0], BASELINES)
NUM_STEPS = Field("inspect_steps", STEPS[1], STEPS)
OCCLUSION = Field("inspect_erase", OCCLUSIONS[0])
WHYS = {"words": "Words", "layers": "Layers", "swaps": "Counterfactuals"}
WHY = Field("inspect_why", "words")
METHODS_IN_LINKS = {"ig": "ig", "gradient": "gradient", "erasure": "occlusion"}
"""Names of METHODS in links; occlusion used to be called erasure."""
METHOD = Field("inspect_method", "ig")
FAITHFUL_OPEN, AGREE_OPEN = Field("inspect_faithful", False), Field("inspect_agree", False)
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


class How(NamedTuple):
    """How an answer is explained."""

    baseline: str
    """One of BASELINES."""
    steps: int
    occlusion: str
    """One of OCCLUSIONS."""


def choose_how(task: TaskPage) -> How:
    """Draw where gradients begin, their steps, and how words are occluded."""
    can_drop = not task.model.task.answers_each_token
    ways = OCCLUSIONS if can_drop else OCCLUSIONS[:1]
    tokenizer = task.model.tokenizer
    mask, pad = tokenizer.mask_token, tokenizer.id_to_token(tokenizer.pad_id)
    baselines = {"mask": mask, "pad": pad, "zero": "zeros"}
    occlusions = {"mask": f"replaced by {mask}", "drop": "left out"}
    with st.popover("How to explain", icon=":material/tune:"):
        baseline = one_of(
            "Gradients begin from",
            {name: baselines[name] for name in BASELINES},
            BASELINE,
            with_label=True,
            help=(
                "Gradients are summed along the path from a text without content to yours. In that "
                f"text every word is {plain(mask)}, {plain(pad)}, or a vector of zeros; "
                f"{plain(task.page.marks.added)} stay."
            ),
        )
        num_steps = one_of(
            "Steps on the path",
            STEPS,
            NUM_STEPS,
            with_label=True,
            help="More steps make the sum more exact but take longer.",
        )
        occlusion = one_of(
            "Occluded words are",
            {name: occlusions[name] for name in ways},
            OCCLUSION,
            with_label=True,
        )
        if not can_drop:
            st.caption(
                "This model answers for each token, so words can be masked but not left out."
            )
    return How(baseline, num_steps, occlusion)


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


def show_words(task: TaskPage, target: Any, how: How) -> None:
    """Draw the text in the colours of one method; all methods and their faithfulness if opened."""
    arguments = (*task.texts, target, *how)
    explanation = computed(WORDS, task.page, *arguments, compute=COMPUTE)
    links = {link: name for link, name in METHODS_IN_LINKS.items() if name in explanation.words}
    default = next(iter(links))
    METHOD.key(default=default, options=list(links))
    method = links[METHOD.value]
    drawn = {"method": method, "is_dark": task.page.is_dark}
    show(WORDS, task.page, *arguments, drawn=drawn, compute=COMPUTE, with_caption=False)
    names = {link: METHODS[name] for link, name in links.items()}
    one_of("Method", names, METHOD, default=default, with_label=True)
    caption(WORDS, explanation, **word_fills(explanation, method))
    if explanation.delta is not None and explanation.baseline is not None:
        _warn_of_delta(explanation.delta, explanation.value - explanation.baseline)
    if len(links) == 1:
        st.caption(NO_GRADIENTS)
    show_faithfulness(task.page, arguments)
    show_agreement(task.page, arguments)


@frame.closed(FAITHFULNESS.question, FAITHFUL_OPEN)
def show_faithfulness(page: frame.Page, arguments: tuple[Any, ...]) -> None:
    """Draw how faithful each method is."""
    show(FAITHFULNESS, page, *arguments, compute=COMPUTE)


@frame.closed(METHOD_ROWS.question, AGREE_OPEN)
def show_agreement(page: frame.Page, arguments: tuple[Any, ...]) -> None:
    """Draw the methods side by side."""
    show(METHOD_ROWS, page, *arguments, drawn={"is_dark": page.is_dark}, compute=COMPUTE)


def show_layers(task: TaskPage, target: Any, how: How) -> None:
    """Draw the conductance of every layer."""
    arguments = (*task.texts, target, how.baseline, how.steps)
    drawn = {"is_dark": task.page.is_dark}
    layers = show(LAYERS, task.page, *arguments, drawn=drawn, compute=COMPUTE)
    assert layers is not None  # the choice is not offered without it
    _warn_of_delta(max(layers.deltas.tolist(), key=abs), layers.change)


def _warn_of_delta(delta: float, change: float) -> None:
    """Warn if the gradients do not sum to the change of the target."""
    if abs(delta) > LARGE_DELTA * max(abs(change), 1e-3):
        st.warning(
            f"The convergence delta is {exactly(delta, 3)}, over 5% of the change to be explained: "
            "the sum is not exact yet. Choose more steps under *How to explain*."
        )


def proposer(key: cache.BertKey) -> cache.BertKey:
    """Return the checkpoint that proposes words for a model: its own if it has the head."""
    if "mlm" in cache.opened(key).capabilities:
        return key
    return cache.bert_key("default", key.device, key.dtype)


def show_swaps(task: TaskPage, explained: ExplainedTarget) -> None:
    """Draw the texts with another answer, each with a button that uses it on all pages."""
    proposed_by = proposer(task.page.bert_key)
    if proposed_by != task.page.bert_key:
        st.caption(
            "This checkpoint no longer has a masked-word head, so the shipped checkpoint "
            "proposes the words."
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
            f"No other answer was found in {ran} runs: none of the swaps tried (up to four words) "
            "changes the answer."
        )
        limit = (
            f"No other answer was found within the limit of {ran} runs. There may be one beyond it."
        )
        st.info(limit if search.is_cut else none)
        if search.closest is not None:
            st.markdown("The text that came closest:")
            _row(task, search.closest, 0, word)
        return
    count = len(found[0].swaps)
    swapped = "One swapped word is" if count == 1 else f"{count} swapped words are"
    texts = "One text" if len(found) == 1 else f"{len(found)} texts"
    below = "" if len(found) <= SHOWN else f", of which the {SHOWN} most probable are below"
    st.markdown(
        f"**{swapped} enough.** {texts} with another answer{below}; the model was run {ran} times."
    )
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
        row.caption(f"BERT's probability there: {usual}", width="stretch")
        row.button(
            "Use this text",
            key=f"swap_{number}",
            icon=":material/edit:",
            on_click=_use,
            args=(counterfactual.text, counterfactual.text_pair, task.texts.text_pair is not None),
        )


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


EXAMPLE = "sentiment"
"""The checkpoint that is shown instead of one without a head for a task."""
FINETUNE = """bertscope finetune --task classify --train train.tsv --dev dev.tsv --out my-classifier
bertscope    # in the same folder; choose my-classifier"""


def _show_example(page: frame.Page) -> frame.Page:
    """Note that a shipped classifier is shown; return the page with it.

    Instead of the text that the app opens with, it reads one that has something to judge.
    """
    is_untouched = page.text_a == DEFAULT.text_a
    text = REVIEW.text_a if is_untouched else page.text_a
    on = f" on “{plain(text)}”," if page.has_text and is_untouched else ","
    name = plain(sidebar.brief_name(page.bert_key.source))
    row = frame.example_row(
        f"the classifier **{EXAMPLE}**{on} since {name} has no decision to inspect."
    )
    if page.has_text:
        row.button(f"{EXAMPLE} on your text", on_click=sidebar.choose, args=(EXAMPLE,))
    with row.popover("Your own checkpoint"):
        how = (
            "Choose a fine-tuned checkpoint in the sidebar, or fine-tune one on a table with a "
            "text and a label in each row, on *Training* or in a terminal."
        )
        st.markdown(
            f"{HOW_TO_CHOOSE if policy().is_closed else how} This page reads classifiers, taggers, "
            "and regression, question-answering and multiple-choice models of BERT, DistilBERT, "
            "RoBERTa, XLM-RoBERTa, ELECTRA, ALBERT, ModernBERT, DeBERTa, MobileBERT, MPNet, XLNet "
            "and EuroBERT, as BertScope and `transformers` save them "
            "(`DistilBertForSequenceClassification`)."
        )
        st.code(FINETUNE, language="bash")
    key = sidebar.key_of(EXAMPLE)
    return replace(page, bert_key=key, text_a=text, text_b=None if is_untouched else page.text_b)


def show_text(page: frame.Page, model: TaskModel) -> None:
    """Draw the answer to the text in the box, and one way to explain it."""
    for note in model.notes:
        st.caption(plain(note))
    view = TASK_VIEWS[model.task.name]
    task, answered = view.answered(page, model)
    _say_cut(task)
    explained = view.show(task, answered.answer) if task.source.text_words else None
    if explained is None:
        return
    st.header("Why?", anchor=False)
    whys = dict(WHYS)
    if not can_differentiate(model) or not can_follow_layers(model):
        del whys["layers"]
    row = st.container(horizontal=True, vertical_alignment="center")
    why = one_of("Why", whys, WHY, where=row)
    with row:
        how = choose_how(task)
    with frame.guard():
        if why == "swaps":
            show_swaps(task, explained)
        elif why == "layers":
            show_layers(task, explained.target, how)
        else:
            show_words(task, explained.target, how)


def draw() -> None:
    """Draw the page."""
    is_text = VIEW.value != "file"
    page = frame.begin(PAGE, needs_text=is_text, shows_trace=False, runs_text=False)
    show_contents(page)
    if not has_head(page.bert):
        page = _show_example(page)
    with frame.guard(stop=True):
        model = open_model(page.bert_key)
    one_of("What to look at", VIEWS, VIEW)
    with frame.guard():
        if is_text:
            show_text(page, model)
        else:
            show_file(page, model)
