"""The frame of every page: how it begins and ends, and how it shows errors."""

import functools
import logging
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from html import escape
from typing import Any, Concatenate, Literal, NamedTuple, NoReturn, ParamSpec, TypeVar, overload

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore import Model, Trace
from bertcore.base.memory import out_of_memory
from bertcore.lessons.translation import ENGLISH
from bertcore.model.checkpoints.folder import OnlyPickleError
from bertcore.model.checkpoints.source import LANGUAGES
from bertcore.model.tokenizer import Encoding
from bertcore.model.tokenizer.truncation import Truncation
from bertcore.model.unread import find_unread
from bertcore.training.tasks.model import TaskModel

from ..page_info import PageInfo
from ..plots import BERT, SpecialTokens, marks_of, own_markdown, plain
from ..plots.special_tokens import filled_markdown
from ..server import places
from ..server.checkpoints import NotOfferedError
from ..server.policy import policy
from . import cache, consent, fetch, hidden, sidebar, state
from .jobs.compute import Compute
from .jobs.waiting import Pending
from .sentence_box import MAT_PAIR, TEXT_B, WHY_NO_CAT, example_box, is_mat, sentence_box, use
from .state import Field
from .withheld import class_link, covers
from .words import glossary, language, tr

log = logging.getLogger("bertscope.app")

PICKLED_WEIGHTS = (
    "The weights of this checkpoint are a pickle, a kind of file that can contain programs. If you "
    "trust its source, BertScope reads the weights in it and nothing else."
)
UNEXPECTED = (
    "Something unexpected went wrong in this view ({kind}). Your text and choices are kept: change "
    "one of them, or choose another page. The server's log has the details."
)

_NO_WORDS = (
    "Nothing in this text is a word to the model: only special tokens such as {token} are left."
)
_OTHER_CHECKPOINT = (
    "Open a checkpoint for its language, such as `bert-base-multilingual-cased`, or train one on "
    "such text: `bertscope pretrain`, with an `alphabet` in its recipe."
)
_CUT = "The input has {tokens} tokens but the limit is {limit}, so its end was left out."
_SHOWN = "_page_shown"

P = ParamSpec("P")
T = TypeVar("T")


class ShownPage(NamedTuple):
    """The page that is shown."""

    title: str
    key: cache.BertKey | None
    """Key of its checkpoint; None if it opened none."""
    words: str = ""
    """Its purpose, where special words are explained."""


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
    """Positions of the text's hidden words, in the trace and the Python; see `hidden`."""

    @property
    def bert(self) -> Model:
        """The chosen checkpoint."""
        return cache.opened(self.bert_key)

    @property
    def task_model(self) -> TaskModel:
        """The fine-tuned model of the checkpoint; errors as of `TaskKey.stands_for`."""
        return cache.TaskKey(self.bert_key).stands_for

    @property
    def trace(self) -> Trace:
        """The trace of the texts with what is hidden, on a page with a sentence box."""
        assert self.has_text
        return self.reading.trace

    @property
    def reading(self) -> cache.Texts:
        """What stands for the trace among the arguments of `Compute`."""
        return cache.Texts(self.bert_key, self.text_a, self.text_b, self.masked)

    @property
    def encoding(self) -> Encoding:
        """The tokens of the texts as they are typed."""
        return cache.Texts(self.bert_key, *self.texts).encoding

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
    as_typed: bool = False,
    asks_word: bool = False,
) -> Page:
    """Draw a page's title and sentence box, open the checkpoint, run it, and return all of it.

    With an empty text or a checkpoint that does not open, the page shows one sentence and ends.

    Args:
        needs_text: Replaces the page's own, if a view needs no sentence box; it has no trace then.
        shows_trace: False for pages that read the text in their own way and say on their own where
            it is cut.
        as_typed: Whether the page reads the text as it is typed, in its own way: what is hidden on
            other pages is not hidden here, which is said, and nothing is run.
        asks_word: Whether the page asks for a hidden word: if there is none, one is hidden.
    """
    hidden.has_changed()  # this is the run that follows
    if not (info.needs_text if needs_text is None else needs_text):
        words = header(info, has_words=False)
        _end_if_covered()
        page = Page(open_checkpoint(), "", None, False, st.context.theme.type == "dark")
        glossary.offer(info, words, page.marks)
        return page
    row = st.container(horizontal=True, vertical_alignment="bottom", key="page_header")
    with row.container():
        words = header(info, has_words=False)
    example_box(row)
    text_a, text_b = sentence_box()
    _end_if_covered()
    if not text_a.strip():
        both = tr("Move sentence B there if you have just one.") if text_b else ""
        st.info(f"{tr('Sentence A is empty. Type a sentence above, or pick an example.')} {both}")
        end_page()
    is_dark = st.context.theme.type == "dark"
    page = Page(open_checkpoint(), text_a, text_b, True, is_dark)
    glossary.offer(info, words, page.marks)
    read: Trace | Encoding
    with guard(stop=True):
        read = page.encoding
        masked = hidden.of_text(page.bert, page.texts, read)
        is_new = hidden.begin_visit(info.name, page.texts, page.bert_key)
        if asks_word and is_new and not masked:
            masked = hidden.choose(page.bert_key, page.texts, read)
        hidden.show_chips(read, masked, page.texts, as_typed=as_typed)
        if not as_typed:
            page = replace(page, masked=masked)
            read = page.trace
    if shows_trace and read.truncation is not None:
        st.warning(plain(cut_sentence(read.truncation)))
    if not any(text_id >= 0 for text_id in read.text_ids):
        st.info(tr(_NO_WORDS, token=plain(page.marks.first)))
    _note_unreadable(page, read)
    if asks_word and is_mat(text_a, text_b, page.bert_key.source):
        row = st.container(horizontal=True, vertical_alignment="center")
        row.caption(tr(WHY_NO_CAT), width="stretch")
        label = tr("Put “{sentence}” before it", sentence=MAT_PAIR.text_a)
        row.button(label, on_click=use, args=(MAT_PAIR,), key="mat_pair")
    return page


