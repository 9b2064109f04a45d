"""What attention heads do over many sentences."""
