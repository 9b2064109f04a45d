"""Split a paragraph into sentences, fast enough for a corpus.

Next-sentence prediction needs sentences, but a parser is too slow for a corpus. The rule: a
sentence ends at a full stop, question mark, exclamation mark or ellipsis, with the closing quotes
and brackets after it, if white space follows and the next word does not begin with a lower-case
letter, unless the stop belongs to an abbreviation, an initial or a number.
"""

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NEVER_LAST = _words(
    "Mr Mrs Ms Messrs Mme Mlle Dr Drs Prof Rev Fr Hon Pres Gov Sen Rep Gen Brig Col Maj Capt Cpt "
    "Cmdr Lt Sgt Cpl Pvt Adm Supt Insp Msgr Ven Mgr Wm Chas Geo Thos Jas cf viz vs approx "
    "e.g i.e E.g I.e eg ie"
)
"""Abbreviations that never end a sentence."""

_SELDOM_LAST = _words(
    "St Ste Mt Ft Jr Sr Inc Ltd Co Corp Bros Dept Univ Assn Ave Blvd Rd etc al ca Ph Jan Feb Mar "
    "Apr Jun Jul Aug Sep Sept Oct Nov Dec Mon Tue Wed Thu Fri Sat Sun ed eds trans est"
)
"""Abbreviations that may end a sentence; one ends there if a word of `_STARTERS` follows."""

_BEFORE_NUMBER = _words(
    "No no Nos nos Vol vol Vols vols p pp Fig fig Figs figs Eq eq Ch ch chap Sec sec Art art Op op "
    "Pt pt Bk bk Ps v vv c b d r fl"
)
"""Abbreviations if a number follows, otherwise words: "No. 5", but "No. It is not.\""""

_STARTERS = _words(
    "A After All Although An And Another As At Because Before Both But By Despite During Each "
    "For From He Her Here His How However I If In It Its Later Many Meanwhile Most My No Not Now "
    "On One Or Our She Since So Some Such That The Their Then There These They This Those Though "
    "Thus Through To Today Two Under Until We What When Where Which While Who Why With You Your"
)
"""Words that, with a capital, nearly always begin a sentence."""

_STOPS = ".!?…؟۔।"
_CJK_STOPS = "。！？｡"
_OPENING = re.escape("\"'“‘«„‹([{¿¡*_—–-「『（【《〈")
_CLOSING = re.escape("\"'”’»“›)]}*_")
_CJK_CLOSING = re.escape("」』”’）】》〉")

_CANDIDATE = re.compile(
    rf"""
    (?<![{_STOPS}]) (?P<stop>[{_STOPS}]++) (?P<close>[{_CLOSING}]*+)
    (?= \s [{_OPENING}\s]*+ (?P<next>[^\W_a-z]\w*|[$€£¥#]) )
    | (?<![{_CJK_STOPS}]) [{_CJK_STOPS}]++
      # A quotation that closes after the stop is often followed by "said he", with no space.
      (?: (?![{_CJK_CLOSING}]) | [{_CJK_CLOSING}]++ (?=[\s{_OPENING}]) )
    """,
    re.VERBOSE,
)
"""Where a sentence may end. Possessive quantifiers keep the search linear for any text."""

_LAST_WORD = re.compile(r"[^\W\d_][\w.]*$")
_DOTTED = re.compile(r"(?:[^\W\d_]{1,3}\.)+[^\W\d_]{1,3}$")
_WINDOW = 14
"""Characters before a stop that are searched: more than any abbreviation has."""


def split_sentences(paragraph: str) -> list[str]:
    """Split a paragraph into its sentences.

    Joined, they give the paragraph again, except for white space. Text without a full stop stays
    one sentence, however long; a paragraph of white space has none. Line breaks count as spaces.
    The abbreviations are English; Chinese and Japanese stops, and those of Hindi, Urdu and
    Arabic, end a sentence too.

    Source: ours. An approximation: "He lives in St. Paul." stays whole and "He left the U.S. The
        war went on." is split, but "in the U.S. Congress met" stays whole, as nothing marks its
        end.
    """
    sentences = []
    start = 0
    for match in _CANDIDATE.finditer(paragraph):
        if match["next"] is not None and not _ends(paragraph, start, match):
            continue
        sentences.append(paragraph[start : match.end()].strip())
        start = match.end()
    rest = paragraph[start:].strip()
    return [*sentences, rest] if rest else sentences


def _ends(paragraph: str, start: int, match: re.Match[str]) -> bool:
    """True if the sentence that begins at `start` ends at this Latin stop."""
    stop, following = match["stop"], match["next"]
    if following[0].islower():
        return False
    if stop != ".":
        is_ellipsis = stop[-1] in ".…" and "!" not in stop and "?" not in stop
        return not (is_ellipsis and following == "I")  # "I ... I do not know."
    at = match.start()
    before = paragraph[max(start, at - _WINDOW) : at].lstrip()
    if before.isdecimal() and len(before) <= 3 and paragraph[start:at].strip() == before:
        return False  # "1. First point": the number of a list
    last_word = _LAST_WORD.search(before)
    if last_word is None:
        return True
    word = last_word[0]
    if word in _NEVER_LAST:
        return False
    if word in _BEFORE_NUMBER and following[0].isdecimal():
        return False
    if word in _SELDOM_LAST or _DOTTED.fullmatch(word):
        return following in _STARTERS
    # An initial, as in "J. R. R. Tolkien"; "I" is far more often the pronoun.
    return not (len(word) == 1 and word.isupper() and word != "I")
