"""The form that fine-tunes the chosen checkpoint on a table, once or by number of labels."""

import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore import Model
from bertcore.configs import Columns
from bertcore.configs.finetune import ALL, NONE, TRAINED, default_rate
from bertcore.data.guess import Guess
from bertcore.model.architecture.families import CLS, MEAN
from bertcore.training.finetuning.label_curve import STARTS
from bertcore.training.tasks import find_task
from bertcore.training.tasks.model import check_labels, head_fits, poolings
from bertcore.training.tasks.read import Survey

from ...plots import plain, shorten_middle
from ...server import training
from ...shell import Compute, Field, cache, frame, one_of, pick, sidebar
from ...sources.labelled_file import choose_label_map, show_notes
from ...sources.run_folders import process
from . import fields, tables
from .new_run import choose_name, copied, copy_data, new_run, show_recipe, start_or_wait
from .tables import Reading, TableFile

TASK_NAMES = {
    "classify": "Classify a text",
    "pair": "Classify a pair",
    "multilabel": "Assign any number of labels",
    "regress": "Score a text or pair",
    "tag": "Tag each word",
    "qa": "Answer questions",
    "choice": "Choose an ending",
}
_TEXTS = {"text": "Text", "text_pair": "Second text"}
COLUMN_NAMES = {
    "classify": {**_TEXTS, "label": "Label"},
    "pair": {**_TEXTS, "label": "Label"},
    "multilabel": _TEXTS,  # and any number of columns of labels
    "regress": {**_TEXTS, "label": "Score"},
    "tag": {"text": "Word", "label": "Tag"},
    "qa": {},
    "choice": {"label": "Number of the right ending"},
}
"""Columns that are chosen, by task and field of `Columns`."""
RATES = (1e-5, 2e-5, 3e-5, 5e-5, 1e-4, 3e-4, 1e-3)
BATCH_SIZE = 32
"""The default of `FinetuneConfig`."""
NUMBERS = (2, 5, 10, 20, 50, 100, 200, 400, 800, 1600, 3200, 6400)
"""Of labels that a series may learn from."""
EVALUATIONS = 10
"""In a run, about, besides those at the ends of epochs."""
PREVIEW_ROWS, PREVIEW_CHARACTERS = 6, 1000
"""Of the first rows: how many, and of each cell."""
SHOWN_LABELS = 8
_GUESSED = "_finetune_guessed_for"

Settings = dict[str, Any]
"""Of a recipe of `bertscope finetune`, by name."""


def show_form(folder: Path, *, is_series: bool = False) -> None:
    """Draw the form; a started run is shown at once.

    Args:
        is_series: Whether it starts a series by number of labels instead of one run.
    """
    options = {name: f"{name} examples" for name in tables.shipped_tables()}
    options[fields.UPLOAD] = "Upload"
    source = one_of("Table", options, fields.TABLE, default=next(iter(options)))
    table = None
    with frame.guard():
        table = tables.choose_file(source, "table")
    if table is None:
        st.caption(tables.HOW_FILES)
        return
    guessed = tables.look(table, "table")
    reading = None if guessed is None else _choose_reading(table, guessed)
    if reading is None:
        return
    key = frame.open_checkpoint()
    with frame.guard():
        survey = Compute(name="table-survey")(tables.survey_table, reading)
        skips_bad_rows = _show_survey(reading, survey)
        if survey.num_examples < 2:
            raise ValueError(
                f"the table has {survey.num_examples} examples to use; at least two are needed. "
                f"{survey.first_bad or 'Check the columns.'}"
            )
        check_labels(find_task(reading.task), survey.labels)
        row = st.container(horizontal=True, vertical_alignment="bottom")
        first, menu = row.container(width="content"), frame.more(row)
        dev, num_dev = _choose_dev(menu, reading, survey)
        if num_dev == 0:
            return
        num_train = survey.num_examples - (0 if dev else num_dev)
        if is_series:
            chosen = _choose_series(first, menu, num_train, len(survey.labels))
        else:
            chosen = _choose_run(first, menu, key, reading, survey, num_train)
        usual = default_rate(cache.opened(key).config)
        rates = {0.0: f"{usual:g} (usual)", **{rate: f"{rate:g}" for rate in RATES}}
        help_text = "Peak learning rate of AdamW; small networks need a larger one."
        rate = pick("Learning rate", rates, fields.RATE, where=menu, width=170, help=help_text)
        settings: Settings = {
            "task": reading.task,
            **asdict(reading.columns),
            "skip_bad_rows": skips_bad_rows,
            "checkpoint": key.place,
            **chosen,
            "held_out": None if dev else float(fields.DEV.value),
            "learning_rate": rate or usual,
        }
        _start_box(
            folder,
            key,
            settings,
            {"train": table, "dev": dev},
            can_start=skips_bad_rows or not survey.num_bad,
            num_examples=survey.num_examples,
        )