def _end_if_covered() -> None:
    """End a page that a lesson covers: who types below the cover stays in the same box."""
    if covers.is_page_told():
        end_page()


def cut_sentence(cut: Truncation) -> str:
    """Return what was cut off; other languages than English have it without the places."""
    if language.language() == ENGLISH:
        return cut.sentence()
    tokens = f"{cut.num_tokens_before}{'' if cut.is_counted else '+'}"
    return tr(_CUT, tokens=tokens, limit=cut.limit)


def unread(page: Page, read: Trace | Encoding) -> tuple[str, str | None] | None:
    """Return what the vocabulary cannot read, and what ships for the text's language.

    None if it reads the text; a language without a checkpoint of ours is None.
    """
    tokenizer = page.bert.tokenizer
    found = find_unread(tokenizer, read, page.texts)
    if found is None or not found.is_most:
        return None
    if number := found.num_unknown:
        stands, count = "{unknown} for {number} of {count} tokens", found.num_tokens
        return tr(stands, number=number, count=count, unknown=tokenizer.unk_token), found.shipped
    became = "{letters} letters became {tokens} tokens"
    return tr(became, letters=found.num_letters, tokens=found.num_pieces), found.shipped


def _note_unreadable(page: Page, read: Trace | Encoding) -> None:
    """Warn if the vocabulary has no words of the text, and offer a checkpoint that ships for it."""
    found = unread(page, read)
    if found is None:
        return
    reads, shipped = found
    name, foreign = plain(sidebar.brief_name(page.bert_key.source)), page.bert.tokenizer.foreign
    if foreign:
        st.warning(f"{name}: {plain(foreign.removeprefix('Warning: '))}")
        return
    lacks = "{reads}: the vocabulary of {name} does not have the words of this text."
    problem = tr(lacks, reads=plain(reads), name=name)
    if shipped is None:
        st.warning(f"{problem} {tr(_OTHER_CHECKPOINT)}")
        return
    ships = "A small checkpoint for {language} ships with BertScope."
    st.warning(f"{problem} {tr(ships, language=tr(LANGUAGES[shipped]))}")
    label = tr("Open {name}", name=shipped)
    st.button(label, on_click=sidebar.choose, args=(shipped,), key="open_language")


def example_row(sentence: str) -> DeltaGenerator:
    """Note what is shown instead of what the visitor lacks; return the row, for buttons beside it.

    Args:
        sentence: Markdown.
    """
    row = st.container(horizontal=True, vertical_alignment="center")
    row.markdown(f"**{tr('Example:')}** {sentence}", width="stretch")
    return row


def example_pair(text_a: str, text_b: str, why: str) -> None:
    """Note the pair that is shown instead of a text without sentence B, and offer its B.

    Args:
        why: Markdown that follows the pair.
    """
    pair = tr("“{first}” and “{second}”", first=plain(text_a), second=plain(text_b))
    row = example_row(f"{pair}{tr(why)}")
    label, icon = tr("Your sentence with this B"), ":material/edit:"
    row.button(label, icon=icon, on_click=TEXT_B.put, args=(text_b,))


def header(info: PageInfo, *, has_words: bool = True) -> DeltaGenerator:
    """Draw a page's title and purpose; return the row of the purpose.

    Args:
        has_words: Whether the page's special words stand in it, explained for BERT.
    """
    purpose = tr(info.purpose)
    st.session_state[_SHOWN] = ShownPage(info.title, None, purpose)
    st.title(tr(info.title), anchor=False)
    row = st.container(horizontal=True, vertical_alignment="center", key="page_purpose")
    row.html(f'<p class="purpose">{glossary.explained(escape(purpose), "purpose")}</p>')
    if has_words:
        glossary.offer(info, row, BERT)
    language.mark_page(info)
    return row


