"""Tokens & embeddings: the input of BERT, taken apart."""

from ...page_info import PageInfo

PAGE = PageInfo(
    name="tokens",
    title="Tokens & embeddings",
    purpose=(
        "How BERT cuts a sentence into pieces, and the three vectors it adds up for each of them."
    ),
    icon=":material/text_fields:",
)
