"""The form that fine-tunes the chosen checkpoint on a table, once or by number of labels."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore import Model
from bertcore.architecture.families import CLS, MEAN, POOLINGS
from bertcore.configs import Columns, FinetuneConfig
from bertcore.configs.finetune import ALL, NONE, TRAINED, default_rate, layers_trained
from bertcore.data.guess import Guess
from bertcore.data.labels import MAX_LABELS, why_no_labels
from bertcore.finetuning.speed import Speed
from bertcore.tasks import find_task
from bertcore.tasks.model import head_fits, poolings
from bertcore.tasks.read import Survey

from ..access import training
from ..access.policy import policy
from ..plots import plain, shorten_middle
from ..run_folders import process
from ..shell import Compute, cache, frame, one_of, sidebar, waiting
from ..task_model.file_choice import choose_label_map, show_notes
from . import fields, tables
from .finetune_plan import Plan, SeriesPlan, read_numbers, rounded, sample_sizes, usual_numbers
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
RATES = (0.0, 1e-5, 2e-5, 3e-5, 5e-5, 1e-4, 3e-4, 1e-3)
PREVIEW_ROWS, PREVIEW_CHARACTERS = 6, 1000
"""Of the first rows: how many, and of each cell."""
COLUMN_WIDTH = 105
"""Pixels of the choice of a column: three fit beside the first rows."""
SHOWN_LABELS = 8
_GUESSED = "_finetune_guessed_for"
LONG_SECONDS = 1800
"""For an estimate beyond this, the page advises a sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FinetuneChoices:
    """All that the visitor has chosen."""

    table: TableFile
    reading: Reading
    found: Survey
    dev: TableFile | None
    """None if a part of the table is held out."""
    plan: Plan
    rate: float
    trained: str
    pooling: str
    """As in `FinetuneConfig`."""
    seed: int
    """The first one of a series, whose number its plan has."""
    skip_bad_rows: bool


def show_form(folder: Path, row: DeltaGenerator, *, is_series: bool = False) -> None:
    """Draw the form, the choice of the table in `row`; a started run is shown at once.

    Args:
        is_series: Whether it starts a series by number of labels instead of one run.
    """
    table = _choose_table(row)
    if table is None:
        st.caption(tables.HOW_FILES)
        return
    guessed = tables.look(table, "table")
    if guessed is None:
        return
    reading = _choose_reading(table, guessed)
    if reading is None:
        return
    key = frame.open_checkpoint()
    with frame.guard():
        found = Compute(name="table-survey")(tables.survey_table, reading)
        skip = _tell_survey(reading, found)
        problem = problem_of(reading, found)
        if problem:
            st.error(plain(problem))
            return
        chosen = _choose_run(table, reading, found, skip, is_series)
        if chosen is None:
            return
        _start_box(folder, key, chosen)


def _choose_table(row: DeltaGenerator) -> TableFile | None:
    shipped = {name: f"{name} examples" for name in tables.shipped_tables()}
    options = {**shipped, fields.UPLOAD: "Upload"}
    if not policy().is_closed:
        options[fields.OWN_FILE] = "File"
    source = one_of("Table", options, fields.TABLE, default=next(iter(options)), where=row)
    file: TableFile | None = None
    with frame.guard():
        file = tables.choose_file(source, "table", fields.TABLE_PATH)
    return file


def _choose_reading(table: TableFile, guessed: Guess) -> Reading | None:
    """Draw the first rows and the choice of task and columns; None while a column is missing."""
    _take_guess(table, guessed)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _show_rows(guessed)
    with right:
        task = st.selectbox(
            "Task",
            list(TASK_NAMES),
            key=fields.TASK.key(options=list(TASK_NAMES)),
            format_func=TASK_NAMES.__getitem__,
            help="Guessed from the columns.",
        )
        columns = _choose_columns(task, guessed)
    if columns is None:
        return None
    if find_task(task).has_labels:
        columns = replace(columns, label_map=fields.LABEL_MAP.value.strip() or None)
    with frame.guard():
        return tables.reading_of(table, task, columns)
    return None


