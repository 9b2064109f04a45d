"""The `bertscope` command: one file per group of commands, put together in `main`.

Heavy libraries are imported inside the commands, so that `bertscope --help` answers at once.
"""

__all__ = (
    "bias encode entry errors evaluate export files finetune "
    "inspect_checkpoint main open_app options output pretrain probe progress removed text"
).split()
