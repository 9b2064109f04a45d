"""Who is who in a class: a learner by the visit's cookie, the teacher by the key of the page."""

import hashlib
import hmac
import math
import secrets

import streamlit as st

from . import cookies
from .gate import TOO_MANY, Attempts
from .policy import policy

WRONG = "That is not the teacher's key. It was printed where the server was started."
_LEARNER = "_class_learner"
_wrong = Attempts(most=10, most_of_all=math.inf)
_teachers: set[str] = set()
"""Visits in which the key was entered; as with the key of the door, until the server ends."""


def learner() -> str:
    """Return what tells this learner from others: of the cookie, or of a session without one.

    On one's own computer there are no others, and what a lesson's link says outlives the session.
    """
    of = cookies.visit_of(dict(st.context.cookies)) if policy().tells_visitors_apart else ""
    if of is None:
        of = st.session_state.setdefault(_LEARNER, secrets.token_urlsafe(24))
    return hashlib.sha256(str(of).encode()).hexdigest()[:32]


def is_teacher() -> bool:
    """Return whether the key was entered in this visit."""
    return learner() in _teachers


def enter(typed: str) -> str:
    """Compare a key; return what is wrong with it, "" if it is the teacher's.

    Wrong ones are counted by visit alone: a class behind one router has one address, and a cookie
    costs nothing, so that by address or in all its learners could keep the teacher out.
    """
    about, who = policy().school_class, learner()
    assert about is not None, "only a server with a class has the page"
    if _wrong.are_too_many(who):
        return TOO_MANY
    if not hmac.compare_digest(typed.strip().encode(), about.key.encode()):
        _wrong.note(who)
        return WRONG
    _teachers.add(who)
    return ""
