"""Whether a lesson holds: its answers compute, and its links open on a picture."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import typer
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from bertcore.lessons.answer import Found
from bertcore.lessons.lesson import Lesson, Step, filled, judge, tell, written
from bertcore.lessons.translation import PLACE
from bertcore.model.model import Model
from bertscope.app_root import find_app_root
from bertscope.cli.output import print_json
from bertscope.notebook.notebook_view import app_module

PICTURES = ("plotly_chart", "bidi_component", "component_instance", "iframe", "arrow_data_frame")
"""Elements of a page that count as one, but for components that draw nothing."""
SECONDS = 300.0
# AppTest looks through all installed packages for components, for 2 s: ours are none of those.
manifest_scanner.scan_component_manifests = lambda *_, **__: []
_WARNS = "streamlit.runtime.scriptrunner_utils.script_run_context"


@dataclass(frozen=True, slots=True)
class Checked:
    number: int
    title: str
    page: str
    answer: str
    """On the lesson's text."""
    other: str
    """On its second one."""
    problems: tuple[str, ...]
    warnings: tuple[str, ...]
    """What may be meant so: a fact that is read before the answer and equals it on both texts."""


def print_functions(*, as_json: bool) -> None:
    """Print the functions that answer questions, by page, each as a shipped lesson asks it."""
    rows: list[dict[str, str]] = []
    for lesson in app_module("app.shell.guide.catalogue").shipped().values():
        for step in (*lesson.steps, *lesson.again):
            answer = step.answer
            if answer is None or any(row["answer"] == answer.name for row in rows):
                continue
            row = {
                "page": step.address(None)[0],
                "answer": answer.name,
                "kind": f"{answer.kind}: {', '.join(answer.names)}".rstrip(": "),
                "finds": " ".join(answer.does.split()),
                "given": ", ".join(
                    f"{name} = {step.given[name]!r}" if name in step.given else f"{name} (optional)"
                    for name in answer.given
                ),
                "facts": " ".join(f"{{{fact}}}" for fact in answer.facts),
                "example": step.question,
            }
            rows.append(row)
    rows.sort(key=lambda row: row["page"])
    if as_json:
        print_json(rows)
        return
    for row in rows:
        typer.echo("".join(f"{name}: {text}\n" for name, text in row.items() if text))


def check_steps(
    lesson: Lesson, steps: tuple[Step, ...], bert: Model, source: str
) -> Iterator[Checked]:
    """Check steps of a lesson on both of its texts.

    Args:
        source: What the app opens the checkpoint by.
    """
    # Streamlit warns of each page that it is not on a server, and sets this log's level itself.
    logging.getLogger(_WARNS).disabled = True
    opened: dict[str, list[str]] = {}
    texts = ((lesson.text_a, lesson.text_b or None), (lesson.other_a, lesson.other_b or None))
    for number, step in enumerate(steps, start=1):
        problems: list[str] = [*app_module("app.shell.guide.own_lessons").faults_of(step)]
        is_known = not problems
        answers = ["", ""]
        told: list[set[str]] = []
        for place, (text_a, text_b) in enumerate(texts):
            if step.text_a is not None:
                text_a, text_b = step.text_a, step.text_b
            try:
                found = step.find(bert, text_a, text_b)
                answers[place] = _answer(step, found)
                _judge_all(step, found)
                told.append(_told(step, found))
                if place == 0 and is_known:
                    view = (step.address(found), text_a, text_b)
                    if repr(view) not in opened:
                        opened[repr(view)] = [*_open(*view, source)]
                    problems += opened[repr(view)]
            except ValueError as error:
                problems.append(f"on {text_a!r}: {error}")
        names = sorted(set.intersection(*told)) if told else []
        given = tuple(f"text or question has the answer: {{{name}}}." for name in names)
        yield Checked(number, step.title, step.page, answers[0], answers[1], tuple(problems), given)


def _answer(step: Step, found: Found) -> str:
    if step.choices:
        name = "right" if step.answer is None else found.answer
        return next(choice.text for choice in step.choices if choice.name == name)
    if step.options(found):
        return step.options(found)[str(found.answer)]
    return written(found.answer)


def _told(step: Step, found: Found) -> set[str]:
    """Return the facts of what is read before the answer that are the answer."""
    texts = PLACE.findall(f"{step.text} {step.question}")
    shown = {name: written(found.facts[name]) for name, _ in texts}
    shown |= {name: written(100 * float(found.facts[name])) for name, percent in texts if percent}
    return {name for name, text in shown.items() if text == written(found.answer)}


def _judge_all(step: Step, found: Found) -> None:
    """Fill every text with the facts of this answer; ValueError if one cannot be filled."""
    filled(step.text + step.question, found.facts, str)
    options = step.options(found)
    verdicts = [tell(step, found, judge(step, found, chosen)) for chosen in options]
    if options and (len(options) < 2 or not any(verdict.is_right for verdict in verdicts)):
        raise ValueError(f"there are {len(options)} options, or none is right.")
    if not options:
        assert judge(step, found, float(found.answer)).is_right


def _open(
    address: tuple[str, dict[str, list[str]]], text_a: str, text_b: str | None, source: str
) -> Iterator[str]:
    """Open a page of this computer's own app as a link does; yield what is wrong with it."""
    os.environ.setdefault(app_module("app.server.policy").ACCESS, "open")
    state = app_module("app.shell.state")
    navigation = app_module("app.navigation")
    folders = {page.name: folder for folder, page in navigation.PAGES.items()}
    name, choices = address
    taken = {*choices} & {*state.ALWAYS_IN_URL, *state.TEXTS}
    if taken:
        yield f"page brings {min(taken)}, which the learner chooses. Write text_a in the step."
        return
    root = find_app_root()
    if str(root) not in sys.path:  # the scripts of the pages import the app by its name
        sys.path.insert(0, str(root))
    app = AppTest.from_file(root / "pages" / f"{folders[name]}.py", default_timeout=SECONDS)
    app.query_params.update(
        {"text_a": text_a, "text_b": text_b or "", "checkpoint": source, **choices}
    )
    app.run()
    if app.exception or app.error:
        said = [box.value for box in (*app.exception, *app.error)]
        yield f"{name} does not open: {said[0]}"
        return
    for choice, wanted in choices.items():
        yield from _refused(state.read_value(app.session_state, choice), choice, wanted)
    # These report, or mark what others draw. A page that still computes has another, which waits
    # for its picture and counts as one.
    always = (
        app_module("app.shell.words.language").COMPONENT,
        *app_module("app.shell.browser.signals").ALWAYS,
    )
    signals = {component.name for component in always}
    shown = (element.proto for kind in PICTURES for element in app.get(kind))
    if all(getattr(proto, "component_name", None) in signals for proto in shown):
        yield f"{name} shows no picture with these choices. Choose another view."


def _refused(taken: Any, choice: str, wanted: list[str]) -> Iterator[str]:
    """Yield why a page did not take a choice of its link."""
    if taken is None:
        yield f"the page has no choice {choice!r}, so its link means nothing."
    elif taken != wanted:
        yield f"the page took {choice} = {', '.join(taken)} instead of {', '.join(wanted)}."
