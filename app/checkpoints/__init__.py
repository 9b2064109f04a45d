"""Checkpoints: open one, and see what is inside and whether all of it was read."""

from ..page_info import PageInfo

PAGE = PageInfo(
    name="checkpoints",
    title="Checkpoints",
    purpose="See what is inside a checkpoint, and whether all of it was read.",
    needs_text=False,
    needs_checkpoint=False,
    icon=":material/folder_open:",
)
