"""The frame of every page: how it begins and ends, and how it shows errors."""

import functools
import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Concatenate, Literal, NamedTuple, NoReturn, ParamSpec, TypeVar, overload

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore import Model, Trace
from bertcore.base.memory import out_of_memory
from bertcore.checkpoints.folder import OnlyPickleError
from bertcore.checkpoints.source import LANGUAGES
from bertcore.tokenizer import Encoding, characters

from ..access import places
from ..access.checkpoints import NotOfferedError
from ..access.policy import policy
from ..page_info import PageInfo
from ..plots import BERT, SpecialTokens, marks_of, own_markdown, plain
from ..plots.special_tokens import filled_markdown
from . import cache, consent, fetch, sidebar, state
from .compute import Compute
from .jobs.waiting import Pending
from .sentence_box import TEXT_B, example_box, sentence_box
from .state import Field

log = logging.getLogger("bertscope.app")

PICKLED_WEIGHTS = (
    "The weights of this checkpoint are a pickle, a kind of file that can contain programs. If you "
    "trust its source, BertScope reads the weights in it and nothing else."
)
_MOST_PIECES_A_LETTER = 0.6
"""Tokens for each letter of a text; with more, its words are cut into little else than letters."""
UNEXPECTED = (
    "Something unexpected went wrong in this view ({kind}). Your text and choices are kept: change "
    "one of them, or choose another page. The server's log has the details."
)

_SHOWN = "_page_shown"

P = ParamSpec("P")
T = TypeVar("T")


class ShownPage(NamedTuple):
    """The page that is shown."""

    title: str
    key: cache.BertKey | None
    """Key of its checkpoint; None if it opened none."""


