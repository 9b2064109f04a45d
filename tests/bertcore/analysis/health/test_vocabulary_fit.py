"""The doctor tells a wrong vocabulary from a right one, in any language, and does not guess."""

import codecs
import math
import random
from collections.abc import Sequence

import pytest
import torch

import bertcore
from bertcore import Bert
from bertcore.analysis.health.checkpoint_doctor import PROBE_TEXTS, Diagnosis, Finding, examine
from bertcore.analysis.health.vocabulary_fit import guess_gap, spelling_gap, whole_words
from bertcore.analysis.shared.inputs import text_positions
from bertcore.model.network import Network
from bertcore.model.network.initialize import initialize
from tests.support.exhaustive import all_but

TEXTS = [text.lower() for text in PROBE_TEXTS]


def opened(vocab: Sequence[str] | None = None, name: str = "default") -> Bert:
    """Open a shipped checkpoint, with another vocabulary if one is given."""
    bert = bertcore.load(name, device="cpu")
    return bert if vocab is None else Bert(bert.module, bertcore.Tokenizer(vocab))


VOCAB = opened().tokenizer.vocab


def shuffled() -> list[str]:
    rest = VOCAB[5:]
    random.Random(0).shuffle(rest)
    return [*VOCAB[:5], *rest]


def with_a_line_at(place: int) -> list[str]:
    """Return the vocabulary after a line was added to it, and the last one lost."""
    return [*VOCAB[:place], "xyzzyx", *VOCAB[place:-1]]


def foreign(text: str) -> str:
    """Translate into a language of which our English sentences have no word: rotated letters."""
    return codecs.encode(text, "rot13")


def finding(found: Diagnosis, sign: str) -> Finding:
    return next(each for each in found.findings if each.sign == sign)


# --- verdicts -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["default", "causal", "sentiment"])
def test_a_shuffled_vocabulary_is_named_with_and_without_a_head_that_guesses(name: str) -> None:
    found = examine(opened(shuffled(), name))
    assert found.verdict == "vocabulary"
    assert "does not look like the one" in found.sentences()[0]
    assert not finding(found, "vocabulary").is_healthy
    assert finding(found, "guesses").is_healthy == (name == "sentiment")
    assert math.isnan(finding(found, "guesses").value) == (name == "sentiment")


@pytest.mark.parametrize("name", all_but(["zh"], ["zh", "ru"]))
def test_other_languages_are_judged_by_spelling_alone(name: str) -> None:
    vocab = opened(name=name).tokenizer.vocab
    rest = vocab[5:]
    random.Random(0).shuffle(rest)
    for words, verdict in ((None, "trained"), ([*vocab[:5], *rest], "vocabulary")):
        found = examine(opened(words, name))
        assert found.verdict == verdict
        assert "not judged" in finding(found, "guesses").sentence


def test_ids_that_are_shifted_from_the_middle_on_are_named() -> None:
    found = examine(opened(with_a_line_at(12_288)))
    assert found.verdict == "pieces"
    assert "the ids 12,288 to 16,383 are not" in finding(found, "vocabulary").sentence
    assert examine(opened(with_a_line_at(1000))).verdict == "vocabulary"


def test_a_head_that_was_not_trained_guesses_no_better_than_frequency() -> None:
    bert = opened()
    fresh = initialize(Network(bert.config), torch.Generator().manual_seed(0))
    bert.module.mlm.load_state_dict(fresh.mlm.state_dict())
    found = examine(bert)
    assert found.verdict == "guesses"
    assert "no better than by their frequency" in found.sentences()[0]


def test_a_foreign_vocabulary_is_not_judged_by_english_but_by_its_own_texts() -> None:
    right, wrong = (opened([*VOCAB[:5], *map(foreign, vocab[5:])]) for vocab in (VOCAB, shuffled()))
    found = examine(right)
    assert found.verdict == "trained"
    assert "not judged" in finding(found, "guesses").sentence
    assert "Give 8 or more sentences in its own language" in finding(found, "guesses").sentence
    own = examine(right, plain=list(map(foreign, TEXTS)))
    assert own.verdict == "trained"
    assert finding(own, "guesses").value > 3
    assert examine(wrong).verdict == "vocabulary"  # from the spelling alone
    assert not finding(examine(wrong, plain=list(map(foreign, TEXTS))), "guesses").is_healthy


# --- the numbers ----------------------------------------------------------------------------------


def test_the_gap_of_a_frequency_model_is_zero_and_of_a_reader_is_its_gain() -> None:
    """Worked out by hand: with all contexts equal, no piece gains from its own."""
    bert = opened()
    with torch.no_grad():
        for layer in bert.module.layers:  # states that say nothing: the head sees one vector
            layer.feed_forward.norm.weight.zero_()
    gap = guess_gap(bert, TEXTS)
    assert gap.value == pytest.approx(0, abs=1e-9)
    assert not gap.is_positive


@pytest.mark.parametrize("name", ["default", "causal"])
def test_the_gap_is_that_of_plain_runs(name: str) -> None:
    bert = opened(name=name)
    texts = [" ".join(text.split()[:9]) for text in TEXTS]  # all of their pieces are asked
    asked, columns = [], []
    for number, text in enumerate(texts):
        encoding = bert.tokenize(text)
        ids = encoding.input_ids
        for place in text_positions(encoding):
            if ids.count(ids[place]) > 1:
                continue
            hidden = list(ids)
            if name == "default":
                hidden[place] = bert.tokenizer.mask_id
            with torch.no_grad():
                states = bert.module.word_states(
                    torch.tensor([hidden]), torch.tensor([encoding.segment_ids])
                )[0]
                logits = (
                    bert.module.mlm_logits(states[place])
                    if name == "default"
                    else bert.module.next_logits(states[place - 1])
                )
            asked.append((number, ids[place]))
            columns.append(logits.double().softmax(-1))
    gains = []
    for (number, piece), own in zip(asked, columns, strict=True):
        others = [c[piece] for (n, _), c in zip(asked, columns, strict=True) if n != number]
        gains.append(float((own[piece] / torch.stack(others).mean()).log()))
    gap = guess_gap(bert, texts)
    assert gap.count == len(gains)
    assert gap.value == pytest.approx(sum(gains) / len(gains), abs=1e-4)


def test_spelling_finds_what_was_planted_and_nothing_in_noise() -> None:
    generator = torch.Generator().manual_seed(0)
    words = [f"{stem:03d}{end}" for stem in range(300) for end in ("", "s", "ed")]
    stems = torch.randn(300, 32, generator=generator).repeat_interleave(3, 0)
    noise = torch.randn(900, 32, generator=generator)
    assert not spelling_gap(noise, words).is_positive
    planted = spelling_gap(stems + noise, words)
    assert planted.is_positive
    assert 0.3 < planted.value < 0.6  # half of the variance is shared, within stems
    assert math.isnan(spelling_gap(noise, words[:90]).value)


def test_whole_words_count_known_single_pieces() -> None:
    assert whole_words(opened(), ["The river, the bank."]) == 1
    assert whole_words(opened(), ["qzxv river"]) == 0.5
