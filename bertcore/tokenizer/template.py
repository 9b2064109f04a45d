"""The special tokens that a tokenizer of the `tokenizers` library adds to a text or a pair."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from tokenizers import Encoding as FastEncoding
from tokenizers import Tokenizer as FastTokenizer

from bertcore.tokenizer.encoding import Template
from bertcore.tokenizer.errors import library_errors


def read_templates(fast: FastTokenizer, vocab: Sequence[str]) -> tuple[Template, Template]:
    """Return the special tokens of a text and of a pair.

    Args:
        vocab: Its tokens in the order of their ids.

    ValueError if it can split no text, adds an id that is not in the vocabulary, or does not
    contain each text once and in order.
    """
    with library_errors("it cannot split a text ({}). Copy it again."):
        probes = _probes(fast, vocab)
        return _read_template(fast, vocab, probes[:1]), _read_template(fast, vocab, probes)


def _probes(fast: FastTokenizer, vocab: Iterable[str]) -> list[FastEncoding]:
    """Return two texts of one token each, two different ones if possible.

    ValueError if no text has a token.
    """
    found: dict[int, FastEncoding] = {}
    # The library applies the template to A and B even without special tokens.
    reason = "its normalizer or post_processor drops the text"
    for text in itertools.chain("a1", vocab):
        try:
            part = fast.encode(text, add_special_tokens=False)
        except Exception as error:  # a vocabulary without [UNK] may lack these letters
            reason = str(error)
            continue
        # Keep the last token: many texts begin alike, with the space that Unigram adds.
        part.truncate(1, direction="left")
        if part.ids:
            found.setdefault(part.ids[0], part)
        if len(found) == 2:
            break
    if not found:
        raise ValueError(
            f"it can split neither a letter nor an entry of its own vocabulary ({reason}). Save "
            "the tokenizer again with the program that trained the checkpoint."
        )
    parts = list(found.values())
    return [parts[0], parts[-1]]


def _read_template(
    fast: FastTokenizer, vocab: Sequence[str], parts: Sequence[FastEncoding]
) -> Template:
    """Return the tokens that the post-processor adds before, between and after one or two texts.

    Args:
        vocab: Its tokens in the order of their ids.
        parts: The texts, of one token each.

    ValueError if it adds an id that is not in the vocabulary, or does not contain each text once
    and in order.
    """
    whole = fast.post_process(parts[0], parts[1] if len(parts) == 2 else None, True)
    tokens = list(zip(whole.ids, whole.type_ids, strict=True))
    unknown = [token_id for token_id in whole.ids if token_id >= len(vocab)]
    if unknown:
        raise ValueError(
            f"its post_processor adds a token with the id {unknown[0]}, but its vocabulary has ids "
            f"0 to {len(vocab) - 1} only. Save the tokenizer again."
        )
    texts = [i for i, flag in enumerate(whole.special_tokens_mask) if not flag]
    if [whole.ids[i] for i in texts] != [part.ids[0] for part in parts]:
        names = {part.ids[0]: name for part, name in zip(parts, "AB", strict=False)}
        made = [
            names[whole.ids[i]] if i in texts else vocab[whole.ids[i]] for i in range(len(whole))
        ]
        given, expected = (
            ("a pair", "A once, then B once") if len(parts) == 2 else ("a text", "A once")
        )
        raise ValueError(
            f"its post_processor makes {' '.join(made) or 'nothing'!r} of {given}; expected "
            f"{expected}, with special tokens around. Correct the post_processor and save the "
            "tokenizer again."
        )
    first, last = texts[0], texts[-1]
    return Template(
        before=tuple(tokens[:first]),
        between=tuple(tokens[first + 1 : last]),
        after=tuple(tokens[last + 1 :]),
        segments=(tokens[first][1], tokens[last][1]),
    )
