"""The cookie that tells visitors of this server apart: random, and signed by it.

It identifies nobody, lasts until the browser is closed, and means nothing to another server.
"""

import hashlib
import hmac
import secrets
from collections import deque
from collections.abc import Mapping

COOKIE = "bertscope_visit"
_SECRET = secrets.token_bytes(32)

_new: deque[str] = deque(maxlen=10_000)
"""Values given lately by this process, until their visits begin."""


def new_visit() -> str:
    """Return the value of the cookie of a new visit."""
    name = secrets.token_urlsafe(24)
    value = f"{name}.{_signature(name)}"
    _new.append(value)
    return value


def is_new(value: str) -> bool:
    """Return whether this process gave the cookie lately, and no visit has begun with it."""
    try:
        _new.remove(value)
    except ValueError:
        return False
    return True


def visit_of(cookies: Mapping[str, str]) -> str | None:
    """Return the value of a visitor's cookie if this process made it, else None."""
    value = cookies.get(COOKIE, "")
    name, _, signature = value.partition(".")
    is_ours = hmac.compare_digest(_signature(name).encode(), signature.encode("utf-8", "replace"))
    return value if is_ours else None


def _signature(name: str) -> str:
    return hmac.new(_SECRET, name.encode("utf-8", "replace"), hashlib.sha256).hexdigest()
