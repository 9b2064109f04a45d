"""The session's choices, kept across pages and mirrored in the URL.

Streamlit forgets a widget's value as soon as its page is left. Here every shared or linkable
value is a `Field`, which gives its widget a key under which the value survives; `sync_url` writes
what differs from the default into the address, so that a view is a link.
"""

import sys
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, NoReturn, TypeVar, cast
from urllib.parse import urlencode

import streamlit as st

from bertcore.model.tokenizer.truncation import MOST_CHARACTERS

from ..server.streamlit_internals import LEFT_OUT, Page, RerunException, page_hash

MAX_URL_CHARACTERS = 1500
"""Longer texts stay out of the address: browsers and chat programs cut long links."""

OF_TOOL = ("show", "hide")
"""Names of what a teacher's link leaves of the app: see class_link.py."""

ALWAYS_IN_URL = ("text_a", "text_b", "checkpoint", "device", "dtype", *OF_TOOL)
"""Names that every page's address carries, whether or not the page drew their widgets."""

HIDDEN = "masked"
"""Name of the positions of hidden words, which every address carries beside the text."""
HIDDEN_BEFORE = "_hidden_before"
"""Session state: what was hidden in the text of the last run; without it, those of a link."""

CHOICE_TEXTS = tuple(f"choice_{number}" for number in range(1, 6))
"""Names of the texts that a multiple-choice checkpoint chooses from."""

TEXTS = ("text_a", "text_b", "other_a", "other_b", *CHOICE_TEXTS)
"""Names of the visitor's texts, which stay out of the address together if they are too long."""


_KEPT, _DEFAULTS, _USED, _RUNNING = "_kept", "_kept_defaults", "_kept_used", "_full_run"
_PAGES, _IN_URL, _DRAWN = "_kept_pages", "_kept_in_url", "_kept_drawn"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Field(Generic[T]):
    """A choice that a page declares: kept for the session, and in the address if it differs
    from its default.

    `st.slider("Layer", 0, 11, key=LAYER.key(low=0, high=11))`; other code reads `LAYER.value`.
    """

    name: str
    """Name in the session; no two fields of the app have the same."""
    default: T
    """Its type (str, int, float, bool, list) is how an address is read."""
    options: Sequence[Any] | None = None
    """Allowed values, or allowed entries of a list; None for any, or if `key` is given them."""
    url: str = ""
    """Name in the address, if it differs: two pages may use one word for different choices."""

    def key(
        self,
        *,
        default: T | None = None,
        options: Sequence[Any] | None = None,
        low: float | None = None,
        high: float | None = None,
        names: Sequence[str] = (),
        follows_default: bool = True,
    ) -> str:
        """Return the key of the widget, its value set from the session, the address or the default.

        Call it right before the widget, and give the widget no default of its own.

        Args:
            default: Replaces the field's own, if it depends on the text or the checkpoint.
            options: Likewise; other values are discarded.
            low, high: Numbers are clipped to them.
            names: What the options are called, if that depends on the text: the browser keeps the
                name that it shows until the widget is written.
            follows_default: Whether a default that nobody chose gives way to a new one. Not for a
                box of text: a visitor may be typing into it.
        """
        default = self.default if default is None else default
        options = self.options if options is None else options
        name, url = self.name, self.url or self.name
        st.session_state.setdefault(_IN_URL, {})[name] = url
        kept = st.session_state.setdefault(_KEPT, {})
        defaults = st.session_state.setdefault(_DEFAULTS, {})
        former, defaults[name] = defaults.get(name, default), default
        st.session_state.setdefault(_USED, set()).add(name)
        before = kept.get(name, _ABSENT)
        candidates = [st.session_state[name]] if name in st.session_state else []
        is_former = before == former and candidates in ([], [former])
        if follows_default and former != default and is_former:
            candidates, before = [], default  # nobody chose the former default
        if before is not _ABSENT:
            candidates.append(before)
        elif url in st.query_params:
            candidates.append(_parse(st.query_params.get_all(url), default, options))
        chosen = _first_valid([*candidates, default], default, options, low, high)
        # A widget of the same key on another page, or a slider with other bounds, is a new one to
        # Streamlit, and empty unless written; a list whose options have other names shows the old
        # one. Writing to a live one would overwrite what is being typed, so only if it must change.
        pages = st.session_state.setdefault(_PAGES, {})
        page, last_page = (page_hash(), low, high, *names), pages.get(name)
        if page != last_page or name not in st.session_state or st.session_state[name] != chosen:
            st.session_state[name] = chosen
        pages[name] = page
        st.session_state.setdefault(_DRAWN, set()).add(name)
        kept[name] = chosen
        if not st.session_state.get(_RUNNING, False):
            sync_url()  # a fragment's own run: run.py is not there to do it
        return name

    @property
    def value(self) -> T:
        """The value: of the live widget, the session, the address, or the default."""
        value = self._chosen()
        return self.default if value is _ABSENT else cast(T, value)

    @property
    def is_chosen(self) -> bool:
        """Whether the session or the address has a value, valid or not."""
        return self._chosen() is not _ABSENT

    def among(self, options: Sequence[T]) -> T:
        """Return the value, or the default if it is none of these; for a widget that is closed."""
        value = self.value
        return value if value in options else self.default

    def _chosen(self) -> Any:
        value = st.session_state.get(self.name, _ABSENT)  # each look into the session takes time
        if value is _ABSENT:
            value = st.session_state.get(_KEPT, {}).get(self.name, _ABSENT)
        if value is _ABSENT and (url := self.url or self.name) in st.query_params:
            parsed = _parse(st.query_params.get_all(url), self.default, None)
            return self.default if parsed is _ABSENT else parsed
        return value

    def put(self, new: T, *, has_widget: bool = True) -> None:
        """Set it, from a callback or before its widget is drawn in this run.

        Args:
            has_widget: False on a page that has no widget for it: Streamlit would have that value
                for good, and not what is chosen on other pages.
        """
        st.session_state.setdefault(_KEPT, {})[self.name] = new
        st.session_state.setdefault(_USED, set()).add(self.name)
        if has_widget:
            st.session_state[self.name] = new
        else:
            st.session_state.pop(self.name, None)


