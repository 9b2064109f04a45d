"""The lessons of a static site: steps whose page is there and whose answer the browser computes."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from bertcore import Bert
from bertcore.lessons.answer import NotShownError
from bertcore.lessons.lesson import Lesson, Step

from ..navigation import PAGES
from ..shell.guide import catalogue
from ..shell.words import language

ANSWERS = frozenset(
    """
    number_of_tokens number_added split_word pieces_of_word first_piece becomes same_tokens
    vocabulary_size segment_of_last best_word best_probability rank_of_word loss_of_word chance_loss
    without_right filled_first number_chosen most_surprising follows swapped replaced repeated
    one_segment order_or_topic loss_if_it_follows chance_of_pairs strongest_key weight_of_key
    score_of_key ratio_of_weights head_size number_of_heads symmetric heads_that_agree same_number
    special_weight
    """.split()
)
"""Names of the functions in `answers.ts`."""
_SHOWN: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "tokens": {"token": ()},
    "attention": {"layer": (), "heads": (), "view": ("lines", "heat-map")},
    "masked-words": {"masked": ()},
    "pairs": {},
}
"""What a step's address may choose on each page; with no values, any."""
_NAMES = {"sentence-pairs": "pairs"}
"""Pages of the app that have another name in a site."""


def kept(bert: Bert, pages: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Return the lessons that a site can have: for each name, the indices of the steps that stay.

    A step stays if its page is shown, and if its answer is computed in the browser and on this
    checkpoint. A lesson is there if each of its goals keeps a step, at least half of its steps
    stay, and at least half of those keep their picture.

    Args:
        pages: What the site shows, of PAGES in live_file.py.
    """
    found = {}
    for lesson in catalogue.shipped().values():
        places = [
            place
            for place, step in enumerate(lesson.steps)
            if _page(step) in pages and _is_answered(bert, lesson, step)
        ]
        steps = [lesson.steps[place] for place in places]
        goals = {step.goal for step in steps}
        is_whole = len(goals) == len(lesson.goals) and 2 * len(steps) >= len(lesson.steps)
        if is_whole and 2 * sum(map(_is_shown, steps)) >= len(steps):
            found[lesson.name] = tuple(places)
    return found


def lessons(places: Mapping[str, Sequence[int]], code: str) -> list[tuple[Lesson, list[Step]]]:
    """Return what `kept` has found, in a language."""
    own = catalogue.shipped(code)
    return [(own[name], [own[name].steps[k] for k in steps]) for name, steps in places.items()]


def guide(bert: Bert, pages: Sequence[str]) -> list[dict[str, Any]]:
    """Return what `lesson.ts` reads of each language; [] if there is no lesson."""
    places = kept(bert, pages)
    if not places:
        return []
    return [
        {"code": code, **words, "lessons": [_lesson(*one) for one in lessons(places, code)]}
        for code, words in language.languages().items()
    ]


def _is_answered(bert: Bert, lesson: Lesson, step: Step) -> bool:
    """Return whether the browser answers a step on this checkpoint, tried on the lesson's text."""
    if step.answer is None:
        return True
    text_a, text_b = (
        (lesson.text_a, lesson.text_b) if step.text_a is None else (step.text_a, step.text_b)
    )
    try:
        return step.answer.name in ANSWERS and bool(step.find(bert, text_a, text_b or None))
    except NotShownError:
        return True
    except ValueError:  # no such head or layer
        return False


def _page(step: Step) -> str:
    name = urlsplit(step.page).path
    return _NAMES.get(name, name)


def _chosen(step: Step) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(step.page).query))


def _is_shown(step: Step) -> bool:
    """Return whether the site has the view of a step, not only its page."""
    known = _SHOWN[_page(step)]
    return all(
        name in known and (not known[name] or value in known[name])
        for name, value in _chosen(step).items()
    )


def _lesson(lesson: Lesson, steps: Sequence[Step]) -> dict[str, Any]:
    names = ("name", "title", "summary", "minutes", "text_a", "text_b", "language")
    return {name: getattr(lesson, name) for name in names} | {"steps": [*map(_step, steps)]}


def _step(step: Step) -> dict[str, Any]:
    name = urlsplit(step.page).path
    title = next(page.title for page in PAGES.values() if page.name == name)
    names = ("title", "text", "question", "given", "because", "right", "wrong", "text_a", "text_b")
    return {one: getattr(step, one) for one in names} | {
        "answer": None if step.answer is None else step.answer.name,
        "choices": [asdict(choice) | {"name": choice.name} for choice in step.choices],
        "within": asdict(step.within),
        "page": _page(step),
        "chosen": _chosen(step),
        "elsewhere": "" if _is_shown(step) else title,
    }
