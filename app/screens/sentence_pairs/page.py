"""Sentence pairs: does B follow A, what changes the answer, and how similar are sentences?"""

from dataclasses import replace

import streamlit as st

from bertcore.analysis.words.next_sentence import SEGMENTS
from bertcore.model.checkpoints.source import LANGUAGES
from bertcore.model.sentences import MEAN

from ...plots import percent, plain, shorten
from ...shell import TEXT_A, TEXT_B, Field, frame, one_of, sentence_box, show
from ...shell.pictures import capabilities
from ...shell.words import tr
from ...sources import my_sentences
from . import PAGE, views

BY_LAYER = "By layer"
MASS_CHARTS = {BY_LAYER: views.MASS.chart, "Every head": views.EVERY_HEAD}
MASS_CHART = Field("mass", BY_LAYER, tuple(MASS_CHARTS))
VARIANTS_OPEN = Field("variants", False)
ATTENTION_OPEN = Field("between", False)
SEGMENT_IDS = Field("segments", next(iter(SEGMENTS)), tuple(SEGMENTS))
EXAMPLE = next(example for example in sentence_box.EXAMPLES if example.group == "Pairs")

MOST_SENTENCES = 12  # most sentences of a legible matrix: 132 pairs
DEFAULT = """The river rose during the night.
In the morning the old bridge was under water.
Soldiers built a new bridge within a week.
The committee elected a new chairman in May.
He had been a member of the party since 1990."""
"""Three sentences of one story, then two of another."""
SEVERAL_OPEN = Field("several", False)
SENTENCES = Field("sentences", DEFAULT)
SOURCES = {"box": "Written here", **my_sentences.OFFERED}
SOURCE = Field("sentences_source", "box", tuple(SOURCES))
FIRST, SECOND = Field("similar_a", 0), Field("similar_b", 1)
"""Places of the two sentences whose words are shown."""

NO_HEAD = (
    "This checkpoint has no next-sentence (NSP) head, so it cannot say whether B follows A. The "
    "attention between the sentences is below; for the score, choose a pretrained checkpoint such "
    "as `default` in the sidebar."
)
FAMILY_WITHOUT_HEAD = (
    "{reason} The attention between the sentences is below; for next-sentence scores, choose a "
    "pretrained BERT such as `default` in the sidebar."
)
TOO_MANY = (
    "There are {count} sentences; the first {most} are compared, since more would not be legible."
)
NO_PARTS = (
    "Which words this comes from cannot be determined exactly: after pooling, the vectors are "
    "changed further ({described}) and are no longer a sum over the tokens."
)
USUAL = (
    "Mean pooling: a vector is the mean over all tokens of the last layer, special tokens "
    "included. Unlike sentence encoders (`modules.json`), this checkpoint was not trained for "
    "similarity: unrelated sentences may have a high cosine, so compare the cosines with each "
    "other."
)


def other_texts(page: frame.Page) -> tuple[str, ...]:
    """Return sentences to put in place of B, in the language of the checkpoint."""
    source = page.bert_key.source
    checkpoint = source if source in LANGUAGES else ""
    texts = (e.text_b for e in sentence_box.EXAMPLES if e.checkpoint == checkpoint)
    return tuple(text for text in texts if text and text != page.text_b)


def choose(page: frame.Page, *, is_example: bool) -> str:
    """Draw what can be done with the pair; return the choice of segment ids."""
    row = st.container(horizontal=True, vertical_alignment="bottom")

    def swap() -> None:
        TEXT_A.put(page.text_b or "")
        TEXT_B.put(page.text_a)

    icon = ":material/swap_horiz:"
    row.button(tr("Swap A and B"), icon=icon, on_click=swap, disabled=is_example)
    with frame.more(row):
        if has_segments := page.bert.config.type_vocab_size > 1:
            one_of("Segment ids", list(SEGMENTS), SEGMENT_IDS, with_label=True)
        else:
            st.caption(tr("This checkpoint gives all tokens the same segment, or none."))
        st.markdown(tr("Another B"))
        for text in other_texts(page):
            key = f"b_{text}"
            st.button(plain(text), key=key, type="tertiary", on_click=TEXT_B.put, args=(text,))
    return SEGMENT_IDS.value if has_segments else SEGMENT_IDS.default


def show_pair(page: frame.Page, *, is_example: bool) -> None:
    """Draw everything about a pair: that of the sentence box, or an example."""
    segments = choose(page, is_example=is_example)
    if "nsp" in page.bert.capabilities:
        is_next = percent(page.compute(views.ANSWER.of, page.reading, segments).is_next)
        told = "BERT: **{probability}** probability that B follows A"
        if is_example:  # no heading, which would look like an answer about the visitor's text
            st.markdown(tr("In this example: {told}", told=tr(told, probability=is_next)))
        else:
            st.header(tr(told, probability=is_next), anchor=False)
        show(views.ANSWER, page, segments)
        show_variants(page)
    else:
        capabilities.no_head(page, "nsp", NO_HEAD, FAMILY_WITHOUT_HEAD)
        if "sop" in page.bert.capabilities:
            in_order = page.compute(views.ORDER.of, page.reading).in_order
            told = "ALBERT: **{probability}** probability that A comes before B"
            st.header(tr(told, probability=percent(in_order)), anchor=False)
            show(views.ORDER, page)
        if not ATTENTION_OPEN.is_chosen:
            ATTENTION_OPEN.put(True)
    show_attention(page, segments)


