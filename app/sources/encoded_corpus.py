"""The corpus that a page reads: the shipped stories, encoded on first use, or a folder."""

import json
import os
import shutil
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import streamlit as st

from bertcore import Model
from bertcore.checkpoints.source import SHIPPED
from bertcore.configs.encode import Unit
from bertcore.corpus import EncodedCorpus, EncodeProgress, EncodeSettings, encode_corpus
from bertcore.corpus.encode import STORIES
from bertcore.corpus.encoded import open_encoded
from bertcore.corpus.parts import about, fingerprint_of_model
from bertcore.corpus.search import EXACT_ROWS, ExactIndex, GraphIndex, Places, VectorIndex
from bertcore.corpus.search.index import build_graph, index_folder

from ..access import visits
from ..access.policy import policy
from ..access.room import check_room
from ..shell import Field, Progress, Work, background, cache, frame, one_of, waiting
from ..shell.uploads import keep_newest
from . import my_sentences

CACHE = "BERTSCOPE_CORPORA"
"""Environment variable: where the encoded stories are kept; unset, ~/.cache/bertscope/corpora."""
TOKENS = 215_000  # of the stories, approximately; a checkpoint's own tokenizer may give more
MOST_BYTES = 800e6
"""Of the vectors of all layers; for a larger checkpoint, fewer sentences are read."""
SCANNED_ROWS = 2_000_000
"""Most rows of a layer that is searched without an index, by comparing every one: less than a
second for a million, while an index takes minutes to build."""
MOST_KEPT = 4  # most encodings of the stories that are kept; those unused the longest are deleted
_VERSION = 1  # of the stories and of how they are read
_RECENT_SECONDS = 600  # since its last use, while an encoding may still be on somebody's page
_INDEXED = "_layers_to_index"
"""Session state: folders and layers for which this visitor wants an index."""
_LEFT_SECONDS = 86_400  # age at which leftovers of a killed process are deleted

STARTS = {"part": 0.1, "whole": 1.0}  # shares of the stories' sentences
SOURCES = {
    "part": "Stories, a tenth",
    "whole": "Stories, all of them",
    **my_sentences.OFFERED,
    "folder": "Your own folder",
}
SOURCE = Field("searched_corpus", "part", tuple(SOURCES), url="corpus")
FOLDER = Field("corpus_folder", "")
HOW_TO_ENCODE = (
    "Encode a corpus with `bertscope encode books.txt --layers 0 2 4 --out vectors`, then type the "
    "path of `vectors`."
)
LIST_CODE = """
import json
from pathlib import Path
from bertcore.corpus import EncodeSettings, encode_corpus

rows = [json.dumps({"text": line.text}) + "\\n" for line in mine.lines]
Path("sentences.jsonl").write_text("".join(rows))
layers = tuple(range(bert.config.num_hidden_layers + 1))
encode_corpus(bert, "sentences.jsonl", "vectors", EncodeSettings(layers=layers, split=False))
"""
ABOUT = (
    "*The Wind in the Willows*, *Life on the Mississippi*, *The Hound of the Baskervilles*, and "
    "stories by O. Henry and Leacock."
)


@dataclass(frozen=True, slots=True)
class Stories:
    """The shipped stories, or some of their sentences, whether or not they are encoded."""

    share: float
    """Of the sentences."""
    version: int = _VERSION

    @property
    def name(self) -> "Name":
        """What identifies them among the arguments of a call."""
        return self

    def folder(self, bert: Model) -> Path:
        """Return where they are kept once a checkpoint has encoded them."""
        names = (fingerprint_of_model(bert)[:16], bert.tokenizer.fingerprint[:8])
        return _root() / "-".join([f"stories{self.version}", *names, f"{self.share:g}"])


Name = Stories | tuple[str, int, int]
"""What identifies a corpus among the arguments of a call: of a folder, its manifest's file."""


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """An encoded corpus, opened."""

    encoded: EncodedCorpus
    places: Places
    manifest: Path
    """Its file: results that depend on it are recomputed when it changes."""
    stories: Stories | None = None
    marked: tuple[tuple[int, int, int], ...] = ()
    """Words marked in the visitor's list, as for `Places.covering`."""
    code: str = ""
    """Python that encodes the visitor's list."""

    @property
    def name(self) -> Name:
        """What identifies it among the arguments of a call."""
        return self.stories or hashable(self)

    @property
    def is_small(self) -> bool:
        """Whether every row is compared, so that no layer needs an index."""
        return len(self.encoded) <= EXACT_ROWS


