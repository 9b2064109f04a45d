"""Lessons: files of questions whose answers are computed on the learner's own text."""

__all__ = ["answer", "answers", "lesson"]