@frame.closed(views.VARIANTS.question, VARIANTS_OPEN)
def show_variants(page: frame.Page) -> None:
    """Draw the answers to changed versions of the pair."""
    written = page.compute(views.VARIANTS.of, page.reading, other_texts(page))[0].is_next
    show(views.VARIANTS, page, other_texts(page), drawn={"line": written})


@frame.closed(views.MASS.question, ATTENTION_OPEN, MASS_CHART)
def show_attention(page: frame.Page, segments: str) -> None:
    """Draw the attention between the sentences, with the chosen segment ids."""
    chart = MASS_CHARTS[one_of("View", list(MASS_CHARTS), MASS_CHART)]
    show(views.MASS, page, segments, drawn={"chart": chart})


@frame.closed(
    "How similar are several sentences, and which follows which?",
    SEVERAL_OPEN,
    *(SENTENCES, SOURCE, FIRST, SECOND),
)
def show_several(page: frame.Page) -> None:
    """Draw the box for the sentences, how similar they are, and which of them follows which.

    The texts of the page come first among those whose similarity is shown.
    """
    if page.masked:
        st.caption(tr("Here all sentences are read as they are typed."))
    if one_of("Sentences", SOURCES, SOURCE) == my_sentences.MINE:
        mine = my_sentences.choose()
        if mine is None:
            return
        lines = [line.text for line in mine.found.lines]
        show_rates(page, mine)
    else:
        typed = st.text_area(tr("Sentences, one per line"), key=SENTENCES.key(), height="content")
        lines = [line.strip() for line in typed.splitlines() if line.strip()]
    if len(lines) > MOST_SENTENCES:
        st.warning(tr(TOO_MANY, count=len(lines), most=MOST_SENTENCES))
    sentences = tuple(lines[:MOST_SENTENCES])
    own = [" ".join(text.split()) for text in (page.text_a, page.text_b) if text and text.strip()]
    compared = tuple(dict.fromkeys([*own, *sentences]))
    if len(compared) > 1:
        with frame.guard():
            show_similarity(page, compared)
    if len(sentences) < 2:
        st.info(tr("Write at least two sentences above, one per line."))
    elif "nsp" in page.bert.capabilities:
        st.subheader(tr(views.MATRIX.question), anchor=False)
        with frame.guard():
            show(views.MATRIX, page, sentences)


def show_rates(page: frame.Page, mine: my_sentences.MySentences) -> None:
    """Draw how often B follows A over the list: its pairs, or each sentence with the next."""
    if "nsp" not in page.bert.capabilities:
        return
    has_pairs = bool(mine.found.pairs)
    pairs = mine.found.pairs or mine.found.consecutive
    if not pairs:
        st.info(tr("Write a second sentence: each is asked whether it follows the one before."))
        return
    st.subheader(tr(views.RATES.question), anchor=False)
    single = len(mine.found.lines) - len(mine.found.pairs)
    if has_pairs and single:
        st.caption(tr("Lines of one sentence are left out: {count}.", count=f"{single:,}"))
    about = "the list's pairs" if has_pairs else "pairs of each sentence with the next one"
    spelled = {"pairs": "mine.pairs" if has_pairs else "mine.consecutive"}
    with frame.guard():
        show(views.RATES, page, pairs, setup=f"\n{mine.code}", spelled=spelled, pairs=about)


def show_similarity(page: frame.Page, sentences: tuple[str, ...]) -> None:
    """Draw the cosines of at least two sentences, and the words of the chosen pair."""
    st.subheader(tr(views.SIMILARITY.question), anchor=False)
    modules = page.bert.sentence_modules
    described = "" if modules is None else plain(modules.describe(page.bert.max_length))
    if modules is None:
        st.caption(tr(USUAL))
    elif modules.unread is None:
        st.caption(tr("Vectors of this sentence encoder: {described}.", described=described))
    places = list(range(len(sentences)))
    # Drawn below the picture; a click on a cell writes them.
    keys = [FIRST.key(options=places), SECOND.key(options=places)]
    pair = (FIRST.value, SECOND.value)
    opened = tuple(place + 1 for place in pair)
    show(views.SIMILARITY, page, sentences, drawn={"opened": opened}, on_select=pick)
    row = st.container(horizontal=True, vertical_alignment="bottom")
    for label, key in zip(("First sentence", "Second sentence"), keys, strict=True):
        row.selectbox(
            tr(label),
            places,
            format_func=lambda place: f"{place + 1}: {shorten(sentences[place], 60)}",
            key=key,
        )
    if not (modules or MEAN).splits_by_token:
        st.info(tr(NO_PARTS, described=described))
        return
    words, dark = (sentences[pair[0]], sentences[pair[1]]), {"is_dark": page.is_dark}
    st.markdown(f"**{tr(views.SHARED.question)}**")
    show(views.SHARED, page, *words, drawn=dark)
    show(views.WORD_PAIRS, page, *words, drawn=dark)


def pick(clicked: str) -> None:
    """Choose the pair of a cell that was clicked."""
    for field, number in zip((FIRST, SECOND), str(clicked).split("."), strict=True):
        field.put(int(number) - 1)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    with frame.guard():
        shown, is_example = page, page.text_b is None
        if is_example:
            pair = (EXAMPLE.text_a, EXAMPLE.text_b)
            frame.example_pair(*pair, ", since your text has no sentence B.")
            shown = replace(page, text_a=pair[0], text_b=pair[1], masked=())
        show_pair(shown, is_example=is_example)
    show_several(page)
