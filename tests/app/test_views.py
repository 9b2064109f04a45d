"""Every `View` on every capability signature: drawn or refused, numbers, Python, files.

What a view draws is tested beside its page; that it holds what all views promise, here.
"""

import csv
import inspect
import io
import itertools
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import bertcore
import bertscope
from app.parts.html_file.data_files import data_file
from app.plots.special_tokens import filled_markdown, marks_of
from app.view import REPORTS, View, all_views, named_view, public_module
from bertcore import Model
from bertcore.base.json_data import to_json
from bertcore.configs import Columns
from bertcore.training.tasks import TASKS
from bertcore.training.tasks.model import TaskModel
from bertscope.notebook.show import draw
from tests.support.browser.wording import layers_beyond
from tests.support.finetuning_files import write_labelled
from tests.support.rigged_models import random_model
from tests.support.tiny import causal_bert, tiny_bert
from tests.support.tiny_families import make
from tests.support.tiny_others import make_other

HOSTILE = '</script><img src=x onerror=alert(1)> {braces} "q" \\ the [MASK] bank'
TEXTS = (HOSTILE, "it's 'quoted' \u202e\"\"\" the [MASK] bank", "=1+1;@x")
FILES: dict[str, Path] = {}
"""Labelled file of each task."""


def save_task(task: str, folder: Path) -> None:
    """Write a fine-tuned checkpoint with a labelled file beside it."""
    random_model(task).save(folder)
    FILES[task] = write_labelled(task, folder.parent)


MADE: dict[str, Callable[[Path], object]] = {
    "bert": lambda folder: tiny_bert().save(folder),
    "bert without heads": lambda folder: tiny_bert(heads=frozenset()).save(folder),
    "causal bert": lambda folder: causal_bert().save(folder),
    "discriminator": lambda folder: make("ElectraForPreTraining", folder),
    "sentence order": lambda folder: make("AlbertForPreTraining", folder),
    "decoder": lambda folder: make_other("GPT2LMHeadModel", folder),
    "encoder and decoder": lambda folder: make_other("T5ForConditionalGeneration", folder),
    **{task: partial(save_task, task) for task in TASKS},
}
"""Checkpoints that differ in what they can: a view sees nothing else of a family."""
SAMPLES: dict[str, Any] = {
    "masked": (2,),
    "position": 2,
    "positions": (2,),
    "sizes": (250, 500),
    "words": ("bank",),
    "continuations": ("bank <img src=x>", TEXTS[2]),
    "objective": "masked-words",
    "among": TEXTS,
    "sentences_b": (TEXTS[2], "it's"),
    "pairs": tuple(itertools.permutations(TEXTS, 2)),
    "second": tiny_bert(seed=1),
    "max_forwards": 60,
}
"""Arguments that a visitor chooses, by name."""
OF_TASKS: dict[str, dict[str, Any]] = {
    "choice": {"choices": TEXTS},
    "multilabel": {"columns": Columns(label="Toxic,insult,threat")},
    "tag": {"word": 2},
}
"""Those that differ for a fine-tuned model."""
PUBLIC = {
    "bertcore",
    "bertcore.analysis",
    "bertcore.analysis.attribution",
    "bertcore.analysis.bias",
    "bertcore.training.finetuning",
    "bertcore.training.grammar",
    "bertcore.lessons.papers",
    "bertcore.model.model",
}
"""Packages that the Python of views imports from."""
NEEDS_FILES = {
    "rotations",
    "training",
    "label-curve",
    "replay",
    "layer-map-labels",
    "layer-map-probe",
    "vector-map",
    "what-if-task",
}
"""Views of what is not on hand here, such as a labelled file or a ModernBERT; tests of their pages
draw them."""
VARIES = {"vocabulary-unigram"}
"""Views of what a library trains, with other last digits each time."""
OF_THE_SHIPPED = {"two-phases"}
"""Views of a network that ships, whichever is open."""
MOST_WORDS = 25
"""Words of the first line of how to read a view."""
VIEWS = {name: view for name, view in all_views().items() if name not in NEEDS_FILES}


def signatures(view: View[Any]) -> list[str]:
    """Return the checkpoints that a view is drawn on."""
    return [name for name in MADE if (name in TASKS) == ("model" in view.takes)]


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Model | TaskModel]:
    opened: dict[str, Model | TaskModel] = {}

    def open_one(name: str) -> Model | TaskModel:
        if name not in opened:
            folder = tmp_path_factory.mktemp("signature") / "it's a 'checkpoint'"
            folder.mkdir()
            MADE[name](folder)
            opens = bertcore.open_task if name in TASKS else bertcore.load
            opened[name] = opens(folder, device="cpu")
        return opened[name]

    return open_one


