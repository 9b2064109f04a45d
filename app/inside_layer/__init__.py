"""Inside a layer: what becomes of a token's vector, step by step, and which part wrote the word."""

from ..shell.page_info import PageInfo

PAGE = PageInfo(
    name="inside-layer",
    title="Inside a layer",
    purpose="What does a layer do to the vector of a token, and who wrote the word that BERT says?",
    icon=":material/layers:",
)
