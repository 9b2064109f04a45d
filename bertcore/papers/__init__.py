"""What the papers state about BERT: figures, common claims and what is true, a reading list.

All of it is in `papers.toml`, each entry with its source.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from bertcore.architecture.config import bert_of

__all__ = (
    "Ablation Claim Contrast Fact GlueRow Literature Paper Source SquadRow "
    "Way parse_papers read_papers"
).split()

FILE = Path(__file__).with_name("papers.toml")


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper, or code cited like one."""

    key: str
    authors: str
    year: int
    title: str
    url: str
    group: str
    """Of the reading list."""
    why: str
    """What to read it for, Markdown."""

    @property
    def short(self) -> str:
        """Authors and year."""
        return f"{self.authors} {self.year}"


@dataclass(frozen=True, slots=True)
class Source:
    """The place of a figure in a paper."""

    paper: Paper
    where: str
    """Section, table or file."""

    @property
    def text(self) -> str:
        """The paper and the place, as text."""
        return f"{self.paper.short}, {self.where}"


@dataclass(frozen=True, slots=True)
class Fact:
    """A property of BERT Base and BERT Large."""

    what: str
    base: str
    large: str
    source: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class GlueRow:
    """GLUE test scores of a BERT."""

    name: str
    num_layers: int
    hidden_size: int
    scores: tuple[float, ...]
    """In the order of `Literature.glue_columns`."""
    published_average: float | None
    """As its paper gives it; None where that averages over other columns."""
    source: Source

    @property
    def average(self) -> float:
        """Mean of the columns: MNLI counts twice, WNLI not, as in table 1 of the BERT paper."""
        return sum(self.scores) / len(self.scores)

    @property
    def num_parameters(self) -> int:
        """Parameters with both heads, counted on our network of this shape (vocabulary 30,522)."""
        shape = bert_of(
            vocab_size=30522, num_hidden_layers=self.num_layers, hidden_size=self.hidden_size
        )
        return shape.num_parameters


@dataclass(frozen=True, slots=True)
class SquadRow:
    """SQuAD scores, percent."""

    version: str
    split: str
    model: str
    exact: float
    f1: float
    source: Source


@dataclass(frozen=True, slots=True)
class Ablation:
    """A table of scores, BERT's own choice first."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[float, ...]], ...]
    """Name and scores of each variant."""
    source: Source

    def differences(self) -> tuple[tuple[float, ...], ...]:
        """Return each score minus the first row's, in points, [rows][columns]."""
        first = self.rows[0][1]
        return tuple(
            tuple(round(score - own, 2) for score, own in zip(scores, first, strict=True))
            for _, scores in self.rows
        )


@dataclass(frozen=True, slots=True)
class Contrast:
    """The Transformer, ELMo, GPT and BERT in one aspect; Markdown."""

    aspect: str
    transformer: str
    elmo: str
    gpt: str
    bert: str
    source: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Way:
    """A way to fine-tune: what a head reads from the last vectors, and its outputs."""

    name: str
    task: str
    """As `bertscope finetune --task` takes it."""
    inputs: tuple[str, ...]
    says: Mapping[int, str]
    """By the number of the input whose last vector is read."""
    head: str
    """Its formula, Markdown."""
    sets: str
    """Data sets of BERT's paper."""
    source: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """A common claim about BERT, and what is true."""

    topic: str
    told: str
    true: str
    source: tuple[Source, ...]
    page: str | None
    """Folder of the app's page that shows it; None for none."""
    view: str | None
    """The picture to choose there; None for the one that it opens on."""
    objectives: tuple[str, ...]
    """Names in `bertcore.objectives.table` of what it is told of."""


@dataclass(frozen=True, slots=True)
class Literature:
    """The content of the file."""

    papers: tuple[Paper, ...]
    facts: tuple[Fact, ...]
    glue_columns: tuple[str, ...]
    glue: tuple[GlueRow, ...]
    squad: tuple[SquadRow, ...]
    ablations: tuple[Ablation, ...]
    contrasts: tuple[Contrast, ...]
    ways: tuple[Way, ...]
    claims: tuple[Claim, ...]

    def ablation(self, name: str) -> Ablation:
        """Return an ablation by its name; KeyError if there is none of that name."""
        return {ablation.name: ablation for ablation in self.ablations}[name]

    def claims_about(self, objective: str) -> tuple[Claim, ...]:
        """Return the claims about a pretraining objective; () for an unknown one."""
        return tuple(claim for claim in self.claims if objective in claim.objectives)


