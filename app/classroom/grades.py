"""The class's first answers as grades, in the layouts that Canvas and Moodle import.

Sources: Canvas' lib/gradebook_importer.rb (columns by place, a row of points, learners by ID, login
or name) and Moodle's grade/import/csv (any columns, mapped by hand; "-" is no grade).
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from bertcore.lessons.lesson import Lesson

from ..access.class_store import Graded
from ..html_file.data_files import to_csv

_POINTS = "Points Possible"
"""By which Canvas knows the row of points: no learner may be called so."""
Scores = Mapping[str, Mapping[str, int]]
"""Learner's name -> lesson -> number of right first answers."""


def scores(answers: Sequence[Graded], lessons: Mapping[str, Lesson]) -> Scores:
    """Return what each learner with a name had right; of two with one name, the first answers.

    Args:
        answers: The oldest first.
        lessons: By name; answers to others, or to steps that they do not have, do not count.
    """
    seen: set[tuple[str, str, int]] = set()
    found: dict[str, dict[str, int]] = defaultdict(dict)
    spelled: dict[str, str] = {}
    for answer in answers:
        lesson = lessons.get(answer.lesson)
        who = answer.name.casefold()
        place = (who, answer.lesson, answer.step)
        is_known = lesson is not None and lesson.step(answer.step) is not None
        if not (who and is_known) or place in seen:
            continue
        seen.add(place)
        of = found[spelled.setdefault(who, answer.name)]
        of[answer.lesson] = of.get(answer.lesson, 0) + answer.is_right
    return {name: found[name] for name in sorted(found, key=str.casefold)}


def canvas_csv(of: Scores, lessons: Mapping[str, Lesson]) -> bytes:
    """Return points a lesson, one for each step.

    The name is also the login: Canvas looks for the login first, then for the name.
    """
    taken = _taken(of, lessons)
    points = {lesson.title: str(len(lesson.steps)) for lesson in taken}
    rows: list[dict[str, object]] = [{"Student": f"    {_POINTS}", **points}]
    for name, right in of.items():
        harmless = name.replace(_POINTS, _POINTS.replace(" ", "-"))
        who = {"Student": harmless, "SIS Login ID": harmless}
        rows.append({**who, **_grades(right, taken, "", lambda n, _: str(n))})
    head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    blank = dict.fromkeys([*head, *points], "")
    return to_csv(pd.DataFrame([blank | row for row in rows], columns=list(blank)))


def moodle_csv(of: Scores, lessons: Mapping[str, Lesson]) -> bytes:
    """Return percent a lesson: 100 is the most that a new grade item of Moodle takes."""
    taken = _taken(of, lessons)
    rows = [
        {"Username": name, **_grades(right, taken, "-", lambda n, most: f"{100 * n / most:.1f}")}
        for name, right in of.items()
    ]
    return to_csv(pd.DataFrame(rows, columns=["Username", *(lesson.title for lesson in taken)]))


def _grades(
    right: Mapping[str, int], lessons: Sequence[Lesson], none: str, write: Callable[[int, int], str]
) -> dict[str, str]:
    return {
        lesson.title: write(right[lesson.name], len(lesson.steps)) if lesson.name in right else none
        for lesson in lessons
    }


def _taken(of: Scores, lessons: Mapping[str, Lesson]) -> list[Lesson]:
    names = {name for right in of.values() for name in right}
    return [lesson for name, lesson in lessons.items() if name in names]