def _take_guess(table: TableFile, guessed: Guess) -> None:
    """Choose what was guessed, if the table has changed."""
    before = st.session_state.get(_GUESSED)
    st.session_state[_GUESSED] = str(table.path)
    if before == str(table.path):
        return
    is_link = before is None and not table.is_upload and fields.TASK.value != fields.TASK.default
    if is_link:
        return
    fields.TASK.put(guessed.task)
    for field in fields.COLUMNS:
        fields.COLUMNS[field].put(getattr(guessed.chosen, field) or fields.NO_COLUMN)
    fields.LABEL_COLUMNS.put(_guessed_labels(guessed))


def _guessed_labels(guessed: Guess) -> list[str]:
    """Return the columns that are likely labels; several only if a text may have several."""
    label = guessed.chosen.label
    if label is None:
        return []
    return label.split(",") if guessed.task == "multilabel" else [label]


def _show_rows(guessed: Guess) -> None:
    if guessed.form == "questions":
        st.caption("Questions about texts, in SQuAD format, counted below.")
        return
    names = _shown_names(guessed.columns)
    rows = [[cell[:PREVIEW_CHARACTERS] for cell in row] for row in guessed.rows[:PREVIEW_ROWS]]
    rows = [[*row, *[""] * (len(names) - len(row))] for row in rows]
    frame_of_rows = pd.DataFrame([row[: len(names)] for row in rows], columns=names)
    widths = [max(map(len, [name, *frame_of_rows[name]])) for name in names]
    st.dataframe(
        frame_of_rows,
        hide_index=True,
        width="stretch",
        height=36 * (len(frame_of_rows) + 1),
        column_config={
            name: st.column_config.TextColumn(width=min(360, 30 + 8 * width))
            for name, width in zip(names, widths, strict=True)
        },
    )


def _shown_names(columns: Sequence[str]) -> list[str]:
    """Return the names of columns, unique and not empty, as a table on the page needs them."""
    names: dict[str, None] = {}
    for number, column in enumerate(columns, start=1):
        name = column or f"(column {number})"
        while name in names:
            name += f" ({number})"
        names[name] = None
    return list(names)


def _choose_columns(task: str, guessed: Guess) -> Columns | None:
    """Draw the choice of columns that a task reads; None while one is missing."""
    if guessed.form == "questions" or task == "qa":
        return Columns()
    names = [name for name in dict.fromkeys(guessed.columns) if name]
    wanted = {"text": "Text", "label": "Label"}
    if task in ("classify", "pair", "regress"):
        wanted = {"text": "Text", "text_pair": "Second text", "label": "Label"}
    if task == "regress":
        wanted["label"] = "Score"
    if task == "tag":
        wanted = {"text": "Word", "label": "Tag"}
    if task == "multilabel":
        wanted = {"text": "Text", "text_pair": "Second text"}
    if task == "choice":
        wanted = {"label": "Number of the right ending"}
    row = st.container(horizontal=True)
    picked: dict[str, str] = {}
    for field, title in wanted.items():
        is_optional = field == "text_pair" and task != "pair"
        options = [fields.NO_COLUMN, *names]
        picked[field] = row.selectbox(
            title,
            options,
            key=fields.COLUMNS[field].key(options=options),
            format_func=partial(_column_name, is_optional=is_optional),
            width=COLUMN_WIDTH,
        )
        if not picked[field] and not is_optional:
            st.warning(
                f"No column looks like the {title.lower()}. The table has "
                f"{_listed(names)}: choose one above, or use another table."
            )
            return None
    if task == "multilabel":
        label = _choose_label_columns(names, guessed)
        if label is None:
            return None
        picked["label"] = label
    return Columns(**{field: name or None for field, name in picked.items()})


