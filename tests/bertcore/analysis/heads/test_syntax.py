"""Syntactic heads, worked by hand."""

import numpy as np
import pytest
import torch

from bertcore.analysis.heads.stream import AttentionBatch, run_surveys
from bertcore.analysis.heads.syntax import (
    ALL,
    SyntaxScores,
    SyntaxSurvey,
    as_inputs,
    piece_words,
    word_attention,
)
from bertcore.analysis.heads.texts import bundled_trees
from bertcore.data.conllu import ParsedSentence, read_conllu
from tests.support.tiny import tiny_bert, tiny_config


def parse(*rows: str) -> ParsedSentence:
    """Read one sentence from "form head relation"; a + after the form: no space."""
    lines = []
    for number, row in enumerate(rows, start=1):
        form, head, relation = row.split()
        misc = "SpaceAfter=No" if form.endswith("+") else "_"
        cells = [str(number), form.rstrip("+"), *"____", head, relation, "_", misc]
        lines.append("\t".join(cells))
    (found,) = read_conllu(lines)
    return found


# "houses" is two pieces of the tiny vocabulary: house ##s.
SENTENCE = parse("he 2 nsubj", "bought 0 root", "the 4 det", "houses+ 2 obj", ". 2 punct")


def test_pieces_belong_to_the_word_in_which_they_begin() -> None:
    bert = tiny_bert()
    encoding = bert.tokenize(SENTENCE.text)
    assert encoding.tokens == ["[CLS]", "he", "bought", "the", "house", "##s", ".", "[SEP]"]
    assert piece_words(SENTENCE, encoding) == [-1, 0, 1, 2, 3, 3, 4, -1]
    # The tree cuts "houses" into hous + es: "##s" begins in the second word, "house" in the first.
    assert piece_words(parse("hous+ 0 root", "es 1 x"), bert.tokenize("houses")) == [-1, 0, 1, -1]
    # No piece begins in the second word of "hou" + "se".
    assert piece_words(parse("hou+ 0 root", "se 1 x"), bert.tokenize("house")) == [-1, 0, -1]


def test_attention_to_a_split_word_is_summed_and_from_it_averaged() -> None:
    # [CLS] a b1 b2 [SEP]; words a and b.
    weights = torch.tensor(
        [
            [1.0, 0.0, 0.0, 0.0, 0.0],
            [0.4, 0.1, 0.2, 0.3, 0.0],
            [0.0, 0.6, 0.1, 0.1, 0.2],
            [0.0, 0.2, 0.5, 0.3, 0.0],
            [0.0, 0.0, 0.0, 0.0, 1.0],
        ]
    )
    belongs = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    found = word_attention(weights[None, None, None], belongs[None])
    torch.testing.assert_close(found[0, 0, 0], torch.tensor([[0.1, 0.5], [0.4, 0.5]]))


def looks(pairs: dict[int, int], num_tokens: int = 8) -> torch.Tensor:
    """A head that looks hard at [CLS] and itself, and a little at what `pairs` says, by token."""
    weights = torch.eye(num_tokens) * 0.3
    weights[:, 0] += 0.5
    for row in range(num_tokens):
        weights[row, pairs.get(row, num_tokens - 1)] += 0.2
    return weights


def scores_of(*maps: torch.Tensor, sentence: ParsedSentence = SENTENCE) -> SyntaxScores:
    bert = tiny_bert()
    config = tiny_config(num_hidden_layers=1, num_attention_heads=len(maps), hidden_size=12)
    survey = SyntaxSurvey([sentence], config)
    encoding = bert.tokenize(sentence.text)
    survey.add(AttentionBatch([0], [encoding], torch.stack(maps)[None, None]))
    return survey.result()