def write_all() -> None:
    """Make the next run write the value of each widget to the browser."""
    st.session_state.pop(_PAGES, None)


def used() -> set[str]:
    """Return the names of the fields that this page has read."""
    return set(st.session_state.get(_USED, ()))


def choices() -> dict[str, str]:
    """Return this page's choices that differ from their defaults, as in the address.

    Texts and the checkpoint are not among them.
    """
    kept, defaults = st.session_state.get(_KEPT, {}), st.session_state.get(_DEFAULTS, {})
    by_name = {}
    for name in sorted(used() - {*ALWAYS_IN_URL, *TEXTS}):
        if name in kept and kept[name] is not None and kept[name] != defaults.get(name):
            chosen = _format(kept[name])
            by_name[_in_url(name)] = chosen if isinstance(chosen, str) else ", ".join(chosen)
    return by_name


def texts() -> dict[str, str]:
    """Return the visitor's texts on this page by their names in TEXTS, without blank ones."""
    kept = st.session_state.get(_KEPT, {})
    typed = {name: st.session_state.get(name, kept.get(name)) for name in TEXTS if name in used()}
    return {name: text for name, text in typed.items() if text and text.strip()}


def begin_run() -> None:
    """Start a full run: forget the previous page's names; keep what a link carries.

    A link may lead to a page without the sentence box. Its texts are taken now: the next page
    comes with an empty address. What is too long in it is cut.
    """
    for name in st.query_params:
        values = st.query_params.get_all(name)
        if (length := max(map(len, values))) > MOST_CHARACTERS:
            st.warning(LEFT_OUT.format(length=length, most=MOST_CHARACTERS))
            st.query_params[name] = [value[:MOST_CHARACTERS] for value in values]
    st.session_state[_USED], st.session_state[_DRAWN] = set(), set()
    kept = st.session_state.setdefault(_KEPT, {})
    for name in ALWAYS_IN_URL:
        if name not in kept and name in st.query_params:
            *others, last = st.query_params.get_all(name)
            kept[name] = ",".join((*others, last)) if name in OF_TOOL else last
    if HIDDEN not in kept and HIDDEN in st.query_params:
        kept[HIDDEN] = _parse(st.query_params.get_all(HIDDEN), [0], None)
        st.session_state.pop(HIDDEN_BEFORE, None)
    st.session_state[_RUNNING] = True


def sync_url() -> None:
    """Write text, checkpoint and this page's non-default values into the address.

    After a full run the browser forgets the widgets that were not drawn, and so does Streamlit,
    unless the page was ended early (`st.stop`): here they are new ones when they are drawn again. A
    run that gives way to the next ends nothing.
    """
    is_whole = not isinstance(sys.exception(), RerunException)
    if st.session_state.get(_RUNNING, False) and is_whole:
        pages, drawn = st.session_state.get(_PAGES, {}), st.session_state.get(_DRAWN, set())
        st.session_state[_PAGES] = {name: pages[name] for name in pages if name in drawn}
    st.session_state[_RUNNING] = False
    kept = st.session_state.get(_KEPT, {})
    defaults = st.session_state.get(_DEFAULTS, {})
    used = st.session_state.get(_USED, set())
    wanted: dict[str, str | list[str]] = {}
    for name in (*ALWAYS_IN_URL, *sorted({*used, HIDDEN} - {*ALWAYS_IN_URL})):
        if name in kept and kept[name] not in (None, [], defaults.get(name)):
            formatted = _format(kept[name])
            if name in TEXTS or len("".join(formatted)) <= MAX_URL_CHARACTERS:
                wanted[_in_url(name)] = formatted
    if too_long_for_url():
        for name in (*TEXTS, HIDDEN):
            wanted.pop(name, None)
    # Values of names not read yet in this session (a link's choices for a later widget) stay.
    read = {_in_url(name) for name in defaults}
    for name in st.query_params:
        if name not in read and name not in wanted:
            wanted[name] = st.query_params.get_all(name)
    if {k: [v] if isinstance(v, str) else v for k, v in wanted.items()} != {
        name: st.query_params.get_all(name) for name in st.query_params
    }:
        st.query_params.from_dict(wanted)


