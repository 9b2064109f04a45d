"""One HTML file with all measures, for reviewers of a checkpoint."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bertcore.bias.audits import AUDITS, CANNOT_TELL, Audit, AuditTable, OnStage
from bertcore.bias.shares import grammar_exam, masked_words
from bertcore.configs import BiasConfig
from bertcore.model import Model

OWN = ("templates", "weat", "direction", "erase")
"""Measures that need no file."""
PUBLISHED = ("crows-pairs", "stereoset", "winobias")
"""Measures of published sets, which are not shipped."""


@dataclass(frozen=True, slots=True)
class About:
    """The question of a measure, and the criticism of it."""

    title: str
    question: str
    criticism: str
    """With its source."""


ABOUT: Mapping[str, About] = MappingProxyType(
    {
        "templates": About(
            "Templates",
            "How much more likely a word at [MASK] makes the words of one group than those of "
            "another, with the prior of the words removed (Kurita et al. 2019). 0 is no "
            "preference.",
            "The templates and words are few and our own, and another wording can reverse the "
            "result: see the intervals over wordings.",
        ),
        "crows-pairs": About(
            "CrowS-Pairs",
            "How often the stereotyping sentence scores higher than its twin (Nangia et al. "
            "2020; AUL and AULA: Kaneko and Bollegala 2022). 50% is no preference; the frequency "
            "score is a baseline of word frequencies alone.",
            "Many pairs are unclear or not stereotypes (Blodgett et al. 2021): look at them. The "
            "scores of hidden tokens (pll) favour frequent words; aul and aula hide none (Kaneko "
            "and Bollegala 2022).",
        ),
        "stereoset": About(
            "StereoSet",
            "How often a word that makes sense beats one that does not (LMS), and a stereotype its "
            "opposite (SS); ICAT joins both (Nadeem et al. 2021).",
            "Many items are unclear or not stereotypes (Blodgett et al. 2021): look at them. ICAT "
            "rewards a worse model that is fair by chance.",
        ),
        "winobias": About(
            "WinoBias",
            "How often the stereotypical pronoun of an occupation is the more probable one (Zhao "
            "et al. 2018, scored by a masked pronoun). 50% is no preference.",
            "The set was made for coreference systems; here a masked pronoun stands in for one. "
            "A model that always prefers one gender scores 50%, too: see the occupations.",
        ),
        "weat": About(
            "Association tests",
            "Whether two sets of words are closer to one set of attributes than to another "
            "(WEAT, Caliskan et al. 2017; SEAT, May et al. 2019): effect size d, permutation p.",
            "The tests depend on the choice of words and on their frequency (Ethayarajh et al. "
            "2019), and their results on sentence encoders are mixed (May et al. 2019).",
        ),
        "direction": About(
            "A direction",
            "Where occupations lie along the direction from he to she (Bolukbasi et al. 2016), "
            "and what a linear probe can still recover once it is erased from the vectors.",
            "What a probe recovers was hidden, not removed (Gonen and Goldberg 2019).",
        ),
        "erase": About(
            "Gender erased from a hidden state",
            "What a live erasure in the network removes, and what it costs.",
            "Layers above an erasure can recover the attribute from what is left (Gonen and "
            "Goldberg 2019), and nothing here was measured in an application.",
        ),
    }
)


@dataclass(frozen=True, slots=True)
class Section:
    """One measure of a report."""

    about: About
    audit: Audit


@dataclass(frozen=True, slots=True)
class BiasReport:
    """The content of a reviewer's file."""

    facts: dict[str, str]
    """Checkpoint, fingerprint and shape, by their names."""
    quality: AuditTable
    sections: tuple[Section, ...]
    left_out: tuple[str, ...]
    """What was not measured, and why, a sentence each."""
    created: datetime.datetime


def make_report(
    bert: Model,
    asked: Sequence[tuple[str, Path | None, BiasConfig]] = (),
    on_stage: OnStage = lambda stage, done: None,
    *,
    name: str | None = None,
) -> BiasReport:
    """Measure a checkpoint with all of our own sets, and with further requested measures.

    Args:
        bert: Any model; measures that do not apply to it are left out, with the reason.
        asked: Measures with their files and options, such as ("crows-pairs", path, BiasConfig()).
        name: The checkpoint's name in the report; None: its own name.

    ValueError if a requested measure cannot be computed. OSError if its file cannot be opened.
    """
    sections, left_out = [], []
    for measure, file, options in asked:
        sections.append(Section(ABOUT[measure], AUDITS[measure](bert, file, options, on_stage)))
    given = {measure for measure, _, _ in asked}
    for measure in OWN:
        if measure in given:
            continue
        try:
            audit = AUDITS[measure](bert, None, BiasConfig(), on_stage)
        except ValueError as error:  # what the checkpoint lacks, as a sentence
            left_out.append(f"{ABOUT[measure].title}: {error}")
        else:
            sections.append(Section(ABOUT[measure], audit))
    left_out += [
        f"{ABOUT[measure].title}: the set is not shipped. Give its file: bertscope bias {measure} "
        "FILE --report REPORT.html."
        for measure in PUBLISHED
        if measure not in given
    ]
    left_out.append(
        "Groups and languages that no set here names, and every use of the model in an "
        "application: nothing is known about them."
    )
    config, report = bert.config, bert.report
    return BiasReport(
        facts={
            "Checkpoint": bert.name if name is None else name,
            "Fingerprint": "in memory" if report is None else str(report.fingerprint),
            "Shape": f"{config.num_hidden_layers} layers, {config.hidden_size} wide, "
            f"{config.vocab_size:,} pieces",
        },
        quality=_quality(bert, on_stage),
        sections=tuple(sections),
        left_out=tuple(left_out),
        created=datetime.datetime.now(datetime.UTC),
    )


def _quality(bert: Model, on_stage: OnStage) -> AuditTable:
    if "mlm" in bert.absent:
        rows: list[dict[str, Any]] = [{"measure": "none: " + bert.absent["mlm"]}]
    else:
        on_stage("the model's own quality", None)
        rows = [
            {
                "measure": "Grammar exam: our 200 minimal pairs",
                **asdict(grammar_exam(bert)),
                "chance": 0.5,
            },
            {
                "measure": "Masked words right, in their good sentences",
                **asdict(masked_words(bert)),
            },
        ]
    return AuditTable(
        rows=rows,
        columns={
            "measure": "{measure}",
            "share": "{mean:.1%}",
            "95%": "{low:.1%} to {high:.1%}",
            "chance": "{chance:.0%}",
        },
    )


def report_html(report: BiasReport) -> str:
    """Return the file: it fetches nothing, runs no script, and shows all texts as plain text."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_legible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    template = environment.get_template("report.html.jinja")
    made = f"{report.created:%Y-%m-%d %H:%M} UTC with BertScope"
    return template.render(report=report, made=made, cannot_tell=CANNOT_TELL)


def _legible(value: object) -> object:
    """Name characters that are invisible or change the direction of writing."""
    if not isinstance(value, str):
        return value
    if all(sign.isprintable() or sign == "\n" for sign in value):
        return value
    return "".join(
        sign if sign.isprintable() or sign == "\n" else f"\u2039U+{ord(sign):04X}\u203a"
        for sign in value
    )
