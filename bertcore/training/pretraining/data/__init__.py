"""From corpus files to batches."""
