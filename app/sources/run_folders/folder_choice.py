"""The choice of the folder whose runs are shown: a path, or a name on a closed server."""

from pathlib import Path

from streamlit.delta_generator import DeltaGenerator

from ...server import training
from ...server.policy import policy
from ...shell.links import RUNS_FOLDER

NAMES = {training.OWN: "My runs", training.SHARED: "Runs of this server"}


def choose_folder(where: DeltaGenerator, default: Path, help: str) -> Path | None:
    """Draw the choice and return the folder; None if this server shows visitors no runs.

    Args:
        where: Container to draw in.
        default: Used if nothing is typed; on a closed server, if it is offered.
        help: Shown beside the label of an open server's box.

    ValueError if this server is closed and does not offer the chosen folder.
    """
    if not policy().is_closed:
        typed = where.text_input(
            "Folder of the runs", key=RUNS_FOLDER.key(default=str(default)), help=help
        )
        return training.runs_folder(typed.strip() or str(default))
    folders = training.runs_folders()
    if not folders:
        return None
    usual = next(
        (name for name, folder in folders.items() if folder == default), next(iter(folders))
    )
    asked = RUNS_FOLDER.value or usual
    if asked not in folders:
        RUNS_FOLDER.put(usual)  # the boxes stay usable; the page says what it refused
    chosen = where.selectbox(
        "Folder of the runs",
        list(folders),
        key=RUNS_FOLDER.key(default=usual, options=list(folders)),
        format_func=NAMES.__getitem__,
    )
    return training.runs_folder(chosen if asked in folders else asked)
