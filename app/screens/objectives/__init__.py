"""Objectives: one text under each pretraining objective."""

from ...page_info import PageInfo

PAGE = PageInfo(
    name="objectives",
    title="Objectives",
    purpose="What can a network be asked to guess, and what does it see when it guesses?",
    icon=":material/flag:",
)
