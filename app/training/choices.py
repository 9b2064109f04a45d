"""The settings of a new run: text, length, model and optimizer."""

from collections import deque
from collections.abc import Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore.checkpoints import DEFAULT
from bertcore.configs.data import MASKED_LM_PROB, OBJECTIVES, OWN_SHARES
from bertcore.data.files import lines_of, open_text
from bertcore.objectives.table import objective_of
from bertcore.pretraining.data.corpus import NOVEL
from bertcore.pretraining.objectives import objective_named

from ..access import training
from ..access.policy import default_source, policy
from ..plots import shorten_middle
from ..shell import UploadSource, frame, one_of, sidebar
from ..shell.uploads import Copy
from .fields import LENGTH_UNIT, LENGTH_UNITS, OBJECTIVE, SOURCE, SOURCES, START_FROM, STARTS

Settings = dict[str, Any]
"""Of a recipe of `bertscope pretrain`, by name."""
HIDDEN_SIZES = (64, 128, 192, 256, 384, 512)
PIECE_COUNTS = (1000, 2000, 4000, 8000, 16000, 30000)
ROW_LENGTHS = (32, 64, 128, 256, 512)
BATCH_SIZES = (8, 16, 32, 64, 128)
KEPT_CHECKPOINTS = 20
KEPT_OF_VISITOR = 3  # on a closed server, where a visitor has limited room

HOW_NOVEL = (
    "{title}, in the public domain: 121,000 words. Enough to watch a model learn, far too little "
    "for it to know English. Next sentence stays near guessing: a random B is from the same novel, "
    "so its topic does not give it away."
)
HOW_TEXT = (
    "UTF-8 text (.txt, or packed as .xz or .gz): one paragraph per line and a blank line between "
    "documents. Sentence pairs need several documents."
)
HELP_START = (
    "Word counts: token vectors encode which words occur next to each other in the text, and "
    "positions begin as sinusoids; this shortens the slow first part. Noise: random weights, as in "
    "BERT's own start. A checkpoint: continues from its weights."
)
HELP_OPTIMIZER = (
    "muon: Muon on the encoder's matrices, AdamW on the rest. adamw: AdamW on all, close to the "
    "Adam that BERT was trained with. BERT was also trained with dropout 0.1; a run here has none."
)
HELP_OBJECTIVE = "The page Objectives shows each on your own text."
FROM_NOISE = " It has an encoder and a decoder of equal depth, and begins from noise."


def _checked(copies: Sequence[Copy]) -> tuple[Copy, ...]:
    """Return the files of a text, each of which is UTF-8."""
    for copy in copies:
        with copy.read() as path, open_text(path) as file:
            deque(lines_of(file, path), maxlen=0)
    return tuple(copies)


UPLOAD = UploadSource(
    key="corpus_upload",
    label="Text files",
    types=("txt", "xz", "gz"),
    read=_checked,
    about=lambda copies: ", ".join(shorten_middle(copy.name, 60) for copy in copies),
    accepts_several=True,
    most=300_000_000,
    shows_label=False,
)


def choose_text() -> str:
    """Draw the choice of text; return the key of SOURCES."""
    offered = SOURCES
    if policy().is_closed:  # its own files are not for visitors
        offered = {name: title for name, title in SOURCES.items() if name != "path"}
    source = one_of("Text to learn from", offered, SOURCE, with_label=True)
    if source == "novel":
        st.caption(HOW_NOVEL.format(title=NOVEL.title))
    elif source == "upload":
        with frame.guard():
            UPLOAD.choose()
        st.caption(HOW_TEXT)
    else:
        st.text_input(
            "File or folder",
            key="corpus_path",
            placeholder="/home/me/books",
            label_visibility="collapsed",
        )
        st.text_input(
            "Held-out file (optional)",
            key="valid_path",
            placeholder="if empty, every 20th document is held out",
        )
        st.caption(HOW_TEXT)
    return source


