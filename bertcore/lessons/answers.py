"""All functions that a lesson may name, by their names."""

from bertcore.lessons import (
    heads,
    objectives,
    pieces,
    prompts,
    runs,
    stereotypes,
    tuning,
    vectors,
    words,
)
from bertcore.lessons.answer import ANSWERS, Answer

__all__ = [
    "ANSWERS",
    "Answer",
    "heads",
    "objectives",
    "pieces",
    "prompts",
    "runs",
    "stereotypes",
    "tuning",
    "vectors",
    "words",
]


def table() -> str:
    """Return all functions as a table in Markdown, from their docstrings."""
    lines = ["| `answer` | is | finds | `given` | facts |", "|---|---|---|---|---|"]
    for answer in ANSWERS.values():
        does = " ".join(answer.does.split()).replace("|", "\\|")
        names = f" ({', '.join(answer.names)})" if answer.names else ""
        given = ", ".join(f"`{name}`" for name in answer.given)
        facts = " ".join(f"`{fact}`" for fact in answer.facts)
        lines.append(f"| `{answer.name}` | {answer.kind}{names} | {does} | {given} | {facts} |")
    return "\n".join(lines)
