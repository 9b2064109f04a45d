"""Inside a layer: how a token's vector changes, step by step, and which parts wrote the word."""

from ...page_info import PageInfo

PAGE = PageInfo(
    name="inside-layer",
    title="Inside a layer",
    purpose="What does a layer do to a token's vector, and which parts wrote the predicted word?",
    icon=":material/layers:",
)