def asked(view: View[Any], signature: str) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Return texts and options for a view: as many as it takes."""
    known = {*view.parameters}
    is_pair = "trace" in view.takes or bool({"text_b", "text_pair"} & known)
    count = 3 if {"sentences", "texts"} & known else 2 if is_pair else len({"text"} & known)
    samples = SAMPLES | OF_TASKS.get(signature, {})
    if signature in TASKS:
        samples["path"] = str(FILES[signature])
    texts = TEXTS[:1] if signature == "choice" and "choices" in known else TEXTS[:count]
    return texts, {name: value for name, value in samples.items() if name in known}


def drawn(
    view: View[Any], checkpoints: Callable[[str], Model | TaskModel]
) -> tuple[Model | TaskModel, tuple[str, ...], dict[str, Any], Any]:
    """Return the first checkpoint that has a view, its texts and options, and the result."""
    for signature in signatures(view):
        bert = checkpoints(signature)
        texts, options = asked(view, signature)
        if isinstance(bert, Model) and view.needs - bert.capabilities:
            continue
        try:
            result = view.compute(bert, texts, **options)
            view.table(result)
        except ValueError:
            continue
        return bert, texts, options, result
    pytest.fail("no checkpoint has this view")


@pytest.fixture(params=VIEWS)
def view(request: pytest.FixtureRequest) -> View[Any]:
    return VIEWS[request.param]


def is_slow(view: View[Any]) -> bool:
    """Return whether a view reports its progress, and is computed as a job."""
    return not {*REPORTS}.isdisjoint(inspect.signature(view.of).parameters)


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        pytest.param(
            name,
            signature,
            # Those that report progress are slow: one checkpoint suffices every day.
            marks=[pytest.mark.exhaustive] if is_slow(view) and place else [],
        )
        for name, view in VIEWS.items()
        for place, signature in enumerate(signatures(view))
    ],
)
def test_a_view_draws_or_the_model_says_why_not(
    name: str, signature: str, checkpoints: Callable[[str], Model | TaskModel]
) -> None:
    view, bert = VIEWS[name], checkpoints(signature)
    texts, options = asked(view, signature)
    if isinstance(bert, Model) and view.needs - bert.capabilities:
        assert all(bert.absent[what] for what in view.needs - bert.capabilities)
        return
    try:
        result = view.compute(bert, texts, **options)
        table = view.table(result)
    except ValueError:  # such as a text without a mask, or a score without a confidence
        assert signature != "bert"
        return
    if view.is_drawn and view.part is None:
        fig = view.draw(result)
        assert int(fig.height or 0) > 0
        assert "<img" not in str(fig.plotly().to_plotly_json())
    content = data_file(view.name, table).content
    if isinstance(table, pd.DataFrame):
        rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"))))
        assert len(rows) == 1 + len(table)
        assert rows[0] == [*map(str, table.columns)]
        assert not any(cell[1:] and cell[0] in "=@" for row in rows for cell in row)
    how = filled_markdown(view.how, marks_of(bert.tokenizer), **view.fills(result))
    assert len(how) > 40
    assert len(how.partition("\n\n")[0].split()) <= MOST_WORDS, "a page shows the first line alone"
    shown = str(view.draw(result).plotly().to_json()) if view.is_drawn and not view.part else ""
    told = f"{view.question} {how} {content.decode('utf-8', 'ignore')} {shown}"
    if name not in OF_THE_SHIPPED:
        network = bert if isinstance(bert, Model) else bert.module.network
        assert layers_beyond(told, network.config.num_hidden_layers) == []
    assert to_json(result)


def test_the_python_of_a_view_gives_its_numbers(
    view: View[Any], checkpoints: Callable[[str], Model | TaskModel]
) -> None:
    bert, texts, options, result = drawn(view, checkpoints)
    bound = view.bind(texts, options)
    pair, names = None, {"model": bert, **options}
    if isinstance(bert, Model):
        pair = (texts[0], texts[1]) if len(texts) == 2 else None
        names = {"bert": bert, "trace": bert.trace(*(texts or TEXTS)[:2]), **options}
    python = view.python(bound, pair)
    exec(compile(python, view.name, "exec"), names)
    if view.name not in VARIES:
        assert to_json(names["result"]) == to_json(result)
    assert public_module(view.of) in PUBLIC


def test_the_file_of_a_view_opens_without_a_network(
    view: View[Any], checkpoints: Callable[[str], Model | TaskModel]
) -> None:
    if not view.is_drawn:
        pytest.skip("its page alone draws it")
    bert, texts, options, result = drawn(view, checkpoints)
    html = draw(view, result, bert, texts, options).html
    assert "<img src=x" not in html
    assert 'src="http' not in html
    assert "Content-Security-Policy" in html


def test_each_view_is_found_by_its_name() -> None:
    assert all(named_view(name) is view for name, view in all_views().items())


def test_names_and_questions() -> None:
    assert len({view.name for view in VIEWS.values()}) == len(VIEWS) > 10
    assert all(len(view.how) > 40 for view in VIEWS.values())
    assert [view.name for view in VIEWS.values() if not view.question.endswith("?")] == []


def test_bertscope_show_is_the_view(checkpoints: Callable[[str], Model]) -> None:
    bert = checkpoints("bert")
    assert "Does B follow A?" in bertscope.show("next-sentence", bert, "a", "b").html
    for arguments, words in (
        (("unknown", bert, "a"), "there is no view 'unknown'"),
        (("variants", bert, "a"), "there is no text B"),
        (("masked-words", bert, "a", "b", "c"), "masked-words takes 2 texts"),
        (("next-sentence", bert.trace("a", "b")), "next-sentence needs the checkpoint"),
    ):
        with pytest.raises(ValueError, match=words):
            bertscope.show(*arguments)
    with pytest.raises(ValueError, match="lens has no option color"):
        bertscope.show("lens", bert, "a", color=1)