def choose(page: frame.Page, *, is_searched: bool = True) -> Opened | None:
    """Draw the choice of the corpus; return it opened, None while it is read or not named.

    Args and errors: see `choose_unread` and `read`.
    """
    chosen = choose_unread(page, is_searched=is_searched)
    return read(page, chosen) if isinstance(chosen, Stories) else chosen


def choose_unread(page: frame.Page, *, is_searched: bool = True) -> Opened | Stories | None:
    """Draw the choice of the corpus; return it, None while it is not named.

    Args:
        page: Of this or of another page that reads a corpus.
        is_searched: Whether vectors of the page's checkpoint are compared with those of the corpus,
            so that it must have encoded it.

    Returns:
        It opened, or the stories, which `read` encodes.

    ValueError if a folder contains no encoded corpus, or another checkpoint encoded it.
    RuntimeError or OSError if it cannot be read or written.
    """
    offered = {**SOURCES}
    if not is_searched:
        del offered[my_sentences.MINE]
    if policy().is_closed:
        del offered["folder"]
        if page.bert_key.source not in SHIPPED:
            del offered["whole"]
    chosen = one_of("Corpus", offered, SOURCE, with_label=True)
    if chosen == "folder":
        name = st.text_input(
            "Folder that `bertscope encode` wrote", key=FOLDER.key(), placeholder="vectors"
        ).strip()
        if not name:
            st.info(HOW_TO_ENCODE)
            return None
        opened = at(about(Path(name).expanduser()) / "manifest.json")
        if is_searched:
            opened.encoded.check_model(page.bert)
        _describe(opened)
        return opened
    if chosen == my_sentences.MINE:
        mine = my_sentences.choose()
        return None if mine is None else _of_list(page, mine)
    config = page.bert.config
    num_bytes = TOKENS * (config.num_hidden_layers + 1) * 2 * config.hidden_size
    stories = Stories(min(STARTS[chosen], float(f"{MOST_BYTES / num_bytes:.1g}")))
    return read(page, stories) if stories.folder(page.bert).is_dir() else stories


def _of_list(page: frame.Page, mine: my_sentences.MySentences) -> Opened | None:
    """Return the visitor's list encoded; draw the progress and return None until then.

    ValueError if its vectors would take more than MOST_BYTES, or there is no room for them.
    """
    key, config, texts = page.bert_key, page.bert.config, [line.text for line in mine.found.lines]
    place = _lists() / f"{fingerprint_of_model(page.bert)[:16]}-{mine.key[:16]}"
    if place.is_dir():
        os.utime(place)
    else:
        num_tokens = sum(map(len, page.bert.tokenizer.encode_ids(texts)))
        num_bytes = num_tokens * (config.num_hidden_layers + 1) * 2 * config.hidden_size
        if num_bytes > MOST_BYTES:
            raise ValueError(
                f"your list has {num_tokens:,} tokens, whose vectors at all layers take "
                f"{num_bytes / 1e6:,.0f} MB; at most {MOST_BYTES / 1e6:.0f} MB are kept. Use fewer "
                "or shorter sentences, or a smaller checkpoint."
            )

        def work(progress: Progress) -> bool:
            _encode_list(cache.opened(key), texts, place, progress)
            return True

        job = ("corpus-list", str(place))
        if policy().is_closed:  # former states of the list serve nobody else
            keep_newest(1, place)
        check_room(num_bytes)
        if waiting.result(Work(job, work), "corpus-list") is None:
            return None
        if not place.is_dir():  # deleted since, to make room for others
            background.forget(job)
            st.rerun()
    marked = tuple((number, *span) for number, span in mine.found.marks)
    opened = replace(at(about(place) / "manifest.json"), marked=marked, code=mine.code + LIST_CODE)
    _describe(opened)
    return opened


