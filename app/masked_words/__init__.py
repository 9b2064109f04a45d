"""Masked words: hide tokens, and see what BERT puts in their place."""

from ..shell.page_info import PageInfo

PAGE = PageInfo(
    name="masked-words",
    title="Masked words",
    purpose=(
        "Hide words and see what BERT puts in their place, and in which layer it gets the idea."
    ),
    icon=":material/edit_note:",
)
