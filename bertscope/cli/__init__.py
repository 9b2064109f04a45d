"""The `bertscope` command: one file per group of commands, put together in `main`.

Heavy libraries are imported inside the commands, so that `bertscope --help` answers at once.
"""
