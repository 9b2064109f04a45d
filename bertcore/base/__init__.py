"""What every room stands on: devices, memory, checks of files, JSON, bytes for weights."""

__all__ = (
    "control_characters",
    "device",
    "durations",
    "json_data",
    "links",
    "memory",
    "process_limits",
    "quantize",
    "spare_memory",
)
