"""What every room stands on: devices, memory, checks of files, JSON, bytes for weights."""
