"""The lessons of a static site: steps whose page is there and whose answer the browser computes."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from bertcore import Bert
from bertcore.lessons.lesson import Lesson, Step

from ..guide import catalogue, language
from ..navigation import PAGES

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


def lessons(bert: Bert, pages: Sequence[str], code: str) -> list[tuple[Lesson, list[Step]]]:
    """Return a language's lessons that a site can have, and the steps that it has of each.

    A lesson is there if each of its goals keeps a step, and at least half of its steps their
    picture.

    Args:
        pages: What the site shows, of PAGES in live_file.py.
        code: Of the language.
    """
    able = {*pages} - {
        page
        for page, ability in (("masked-words", "mlm"), ("pairs", "nsp"))
        if ability not in bert.capabilities
    }
    found = []
    for lesson in catalogue.lessons(code).values():
        steps = [
            step
            for step in lesson.steps
            if _page(step) in able and (step.answer is None or step.answer.name in ANSWERS)
        ]
        goals = {step.goal for step in steps}
        num_pictures = sum(_is_shown(step) for step in steps)
        if len(goals) == len(lesson.goals) and 2 * num_pictures >= len(lesson.steps):
            found.append((lesson, steps))
    return found


def guide(bert: Bert, pages: Sequence[str]) -> list[dict[str, Any]]:
    """Return what `lesson.ts` reads of each language; [] if no lesson is left."""
    found = [
        {"code": code, **words, "lessons": [_lesson(*one) for one in lessons(bert, pages, code)]}
        for code, words in language.languages().items()
    ]
    return found if found[0]["lessons"] else []


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
        "choices": [asdict(choice) for choice in step.choices],
        "within": asdict(step.within),
        "page": _page(step),
        "chosen": _chosen(step),
        "elsewhere": "" if _is_shown(step) else title,
    }