def _choose_reading(table: TableFile, guessed: Guess) -> Reading | None:
    """Draw the first rows and the choice of task and columns; None while a column is missing."""
    _take_guess(table, guessed)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _show_rows(guessed)
    with right:
        task = pick("Task", TASK_NAMES, fields.TASK, width=170, help="Guessed from the columns.")
        columns = _choose_columns(task, guessed)
    if columns is None:
        return None
    if find_task(task).has_labels:
        columns = replace(columns, label_map=fields.LABEL_MAP.value.strip() or None)
    with frame.guard():
        return tables.reading_of(table, task, columns)
    return None


def _take_guess(table: TableFile, guessed: Guess) -> None:
    """Choose what was guessed, if the table has changed; a link's own choice stays."""
    before = st.session_state.get(_GUESSED)
    st.session_state[_GUESSED] = str(table.path)
    is_link = before is None and not table.is_upload and fields.TASK.value != fields.TASK.default
    if before == str(table.path) or is_link:
        return
    fields.TASK.put(guessed.task)
    for name, field in fields.COLUMNS.items():
        field.put(getattr(guessed.chosen, name) or fields.NO_COLUMN)
    fields.LABEL_COLUMNS.put(_guessed_labels(guessed))


def _guessed_labels(guessed: Guess) -> list[str]:
    """Return the columns that are likely labels; several only if a text may have several."""
    label = guessed.chosen.label
    if label is None:
        return []
    return label.split(",") if guessed.task == "multilabel" else [label]


def _show_rows(guessed: Guess) -> None:
    if guessed.task == "qa":
        st.caption("Questions about texts, in SQuAD format, counted below.")
        return
    names: list[str] = []  # unique and not empty, as a table on the page needs them
    for number, column in enumerate(guessed.columns, start=1):
        name = column or f"(column {number})"
        names.append(name if name not in names else f"{name} ({number})")
    rows = pd.DataFrame(guessed.rows[:PREVIEW_ROWS], dtype=object).fillna("")
    rows = rows.reindex(columns=range(len(names)), fill_value="").map(
        lambda cell: cell[:PREVIEW_CHARACTERS]
    )
    st.dataframe(
        rows.set_axis(names, axis=1),
        hide_index=True,
        width="stretch",
        height=36 * (len(rows) + 1),
        column_config={name: st.column_config.TextColumn(width="medium") for name in names},
    )


def _choose_columns(task: str, guessed: Guess) -> Columns | None:
    """Draw the choice of columns that a task reads; None while one is missing."""
    if guessed.task == "qa":
        return Columns()
    names = [name for name in dict.fromkeys(guessed.columns) if name]
    row = st.container(horizontal=True)
    columns: dict[str, str | None] = {}
    for field, title in COLUMN_NAMES[task].items():
        is_optional = field == "text_pair" and task != "pair"
        options = {fields.NO_COLUMN: "none" if is_optional else "choose …"}
        options |= {name: shorten_middle(name) for name in names}
        # Three fit beside the first rows.
        columns[field] = pick(title, options, fields.COLUMNS[field], where=row, width=105)
        if not columns[field] and not is_optional:
            st.warning(
                f"No column looks like the {title.lower()}. The table has {_listed(names)}: choose "
                "one above, or use another table."
            )
            return None
    if task == "multilabel":
        labels = st.multiselect(
            "Labels",
            names,
            key=fields.LABEL_COLUMNS.key(default=_guessed_labels(guessed), options=names),
            format_func=shorten_middle,
            help="One column that lists the labels of each text, separated by |, or several "
            "columns of 0 and 1, one for each label.",
        )
        if not labels:
            listed = _listed(names)
            st.warning(f"Choose the column of labels, or their columns of 0 and 1: {listed}.")
            return None
        columns["label"] = ",".join(labels)
    return Columns(**{field: name or None for field, name in columns.items()})