def test_accuracy_of_heads_made_by_hand() -> None:
    # Tokens: 0 [CLS], 1 he, 2 bought, 3 the, 4 house, 5 ##s, 6 ., 7 [SEP].
    to_head = looks({1: 2, 3: 4, 4: 2, 5: 2})  # he -> bought, the -> houses, houses -> bought
    # bought -> houses, by its second piece; he -> the; the, houses -> he
    to_object = looks({1: 3, 2: 5, 3: 1, 4: 1, 5: 1})
    scores = scores_of(to_head, to_object)
    assert scores.accuracy("obj", "to_head").mean.tolist() == [[1, 0]]
    assert scores.accuracy("det", "to_head").mean.tolist() == [[1, 0]]
    assert scores.accuracy("obj", "to_dependent").mean.tolist() == [[0, 1]]
    assert scores.cases("obj", "to_head") == 1
    # All relations but punct: nsubj, det, obj by 3 dependents; by 2 heads, bought and houses.
    assert scores.cases(ALL, "to_head") == 3
    assert scores.cases(ALL, "to_dependent") == 2
    assert scores.accuracy(ALL, "to_head").mean.tolist() == [[1, 0]]
    # bought finds one of its dependents, houses does not find "the".
    assert scores.accuracy(ALL, "to_dependent").mean[0, 1] == 0.5
    assert scores.best("obj", "to_dependent") == (0, 1)
    assert scores.accuracy("obj", "to_dependent").low[0, 1] < 0.25  # one case proves little
    assert scores.examples("obj", "to_dependent", 0, 1) == [(0, 3, 1)]
    assert scores.examples("obj", "to_dependent", 0, 0) == []
    assert scores.relations[0] == ALL
    assert set(scores.relations[1:]) == {"nsubj", "det", "obj", "punct"}


def test_baseline_is_the_best_fixed_offset() -> None:
    scores = scores_of(looks({}))
    assert scores.baseline("obj", "to_head") == (-2, 1.0)
    assert scores.baseline("obj", "to_dependent") == (2, 1.0)
    assert scores.baseline("nsubj", "to_head") == (1, 1.0)
    with pytest.raises(ValueError, match="relation is 'dobj'; these sentences have all, "):
        scores.best("dobj", "to_head")
    # Heads at +1 (he, the) and -2 (houses): the best offset is right in 2 of 3.
    assert scores.baseline(ALL, "to_head") == (1, pytest.approx(2 / 3))


def test_a_head_with_two_dependents_of_a_relation_is_one_case_and_either_is_right() -> None:
    sentence = parse("the 3 det", "old 3 amod", "house 0 root", "bank 3 amod")
    encoding = tiny_bert().tokenize(sentence.text)
    place = encoding.tokens.index("house")
    scores = scores_of(
        looks({place: encoding.tokens.index("bank")}, len(encoding)), sentence=sentence
    )
    assert scores.cases("amod", "to_dependent") == 1
    assert scores.cases("amod", "to_head") == 2
    assert scores.accuracy("amod", "to_dependent").mean.tolist() == [[1]]


def test_words_without_a_piece_are_no_cases() -> None:
    sentence = parse("hou+ 0 root", "se 1 x", "cat 1 y")
    scores = scores_of(looks({}, 4), sentence=sentence)
    assert scores.num_left_out == 1
    assert scores.relations == (ALL, "y")
    assert scores.cases("x", "to_head") == 0
    assert np.isnan(scores.accuracy("x", "to_head").mean).all()


def test_batches_of_the_network_give_what_each_sentence_gives_alone() -> None:
    bert, trees = tiny_bert(), bundled_trees().trees
    survey = SyntaxSurvey(trees, bert.config)
    run_surveys(bert, as_inputs(trees), [survey])
    found = survey.result()
    for number, sentence in enumerate(trees):
        encoding = bert.tokenize(sentence.text)
        words = np.array(piece_words(sentence, encoding))
        maps = bert.trace(sentence.text).attentions.numpy()
        for pair in np.flatnonzero(found.pairs[:, 0] == number):
            _, dependent, head, _ = found.pairs[pair]
            for direction, (looks_, right) in enumerate(((dependent, head), (head, dependent))):
                sums = np.stack(  # [L, H, W]
                    [
                        maps[:, :, words == looks_][..., words == word].sum(-1).mean(-1)
                        for word in range(len(sentence.words))
                    ],
                    axis=-1,
                )
                sums[..., looks_] = -1
                np.testing.assert_array_equal(found.hits[pair, direction], sums.argmax(-1) == right)
    assert found.num_left_out == 0


def test_a_sentence_cut_at_the_limit_loses_cases_and_says_so() -> None:
    words = [f"river {number + 2} x" for number in range(100)]
    sentence = parse(*words, "river 0 root")
    bert = tiny_bert()  # 64 positions
    survey = SyntaxSurvey([sentence], bert.config)
    assert run_surveys(bert, as_inputs([sentence]), [survey]) == 1
    scores = survey.result()
    assert scores.cases("x", "to_head") == 61
    assert scores.num_left_out == 39