def _encode_list(bert: Model, texts: Sequence[str], place: Path, progress: Progress) -> None:
    """Encode a list at all layers, a document for each sentence, into a complete folder."""
    building = place.with_name(f".{place.name}-{os.getpid()}-{threading.get_ident()}")
    building.mkdir(mode=0o700, parents=True)
    try:
        file = building / "sentences.jsonl"
        file.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), "utf-8")
        layers = tuple(range(bert.config.num_hidden_layers + 1))
        settings = EncodeSettings(layers=layers, split=False)
        encode_corpus(
            bert,
            file,
            building / "vectors",
            settings,
            on_progress=lambda done: progress(done.fraction, f"Reading {len(texts):,} sentences"),
        )
        keep_newest(MOST_KEPT - 1, place)
        os.replace(building / "vectors", place)
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _lists() -> Path:
    """Return the folder of the visitors' encoded lists, which goes with the visit or the server."""
    root = visits.current().folder if policy().is_closed else visits.root()
    folder = root / "lists"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def read(page: frame.Page, stories: Stories) -> Opened | None:
    """Return the encoded stories; draw the progress and return None until then.

    RuntimeError or OSError if they cannot be read or written.
    """
    place = stories.folder(page.bert)
    if place.is_dir():
        os.utime(place)
    else:
        key = page.bert_key

        def work(progress: Progress) -> bool:
            _encode(cache.opened(key), place, stories.share, progress)
            return True

        job = ("corpus-stories", str(place))
        if waiting.result(Work(job, work), "corpus-stories") is None:
            return None
        if not place.is_dir():  # deleted since, to make room for others
            background.forget(job)
            st.rerun()
    opened = replace(at(about(place) / "manifest.json"), stories=stories)
    _describe(opened)
    return opened


def of_name(name: Name, bert: Model) -> Opened:
    """Return the encoded corpus of a name; the stories as a checkpoint has encoded them."""
    if isinstance(name, Stories):
        return at(about(name.folder(bert)) / "manifest.json")
    return at(Path(name[0]))


def is_ready(opened: Opened, layer: int) -> bool:
    """Return whether a layer can be searched; until then draw the progress of what it needs.

    Up to SCANNED_ROWS, it needs its vectors as one file, and an index is offered; above, an index.
    ValueError: see `bertcore.corpus.search.build_graph`. OSError if a file cannot be written.
    """
    encoded = opened.encoded
    if opened.is_small or _has_index(opened, layer):
        return True
    if len(encoded) > SCANNED_ROWS:
        return _built(opened, layer)

    def read(progress: Progress) -> bool:
        progress(0.1, f"Reading the vectors of layer {layer}")
        encoded.vectors(layer)
        return True

    key = ("corpus-vectors", hashable(opened), layer)
    if waiting.result(Work(key, read), "corpus-vectors") is None:
        return False
    if (str(encoded.folder), layer) in st.session_state.get(_INDEXED, ()):
        with frame.guard():
            _built(opened, layer)
        return True
    row = st.container(horizontal=True, vertical_alignment="center")
    row.caption(f"Every row is compared: layer {layer} has no index.", width="content")
    row.button(
        "Build an index",
        key="build_corpus_index",
        on_click=_want_index,
        args=(str(encoded.folder), layer),
        icon=":material/account_tree:",
        help="Takes a few minutes for a million rows and makes searches faster. It is kept "
        "beside the corpus.",
    )
    return True


def _want_index(folder: str, layer: int) -> None:
    wanted = st.session_state.get(_INDEXED, frozenset())
    st.session_state[_INDEXED] = wanted | {(folder, layer)}


def _built(opened: Opened, layer: int) -> bool:
    """Return whether the index of a layer is built; draw the progress until then."""

    def work(progress: Progress) -> bool:
        build_graph(opened.encoded, layer, on_progress=progress)
        return True

    key = ("corpus-index", str(opened.encoded.folder), layer)
    return waiting.result(Work(key, work), "corpus-index") is not None


def _has_index(opened: Opened, layer: int) -> bool:
    return (index_folder(opened.encoded, layer) / "about.json").is_file()


