"""What a visitor may train on this server, and where the runs go.

Code that starts a training process calls `check_start` first, and takes its options from `limits`
and its folder from `runs_folder`.
"""

import logging
from pathlib import Path

from bertcore.model.checkpoints.folder import is_checkpoint

from . import visits
from .policy import TrainingLimits, policy

log = logging.getLogger("bertscope.app")

FINETUNING = ("finetune.json", "label_curve.json")  # that mark folders with texts of their data
OWN, SHARED = "own", "shared"
"""Names of the folders of runs of a closed server: the visitor's, and that of --checkpoints."""


def is_allowed() -> bool:
    """Return whether visitors may start, resume and stop runs."""
    return policy().may_train


def limits() -> TrainingLimits | None:
    """Return the limits of a visitor's runs; None if there are none."""
    return policy().training


def runs_folders() -> dict[str, Path]:
    """Return the folders of runs that a visitor of a closed server may look at, by name."""
    shared = policy().checkpoints
    folders = {OWN: visits.current().place("runs")} if policy().may_train else {}
    return folders | ({SHARED: shared} if shared is not None else {})


def runs_folder(name: str) -> Path:
    """Return the folder of runs that a visitor chose: a path, or a name on a closed server.

    ValueError if this server is closed and offers no such folder.
    """
    if not policy().is_closed:
        return Path(name).expanduser().absolute()
    folder = runs_folders().get(name)
    if folder is None:
        log.warning("refused: a visitor asked for a folder of runs that is not offered")
        raise ValueError(
            "this server shows no runs in that folder. Choose one that the page offers."
        )
    return folder


def shows(run: Path) -> bool:
    """Return whether visitors may look at a run: on a closed server, never through a link.

    The server's folder may also contain checkpoints, which are not runs; its fine-tunings are not
    shown either, since they keep texts of their data. In the visitor's own folder, each is a run.
    """
    if not policy().is_closed:
        return True
    if run.resolve().parent != run.parent.resolve():
        return False
    is_own = is_allowed() and run.parent == visits.current().place("runs")
    return is_own or not (is_checkpoint(run) or any((run / name).exists() for name in FINETUNING))


def is_own(run: Path) -> bool:
    """Return whether a visitor may resume and stop a run: on a closed server, only their own."""
    return not policy().is_closed or run.parent == visits.current().place("runs")


def check_start(
    run: Path, *, minutes: float | None, num_bytes: float, active: int, num_parameters: int = 0
) -> None:
    """Refuse a run that this visitor may not start.

    Args:
        run: Its folder, which need not exist yet.
        minutes: Its length; None if it is not given in minutes.
        num_bytes: Estimated size of all that it will write.
        active: Number of this visitor's running runs.
        num_parameters: Of a new model; 0 for one that there is.

    ValueError if visitors may start no runs, or the run is in another folder, too long, too large
    or one too many.
    """
    if not is_allowed():
        raise ValueError(
            "this server does not let visitors start training runs. Whoever runs it can allow them "
            "with --training-minutes."
        )
    limit = limits()
    if limit is None:
        return
    own = visits.current()
    if not is_own(run):
        log.warning("refused: a visitor's run outside of the visit's folder")
        raise ValueError(
            "visitors' runs have their own folder on this server. Do not give another one."
        )
    if minutes is None or not 0 < minutes <= limit.minutes:
        log.warning("refused: a visitor's run that is too long")
        raise ValueError(
            f"a run on this server may take at most {limit.minutes:g} minutes. Give its length in "
            "minutes, up to that number."
        )
    if limit.parameters is not None and num_parameters > limit.parameters:
        raise ValueError(
            f"this model would have {num_parameters:,} parameters; a new one on this server may "
            f"have at most {limit.parameters:,}. Choose fewer layers, word pieces, or a smaller "
            "width."
        )
    if active >= limit.runs:
        raise ValueError("one of your runs is still running. Stop it, or wait until it ends.")
    if own.num_bytes + num_bytes > limit.megabytes * 1e6:
        log.warning("refused: a visitor's run that is too large")
        raise ValueError(
            f"this run would write {num_bytes / 1e6:.0f} MB, and your files already use "
            f"{own.num_bytes / 1e6:.0f} of the {limit.megabytes} MB that this server gives each "
            "visitor. Choose a smaller model."
        )