@dataclass(frozen=True, slots=True)
class Page:
    """What a page works with.

    It names the checkpoint and the trace and does not hold them: Streamlit keeps a fragment's
    arguments for as long as a visitor's page is open, and a class of thirty would keep thirty
    traces of 200 MB. The bounded cache holds them.
    """

    bert_key: cache.BertKey
    text_a: str
    text_b: str | None
    """None for a single text."""
    has_text: bool
    """False for pages without the sentence box."""
    is_dark: bool
    """Whether the visitor's theme is dark; for the few colours that cannot follow by themselves."""
    masked: tuple[int, ...] = ()
    """Positions that are hidden in the trace, on a page that hides some."""

    @property
    def bert(self) -> Model:
        """The chosen checkpoint."""
        return cache.opened(self.bert_key)

    @property
    def trace(self) -> Trace:
        """The trace of the texts, on a page with a sentence box."""
        assert self.has_text
        return self.reading.trace

    @property
    def reading(self) -> cache.Texts:
        """What stands for the trace among the arguments of `Compute`."""
        return cache.Texts(self.bert_key, self.text_a, self.text_b, self.masked)

    @property
    def encoding(self) -> Encoding:
        """The tokens of the texts, for pages that need no trace of the texts as they are."""
        return self.bert.tokenize(*self.texts)

    @property
    def texts(self) -> tuple[str, str | None]:
        """The text, and the second one or None."""
        return self.text_a, self.text_b

    def compute(
        self, function: Callable[Concatenate[Model, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Return `function(bert, *args)`, computed once; see `Compute` for what takes long."""
        return Compute()(function, self.bert_key, *args, **kwargs)

    @property
    def marks(self) -> SpecialTokens:
        """The checkpoint's own [CLS], [SEP] and [MASK]."""
        return marks_of(self.bert.tokenizer)

    @property
    def setup_code(self) -> str:
        """Python that opens the same checkpoint and runs the same text: `bert` and `trace`."""
        opened = f"import bertcore\n\nbert = bertcore.load({self.bert_key.source!r})\n"
        if not self.has_text:
            return opened
        pair = "" if self.text_b is None else f", {self.text_b!r}"
        texts = f"{self.text_a!r}{pair}"
        if not self.masked:
            return f"{opened}trace = bert.trace({texts})\n"
        return (
            f"from bertcore.analysis import masked_encoding\n{opened}"
            f"hidden = masked_encoding(bert, {texts}, masked={[*self.masked]})\n"
            f"trace = bert.trace({texts}, encoding=hidden)\n"
        )

    @property
    def task_setup_code(self) -> str:
        """Python that opens the fine-tuned model of the same checkpoint: `model`."""
        return f"import bertcore\n\nmodel = bertcore.open_task({self.bert_key.source!r})\n"


def begin(
    info: PageInfo,
    *,
    needs_text: bool | None = None,
    shows_trace: bool = True,
    runs_text: bool = True,
) -> Page:
    """Draw a page's title and sentence box, open the checkpoint, run it, and return all of it.

    With an empty text or a checkpoint that does not open, the page shows one sentence and ends.

    Args:
        needs_text: Replaces the page's own, if a view needs no sentence box; it has no trace then.
        shows_trace: False for pages that read the text in their own way and say on their own where
            it is cut.
        runs_text: False for pages that run the text otherwise, such as with a word hidden.
    """
    if not (info.needs_text if needs_text is None else needs_text):
        header(info)
        return page_without_text()
    row = st.container(horizontal=True, vertical_alignment="bottom", key="page_header")
    with row.container():
        header(info)
    example_box(row)
    text_a, text_b = sentence_box()
    if not text_a.strip():
        both = " Move sentence B there if you have just one." if text_b else ""
        st.info(f"Sentence A is empty. Type a sentence above, or pick an example.{both}")
        end_page()
    is_dark = st.context.theme.type == "dark"
    page = Page(open_checkpoint(), text_a, text_b, True, is_dark)
    with guard(stop=True):
        read = page.trace if runs_text else page.encoding
    if shows_trace and read.truncation is not None:
        st.warning(plain(read.truncation.sentence()))
    if not any(text_id >= 0 for text_id in read.text_ids):
        st.info(
            "Nothing in this text is a word to the model: only special tokens such as "
            f"{plain(page.marks.first)} are left."
        )
    _note_unreadable(page, read)
    return page


def _note_unreadable(page: Page, read: Trace | Encoding) -> None:
    """Warn if the vocabulary has no words of the text, and offer a checkpoint that ships for it."""
    tokenizer = page.bert.tokenizer
    ids = [i for i, text in zip(read.input_ids, read.text_ids, strict=True) if text >= 0]
    letters = [letter for letter in page.text_a + (page.text_b or "") if letter.isalpha()]
    is_chinese, is_russian = (
        sum(map(belongs, letters)) > len(letters) / 2
        for belongs in (characters.is_chinese, characters.is_cyrillic)
    )
    num_unknown = ids.count(tokenizer.unk_id)
    if num_unknown > len(ids) / 2:
        reads = f"{num_unknown} of {len(ids)} tokens are {plain(tokenizer.unk_token)}"
    elif is_russian and len(ids) > _MOST_PIECES_A_LETTER * len(letters):
        reads = f"{len(letters)} letters became {len(ids)} tokens"
    else:
        return
    name = plain(sidebar.brief_name(page.bert_key.source))
    if tokenizer.foreign:
        st.warning(f"{name}: {plain(tokenizer.foreign.removeprefix('Warning: '))}")
        return
    problem = f"{reads}: the vocabulary of {name} does not have the words of this text. "
    shipped = "zh" if is_chinese else "ru" if is_russian else None
    if shipped in (None, page.bert_key.source):
        st.warning(
            f"{problem}Open a checkpoint for its language, such as `bert-base-multilingual-cased`, "
            "or train one on such text: `bertscope pretrain`, with an `alphabet` in its recipe."
        )
        return
    st.warning(f"{problem}A small checkpoint for {LANGUAGES[shipped]} ships with BertScope.")
    st.button(f"Open {shipped}", on_click=sidebar.choose, args=(shipped,), key="open_language")


def example_row(sentence: str) -> DeltaGenerator:
    """Note what is shown instead of what the visitor lacks; return the row, for buttons beside it.

    Args:
        sentence: Markdown.
    """
    row = st.container(horizontal=True, vertical_alignment="center")
    row.markdown(f"**Example:** {sentence}", width="stretch")
    return row


def example_pair(text_a: str, text_b: str, why: str) -> None:
    """Note the pair that is shown instead of a text without sentence B, and offer its B.

    Args:
        why: Markdown that follows the pair.
    """
    row = example_row(f"“{plain(text_a)}” and “{plain(text_b)}”{why}")
    label, icon = "Your sentence with this B", ":material/edit:"
    row.button(label, icon=icon, on_click=TEXT_B.put, args=(text_b,))


def header(info: PageInfo) -> None:
    """Draw a page's title and purpose."""
    st.session_state[_SHOWN] = ShownPage(info.title, None)
    st.title(info.title, anchor=False)
    st.caption(info.purpose)


def open_checkpoint() -> cache.BertKey:
    """Open the chosen checkpoint; if it does not open, say why in one sentence and stop."""
    with guard(stop=True):
        key = sidebar.chosen_key()
    open_or_end(key, "page", sidebar.choose)
    st.session_state[_SHOWN] = shown()._replace(key=key)
    return key


def open_or_end(
    key: cache.BertKey,
    name: str,
    choose: Callable[[str], None],
    ask_first: str = fetch.ASK_FIRST,
) -> None:
    """Open a checkpoint, or draw what it waits for or why it does not open, and end the page.

    Args:
        key, name, choose, ask_first: As for `fetch.offer`.
    """
    is_open, has_failed, asks_consent = False, True, False
    with guard():
        try:
            if fetch.offer(key, name, choose, ask_first):
                cache.opened(key)
                is_open = True
            has_failed = False
        except OnlyPickleError:
            asks_consent = not policy().is_closed
            raise
    if is_open:
        return
    if asks_consent:
        st.caption(PICKLED_WEIGHTS)
        label = "I trust it: read its weights"
        st.button(label, key=f"agree_{name}", on_click=consent.agree, args=(key.source,))
    elif has_failed:
        fetch.offer_again(key, name)
    end_page()


def page_without_text() -> Page:
    """Open the checkpoint for a page that has no sentence box; see `begin`."""
    return Page(open_checkpoint(), "", None, False, st.context.theme.type == "dark")


def end_page() -> NoReturn:
    """End the page here; the address is written first, since nothing is sent after `st.stop`."""
    state.sync_url()
    st.stop()


@overload
def guard(*, stop: Literal[True]) -> AbstractContextManager[None, None]: ...


@overload
def guard(*, stop: Literal[False] = False) -> AbstractContextManager[None, bool]: ...


def guard(*, stop: bool = False) -> AbstractContextManager[None, bool | None]:
    """Turn an error inside the block into one sentence on the page; never a traceback.

    Args:
        stop: End the page after the sentence; else it continues after the block.
    """
    return _guard(stop)


@contextmanager
def _guard(stop: bool) -> Iterator[None]:
    try:
        yield
        return
    except Pending:
        pass
    except (ValueError, OSError, RuntimeError, MemoryError) as error:
        if not policy().is_closed:  # a message may contain what the visitor wrote
            log.info("shown to the visitor: %s", error)
        st.error(plain(sentence_of(error)))
    except Exception as error:  # the last chance to keep a traceback from the visitor
        log.error("unexpected error", exc_info=error)
        st.error(UNEXPECTED.format(kind=type(error).__name__))
    if stop:
        end_page()


def fragment(draw: Callable[P, None]) -> Callable[P, None]:
    """Make a function a fragment, which runs alone when a choice in it changes, under `guard`.

    Streamlit would show an error of a bare fragment with its message cut out.
    """

    @functools.wraps(draw)  # Streamlit tells fragments apart by their names
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        with guard():
            draw(*args, **kwargs)

    return st.fragment(guarded)


def closed(
    question: str, opened: Field[bool], *inside: Field[Any]
) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Return what makes a function a `fragment` under a heading that is closed at first.

    Nothing is computed for it until a visitor, or a link, opens it.

    Args:
        question: The heading, which it answers.
        opened: Whether it is open; its default is False.
        inside: Choices drawn under it: a link with one of them opens it.
    """
    names = {field.url or field.name for field in inside}

    def as_closed(draw: Callable[P, None]) -> Callable[P, None]:
        key = f"section_{draw.__name__.strip('_').removeprefix('show_')}"

        @fragment
        @functools.wraps(draw)
        def shown(*args: P.args, **kwargs: P.kwargs) -> None:
            if not opened.is_chosen and state.in_url(names):
                opened.put(True)
            with st.container(key=key):
                room = st.expander(f"**{question}**", key=opened.key(), on_change="rerun")
            if room.open:
                with room, guard():
                    draw(*args, **kwargs)

        return shown

    return as_closed


def sentence_of(error: Exception) -> str:
    """Return an error's message as a sentence: capital first, one line, no path if closed.

    Where memory ran out, a sentence of ours.
    """
    message = places.hide(" ".join((out_of_memory(error) or str(error)).split()))
    message = message or type(error).__name__
    return message[0].upper() + message[1:]


def own_tokens(text: str) -> str:
    """Return our Markdown with the chosen checkpoint's special tokens instead of BERT's."""
    return own_markdown(text, _chosen_marks())


def own_filled(template: str, /, **values: object) -> str:
    """Return a template in Markdown, filled, with the chosen checkpoint's special tokens."""
    return filled_markdown(template, _chosen_marks(), **values)


def _chosen_marks() -> SpecialTokens:
    """Return the special tokens of the chosen checkpoint, BERT's before it is open."""
    try:
        key = sidebar.chosen_key()
    except NotOfferedError:
        return BERT
    return marks_of(cache.opened(key).tokenizer) if key in cache.loaded() else BERT


def shown() -> ShownPage:
    """Return the page and checkpoint that the visitor sees."""
    current: ShownPage = st.session_state.get(_SHOWN, ShownPage("BertScope", None))
    return current
