"""The `bertscope` command: one file per group of commands, put together in `main`."""
