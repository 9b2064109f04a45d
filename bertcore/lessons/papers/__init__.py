"""What the papers state about BERT: figures, common claims and what is true, a reading list.

All of it is in `papers.toml`, each entry with its source.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from bertcore.base.toml_tables import Between, from_table, parse_toml
from bertcore.model.architecture.config import bert_of

__all__ = (
    "Ablation Claim Contrast Fact GlueRow Literature Paper Source SquadRow "
    "Variant Way parse_papers read_ablation read_papers"
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


Sources = Annotated[tuple[Source, ...], Between(1, 10)]


@dataclass(frozen=True, slots=True)
class Fact:
    """A property of BERT Base and BERT Large."""

    what: str
    base: str
    large: str
    source: Sources


@dataclass(frozen=True, slots=True)
class GlueRow:
    """GLUE test scores of a BERT."""

    name: str
    num_layers: int
    hidden_size: int
    scores: tuple[float, ...]
    """In the order of `Literature.glue_columns`."""
    source: Source
    published_average: float | None = None
    """As its paper gives it; None where that averages over other columns."""

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
class Variant:
    """A row of an ablation."""

    name: str
    scores: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Ablation:
    """A table of scores, BERT's own choice first."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[Variant, ...]
    source: Source

    @property
    def points(self) -> list["Points"]:
        """The scores of the other rows beside the first one's, task by task."""
        own, *others = self.rows
        return [
            Points(task, before, row.name, after, round(after - before, 2), self.source.text)
            for place, (task, before) in enumerate(zip(self.columns, own.scores, strict=True))
            for row, after in ((row, row.scores[place]) for row in others)
        ]

    def faults(self) -> Iterator[str]:
        """Yield the rows that have not a score for each column."""
        yield from _without_a_score(self.rows, self.columns)


@dataclass(frozen=True, slots=True)
class Points:
    """A variant's score on a task, and how far it is from that of BERT's own choice."""

    task: str
    own: float
    """Score of BERT's own choice."""
    variant: str
    score: float
    points: float
    """The difference of both."""
    source: str


@dataclass(frozen=True, slots=True)
class Contrast:
    """The Transformer, ELMo, GPT and BERT in one aspect; Markdown."""

    aspect: str
    transformer: str
    elmo: str
    gpt: str
    bert: str
    source: Sources


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
    source: Sources

    @property
    def answers(self) -> list[str]:
        """What is predicted at each input; empty where nothing is."""
        return [self.says.get(place, "") for place in range(len(self.inputs))]

    def faults(self) -> Iterator[str]:
        """Yield the numbers of inputs that there are not."""
        for number in self.says:
            if not 0 <= number < len(self.inputs):
                yield f"says has the input {number}; expected 0 to {len(self.inputs) - 1}."


@dataclass(frozen=True, slots=True)
class Claim:
    """A common claim about BERT, and what is true."""

    topic: str
    told: str
    true: str
    source: Sources
    page: str | None = None
    """Folder of the app's page that shows it; None for none."""
    view: str | None = None
    """The picture to choose there; None for the one that it opens on."""
    objectives: tuple[str, ...] = ()
    """Names in `bertcore.model.objectives.table` of what it is told of."""


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

    def faults(self) -> Iterator[str]:
        """Yield the rows of GLUE that have not a score for each column."""
        yield from _without_a_score(self.glue, self.glue_columns)

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
    Variant(name='80/10/10', scores=(84.2, 95.4, 94.9))
    """
    return parse_papers(FILE.read_text(encoding="utf-8"))


def parse_papers(text: str) -> Literature:
    """Return the content of a file like `papers.toml`.

    ValueError if an entry has no source, names a paper that is not listed, or has a different
    number of scores than columns.
    """
    data = parse_toml(text, FILE.name)
    papers = {key: from_table(Paper, table, key=key) for key, table in data["papers"].items()}
    return from_table(Literature, _with_sources(data, papers), papers=tuple(papers.values()))


def _with_sources(value: Any, papers: Mapping[str, Paper]) -> Any:
    """Return tables and lists with each table of a paper's key and a place as a source."""
    if isinstance(value, list):
        return [_with_sources(entry, papers) for entry in value]
    if not isinstance(value, dict):
        return value
    if value.keys() != {"paper", "where"}:
        tables = value.items()
        return {name: _with_sources(each, papers) for name, each in tables if name != "papers"}
    if value["paper"] not in papers or not value["where"].strip():
        raise ValueError(
            f"the source {value} names no place, or a paper that is not listed; expected a section "
            f"or table, and one of {', '.join(papers)}."
        )
    return Source(papers[value["paper"]], value["where"])


def _without_a_score(
    rows: tuple[Variant, ...] | tuple[GlueRow, ...], columns: tuple[str, ...]
) -> Iterator[str]:
    for row in rows:
        if len(row.scores) != len(columns):
            yield f"{row.name} has {len(row.scores)} scores; expected {len(columns)}."


def read_ablation(name: str = "objectives") -> Ablation:
    """Return an ablation of the papers by its name.

    ValueError if there is none of that name.

    >>> read_ablation("masks").rows[0].name
    '80/10/10'
    """
    names = [ablation.name for ablation in read_papers().ablations]
    if name not in names:
        raise ValueError(f"there is no ablation {name!r}; expected one of {', '.join(names)}.")
    return read_papers().ablation(name)