def _choose_label_columns(names: list[str], guessed: Guess) -> str | None:
    """Draw the choice of one column of labels or several of 0 and 1; None while there is none."""
    columns = st.multiselect(
        "Labels",
        names,
        key=fields.LABEL_COLUMNS.key(default=_guessed_labels(guessed), options=names),
        format_func=shorten_middle,
        help=(
            "One column that lists the labels of each text, separated by |, or several columns of "
            "0 and 1, one for each label."
        ),
    )
    if not columns:
        st.warning(f"Choose the column of labels, or their columns of 0 and 1: {_listed(names)}.")
        return None
    unclear = next((name for name in columns if "," in name and len(columns) > 1), None)
    if unclear is not None:
        st.warning(
            f"The column **{plain(shorten_middle(unclear))}** has a comma in its name, which "
            "separates the columns of labels. Rename it in the file."
        )
        return None
    return ",".join(columns)


def _column_name(name: str, *, is_optional: bool) -> str:
    if name:
        return shorten_middle(name)
    return "none" if is_optional else "choose …"


def _listed(names: Sequence[str]) -> str:
    quoted = ", ".join(f"**{plain(shorten_middle(name))}**" for name in names[:12])
    return quoted + (f" and {len(names) - 12} more" if len(names) > 12 else "")


def _tell_survey(reading: Reading, found: Survey) -> bool:
    """State what the table contains; return whether rows that cannot be used are left out."""
    parts = [f"**{found.num_examples:,}** examples"]
    if found.labels:
        counts = [
            f"{plain(shorten_middle(label, 24))} ({count:,})"
            for label, count in list(found.labels.items())[:SHOWN_LABELS]
        ]
        more = len(found.labels) - SHOWN_LABELS
        listed = ", ".join(counts) + (f" and {more:,} more" if more > 0 else "")
        what = "tag" if reading.task == "tag" else "label"
        num = len(found.labels)
        parts.append(f"**{num:,}** {what}{'' if num == 1 else 's'}: {listed}")
    st.markdown(" · ".join(parts))
    show_notes(found.notes)
    if found.labels:
        choose_label_map(fields.LABEL_MAP)
    if not found.num_bad:
        return False
    rows = "1 row" if found.num_bad == 1 else f"{found.num_bad:,} rows"
    st.warning(f"{rows} cannot be used. The first: {plain(found.first_bad)}")
    return st.toggle("Leave them out", key=fields.SKIP_BAD_ROWS.key())


def problem_of(reading: Reading, found: Survey) -> str:
    """Return a sentence on why a table cannot be learned from; "" if it can."""
    if found.num_examples < 2:
        return (
            f"the table has {found.num_examples} examples to use; at least two are needed. "
            f"{found.first_bad or 'Check the columns.'}"
        )
    if not find_task(reading.task).has_labels:
        return ""
    where = f"column {reading.columns.label!r}"
    if len(found.labels) == 1:
        only = next(iter(found.labels))
        if reading.task == "multilabel":
            why = find_task(reading.task).why_two
            return f"{where} has one label, {only[:40]!r}; at least two are needed {why}"
        return (
            f"{where} has one value, {only[:40]!r}, in all {found.num_examples:,} examples; at "
            "least two are needed to learn a difference. Choose another column, or another table."
        )
    if len(found.labels) > MAX_LABELS:
        return (
            f"{where} has more than {MAX_LABELS:,} different values, such as "
            f"{next(iter(found.labels))[:40]!r}; at most {MAX_LABELS:,} labels can be learned. "
            "Choose another column, or a score as the task if these are numbers."
        )
    reason = None if reading.task == "tag" else why_no_labels(found.labels)
    return f"{where}: {reason}." if reason else ""