def open_checkpoint() -> cache.BertKey:
    """Open the chosen checkpoint; if it does not open, say why in one sentence and stop."""
    with guard(stop=True):
        key = sidebar.chosen_key()
    open_or_end(key, "page")
    st.session_state[_SHOWN] = shown()._replace(key=key)
    return key


def open_or_end(
    key: cache.BertKey,
    name: str,
    ask_first: str = fetch.ASK_FIRST,
) -> None:
    """Open a checkpoint, or draw what it waits for or why it does not open, and end the page.

    Args:
        key, name, ask_first: As for `fetch.offer`.
    """
    is_open, has_failed, asks_consent = False, True, False
    with guard():
        try:
            if fetch.offer(key, name, ask_first):
                cache.opened(key)
                is_open = True
            has_failed = False
        except OnlyPickleError:
            asks_consent = not policy().is_closed
            raise
    if is_open:
        return
    if asks_consent:
        st.caption(tr(PICKLED_WEIGHTS))
        label = tr("I trust it: read its weights")
        st.button(label, key=f"agree_{name}", on_click=consent.agree, args=(key.source,))
    elif has_failed:
        fetch.offer_again(key, name)
    end_page()


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
        st.error(message(error))
    except Exception as error:  # the last chance to keep a traceback from the visitor
        log.error("unexpected error", exc_info=error)
        st.error(tr(UNEXPECTED, kind=type(error).__name__))
    if stop:
        end_page()


def fragment(draw: Callable[P, None]) -> Callable[P, None]:
    """Make a function a fragment, which runs alone when a choice in it changes, under `guard`.

    Streamlit would show an error of a bare fragment with its message cut out.
    """

    @functools.wraps(draw)  # Streamlit tells fragments apart by their names
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        if hidden.has_changed():
            st.rerun()  # the text has changed, which the whole page reads
        with guard():
            draw(*args, **kwargs)

    return st.fragment(guarded)


def closed(
    question: str,
    opened: Field[Any],
    *inside: Field[Any],
    at: str = "",
    alone: bool = True,
    is_small: bool = False,
) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Return what makes a function a `fragment` under a heading that is closed at first.

    Nothing is computed for it until a visitor, or a link, opens it.

    Args:
        question: The heading, which it answers.
        opened: Whether it is open; its default is False. With `at`, a list: which headings are.
        inside: Choices drawn under it: a link with one of them opens it.
        at: Its own name in that list.
        alone: Whether it is a fragment. False inside one which draws what is chosen here.
        is_small: Whether the heading is a line without a frame.
    """
    names = {field.url or field.name for field in inside}

    def turn(*, is_open: bool) -> None:
        if not at:
            opened.put(is_open)
            return
        others = [name for name in opened.value if name != at]
        opened.put([*others, at] if is_open else others)

    def as_closed(draw: Callable[P, None]) -> Callable[P, None]:
        key = f"section_{draw.__name__.strip('_').removeprefix('show_')}"

        @functools.wraps(draw)
        def shown(*args: P.args, **kwargs: P.kwargs) -> None:
            if class_link.hides_heading(draw.__module__, question):
                return
            widget = f"{key}_open" if at else opened.name
            is_new = not state.in_url({opened.url or opened.name}) and (
                widget not in st.session_state if at else not opened.is_chosen
            )
            if is_new and state.in_url(names):
                turn(is_open=True)
            opened.key()
            if at:
                st.session_state[widget] = at in opened.value
            if covers.in_lesson() and not (at in opened.value if at else opened.value):
                return
            with st.container(key=key):
                room = st.expander(
                    f"**{tr(question)}**",
                    key=widget,
                    type="compact" if is_small else "default",
                    on_change=(lambda: turn(is_open=st.session_state[widget])) if at else "rerun",
                )
            if room.open:
                with room, guard():
                    draw(*args, **kwargs)

        return fragment(shown) if alone else shown

    return as_closed


def more(where: DeltaGenerator | None = None) -> DeltaGenerator:
    """Return the place of further controls: a small menu named *More*, closed at first.

    A page asks for at most three controls as it opens; the others are in here. They are drawn
    with the page, so that what is in it must be cheap.

    Args:
        where: Container to draw in, such as the row of the other controls.
    """
    return (where or st).popover(tr("More"), type="tertiary", icon=":material/tune:")


def sentence_of(error: Exception) -> str:
    """Return an error's message as a sentence: capital first, one line, no path if closed.

    Where memory ran out, a sentence of ours.
    """
    message = places.hide(" ".join((out_of_memory(error) or str(error)).split()))
    message = message or type(error).__name__
    return message[0].upper() + message[1:]


def message(error: Exception | str) -> str:
    """Return an error as a sentence in Markdown: `code` is code, all else is shown as it is."""
    text = sentence_of(ValueError(error) if isinstance(error, str) else error)
    parts = re.split("`([^`]+)`", text)
    return "".join(f"`{part}`" if at % 2 else plain(part) for at, part in enumerate(parts))


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
