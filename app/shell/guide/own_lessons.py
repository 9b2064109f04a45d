"""Lessons of whoever runs the server: the files of a folder, as they are now."""

import functools
import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

import streamlit as st

from bertcore.lessons.lesson import Lesson, Step, name_of, read_lesson
from bertcore.lessons.translation import ENGLISH

from ...navigation import PAGES, REMOVED
from ...server.learners import is_teacher
from ...server.policy import policy
from ...view import views_of

MOST = 100
"""Files of the folder that are read."""
_NAME = re.compile(r"(?!.*-(again|own)$)[\w-]{1,60}")
"""The guide keeps answers under a lesson's name with these endings."""
_SECONDS = 2.0
_State = tuple[int, int]


def read_folder(
    folder: Path | None, taken: Collection[str], code: str = ENGLISH
) -> Iterator[tuple[str, Lesson | str]]:
    """Yield the name of each file's lesson, and the lesson or all that is wrong with the file.

    Args:
        folder: None for no files.
        taken: Names of other lessons.
        code: The visitor's language, in which the lesson is taken to be.
    """
    names = {*taken}
    for path in _files(folder)[:MOST]:
        name = name_of(path)
        if name in names:
            yield name, f"{path.name}: there is another lesson {name!r}. Rename the file."
        else:
            yield name, _read(path, _state(path), code)
        names.add(name)


def check(folder: Path, taken: Collection[str]) -> None:
    """Make sure that a folder has lessons alone; ValueError with all that is wrong."""
    if not 0 < (number := len(_files(folder))) <= MOST:
        raise ValueError(f"{str(folder)!r} has {number:,} files .toml; expected 1 to {MOST}.")
    faults = [found for _, found in read_folder(folder, taken) if isinstance(found, str)]
    if faults:
        raise ValueError(" ".join([f"not all files in {str(folder)!r} are lessons.", *faults]))


def faults_of(step: Step) -> Iterator[str]:
    """Yield that the page of a step is not in this app, or the views to cover not on it."""
    name = step.address(None)[0]
    folder = next((folder for folder, page in PAGES.items() if page.name == name), None)
    if folder is None:
        listed = ", ".join(page.name for page in PAGES.values())
        _, what = REMOVED.get(name, ("", f"The pages are {listed}."))
        yield f"there is no page {name!r}. {what.replace('*', '')}"
        return
    known = views_of(folder) if step.cover else {}
    for view in step.cover or ():
        if view not in known:
            yield f"cover names the view {view!r}; {name} has {', '.join(known)}."


def is_written_here() -> bool:
    """Return whether this visitor reads what is wrong with a file, as a class does not."""
    about = policy()
    is_alone = about.school_class is None and not about.is_closed
    return about.lessons is not None and (is_alone or is_teacher())


def follow() -> None:
    """Draw the page anew when a file of the folder has changed."""
    if policy().lessons is not None:
        _wait(_states())


@st.fragment(run_every=_SECONDS)
def _wait(states: tuple[_State, ...]) -> None:
    if _states() != states:
        st.rerun()


def _states() -> tuple[_State, ...]:
    return tuple(map(_state, _files(policy().lessons)[:MOST]))


def _files(folder: Path | None) -> list[Path]:
    files = [] if folder is None else folder.glob("*.toml")
    return sorted(path for path in files if path.is_file())


def _state(path: Path) -> _State:
    """Return what tells a file's content from the one before; (0, 0) for one that is gone."""
    try:
        about = path.stat()
    except OSError:
        return 0, 0
    return about.st_mtime_ns, about.st_size


@functools.lru_cache(maxsize=4 * MOST)
def _read(path: Path, _: _State, code: str) -> Lesson | str:
    try:
        lesson = replace(read_lesson(path), language=code)
    except OSError as error:
        return f"{path.name} cannot be read ({error.strerror})."
    except ValueError as error:
        return str(error)
    faults = [
        f"{part} {number}: {fault}"
        for part, steps in (("steps", lesson.steps), ("again", lesson.again))
        for number, step in enumerate(steps, start=1)
        for fault in faults_of(step)
    ]
    if not _NAME.fullmatch(lesson.name):
        faults.append(
            "its name has other signs than letters, digits and hyphens, more than 60 of them, or "
            "ends in -again or -own. Rename the file."
        )
    return f"{path.name}: {' '.join(faults)}" if faults else lesson
