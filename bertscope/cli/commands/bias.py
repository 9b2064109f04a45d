"""`bertscope bias`: what a checkpoint associates with groups of people, each with its interval."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bertcore.base.states import state_name
from bertscope.cli.commands.text import AsJson, Checkpoint, Device
from bertscope.cli.output import print_json, print_table, tabulate
from bertscope.cli.progress import OnStage, stages

if TYPE_CHECKING:
    from bertcore.model.model import Model

CANNOT_TELL = (
    "No score here predicts harm in use: such measures hardly correlate with those of an "
    "application (Goldfarb-Tarrant et al. 2021). Measure the fine-tuned model on its own data."
)
ABOUT_PAIRS = (
    "Many of these pairs are unclear or contrast no stereotype (Blodgett et al. 2021): read them."
)


def bias(
    data: Path | None = None,
    layer: Annotated[int | None, typer.Option("--layers", metavar="N")] = None,
    save: Path | None = None,
    checkpoint: Checkpoint = "default",
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Measure stereotypes in a checkpoint: templates, association tests and the gender direction,
    or CrowS-Pairs from a file, each with its interval and beside the model's quality.

    Args:
        data: CrowS-Pairs' table (columns sent_more, sent_less), of which it prints one score.
        layer: Vectors of the association tests and the direction: hidden_states[N], 0 the input, 1
            after layer 0; default: the token table.
        save: Write the checkpoint without the direction in its token table (hard debiasing) to this
            new folder, and print what that changes and costs.

    \b
    Examples:
      bertscope bias
      bertscope bias --layers 4 --json
      bertscope bias --data crows_pairs_anonymized.csv
      bertscope bias --save without-gender
    """
    from bertcore import load
    from bertcore.analysis.bias import grammar_exam

    if sum(option is not None for option in (data, layer, save)) > 1:
        raise ValueError("--data, --layers and --save each print something else. Give one of them.")
    if save is not None and save.exists() and any(save.iterdir() if save.is_dir() else [save]):
        raise ValueError(f"--save is {str(save)!r}, which is not empty. Name a new folder.")
    with stages() as on_stage:
        on_stage("opening the checkpoint", None)
        bert = load(checkpoint, device=device)
        found: dict[str, Any] = {"checkpoint": checkpoint, "notes": []}
        if data is not None:
            found |= _crows_pairs(bert, data, on_stage)
        elif save is not None:
            found |= _corrected(bert, save, on_stage)
        else:
            found |= _own_sets(bert, layer, on_stage)
        if "mlm" not in bert.absent:
            on_stage("the model's own quality", None)
            found["minimal_pairs"] = grammar_exam(bert)
    found["notes"].append(CANNOT_TELL)
    if as_json:
        print_json(found)
    else:
        _print(found)


def _crows_pairs(bert: Model, data: Path, on_stage: OnStage) -> dict[str, Any]:
    from bertcore.analysis.bias import read_crows_pairs, score_crows_pairs, stereotype_share
    from bertcore.data.files import BadRows

    bad_rows = BadRows(skip=True)
    pairs = read_crows_pairs(data, bad_rows=bad_rows)
    stage = f"scoring {len(pairs):,} pairs"
    scores = score_crows_pairs(bert, pairs, progress=lambda done: on_stage(stage, done))
    items = [
        {**asdict(pair), "log_p": row.tolist()} for pair, row in zip(pairs, scores, strict=True)
    ]
    share = stereotype_share(scores)
    return {"crows_pairs": share, "items": items, "notes": [*bad_rows.notes(), ABOUT_PAIRS]}


def _corrected(bert: Model, save: Path, on_stage: OnStage) -> dict[str, Any]:
    from bertcore.analysis.bias import debias_table, measure_effects

    corrected = debias_table(bert)
    effects = measure_effects(bert, corrected, progress=lambda done, name: on_stage(name, done))
    corrected.save(save)
    note = (
        f"{save} holds the checkpoint without the direction in its token table. What a probe still "
        "finds was hidden, not removed (Gonen and Goldberg 2019)."
    )
    return {"saved": str(save), "effects": [effect.row() for effect in effects], "notes": [note]}


def _own_sets(bert: Model, layer: int | None, on_stage: OnStage) -> dict[str, Any]:
    from bertcore.analysis.bias import (
        along_direction,
        audit_templates,
        run_association_tests,
        template_audits,
    )

    templates, associations, notes = [], [], []
    for audit in template_audits() if "mlm" not in bert.absent else ():
        on_stage(f"templates: {audit.name}", None)
        try:
            found = audit_templates(bert, audit)
        except ValueError as error:
            notes.append(f"{audit.name}: {error}")
            continue
        differences = found.scores.differences().mean(0).tolist()
        means = dict(zip(found.scores.fillers, differences, strict=True))
        templates.append({"name": audit.name, **asdict(found.lean), "fillers": means})
    if "mlm" in bert.absent:
        notes.append(f"No templates: {bert.absent['mlm']}")
    on_stage("association tests", None)
    for outcome in run_association_tests(bert, layer):
        test = outcome.test
        associations.append({"name": test.name, **asdict(outcome.association)})
        if outcome.note is not None:
            notes.append(f"{test.name}: {outcome.note}")
        if test.source:
            notes.append(f"{test.name}: the names are those of {test.source}.")
    on_stage("the gender direction", None)
    along = along_direction(bert, layer=layer)
    notes.append(f"The direction explains {along.explained:.0%} of the differences within pairs.")
    direction = {
        "explained": along.explained,
        "cosines": dict(zip(along.words, along.cosines.tolist(), strict=True)),
        "probes": along.probes,
    }
    return {
        "layer": layer,
        "templates": templates,
        "associations": associations,
        "direction": direction,
        "notes": notes,
    }


def _print(found: dict[str, Any]) -> None:
    layer = found.get("layer")
    where = "the token table" if layer is None else f"the vectors {state_name(layer)}"
    if "crows_pairs" in found:
        title = "CrowS-Pairs: the stereotyping sentence scores higher (0.5: no preference)"
        print_table(tabulate([found["crows_pairs"]], title=title))
    if "effects" in found:
        title = "Before and after the direction is removed from the token table"
        print_table(tabulate(found["effects"], title=title))
    if found.get("templates"):
        shown = ("name", "mean", "over_fillers", "over_templates", "over_words")
        title = "Templates: the first group's words minus the second's, nats (0: no preference)"
        print_table(tabulate(found["templates"], title=title, columns=shown))
    if "direction" in found:
        columns = ("name", "effect_size", "p_value")
        title = f"Association tests on {where}: d above 0 links the two first sets (-2 to 2)"
        print_table(tabulate(found["associations"], title=title, columns=columns))
        cosines = sorted(found["direction"]["cosines"].items(), key=lambda item: -item[1])
        words = [{"word": word, "cosine": cosine} for word, cosine in cosines]
        print_table(tabulate(words, title=f"Occupations on the direction from he to she, {where}"))
        probes = found["direction"]["probes"].items()
        rows = [{"vectors": name, **asdict(score)} for name, score in probes]
        print_table(tabulate(rows, title="A linear probe of other words"))
    if "minimal_pairs" in found:
        typer.echo(
            f"The model itself: {found['minimal_pairs'].mean:.1%} of our 200 minimal pairs of "
            "grammar (chance 50%). A model near chance looks fair."
        )
    for note in found["notes"]:
        typer.echo(f"Note: {note}")
