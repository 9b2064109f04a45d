"""Corpus: where else a vector like this one stands."""

from ..shell.page_info import PageInfo

PAGE = PageInfo(
    name="corpus",
    title="Corpus",
    purpose="Where else does BERT see a word as it sees this one?",
    icon=":material/manage_search:",
)