@cache
def read_papers() -> Literature:
    """Read `papers.toml`.

    >>> read_papers().ablation("masks").rows[0]
    ('80/10/10', (84.2, 95.4, 94.9))
    """
    return parse_papers(FILE.read_text(encoding="utf-8"))


def parse_papers(text: str) -> Literature:
    """Return the content of a file like `papers.toml`.

    ValueError if an entry has no source, names a paper that is not listed, or has a different
    number of scores than columns.
    """
    data = tomllib.loads(text)
    papers = {key: _paper(key, entry) for key, entry in data["papers"].items()}

    def sources(entry: Mapping[str, Any]) -> tuple[Source, ...]:
        named = entry.get("source")
        if not named:
            raise ValueError(f"{dict(entry)} has no source. Name a paper and the place in it.")
        return tuple(
            _source(one, papers) for one in ([named] if isinstance(named, dict) else named)
        )

    return Literature(
        papers=tuple(papers.values()),
        facts=tuple(
            Fact(one["what"], one["base"], one["large"], sources(one)) for one in data["facts"]
        ),
        glue_columns=tuple(data["glue"]["columns"]),
        glue=tuple(
            GlueRow(
                name=one["name"],
                num_layers=one["shape"][0],
                hidden_size=one["shape"][1],
                scores=_scores(one, data["glue"]["columns"]),
                published_average=one.get("average"),
                source=sources(one)[0],
            )
            for one in data["glue"]["rows"]
        ),
        squad=tuple(SquadRow(**{**one, "source": sources(one)[0]}) for one in data["squad"]),
        ablations=tuple(
            Ablation(
                name=one["name"],
                title=one["title"],
                columns=tuple(one["columns"]),
                rows=tuple((row["name"], _scores(row, one["columns"])) for row in one["rows"]),
                source=sources(one)[0],
            )
            for one in data["ablations"]
        ),
        contrasts=tuple(Contrast(**{**one, "source": sources(one)}) for one in data["contrasts"]),
        ways=tuple(_way(one, sources(one)) for one in data["ways"]),
        claims=tuple(
            Claim(
                one["topic"],
                one["told"],
                one["true"],
                sources(one),
                one.get("page"),
                one.get("view"),
                tuple(one.get("objectives", ())),
            )
            for one in data["claims"]
        ),
    )


def _way(entry: Mapping[str, Any], source: tuple[Source, ...]) -> Way:
    inputs = tuple(entry["inputs"])
    says = {int(number): answer for number, answer in entry["says"].items()}
    beyond = sorted(number for number in says if not 0 <= number < len(inputs))
    if beyond:
        raise ValueError(
            f"{entry['name']!r} gives an answer for input {beyond[0]}, but has only {len(inputs)} "
            f"inputs. Number them from 0 to {len(inputs) - 1}."
        )
    return Way(entry["name"], entry["task"], inputs, says, entry["head"], entry["sets"], source)


def _source(entry: Mapping[str, str], papers: Mapping[str, Paper]) -> Source:
    if entry["paper"] not in papers:
        raise ValueError(
            f"a source names the paper {entry['paper']!r}, which is not listed. Add it to "
            f"[papers], or name one of: {', '.join(papers)}."
        )
    if not entry["where"].strip():
        raise ValueError(f"a source in {entry['paper']!r} names no place. Name section or table.")
    return Source(papers[entry["paper"]], entry["where"])


def _paper(key: str, entry: Mapping[str, Any]) -> Paper:
    url = f"https://arxiv.org/abs/{entry['arxiv']}" if "arxiv" in entry else entry["url"]
    return Paper(
        key, entry["authors"], entry["year"], entry["title"], url, entry["group"], entry["why"]
    )


def _scores(row: Mapping[str, Any], columns: Sequence[str]) -> tuple[float, ...]:
    scores = tuple(float(score) for score in row["scores"])
    if len(scores) != len(columns):
        raise ValueError(
            f"{row['name']!r} has {len(scores)} scores, and there are {len(columns)} columns: "
            f"{', '.join(columns)}."
        )
    return scores
