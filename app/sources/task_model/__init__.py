"""A fine-tuned checkpoint's task model: opened, asked, shown by task, and run on labelled files."""
