"""What a checkpoint's family lacks, said on the page in a sentence."""

from __future__ import annotations

import streamlit as st

from app.plots.untrusted_text import plain
from app.shell import frame

OWN_HEAD = " The answers of this checkpoint's own task head are on the page **Inspect**."


def note(page: frame.Page, what: str) -> None:
    """Say in a caption why the checkpoint's family has no `what`; nothing where it has."""
    reason = page.bert.config.family.lacks.get(what)
    if reason is not None:
        st.caption(plain(reason))


def tells(page: frame.Page, what: str) -> bool:
    """Say why the checkpoint's family has no `what` where a picture would be; tell whether so."""
    reason = page.bert.config.family.lacks.get(what)
    if reason is not None:
        st.info(plain(reason))
    return reason is not None


def needs(page: frame.Page, what: str) -> None:
    """End the page with a sentence where the checkpoint's family has no `what`."""
    if tells(page, what):
        frame.end_page()


def no_head(page: frame.Page, head: str, text: str, family_text: str) -> None:
    """Warn that a head is absent: with its family's reason where no member has one.

    Args:
        head: Such as "nsp".
        text: Of a checkpoint that lost its head.
        family_text: Of a family without such a head, with {reason} in it.
    """
    reason = page.bert.config.family.lacks.get(head)
    if reason is not None:
        text = family_text.format(reason=plain(reason))
    report = page.bert.report
    if report is not None and report.task_heads:
        text += OWN_HEAD
    st.warning(text)
