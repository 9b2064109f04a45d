"""Probes: what can be read from the vectors of each layer."""

from ..page_info import PageInfo

PAGE = PageInfo(
    name="probes",
    title="Probes",
    purpose="Which layer's vectors encode a word's part of speech, or its place in the tree?",
    icon=":material/biotech:",
)
