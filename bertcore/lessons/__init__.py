"""Lessons: files of questions whose answers are computed on the learner's own text."""

from typing import TYPE_CHECKING

from bertcore.base.public import deferred

if TYPE_CHECKING:
    from bertcore.lessons import papers
else:
    __getattr__, __dir__, __all__ = deferred(__name__, __file__)
