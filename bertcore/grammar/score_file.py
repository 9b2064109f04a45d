"""The scores of an exam as JSON lines, written incrementally so that it can be resumed."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bertcore.data import packed_files
from bertcore.grammar.exam import PairScore
from bertcore.grammar.pairs import MinimalPair

_BLOCK = 2**20


class ScoreFile:
    """A file of scores: a line about the exam, then one for each pair.

    Args:
        path: Path of the file, existing or new.
        about: What the scores depend on; those of a different exam are not reused.
    """

    def __init__(self, path: Path, about: dict[str, Any]) -> None:
        self.path = path
        self.about = about

    def create(self) -> None:
        """Create the file; ValueError if it already exists."""
        try:
            with self.path.open("x", encoding="utf-8") as file:
                file.write(json.dumps(self.about) + "\n")
        except FileExistsError as error:
            raise ValueError(
                f"{str(self.path)!r} exists. Continue its exam with --resume, or give another name."
            ) from error

    def read(self, pairs: Sequence[MinimalPair]) -> list[PairScore]:
        """Return the scores written so far, and cut off an incomplete last line.

        ValueError if there is no such file, it belongs to another exam, or a line is damaged.
        """
        try:
            data = self.path.read_bytes()
        except FileNotFoundError as error:
            raise ValueError(
                f"{str(self.path)!r} does not exist, so there is no exam to continue. Leave "
                "--resume out."
            ) from error
        whole = data[: data.rfind(b"\n") + 1]
        lines = whole.decode("utf-8", "replace").splitlines()
        rows = {pair.row: pair for pair in pairs}
        try:
            about = json.loads(lines[0])
            if about != self.about:
                self._refuse(about)
            scores = [_score(json.loads(line), rows) for line in lines[1:]]
        except (IndexError, KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:
            raise ValueError(
                f"{str(self.path)!r} is not a file of scores, or is damaged. Give another name "
                "and leave --resume out."
            ) from error
        if len(whole) < len(data):
            with self.path.open("r+b") as file:
                file.truncate(len(whole))
        return scores

    def append(self, scores: Iterable[PairScore]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(_line(score)) + "\n" for score in scores)

    def _refuse(self, about: dict[str, Any]) -> None:
        different = sorted(
            name for name in self.about.keys() | about if self.about.get(name) != about.get(name)
        )
        raise ValueError(
            f"{str(self.path)!r} has the scores of another exam: {', '.join(different)} differ. "
            "Repeat its options, or give another name and leave --resume out."
        )


def file_fingerprint(path: Path) -> str:
    """Return the sha256 of the text of a file, compressed or not."""
    digest = hashlib.sha256()
    with packed_files.open_bytes(path) as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _line(score: PairScore) -> dict[str, Any]:
    return {
        "row": score.pair.row,
        "good": score.good,
        "bad": score.bad,
        "unknown": score.num_unknown,
        **({} if score.frequency is None else {"frequency": score.frequency}),
    }


def _score(line: dict[str, Any], rows: dict[int, MinimalPair]) -> PairScore:
    frequency = line.get("frequency")
    return PairScore(
        rows[line["row"]],
        tuple(map(float, line["good"])),
        tuple(map(float, line["bad"])),
        int(line["unknown"]),
        None if frequency is None else (float(frequency[0]), float(frequency[1])),
    )
