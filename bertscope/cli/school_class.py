"""The class of `bertscope app --class`: what is passed to the server, and printed at its start."""

import re
import secrets
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

KEY_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
"""Letters of a key that is made, none of which looks like another."""


@dataclass(frozen=True, slots=True)
class SchoolClass:
    """A class whose answers are collected; see `app/access/policy.py`."""

    name: str
    key: str = field(repr=False)
    """The teacher's."""
    is_made: bool
    """Whether the key is ours, and so has to be told."""
    file: Path | None = None

    def environment(self) -> dict[str, str]:
        """Return the variables that pass it to the server."""
        variables = {"BERTSCOPE_CLASS": self.name, "BERTSCOPE_CLASS_KEY": self.key}
        if self.file is not None:
            variables["BERTSCOPE_CLASS_FILE"] = str(self.file.expanduser().absolute())
        return variables

    def lines(self, url: str, lessons: Path) -> Iterator[str]:
        """Return what is printed at the start: the teacher's page, its key, a link a lesson.

        Args:
            url: Of the app, without a slash at the end.
            lessons: Folder of the files of the lessons.
        """
        yield f"Class {self.name}. Answers as they come, for the teacher: {url}/class"
        if self.is_made:
            yield f"Key of that page, for the teacher alone: {self.key}"
        for path in sorted(lessons.glob("*.toml")):
            name = re.sub(r"^\d+-", "", path.stem)
            yield f"Lesson: {url}/lessons?start={name}"


def school_class(name: str | None, key: str, file: Path | None) -> SchoolClass | None:
    """Return the class of a command; None without a name.

    Args:
        name: As passed.
        key: Empty for one that is made here.
        file: That keeps the answers.

    ValueError if the name is empty, or there is a key or a file without a name.
    """
    if name is None:
        if key or file:
            raise ValueError("a key or file of a class is given, but no class. Pass --class NAME.")
        return None
    if not name.strip():
        raise ValueError('the name of the class is empty. Pass one: --class "NLP, group 2"')
    made = "-".join("".join(secrets.choice(KEY_LETTERS) for _ in range(4)) for _ in range(3))
    return SchoolClass(name, key or made, not key, file)


def reached_at(address: str, port: int, hosts: tuple[str, ...], base_path: str) -> str:
    """Return the address of the app as others type it, as far as it is known here."""
    everywhere = address in ("", "0.0.0.0", "::")
    name = hosts[0] if hosts else socket.gethostname() if everywhere else address
    name = f"[{name}]" if ":" in name else name
    scheme, port_of = ("https", "") if hosts and port == 443 else ("http", f":{port}")
    return f"{scheme}://{name}{port_of}" + (f"/{base_path}" if base_path else "")
