"""`bertscope heads`: what each attention head does over many sentences."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bertscope.cli.options import documented
from bertscope.cli.output import counted, make_table, plain, print_json, print_table
from bertscope.cli.progress import stages
from bertscope.cli.text import AsJson, Checkpoint, Device, Dtype

if TYPE_CHECKING:
    from bertcore.analysis.heads.report import HeadReport
    from bertcore.analysis.heads.texts import HeadTexts

SHOWN_CASES = 5
"""Relations with fewer cases are left out of the table; JSON has them all."""


@documented
def heads(
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]")] = None,
    conllu: Path | None = None,
    resamples: Annotated[int, typer.Option(min=100)] = 1000,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    checkpoint: Checkpoint = "default",
    device: Device = "auto",
    dtype: Dtype = "auto",
    as_json: AsJson = False,
) -> None:
    """Show what each attention head attends to over many sentences, and which finds which relation.

    Args:
        file: One sentence per line, or a pair with ||| between; or .csv, .tsv, .conllu; .gz, .xz
            too. Default: our sixty sentences.
        conllu: Trees for the relations; default: FILE if it has any, or our own.
        resamples: Resamples for the intervals.
        seed: Seed of the resamples.

    \b
    Examples:
      bertscope heads
      bertscope heads sentences.txt --json > heads.json
      bertscope heads sentences.txt --conllu en_ewt-ud-dev.conllu
    """
    from bertcore.analysis.heads.texts import bundled_sentences, bundled_trees

    texts = bundled_sentences() if file is None else _read(file)
    if conllu is not None:
        trees = _read(conllu)
        if not trees.trees:
            raise ValueError(
                f"--conllu is {str(conllu)!r}, which has no trees. Give a file whose name ends in "
                ".conllu."
            )
    else:
        trees = texts if texts.trees else bundled_trees()
    from bertcore import load
    from bertcore.analysis.heads.report import report_heads

    bert = load(checkpoint, device=device, dtype=dtype)
    with stages() as on_stage:
        report = report_heads(
            bert,
            texts,
            trees,
            num_resamples=resamples,
            seed=seed,
            progress=lambda fraction, stage: on_stage(stage, fraction),
        )
    for note in dict.fromkeys((*texts.notes, *trees.notes)):
        typer.echo(f"Note: {note}", err=True)
    if as_json:
        about = {"checkpoint": checkpoint, "seed": seed, "resamples": resamples}
        print_json({**about, **report_values(report, texts, trees)})
        return
    _print_patterns(report, texts)
    _print_relations(report, trees)


def report_values(report: HeadReport, texts: HeadTexts, trees: HeadTexts) -> dict[str, Any]:
    """Return a report for JSON: values by layer and head."""
    from bertcore.analysis.heads.measures import MEASURES
    from bertcore.analysis.heads.similarity import head_map
    from bertcore.analysis.heads.syntax import DIRECTIONS

    statistics, scores, places = report.statistics, report.scores, head_map(report.distances)
    return {
        "num_sentences": len(texts.sentences),
        "num_trees": len(trees.trees),
        "num_cut": report.num_cut,
        "measures": {
            name: {
                **statistics.of(name)._asdict(),
                "uniform": statistics.uniform[index],
                "num_sentences": int(statistics.num_sentences[index]),
            }
            for index, name in enumerate(MEASURES)
        },
        "relations": [
            scores.best(relation, direction)
            for relation in scores.relations
            for direction in DIRECTIONS
            if scores.cases(relation, direction)
        ],
        "arcs_left_out": scores.num_left_out,
        "similarity": {
            "distances": report.distances.matrix,
            "positions": places.positions,
            "stress": places.stress,
            "tokens_compared": report.distances.num_compared,
            "tokens": report.distances.num_tokens,
        },
    }


def _read(path: Path) -> HeadTexts:
    from bertcore.analysis.heads.texts import read_texts
    from bertscope.cli.files import read_whole

    return read_texts(*read_whole(path))


def _print_patterns(report: HeadReport, texts: HeadTexts) -> None:
    from bertcore.analysis.heads.statistics import PATTERNS, measure_index

    numbers = ("layer", "head", "mean", "95%", "uniform", "sentences")
    table = make_table("habit", *numbers, right=numbers)
    table.title = plain(
        f"What heads attend to, and the strongest head: {counted(len(texts.sentences), 'sentence')}"
    )
    for name in PATTERNS:
        best = report.statistics.best(name)
        if best is None:
            continue
        mean, low, high = (float(part[best]) for part in report.statistics.of(name))
        index = measure_index(name)
        table.add_row(
            name,
            *map(str, best),
            f"{mean:.1%}",
            f"{100 * low:.0f}-{100 * high:.0f}%",
            f"{report.statistics.uniform[index]:.1%}",
            f"{report.statistics.num_sentences[index]:,}",
        )
    print_table(table)


def _print_relations(report: HeadReport, trees: HeadTexts) -> None:
    from bertcore.analysis.heads.syntax import DIRECTIONS

    numbers = ("layer", "head", "right", "95%", "fixed offset", "cases")
    table = make_table("relation", "looks for", *numbers, right=numbers)
    table.title = plain(f"Which head finds which relation: {len(trees.trees):,} trees")
    for relation in report.scores.relations:
        for direction in DIRECTIONS:
            if report.scores.cases(relation, direction) < SHOWN_CASES:
                continue
            best = report.scores.best(relation, direction)
            table.add_row(
                plain(relation),
                "head word" if direction == "to_head" else "dependent",
                str(best.layer),
                str(best.head),
                f"{best.accuracy:.1%}",
                f"{100 * best.low:.0f}-{100 * best.high:.0f}%",
                f"{best.baseline:.1%} ({best.offset:+d})",
                f"{best.num_cases:,}",
            )
    print_table(table)
