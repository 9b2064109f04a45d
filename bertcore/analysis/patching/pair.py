"""Two versions of a text as rows of tokens, and which tokens can be patched."""

from dataclasses import dataclass

from bertcore.analysis.compare.minimal_pair import Column, align
from bertcore.analysis.shared.inputs import masked_encoding
from bertcore.model import Model
from bertcore.tokenizer import Encoding

SAME = (
    "The two versions are the same, so there is nothing to patch. Change a word in the second "
    "version."
)
SAME_TOKENS = (
    "The two versions differ as text but have the same tokens in this vocabulary, so both runs "
    "are the same and there is nothing to patch. Change a word in the second version."
)


@dataclass(frozen=True, slots=True)
class PatchPair:
    """Two versions of a text."""

    first: Encoding
    second: Encoding
    columns: tuple[tuple[int, int], ...]
    """Position in the first version and in the second of each token that both have, [N]."""
    missing: tuple[tuple[str, ...], tuple[str, ...]]
    """Tokens of the first and the second version without a place in the other."""

    @property
    def is_aligned(self) -> bool:
        """Whether the versions align token by token; only then can every place be patched."""
        return not any(self.missing)

    @property
    def changed(self) -> tuple[bool, ...]:
        """Whether the tokens of each column differ, [N]."""
        return tuple(self.first.input_ids[i] != self.second.input_ids[j] for i, j in self.columns)

    def place(self, column: int, version: int) -> int:
        """Return the position of a column in version 0 or 1."""
        return self.columns[column][version]

    def sentence(self) -> str:
        """Return to what extent the versions align, as a sentence."""
        counts = len(self.first), len(self.second)
        number = sum(self.changed)
        differ = "1 token differs" if number == 1 else f"{number} tokens differ"
        if self.is_aligned:
            return f"The versions align token by token: {counts[0]} tokens, {differ}."
        gaps = [f"“{' '.join(tokens[:6])}”" for tokens in self.missing if tokens]
        later = next(((i, j) for i, j in self.columns if i != j), None)
        shifted = (
            " From the gap on, a token has another position in the other version, so patched "
            "activations differ in position, too."
            if later
            else ""
        )
        return (
            f"The versions have {counts[0]} and {counts[1]} tokens, so they do not align token by "
            f"token: {' and '.join(gaps)} has no place in the other version and cannot be "
            f"patched. The other {len(self.columns)} places can.{shifted} For an exact answer, "
            "choose words with the same number of pieces."
        )


def patch_pair(
    model: Model,
    first: tuple[str, str | None],
    second: tuple[str, str | None],
    *,
    hide: int | None = None,
) -> PatchPair:
    """Return two versions of a text or pair, aligned.

    Args:
        first, second: Text A and text B of each version.
        hide: Position in the first version of a token that both versions have, to be replaced by
            [MASK] in both; None: the texts unchanged.

    ValueError if the versions are the same, as texts or as tokens, or would be with the token
    hidden; if one is a pair and the other is not, or `hide` is in one version only.
    """
    if first == second:
        raise ValueError(SAME)
    if (first[1] is None) != (second[1] is None):
        raise ValueError(
            "one version is a pair and the other a single text. Give two pairs or two single texts."
        )
    encodings = (model.tokenize(*first), model.tokenize(*second))
    if encodings[0].input_ids == encodings[1].input_ids:
        raise ValueError(SAME_TOKENS)
    aligned = align(*encodings)
    columns = tuple((i, j) for i, j in aligned if i is not None and j is not None)
    if hide is not None:
        encodings = _hidden(model, encodings, (first, second), columns, hide)
    return PatchPair(*encodings, columns=columns, missing=_missing(encodings, aligned))


def _hidden(
    model: Model,
    encodings: tuple[Encoding, Encoding],
    texts: tuple[tuple[str, str | None], tuple[str, str | None]],
    columns: tuple[tuple[int, int], ...],
    hide: int,
) -> tuple[Encoding, Encoding]:
    """Return both versions with a token hidden."""
    found = next((column for column in columns if column[0] == hide), None)
    if found is None:
        raise ValueError(
            f"token {hide} of the first version is not in the second one, so it cannot be hidden "
            "in both. Choose a token that occurs in both."
        )
    one, two = (
        masked_encoding(model, *version, masked=(place,))
        for version, place in zip(texts, found, strict=True)
    )
    if one.input_ids == two.input_ids:
        raise ValueError(
            f"the versions differ only in {encodings[0].tokens[hide]!r}, so they are the same "
            "once it is hidden. Hide a token that occurs in both."
        )
    return one, two


def _missing(
    encodings: tuple[Encoding, Encoding], aligned: tuple[Column, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    first = tuple(encodings[0].tokens[i] for i, j in aligned if i is not None and j is None)
    second = tuple(encodings[1].tokens[j] for i, j in aligned if j is not None and i is None)
    return first, second