def go_to(page: Page, choices: Mapping[str, str] = MappingProxyType({})) -> NoReturn:
    """Open another page with the choices in the address, and with further ones."""
    kept = {name: st.query_params.get_all(name) for name in st.query_params}
    st.switch_page(page, query_params={**kept, **choices})


def open_view(page: str | Path, choices: Mapping[str, list[str]], keep: Set[str]) -> NoReturn:
    """Open a page as a link does in a new tab: all other choices are the defaults again.

    Args:
        page: Its script.
        choices: Those of the link, by their names in the address.
        keep: Names of fields that stay as they are; texts and the checkpoint do in any case.
    """
    kept = st.session_state.get(_KEPT, {})
    for name in {*kept} - {*ALWAYS_IN_URL, *TEXTS, *keep}:
        del kept[name]
        st.session_state.pop(name, None)
        st.session_state[_DEFAULTS].pop(name, None)  # in the address until it is read again
    st.switch_page(page, query_params=choices)


def read_value(session: Any, url: str) -> list[str] | None:
    """Return what a session keeps of a choice, as in an address; None if no page has read it.

    Args:
        session: Values by name, of this or another session.
        url: Name of the choice in the address.
    """
    if _IN_URL not in session:
        return None
    names = [name for name, other in session[_IN_URL].items() if other == url]
    if not names:
        return None
    formatted = _format(session[_KEPT][names[-1]])
    return [formatted] if isinstance(formatted, str) else formatted


def in_url(names: Set[str]) -> bool:
    """Return whether one of the names is in the address."""
    return bool({*st.query_params} & names)


def in_url_besides(names: Set[str]) -> bool:
    """Return whether another name than these is in the address."""
    return bool({*st.query_params} - names)


def link(page: str) -> str:
    """Return the link of what is shown, below the server's address, without a lesson beside it.

    Args:
        page: Name of the page.
    """
    shown = {name: st.query_params.get_all(name) for name in st.query_params}
    query = {name: values for name, values in shown.items() if not name.startswith("lesson")}
    return f"{page}?{urlencode(query, doseq=True)}".removesuffix("?")


def too_long_for_url() -> bool:
    """Return whether the texts are left out of the address."""
    kept = st.session_state.get(_KEPT, {})
    return sum(len(kept.get(name) or "") for name in TEXTS) > MAX_URL_CHARACTERS


def _in_url(name: str) -> str:
    """Return what a kept name is called in the address."""
    url_name: str = st.session_state.get(_IN_URL, {}).get(name, name)
    return url_name


_ABSENT = object()


def _format(value: Any) -> str | list[str]:
    if isinstance(value, list | tuple):
        return [str(entry) for entry in value]
    if isinstance(value, bool):
        return str(int(value))
    return str(value)


def _parse(raw: list[str], default: Any, options: Sequence[Any] | None) -> Any:
    """Read a URL's text by the type of `default`; _ABSENT if it does not fit."""
    if isinstance(default, list | tuple):
        entry_type = default[0] if default else None
        entries = [_parse_one(text, entry_type, options) for text in raw]
        return [entry for entry in entries if entry is not _ABSENT]
    return _parse_one(raw[-1], default, options)


def _parse_one(text: str, default: Any, options: Sequence[Any] | None) -> Any:
    if options is not None:
        return next((option for option in options if _format(option) == text), _ABSENT)
    try:
        if isinstance(default, bool):
            return {"1": True, "0": False}.get(text, _ABSENT)
        if isinstance(default, int | float):
            return type(default)(text)
    except ValueError:
        return _ABSENT
    return text


def _first_valid(
    candidates: list[Any],
    default: Any,
    options: Sequence[Any] | None,
    low: float | None,
    high: float | None,
) -> Any:
    for candidate in candidates:
        if candidate is _ABSENT:
            continue
        if isinstance(default, list | tuple) and isinstance(candidate, list | tuple):
            entries = [e for e in candidate if options is None or e in options]
            if entries or not candidate:
                return entries
            continue
        if options is not None:
            if candidate in options:
                return candidate
            continue
        if low is not None or high is not None:
            # NaN fails both comparisons and must not reach a slider; a client may send anything.
            if not isinstance(candidate, int | float) or candidate != candidate:
                continue
            candidate = candidate if low is None else max(candidate, type(candidate)(low))
            candidate = candidate if high is None else min(candidate, type(candidate)(high))
            return int(candidate) if isinstance(default, int) else candidate
        return candidate
    return options[0] if options else default
