"""Sentence pairs: does B follow A, and how similar are several sentences?"""

from ...page_info import PageInfo

PAGE = PageInfo(
    name="sentence-pairs",
    title="Sentence pairs",
    purpose="Does the second sentence follow the first? BERT's second pretraining task.",
    icon=":material/compare_arrows:",
)
