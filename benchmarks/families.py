"""Small members of each family, pretrained for equal processor time and fine-tuned on SST-2.

Users seldom bring BERT itself. This benchmark takes a checkpoint of each family from pretraining to
a classifier, with networks of one size. The options are those of `objectives`.
"""

import json
from dataclasses import replace
from pathlib import Path

from benchmarks import finetune_tasks, tables
from benchmarks.finetune_tasks import SPECS
from benchmarks.objectives import OPTIONS, SST2_SAMPLE, Variant, pretrained, speed, tuned

FAMILIES = (
    Variant("BERT", {"objective": "mlm+nsp"}),
    Variant("DistilBERT", {"objective": "mlm"}, family="distilbert"),
    Variant("RoBERTa", {"objective": "mlm"}, family="roberta"),
    Variant("ELECTRA", {"objective": "rtd"}, family="electra"),
    Variant("ALBERT", {"objective": "mlm+sop"}, family="albert"),
    Variant("ModernBERT", {"objective": "mlm"}, family="modernbert"),
)


def run() -> str:
    """Return the table of SST-2 by family.

    Raises:
        ValueError: If a file or folder is missing.
    """
    if not OPTIONS.corpus or OPTIONS.valid is None or finetune_tasks.OPTIONS.tasks is None:
        raise ValueError(
            "families needs --objective-corpus FILE ..., --objective-valid FILE, --tasks FOLDER."
        )
    (spec,) = (
        replace(spec, more={"sample": SST2_SAMPLE}) for spec in SPECS if spec.name == "SST-2"
    )
    # Part of the folder name, so that other settings have other folders.
    settings = f"{OPTIONS.minutes:g} minutes {OPTIONS.layers} layers seed {OPTIONS.seed}"
    rows = []
    for variant in FAMILIES:
        if OPTIONS.only and variant.name not in OPTIONS.only:
            continue
        placed = replace(variant, name=f"{variant.name} {settings}")
        trained = pretrained(placed, speed)
        folder = Path(trained["checkpoint"])
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        rows.append(
            (
                variant.name,
                variant.data["objective"],
                config["architectures"][0],
                f"{trained['steps']:,}",
                f"{trained['num_tokens'] / 1e6:.1f} M",
                tuned(placed, spec, trained["checkpoint"]),
            )
        )
    number = finetune_tasks.OPTIONS.num_seeds
    seeds = "one seed" if number == 1 else f"median of {number} seeds"
    return "\n\n".join(
        [
            f"{OPTIONS.layers} layers of {OPTIONS.hidden}, pretrained for {OPTIONS.minutes:g} "
            f"minutes on one core each; SST-2 dev after {SST2_SAMPLE:,} sentences, {seeds}, "
            "percent.",
            tables.markdown(
                ("family", "objective", "opens as", "steps", "tokens", "SST-2 dev"), rows
            ),
        ]
    )
