"""Masked words: hide tokens, and see what BERT puts in their place."""

from ...page_info import PageInfo

PAGE = PageInfo(
    name="masked-words",
    title="Masked words",
    purpose=("Hide words and see what BERT puts in their place, and from which layer on."),
    icon=":material/edit_note:",
)
