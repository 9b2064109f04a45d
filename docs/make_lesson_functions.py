"""Write the table of functions into docs/write-a-lesson.md, from their docstrings.

python docs/make_lesson_functions.py
"""

from __future__ import annotations

from pathlib import Path

from bertcore.lessons.answers import ANSWERS

PLACE = Path(__file__).with_name("write-a-lesson.md")
BEGIN, END = "<!-- functions -->", "<!-- end -->"


def table() -> str:
    """Return the table in Markdown."""
    lines = ["| `answer` | is | finds | `given` | facts |", "|---|---|---|---|---|"]
    for answer in ANSWERS.values():
        does = " ".join(answer.does.split()).replace("|", "\\|")
        names = f" ({', '.join(answer.names)})" if answer.names else ""
        given = ", ".join(f"`{name}`" for name in answer.given)
        facts = " ".join(f"`{fact}`" for fact in answer.facts)
        lines.append(f"| `{answer.name}` | {answer.kind}{names} | {does} | {given} | {facts} |")
    return "\n".join(lines)


def written(text: str) -> str:
    """Return the page with the table in its place."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}"


if __name__ == "__main__":
    PLACE.write_text(written(PLACE.read_text(encoding="utf-8")), encoding="utf-8")