def _listed(names: Sequence[str]) -> str:
    quoted = ", ".join(f"**{plain(shorten_middle(name))}**" for name in names[:12])
    return quoted + (f" and {len(names) - 12} more" if len(names) > 12 else "")


def _show_survey(reading: Reading, survey: Survey) -> bool:
    """State what the table contains; return whether rows that cannot be used are left out."""
    parts = [f"**{survey.num_examples:,}** examples"]
    if num := len(survey.labels):
        counts = [
            f"{plain(shorten_middle(label, 24))} ({count:,})"
            for label, count in list(survey.labels.items())[:SHOWN_LABELS]
        ]
        more = f" and {num - SHOWN_LABELS:,} more" if num > SHOWN_LABELS else ""
        what = "tag" if reading.task == "tag" else "label"
        parts.append(f"**{num:,}** {what}{'' if num == 1 else 's'}: {', '.join(counts)}{more}")
    st.markdown(" · ".join(parts))
    show_notes(survey.notes)
    if survey.labels:
        choose_label_map(fields.LABEL_MAP)
    if not survey.num_bad:
        return False
    rows = "1 row" if survey.num_bad == 1 else f"{survey.num_bad:,} rows"
    st.warning(f"{rows} cannot be used. The first: {plain(survey.first_bad)}")
    return st.toggle("Leave them out", key=fields.SKIP_BAD_ROWS.key())


def _choose_dev(
    row: DeltaGenerator, reading: Reading, survey: Survey
) -> tuple[TableFile | None, int]:
    """Draw what is scored; return its file, None to hold out, and how many, 0 if unusable."""
    choice = pick(
        "Score on",
        fields.DEVS,
        fields.DEV,
        where=row,
        width=170,
        help="Examples that are never trained on, drawn at random from each label.",
    )
    if choice != fields.DEV_FILE:
        return None, max(1, round(float(choice) * survey.num_examples))
    dev = tables.choose_file(fields.UPLOAD, "dev")
    if dev is None or tables.look(dev, "dev") is None:
        return None, 0
    own = tables.reading_of(dev, reading.task, reading.columns, tuple(survey.labels))
    dev_survey = Compute(name="dev-survey")(tables.survey_table, own)
    if dev_survey.num_bad or not dev_survey.num_examples:
        st.error(f"The file to score on cannot be used: {plain(dev_survey.first_bad)}")
        return None, 0
    return dev, dev_survey.num_examples


def _number(
    row: DeltaGenerator,
    label: str,
    field: Field[int],
    low: int,
    high: int,
    *,
    default: int | None = None,
    help: str | None = None,
) -> int:
    """Draw the choice of a whole number; return it."""
    key = field.key(default=default, low=low, high=high)
    number: int = row.number_input(label, low, high, key=key, width=110, help=help)
    return number


