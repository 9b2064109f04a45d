"""The `bertscope` command: its `commands`, and what they share, put together in `main`.

Heavy libraries are imported inside the commands, so that `bertscope --help` answers at once.
"""
