"""What a checkpoint's family lacks, said on the page in a sentence."""

from __future__ import annotations

import streamlit as st

from app import frame, texts


def note(page: frame.Page, what: str) -> None:
    """Say in a caption why the checkpoint's family has no `what`; nothing where it has."""
    reason = page.bert.config.family.lacks.get(what)
    if reason is not None:
        st.caption(texts.plain(reason))


def tells(page: frame.Page, what: str) -> bool:
    """Say why the checkpoint's family has no `what` where a picture would be; tell whether so."""
    reason = page.bert.config.family.lacks.get(what)
    if reason is not None:
        st.info(texts.plain(reason))
    return reason is not None


def needs(page: frame.Page, what: str) -> None:
    """End the page with a sentence where the checkpoint's family has no `what`."""
    if tells(page, what):
        frame.end_page()


def no_head(page: frame.Page, head: str, key: str, family_key: str) -> None:
    """Warn that a head is absent: with its family's reason where no member has one.

    Args:
        head: Such as "nsp".
        key, family_key: Of `texts.TEXTS`; the second has {reason} in it.
    """
    reason = page.bert.config.family.lacks.get(head)
    text = texts.TEXTS[key]
    if reason is not None:
        text = texts.TEXTS[family_key].format(reason=texts.plain(reason))
    report = page.bert.report
    if report is not None and report.task_heads:
        text += texts.TEXTS["frame.own_head"]
    st.warning(text)
