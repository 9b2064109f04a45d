"""BERT, GPT and ELMo: who sees whom, what leaks, what they write, positions, a table."""

from ..page_info import PageInfo

PAGE = PageInfo(
    name="architectures",
    title="BERT, GPT, ELMo",
    purpose=(
        "What changes when a network sees both sides of a word, one side, or each side separately?"
    ),
    icon=":material/compare_arrows:",
)
