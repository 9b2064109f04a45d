"""Places of tokens in the text, over the pre-tokenizers and normalizers of the library.

Its own offsets begin a letter late where a pre-tokenizer adds a space that the text lacks.
"""

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer as FastTokenizer
from tokenizers import models, normalizers, pre_tokenizers, processors, trainers

from bertcore.data.examples import QuestionExample
from bertcore.model.tokenizer import LibraryTokenizer
from bertcore.model.tokenizer.encoding import words_of
from bertcore.training.tasks.questions import find_answers, question_rows

CORPUS = ["The castle of Amsterdam is near the river. It was 1984, naïve Éva's 42 cats!"] * 3
TEXTS = [
    "The castle of Amsterdam is near the river .",
    "  Éva's cats, 42!  naïve\n\ttab",
    "a b 12 3 x!?y Amsterdam,is(near)",
    "e\u0301toile \u200bzero",
    "日本語 text 🙂 end ﬁne ①",
    "\u1112\u1161\u11ab a",
]
PRE: dict[str, Callable[[], Any]] = {
    "Whitespace": pre_tokenizers.Whitespace,
    "WhitespaceSplit": pre_tokenizers.WhitespaceSplit,
    "bytes after a space": lambda: pre_tokenizers.ByteLevel(add_prefix_space=True),
    "bytes": lambda: pre_tokenizers.ByteLevel(add_prefix_space=False),
    "Punctuation": pre_tokenizers.Punctuation,
    "Metaspace": pre_tokenizers.Metaspace,
    "first Metaspace": lambda: pre_tokenizers.Metaspace(prepend_scheme="first"),
    "Digits": lambda: pre_tokenizers.Digits(individual_digits=True),
    "BertPreTokenizer": pre_tokenizers.BertPreTokenizer,
}
NORMALIZERS: dict[str, Callable[[], Any]] = {
    "NFD": normalizers.NFD,
    "NFKC": normalizers.NFKC,
    "Lowercase": normalizers.Lowercase,
    "Strip": normalizers.Strip,
    "Replace": lambda: normalizers.Replace("a", "aa"),
    "Replace by nothing": lambda: normalizers.Replace("\u200b", ""),
    "Prepend": lambda: normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    ),
    "ALBERT's": lambda: normalizers.Sequence(
        [normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()]
    ),
}
MODELS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "BPE": lambda: (models.BPE(unk_token="<unk>"), trainers.BpeTrainer),
    "Unigram": lambda: (models.Unigram(), trainers.UnigramTrainer),
    "WordPiece": lambda: (models.WordPiece(unk_token="<unk>"), trainers.WordPieceTrainer),
}


def tokenizer_of(model: str, pre: list[str], normalizer: str | None) -> LibraryTokenizer:
    untrained, trainer = MODELS[model]()
    fast = FastTokenizer(untrained)
    fast.pre_tokenizer = pre_tokenizers.Sequence([PRE[name]() for name in pre])
    if normalizer is not None:
        fast.normalizer = NORMALIZERS[normalizer]()
    special: dict[str, Any] = {"special_tokens": ["<s>", "</s>", "<unk>"], "show_progress": False}
    options: dict[str, Any] = {
        "BPE": {"initial_alphabet": pre_tokenizers.ByteLevel.alphabet()},
        "Unigram": {"unk_token": "<unk>"},
    }.get(model, {})
    fast.train_from_iterator(CORPUS, trainer(vocab_size=380, **special, **options))
    fast.post_processor = processors.RobertaProcessing(("</s>", 1), ("<s>", 0), True, True)
    roles = {"cls_token": "<s>", "sep_token": "</s>", "unk_token": "<unk>"}
    return LibraryTokenizer(fast, special_tokens=roles, model_max_length=200)


def combinations() -> Iterator[tuple[list[str], str | None]]:
    for number in (1, 2, 3):
        for turn, names in enumerate(itertools.permutations(PRE, number)):
            if sum(name.startswith("bytes") for name in names) > 1:
                continue
            if number == 1:
                yield from (([*names], normalizer) for normalizer in (None, *NORMALIZERS))
            elif number == 2 or turn % 5 == 0:
                yield [*names], (None, *NORMALIZERS)[turn % (len(NORMALIZERS) + 1)]


def check_places(tokenizer: LibraryTokenizer, text: str) -> None:
    """Check that each character is in the token that is made of it, and in no other."""
    normalizer = tokenizer.fast.normalizer

    def normalized(part: str) -> str:
        return part if normalizer is None else normalizer.normalize_str(part)

    (pieces,) = tokenizer.encode_pieces([text])
    owners: dict[int, set[tuple[int, int]]] = defaultdict(set)
    last = 0
    for id, (start, end) in zip(pieces.ids, pieces.offsets, strict=True):
        part = text[start:end]
        assert last <= start <= end <= len(text)
        assert part == part.strip() or not part.strip()
        last = start
        for place in range(start, end):
            owners[place].add((start, end))
        letters = tokenizer.vocab[id].removeprefix("##").strip("▁Ġ ")
        if not letters:
            assert not part.strip()  # a space that only the tokenizer added
        elif letters.isascii() and letters.isalnum() and id != tokenizer.unk_id:
            assert letters in normalized(part) * 2, (part, letters)
    for place, character in enumerate(text):
        is_dropped = normalized(text[:place] + text[place + 1 :]) == normalized(text)
        assert character.isspace() or is_dropped or owners[place], place
        # The bytes of a character, or a letter and its mark, are several tokens.
        starts, ends = zip(*sorted(owners[place]) or [(0, 0)], strict=True)
        is_split = {*starts[1:]} == {place} and ends[0] == place + 1
        assert character.isspace() or len(owners[place]) < 2 or is_split, place


@pytest.mark.parametrize("model", MODELS)
def test_each_character_is_in_the_token_that_is_made_of_it(model: str) -> None:
    for pre, normalizer in combinations():
        tokenizer = tokenizer_of(model, pre, normalizer)
        for text in TEXTS:
            try:
                check_places(tokenizer, text)
            except AssertionError as error:
                raise AssertionError((pre, normalizer)) from error


ROBBERT = ["Whitespace", "bytes after a space", "Punctuation"]


@pytest.mark.parametrize("pre", [ROBBERT, ["Punctuation", "bytes after a space"], ["Metaspace"]])
def test_answers_and_words_begin_with_their_first_letter(pre: list[str]) -> None:
    """EuroEval#2173: "msterdam" for RobBERT, whose words get a space before them."""
    tokenizer = tokenizer_of("BPE", pre, None)
    text, answer = TEXTS[0], "Amsterdam"
    example = QuestionExample("1", "where", text, [(answer, text.index(answer))], 1)
    rows, questions = question_rows([example], tokenizer, max_length=64, is_train=False)
    logits = np.zeros((len(rows.ids), 2), dtype=np.float32)
    first, last = rows.targets[0]
    logits[first, 0] = logits[last, 1] = 9
    assert [found.text for found in find_answers(questions, [logits])] == [answer]
    words = [word.text for word in words_of(tokenizer.encode(text), text) if word.text_id >= 0]
    assert [word for word in words if word.strip("Ġ▁")] == text.split()
