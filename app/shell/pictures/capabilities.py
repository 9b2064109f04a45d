"""Why a checkpoint lacks a capability, in a sentence on the page."""

import streamlit as st

from bertcore.model.architecture.families import Capability
from bertcore.model.model import Model

from ...plots import plain
from .. import frame

OWN_HEAD = " The answers of this checkpoint's own task head are on the page **Inspect my model**."


def reason(bert: Model, what: Capability) -> str | None:
    """Return a sentence on why a checkpoint has no `what`, as Markdown; None if it has."""
    absent = bert.absent.get(what)
    return None if absent is None else plain(absent)


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def note(page: frame.Page, what: Capability) -> None:
    """Write a caption that says why the checkpoint has no `what`; nothing if it has."""
    absent = reason(page.bert, what)
    if absent is not None:
        st.caption(_sentence(absent))


def note_attention(page: frame.Page) -> None:
    """Warn if what the architecture returns as attention is no weights; nothing if it is."""
    if text := page.bert.config.family.attention_note:
        st.warning(plain(text))


def tells(page: frame.Page, what: Capability) -> bool:
    """Write why the checkpoint has no `what` instead of a picture; return whether it lacks it."""
    return tells_of(page.bert, what)


def tells_of(bert: Model, what: Capability) -> bool:
    """Like `tells`, for when there is no page, such as in a component."""
    absent = reason(bert, what)
    if absent is not None:
        st.info(_sentence(absent))
    return absent is not None


def needs(page: frame.Page, what: Capability) -> None:
    """End the page with the reason if the checkpoint has no `what`."""
    if tells(page, what):
        frame.end_page()


def never_has(bert: Model, what: Capability) -> bool:
    """Return whether no checkpoint of the family has `what`, not this one alone."""
    return what in bert.config.family.absent


def no_head(page: frame.Page, head: Capability, text: str, family_text: str) -> None:
    """Warn that a head is absent: with its family's reason if no member has one.

    Args:
        head: Name of the head, such as "nsp".
        text: Warning for a checkpoint that lost its head.
        family_text: Warning for a family without such a head, with {reason} in it.
    """
    if never_has(page.bert, head):
        text = family_text.format(reason=reason(page.bert, head))
    report = page.bert.report
    if report is not None and report.task_heads:
        text += OWN_HEAD
    st.warning(text)