def index_of(opened: Opened, layer: int) -> VectorIndex:
    """Return the index that searches a layer that is ready: every row, or its graph.

    ValueError if its index was made by another checkpoint or from another corpus.
    """
    if opened.is_small or not _has_index(opened, layer):
        exact: VectorIndex = cache.of_file(_exact, opened.manifest, layer)
        return exact
    about_file = index_folder(opened.encoded, layer) / "about.json"
    graph: VectorIndex = cache.of_file(_graph, about_file, opened.manifest, layer)
    return graph


def at(manifest: Path) -> Opened:
    """Return the encoded corpus of a manifest."""
    opened: Opened = cache.of_file(_opened, manifest)
    return opened


def _describe(opened: Opened) -> None:
    encoded = opened.encoded
    describe(len(encoded), encoded.unit, encoded.manifest.num_texts, opened.stories)


def describe(num_rows: int, unit: Unit, num_texts: int, stories: Stories | None) -> None:
    """Draw how large a corpus is, and which stories it is, if it is of those."""
    num = {"token": "tokens", "word": "words", "sentence": "sentences"}[unit]
    sentence = f"{num_rows:,} {num} of {num_texts:,} sentences."
    if stories is not None:
        share = stories.share
        sentence += f" {ABOUT}"
        if share < STARTS[SOURCE.value]:
            sentence += (
                f" {share:.2g} of the sentences: all layers of all sentences would take more than "
                f"{MOST_BYTES / 1e6:.0f} MB."
            )
    st.caption(sentence)


def _encode(bert: Model, place: Path, share: float, progress: Progress) -> None:
    """Encode the stories at all layers, into a folder that is either complete or absent."""
    building = place.with_name(f".{place.name}-{os.getpid()}-{threading.get_ident()}")

    def show(done: EncodeProgress) -> None:
        speed = (
            "" if done.tokens_per_second is None else f", {done.tokens_per_second:,.0f} a second"
        )
        progress(done.fraction, f"Reading about {TOKENS * share:,.0f} tokens{speed}")

    layers = tuple(range(bert.config.num_hidden_layers + 1))
    try:
        settings = EncodeSettings(layers=layers, sample=share)
        encode_corpus(bert, STORIES, building, settings, on_progress=show)
        _delete_old(place.parent)
        try:
            os.replace(building, place)
        except OSError:
            if not place.is_dir():  # else another process was faster
                raise
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _delete_old(root: Path) -> None:
    """Make room for one more encoding, and delete what killed processes left."""
    found = [path for path in root.iterdir() if path.is_dir()]
    ages = {path: path.stat().st_mtime for path in found}
    whole = sorted((p for p in found if not p.name.startswith(".")), key=ages.__getitem__)
    surplus = whole[: max(0, len(whole) - MOST_KEPT + 1)]
    for path in found:
        unused = time.time() - ages[path]
        if path.name.startswith("."):
            is_old = unused > _LEFT_SECONDS
        else:
            is_old = unused > _RECENT_SECONDS and path in surplus
        if is_old:
            shutil.rmtree(path, ignore_errors=True)


def _root() -> Path:
    """Return the folder of the encoded stories; a closed server deletes it when it ends."""
    if policy().is_closed:
        root = visits.root() / "corpora"
    else:
        root = Path(os.environ.get(CACHE) or Path.home() / ".cache" / "bertscope" / "corpora")
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    return root


def _opened(manifest: Path) -> Opened:
    encoded = open_encoded(manifest.parents[1])
    return Opened(encoded, Places(encoded), manifest)


def _exact(manifest: Path, layer: int) -> ExactIndex:
    return ExactIndex(open_encoded(manifest.parents[1]).vectors(layer))


def _graph(about_file: Path, manifest: Path, layer: int) -> GraphIndex:
    return GraphIndex(open_encoded(manifest.parents[1]), layer)


def shown_folder(opened: Opened) -> str:
    """Return the folder as the page's Python names it; a closed server reveals no path."""
    return "vectors" if policy().is_closed or opened.code else str(opened.encoded.folder)


def hashable(opened: Opened) -> tuple[str, int, int]:
    """Return what identifies a corpus among the arguments of a cached call."""
    stat = opened.manifest.stat()
    return (str(opened.manifest), stat.st_size, stat.st_mtime_ns)