def _choose_run(
    table: TableFile, reading: Reading, found: Survey, skip_bad_rows: bool, is_series: bool
) -> FinetuneChoices | None:
    """Draw the options of the run; None while a file to score on is missing or unfit."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    bert = cache.opened(sidebar.chosen_key())
    epochs, trained, pooling, seed, sample = fields.EPOCHS.default, ALL, CLS, 1, 0
    numbers, num_seeds, steps = "", 1, 1
    if is_series:
        numbers, num_seeds, steps = _choose_series(row, found)
    else:
        epochs = row.number_input(
            "Epochs", 1, 100, key=fields.EPOCHS.key(low=1, high=100), width=110
        )
    usual = default_rate(bert.config)
    rate = row.selectbox(
        "Learning rate",
        RATES,
        key=fields.RATE.key(options=RATES),
        format_func=lambda rate: f"{rate:g}" if rate else f"{usual:g} (usual)",
        width=150,
        help="Peak learning rate of AdamW; small networks need a larger one.",
    )
    if not is_series:
        parts = parts_trained(bert)
        trained = row.selectbox(
            "Train",
            parts,
            key=fields.TRAINED.key(options=parts),
            format_func=_part_name,
            width=170,
            help="The head, and the pooler if there is one, always learn; the rest of the encoder "
            "stays as it is.",
        )
        if find_task(reading.task).kind == "sequence" and len(poolings(bert)) > 1:
            own = CLS if bert.report is None else bert.report.task.pooling
            pooling = row.selectbox(
                "The head reads",
                POOLINGS,
                key=fields.POOLING.key(default=own),  # another would drop a trained head
                format_func={CLS: "[CLS]", MEAN: "the mean of all tokens"}.__getitem__,
                width=190,
                help="The mean is that of the last layer's vectors, [CLS] and [SEP] among them, "
                "without a pooler; transformers then opens the encoder, not the head.",
            )
        seed = row.number_input("Seed", 0, 10**6, key=fields.SEED.key(low=0, high=10**6), width=110)
    dev_choice = row.selectbox(
        "Score on",
        fields.DEVS,
        key=fields.DEV.key(),
        format_func=lambda part: (
            "another file" if part == fields.DEV_FILE else f"{float(part):.0%} of the table"
        ),
        width=170,
        help="Examples that are never trained on, drawn at random from each label.",
    )
    sizes = sample_sizes(found.num_examples)
    if len(sizes) > 1 and not is_series:
        sample = row.selectbox(
            "Use",
            sizes,
            key=fields.SAMPLE.key(options=sizes),
            format_func=lambda size: f"{size:,} at random" if size else "all examples",
            width=170,
        )
    dev: TableFile | None = None
    num_dev = 0
    if dev_choice == fields.DEV_FILE:
        is_upload = table.is_upload or policy().is_closed
        dev = tables.choose_file(
            fields.UPLOAD if is_upload else fields.OWN_FILE, "dev", fields.DEV_PATH
        )
        found_dev = None if dev is None else _survey_dev(dev, reading, found)
        if found_dev is None:
            return None
        num_dev = found_dev.num_examples
    plan = _plan(found, dev_choice, sample=sample, num_in_dev_file=num_dev, epochs=epochs)
    if is_series:
        plan = SeriesPlan(
            **asdict(plan),
            numbers=read_numbers(numbers, plan.num_train),
            num_seeds=num_seeds,
            least_steps=steps,
        )
    return FinetuneChoices(
        table=table,
        reading=reading,
        found=found,
        dev=dev,
        plan=plan,
        rate=rate or usual,
        trained=trained,
        pooling=pooling,
        seed=seed,
        skip_bad_rows=skip_bad_rows,
    )


def _plan(
    found: Survey, dev_choice: str, *, sample: int = 0, num_in_dev_file: int = 0, epochs: int = 1
) -> Plan:
    return Plan(
        num_examples=found.num_examples,
        sample=sample,
        held_out=None if dev_choice == fields.DEV_FILE else float(dev_choice),
        num_in_dev_file=num_in_dev_file,
        epochs=epochs,
    )


def _choose_series(row: DeltaGenerator, found: Survey) -> tuple[str, int, int]:
    """Draw the numbers of labels, of seeds and of steps; a server with limits begins with few."""
    has_limits = training.limits() is not None
    fields.DEV.key()  # its widget comes later: another value in the address is discarded
    usual = usual_numbers(_plan(found, fields.DEV.value), num_labels=len(found.labels))
    usual = usual[:2] if has_limits else usual
    numbers = row.text_input(
        "Numbers of labels",
        key=fields.NUMBERS.key(default=", ".join(map(str, usual)), follows_default=False),
        width=170,
        help="A point of the curve each; the examples are drawn anew for each seed.",
    )
    seeds = row.number_input(
        "Seeds",
        1,
        20,
        key=fields.SEEDS.key(default=1 if has_limits else None, low=1, high=20),
        width=110,
        help="Fine-tunings of each point: the curve is their median.",
    )
    steps = row.number_input(
        "Least steps",
        1,
        10_000,
        key=fields.STEPS.key(default=40 if has_limits else None, low=1, high=10_000),
        width=110,
        help="Few examples are read more often, until there are as many steps.",
    )
    return numbers, seeds, steps


def parts_trained(bert: Model) -> list[str]:
    """Return the parts of a checkpoint's encoder that may be trained, as `FinetuneConfig.trained`.

    Of layers that are counted from an end, one, two, and half of them.
    """
    if "parts" not in bert.capabilities:
        return [ALL, NONE]
    whole = bert.config.num_hidden_layers
    counts = sorted({1, 2, whole // 2} & set(range(1, whole)))
    if bert.config.share_layers:
        counts = []
    ends = [f"{end} {count}" for end in ("top", "bottom") for count in counts]
    return [ALL, *ends, *TRAINED[1:]]


def _part_name(trained: str) -> str:
    layers = layers_trained(trained)
    if layers is None:
        return {ALL: "the whole network", NONE: "the head alone"}.get(trained, f"{trained} only")
    end, count = layers
    return f"{end} layer" if count == 1 else f"{end} {count} layers"


def _survey_dev(dev: TableFile, reading: Reading, found: Survey) -> Survey | None:
    """Return what the file to score on contains; None if it cannot be used, with a message."""
    if tables.look(dev, "dev") is None:
        return None
    own = tables.reading_of(dev, reading.task, reading.columns, tuple(found.labels))
    found_dev = Compute(name="dev-survey")(tables.survey_table, own)
    if found_dev.num_bad or not found_dev.num_examples:
        st.error(f"The file to score on cannot be used: {plain(found_dev.first_bad)}")
        return None
    return found_dev


def _start_box(folder: Path, key: cache.BertKey, chosen: FinetuneChoices) -> None:
    """Draw the estimate, the name, the button and the command."""
    bert = cache.opened(key)
    task = find_task(chosen.reading.task)
    config = FinetuneConfig(
        learning_rate=chosen.rate,
        max_seq_length=min(task.default_length, bert.max_length),
        pooling=chosen.pooling,
    )
    work = tables.measuring(key, chosen.reading, chosen.found, config)
    speed: Speed | None = waiting.result(work, "finetune-speed")
    minutes: float | None = None
    if speed is not None:
        _tell_time(chosen, speed, config)
        minutes = chosen.plan.seconds(speed) / 60
    elif training.limits() is not None:
        return  # whether it is within them is not known yet
    row = st.container(horizontal=True, vertical_alignment="bottom")
    with row:
        name = choose_name(folder, width=220)
    run = folder / name
    must_skip = bool(chosen.found.num_bad) and not chosen.skip_bad_rows
    is_series = isinstance(chosen.plan, SeriesPlan)
    kind: process.Kind = "label-curve" if is_series else "finetune"
    is_asked = row.button(
        f"Fine-tune {plain(sidebar.brief_name(key.source))}",
        type="primary",
        icon=":material/play_arrow:",
        disabled=must_skip,
        help="Leave out the rows that cannot be used, or correct them." if must_skip else None,
    )

    def start() -> Path:
        _check_length(minutes)
        num_bytes = written_bytes(bert, chosen)
        run = new_run(folder, name, minutes=minutes, num_bytes=num_bytes)
        for file, part in ((chosen.table, "train"), (chosen.dev, "dev")):
            if file is not None and file.is_upload:
                copy_data(file.path, run, part)
        process.start(run, _settings(run, key, chosen), kind=kind)
        return run

    start_or_wait(kind, folder, is_asked, start)
    show_recipe(run, "finetune", _settings(run, key, chosen))


def _check_length(minutes: float | None) -> None:
    """Refuse a run that takes longer than this server allows; ValueError if it does."""
    limits = training.limits()
    if limits is not None and minutes is not None and minutes > limits.minutes:
        raise ValueError(
            f"this run takes about {rounded(60 * minutes)}, but a run on this server may take at "
            f"most {limits.minutes:g} minutes. Choose fewer epochs or steps, or fewer examples."
        )


def written_bytes(bert: Model, chosen: FinetuneChoices) -> int:
    """Estimate what a run writes: data, and float32 weights with the optimizer's two moments.

    The weights are in its state, in the best checkpoint, and in the result. A series writes a
    sample for each number of labels and seed, too.
    """
    num_parameters = sum(parameter.numel() for parameter in bert.module.parameters())
    files = [file for file in (chosen.table, chosen.dev) if file is not None]
    copies = 2 * sum(file.path.stat().st_size for file in files)
    if isinstance(chosen.plan, SeriesPlan):
        copies += math.ceil(chosen.plan.fraction_drawn * chosen.table.path.stat().st_size)
    return 4 * 5 * num_parameters + copies


def _tell_time(chosen: FinetuneChoices, speed: Speed, config: FinetuneConfig) -> None:
    plan = chosen.plan
    st.markdown(plan.sentence(speed))
    if speed.fraction_cut:
        st.caption(
            f"About {speed.fraction_cut:.1%} of the texts are longer than "
            f"{config.max_seq_length} tokens and are cut there."
        )
    long = plan.seconds(speed)
    if long <= LONG_SECONDS or isinstance(plan, SeriesPlan):
        return
    smaller = [size for size in sample_sizes(plan.num_used) if size]
    times = {size: long * size / plan.num_used for size in smaller}
    short = [size for size, seconds in times.items() if seconds <= LONG_SECONDS] or smaller[:1]
    if short:
        size = short[-1]
        time = rounded(times[size])
        st.caption(f"A sample of {size:,} examples takes about {time}: choose it above.")


def _settings(run: Path, key: cache.BertKey, chosen: FinetuneChoices) -> dict[str, Any]:
    """Return the settings of the run's recipe; uploads are read from beside the run."""

    def place(file: TableFile, part: str) -> Path:
        return copied(file.path, run, part) if file.is_upload else file.path.absolute()

    reading, plan = chosen.reading, chosen.plan
    settings: dict[str, Any] = {
        "task": reading.task,
        "train": place(chosen.table, "train"),
        "dev": None if chosen.dev is None else place(chosen.dev, "dev"),
        "held_out": plan.held_out,
        **asdict(reading.columns),
        "skip_bad_rows": chosen.skip_bad_rows,
        "checkpoint": key.place,
        "learning_rate": chosen.rate,
    }
    if isinstance(plan, SeriesPlan):
        return settings | {
            "label_curve": plan.numbers,
            "seeds": plan.num_seeds,
            "least_steps": plan.least_steps,
        }
    labels = tuple(chosen.found.labels)
    fits = head_fits(key.place, task=reading.task, labels=labels, pooling=chosen.pooling)
    return settings | {
        "sample": plan.sample or None,
        "new_head": not fits,
        "epochs": plan.epochs,
        "trained": chosen.trained,
        "pooling": chosen.pooling,
        "seed": chosen.seed,
        "evaluate_every": plan.evaluate_every,
    }
