"""The training engine: processes, optimizer, run folders, checkpoints, provenance."""

from bertcore.base.moved import moved

__all__ = (
    "compiler event_files loop muon optimizer probe_texts probes processes progress provenance "
    "random_state run_checkpoints run_folder run_lock run_metrics "
    "training_state update"
).split()

__getattr__ = moved(
    __name__,
    muon="optimizer",
    update="optimizer",
    random_state="training_state",
    progress="loop",
    run_metrics="run_folder",
    probe_texts="probes",
)
