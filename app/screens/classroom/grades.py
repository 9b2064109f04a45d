"""The class's first answers as grades, in the layouts that Canvas and Moodle import.

Sources: Canvas' lib/gradebook_importer.rb (columns by place, a row of points, learners by ID, login
or name) and Moodle's grade/import/csv (any columns, mapped by hand; "-" is no grade).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import pandas as pd

from bertcore.lessons.lesson import Lesson

from ...parts.html_file.data_files import to_csv
from ...server.class_store import OWN, Grade, Graded

COLUMNS = (
    "Name", "Answered", "Right at first", "After a hint", "On an own sentence", "Minutes", "Flags",
)  # fmt: skip
_POINTS = "Points Possible"
"""By which Canvas knows the row of points: no learner may be called so."""
Scores = Mapping[str, Mapping[str, float]]
"""Learner's name -> lesson -> points, one a step: half of it for the first answer, half for the
first on a sentence of the learner's own, where the question is asked again."""


def scores(answers: Sequence[Graded], lessons: Mapping[str, Lesson]) -> Scores:
    """Return what each learner had right.

    Args:
        answers: By learner, of whom no two have one name.
        lessons: By name; answers to others, or to steps that they do not have, do not count.
    """
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for answer in answers:
        name = answer.lesson.removesuffix(OWN)
        step = lessons[name].step(answer.step) if name in lessons else None
        if step is not None:
            of = found[answer.name]
            of[name] = of.get(name, 0) + answer.is_right * (0.5 if step.is_asked_again else 1)
    return found


def flags(grade: Grade) -> str:
    """Return what is odd about who a learner is; "" for nothing."""
    told = (
        (grade.num_browsers > 1, f"{grade.num_browsers} browsers"),
        (grade.num_others, f"name typed in other browsers: {grade.num_others}"),
        (grade.num_wrong, f"wrong words: {grade.num_wrong}"),
        (grade.after, f"in the browser of {grade.after}"),
    )
    return "; ".join(text for is_so, text in told if is_so)


def cells(grade: Grade) -> tuple[str, ...]:
    """Return a learner's row, as in COLUMNS."""
    counts = (grade.num_answered, grade.num_right, grade.num_after_hint, grade.num_on_own)
    return (grade.name, *map(str, counts), f"{grade.minutes:.0f}", flags(grade))


def grades_csv(grades: Sequence[Grade]) -> bytes:
    """Return the columns of the page, of all learners with a name, and their words."""
    rows = [(*cells(grade), grade.word) for grade in grades]
    return to_csv(pd.DataFrame(rows, columns=[*COLUMNS, "Letters"]))


def canvas_csv(answers: Sequence[Graded], lessons: Mapping[str, Lesson]) -> bytes:
    """Return points a lesson, one for each step; arguments as of `scores`.

    The name is also the login: Canvas looks for the login first, then for the name.
    """
    of = scores(answers, lessons)
    taken = _taken(of, lessons)
    rows = [[f"    {_POINTS}", "", "", "", "", *(str(len(lesson.steps)) for lesson in taken)]]
    for name, right in of.items():
        harmless = name.replace(_POINTS, _POINTS.replace(" ", "-"))
        points = [f"{right[one.name]:g}" if one.name in right else "" for one in taken]
        rows.append([harmless, "", "", harmless, "", *points])
    head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    return to_csv(pd.DataFrame(rows, columns=[*head, *(lesson.title for lesson in taken)]))


def moodle_csv(answers: Sequence[Graded], lessons: Mapping[str, Lesson]) -> bytes:
    """Return percent a lesson: 100 is the most that a new grade item of Moodle takes."""
    of = scores(answers, lessons)
    taken = _taken(of, lessons)
    rows = [
        [name]
        + [
            f"{100 * right[one.name] / len(one.steps):.1f}" if one.name in right else "-"
            for one in taken
        ]
        for name, right in of.items()
    ]
    return to_csv(pd.DataFrame(rows, columns=["Username", *(lesson.title for lesson in taken)]))


def _taken(of: Scores, lessons: Mapping[str, Lesson]) -> list[Lesson]:
    names = {name for right in of.values() for name in right}
    return [lesson for name, lesson in lessons.items() if name in names]