def _choose_run(
    first: DeltaGenerator,
    menu: DeltaGenerator,
    key: cache.BertKey,
    reading: Reading,
    survey: Survey,
    num_train: int,
) -> Settings:
    """Draw the choices of one fine-tuning, all but the first in a menu; return them as settings."""
    bert = cache.opened(key)
    epochs = _number(first, "Epochs", fields.EPOCHS, 1, 100)
    trained = pick(
        "Train",
        parts_trained(bert),
        fields.TRAINED,
        where=menu,
        width=170,
        help="The head, and the pooler if there is one, always learn; the rest of the encoder "
        "stays as it is.",
    )
    pooling = CLS
    if find_task(reading.task).kind == "sequence" and len(poolings(bert)) > 1:
        pooling = pick(
            "The head reads",
            {CLS: "[CLS]", MEAN: "the mean of all tokens"},
            fields.POOLING,
            default=CLS if bert.report is None else bert.report.task.pooling,  # of a trained head
            where=menu,
            width=170,
            help="The mean is that of the last layer's vectors, [CLS] and [SEP] among them, "
            "without a pooler; transformers then opens the encoder, not the head.",
        )
    labels = tuple(survey.labels)
    return {
        "new_head": not head_fits(key.place, task=reading.task, labels=labels, pooling=pooling),
        "epochs": epochs,
        "trained": trained,
        "pooling": pooling,
        "evaluate_every": max(1, epochs * math.ceil(num_train / BATCH_SIZE) // EVALUATIONS),
    }


def _choose_series(
    first: DeltaGenerator, menu: DeltaGenerator, num_train: int, num_labels: int
) -> Settings:
    """Draw the numbers of labels, of seeds and of steps; a server with limits begins with few."""
    has_limits = training.limits() is not None
    usual = usual_numbers(num_train, num_labels)[: 2 if has_limits else None]
    offered = [str(number) for number in NUMBERS if number <= num_train]
    picked = first.multiselect(
        "Numbers of labels",
        offered,
        key=fields.NUMBERS.key(default=[*map(str, usual)], options=offered),
        width=300,
        help="A point of the curve each; the examples are drawn anew for each seed.",
    )
    help_text = "Fine-tunings of each point: the curve is their median."
    few = 1 if has_limits else None
    seeds = _number(menu, "Seeds", fields.SEEDS, 1, 20, default=few, help=help_text)
    help_text = "Few examples are read more often, until there are as many steps."
    few = 40 if has_limits else None
    steps = _number(menu, "Least steps", fields.STEPS, 1, 10_000, default=few, help=help_text)
    numbers = tuple(sorted(map(int, picked)))
    if not numbers:
        raise ValueError("there is no number of labels to learn from. Choose one above.")
    st.markdown(f"**{len(STARTS) * len(numbers) * seeds}** fine-tunings")
    return {"label_curve": numbers, "seeds": seeds, "least_steps": steps}


def usual_numbers(num_train: int, num_labels: int) -> list[int]:
    """Return numbers of labels to begin with: 50, 200 and 800, or half of a small table.

    Args:
        num_train: Examples to learn from, about: each label may have one less.
        num_labels: Of different labels.
    """
    most = num_train - num_labels
    half = max(number for number in NUMBERS if number <= max(2, most // 2))
    return [number for number in (50, 200, 800) if number <= most] or [half]


def parts_trained(bert: Model) -> dict[str, str]:
    """Return the parts of an encoder that may be trained, as `FinetuneConfig.trained`, with names.

    Of layers that are counted from an end, one, two, and half of them.
    """
    whole, alone = {ALL: "the whole network"}, {NONE: "the head alone"}
    if "parts" not in bert.capabilities:
        return whole | alone
    num_layers = bert.config.num_hidden_layers
    counts = sorted({1, 2, num_layers // 2} & set(range(1, num_layers)))
    for end in () if bert.config.share_layers else ("top", "bottom"):
        for count in counts:
            whole[f"{end} {count}"] = f"{end} layer" if count == 1 else f"{end} {count} layers"
    return whole | {part: f"{part} only" for part in TRAINED[1:]} | alone


def _start_box(
    folder: Path,
    key: cache.BertKey,
    settings: Settings,
    files: dict[str, TableFile | None],
    *,
    can_start: bool,
    num_examples: int,
) -> None:
    """Draw the name, the button, and the recipe and command of the same run."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    with row:
        name = choose_name(folder, width=220)
    run = folder / name
    for setting, file in files.items():
        if file is not None:
            is_copied = file.is_upload
            settings[setting] = (
                copied(file.path, run, setting) if is_copied else file.path.absolute()
            )
    kind: process.Kind = "label-curve" if "label_curve" in settings else "finetune"
    is_asked = row.button(
        f"Fine-tune {plain(sidebar.brief_name(key.source))}",
        type="primary",
        icon=":material/play_arrow:",
        disabled=not can_start,
        help=None if can_start else "Leave out the rows that cannot be used, or correct them.",
    )

    def start() -> Path:
        paths = [file.path for file in files.values() if file is not None]
        num_bytes = written_bytes(cache.opened(key), settings, paths, num_examples=num_examples)
        new_run(folder, name, num_bytes=num_bytes)
        for setting, file in files.items():
            if file is not None and file.is_upload:
                copy_data(file.path, run, setting)
        process.start(run, settings, kind=kind)
        return run

    start_or_wait(kind, folder, is_asked, start)
    show_recipe(run, "finetune", settings)


def written_bytes(
    bert: Model, settings: Settings, files: Sequence[Path], *, num_examples: int
) -> int:
    """Estimate what a run writes: data, and float32 weights with the optimizer's two moments.

    The weights are in its state, in the best checkpoint, and in the result. A series writes a
    sample for each number of labels and seed, too.
    """
    num_parameters = sum(parameter.numel() for parameter in bert.module.parameters())
    sizes = [path.stat().st_size for path in files]
    drawn: float = settings.get("seeds", 0) * sum(settings.get("label_curve", ())) / num_examples
    return 4 * 5 * num_parameters + 2 * sum(sizes) + math.ceil(drawn * sizes[0])
