"""Corpus: where else a vector like this one occurs."""

from ..page_info import PageInfo

PAGE = PageInfo(
    name="corpus",
    title="Corpus",
    purpose="Where else does BERT see a word the way it sees this one?",
    icon=":material/manage_search:",
)
