"""The training engine: processes, optimizer, run folders, checkpoints, provenance."""

__all__ = (
    "compiler event_files loop muon optimizer probe_texts probes processes progress provenance "
    "random_state run_checkpoints run_folder run_lock run_metrics "
    "training_state update"
).split()