def choose_length() -> Settings:
    """Draw the choice of length; return it as a setting."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    limits = training.limits()
    if limits is not None:
        usual = min(3.0, limits.minutes)
        minutes = row.number_input(
            "Minutes", 0.1, limits.minutes, usual, 0.5, key="length_minutes", width=150
        )
        return {"minutes": float(minutes)}
    unit = one_of("How long", LENGTH_UNITS, LENGTH_UNIT, where=row, with_label=True)
    if unit == "steps":
        steps = row.number_input("Steps", 10, 1_000_000, 500, 100, key="length_steps", width=150)
        return {"steps": int(steps)}
    minutes = row.number_input("Minutes", 0.5, 1440.0, 3.0, 0.5, key="length_minutes", width=150)
    return {"minutes": float(minutes)}


def choose_kind() -> tuple[str, str]:
    """Draw the choice of initialization and objective; return both."""
    row = st.container(horizontal=True)
    start = one_of("Start from", STARTS, START_FROM, where=row, with_label=True, help=HELP_START)
    row.selectbox(
        "Objective",
        list(OBJECTIVES),
        format_func=_title_of,
        key=OBJECTIVE.key(),
        help=HELP_OBJECTIVE,
        width=380,
    )
    objective = objective_named(OBJECTIVE.value)
    ideas = " ".join(objective_of(part).idea for part in objective.parts)
    st.caption(ideas + ("" if objective.is_ours else FROM_NOISE))
    return start, objective.name


def _title_of(name: str) -> str:
    """Return an objective by its parts and the model that was trained with it."""
    parts = [objective_of(part) for part in objective_named(name).parts]
    first, *others = (part.title for part in parts)
    titles = " + ".join([first, *(title[0].lower() + title[1:] for title in others)])
    return f"{titles} ({parts[-1].model})"


def kept_checkpoints() -> int:
    """Return how many checkpoints of a run are kept."""
    return KEPT_CHECKPOINTS if training.limits() is None else KEPT_OF_VISITOR


def choose_model(start: str, objective: str) -> Settings:
    """Draw the choice of shape and schedule; return all settings."""
    settings: Settings = {"objective": objective}
    learned = objective_named(objective)
    if start == "checkpoint":
        settings |= {"checkpoint": _choose_checkpoint(), "max_seq_length": _choose_row()}
    else:
        left, right = st.columns(2)
        with left:
            layers = st.number_input("Layers", 1, 12, 2, key="shape_layers")
            pieces = st.selectbox(
                "Word pieces",
                PIECE_COUNTS,
                index=2,
                key="shape_pieces",
                format_func=lambda n: f"{n:,}",
                help="Size of the vocabulary that is learned from the text first.",
            )
        with right:
            hidden = st.selectbox("Width", HIDDEN_SIZES, index=1, key="shape_hidden")
            row = _choose_row()
        if learned.family != "bert":
            settings |= {"family": learned.family}
        settings |= {
            "start": start if learned.is_ours else "noise",
            "layers": layers,
            "hidden": hidden,
            "vocab_size": pieces,
            "max_seq_length": row,
        }
    return settings | _choose_schedule(objective)


def _choose_row() -> int:
    return st.selectbox(
        "Tokens per row",
        ROW_LENGTHS,
        index=1,
        key="shape_row",
        help="The maximum for a sentence pair, or for a row of running text.",
    )


def _choose_checkpoint() -> str:
    chosen = sidebar.CHECKPOINT.value or default_source()
    offered = sidebar.known_sources() if policy().is_closed else sidebar.local_checkpoints()
    known = list(dict.fromkeys([chosen, DEFAULT, *offered]))
    names = sidebar.distinct_names(known)
    source = st.selectbox(
        "Checkpoint to start from",
        known,
        key="start_checkpoint",
        accept_new_options=not policy().is_closed,
        format_func=lambda source: names.get(source) or sidebar.short_name(source),
        help=sidebar.how_to_choose(),
    )
    st.caption("It brings its own layers, width and word pieces. A copy is kept in the run.")
    return source or chosen


def _choose_schedule(objective: str) -> Settings:
    with st.expander("More: batch, optimiser, schedule"):
        left, right = st.columns(2)
        batch = left.selectbox("Rows per step", BATCH_SIZES, index=2, key="shape_batch")
        optimizer = right.selectbox(
            "Optimiser", ["muon", "adamw"], key="shape_optimizer", help=HELP_OPTIMIZER
        )
        rate = left.number_input(
            "Peak learning rate", 1e-5, 0.1, 2e-3, format="%.5f", step=5e-4, key="shape_rate"
        )
        every = right.number_input(
            "Score every ... steps",
            5,
            100_000,
            50,
            key="shape_every",
            help="On held-out text; the probes for the replay are recorded then too.",
        )
        save = left.number_input(
            "Save every ... steps",
            5,
            100_000,
            100,
            key="shape_save",
            help=f"The newest {kept_checkpoints()} checkpoints are kept.",
        )
        share = _choose_share(right, objective)
    return {
        **share,
        "batch_size": batch,
        "optimizer": optimizer,
        "learning_rate": rate,
        **({"muon_learning_rate": rate} if optimizer == "muon" else {}),
        "evaluate_every": every,
        "save_every": save,
        "keep_checkpoints": kept_checkpoints(),
    }


def _choose_share(where: DeltaGenerator, objective: str) -> Settings:
    """Draw the share of hidden tokens, if the objective has one; a setting if it is changed."""
    if not objective_named(objective).has_shares:
        return {}
    usual = round(100 * OWN_SHARES.get(objective, MASKED_LM_PROB))
    percentage = where.number_input(
        "Hidden tokens, %",
        1,
        99,
        usual,
        key=f"shape_share_{objective}",
        help=f"Hidden, removed or predicted tokens; the paper has {usual}.",
    )
    return {} if percentage == usual else {"masked_lm_prob": percentage / 100}
