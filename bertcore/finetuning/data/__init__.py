"""From labelled files to batches."""
