"""The special words of the app, each explained once, and found in texts that use them."""

import functools
import re
import tomllib
from collections.abc import Mapping
from html import escape
from typing import NamedTuple

from streamlit.delta_generator import DeltaGenerator

from bertcore.lessons.translation import ENGLISH

from ...navigation import PAGES
from ...page_info import PageInfo
from ...plots import SpecialTokens, own_markdown, plain
from ...view import views_of
from .language import FOLDER, language, tr

_ENDINGS = {"en": "s?", "ru": r"\w{0,3}"}
"""What may follow a word of the glossary that has no pattern of its own."""
_MARKUP = re.compile(r"(<code>.*?</code>|<a .*?</a>|<[^>]*>)", re.DOTALL)


class Entry(NamedTuple):
    """A special word, what it means, and what it looks like in a text."""

    word: str
    meaning: str
    forms: re.Pattern[str]


@functools.cache
def glossary(code: str) -> Mapping[str, Entry]:
    """Return the words of a language by their names, which are the same in all languages."""
    path = FOLDER / "glossary.toml"
    read = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: _entry(code, *entry[code]) for name, entry in read.items()}


def _entry(code: str, word: str, meaning: str, forms: str = "") -> Entry:
    forms = forms or re.escape(word) + _ENDINGS.get(code, "")
    bounded = forms if code == "zh" else rf"(?<!\w)(?:{forms})(?!\w)"
    return Entry(word, meaning, re.compile(bounded, re.IGNORECASE))


@functools.cache
def names_on(info: PageInfo) -> tuple[str, ...]:
    """Return the names of the special words of a page's title, purpose and views."""
    folder = next((folder for folder, page in PAGES.items() if page == info), "")
    views = views_of(folder).values()
    read = " ".join((info.title, info.purpose, *(f"{view.question} {view.how}" for view in views)))
    return tuple(name for name, entry in glossary(ENGLISH).items() if entry.forms.search(read))


def offer(info: PageInfo, row: DeltaGenerator, marks: SpecialTokens) -> None:
    """Draw a closed list of the special words of a page, with the checkpoint's special tokens."""
    own = glossary(language())
    if names := names_on(info):
        listed = "\n\n".join(f"**{plain(own[n].word)}**: {plain(own[n].meaning)}" for n in names)
        title, icon = tr("Words on this page"), ":material/dictionary:"
        row.popover(title, type="tertiary", icon=icon).markdown(own_markdown(listed, marks))


def parts(text: str) -> list[tuple[str, str]]:
    """Return the parts of a text in the visitor's language: each with its meaning, or "".

    A word is explained where it stands first; of two that overlap, the longer is.
    """
    return [*_parts(text, language())]


@functools.lru_cache(maxsize=512)  # a page has the same texts in each run
def _parts(text: str, code: str) -> tuple[tuple[str, str], ...]:
    found = (
        (match.start(), -match.end(), entry.meaning)
        for entry in glossary(code).values()
        for match in entry.forms.finditer(text)
    )
    done, explained, cut = 0, set[str](), list[tuple[str, str]]()
    for start, end, meaning in sorted(found):
        if start >= done and meaning not in explained:
            cut += [(text[done:start], ""), (text[start:-end], meaning)]
            done = -end
            explained.add(meaning)
    return (*cut, (text[done:], ""))


def explained(html: str, place: str, known: str = "") -> str:
    """Return HTML in which each special word is a button that opens its meaning.

    It needs no script; the looks are in `style.css`. Code and links are left as they are.

    Args:
        html: In the visitor's language.
        place: Name of the place; unique on the page.
        known: Texts of the page whose words are explained there, and not again.
    """
    done, written = {meaning for _, meaning in parts(known)} - {""}, []
    for number, text in enumerate(_MARKUP.split(html)):
        for part, meaning in [(text, "")] if number % 2 else parts(text):
            if not meaning or meaning in done:
                written.append(part)
                continue
            done.add(meaning)
            id = f"word-{place}-{len(done)}"
            written.append(
                f'<button class="word" popovertarget="{id}">{part}</button>'
                f'<span class="meaning" id="{id}" popover>{escape(meaning)}</span>'
            )
    return "".join(written)
