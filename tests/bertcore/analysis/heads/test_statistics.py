"""Head measures over many sentences."""

import numpy as np
import pytest
import torch

from bertcore.analysis import bundled_sentences, measure_heads, read_texts
from bertcore.analysis.heads import stream as attention_stream
from bertcore.analysis.heads.measures import MEASURES
from bertcore.analysis.heads.statistics import HeadStatistics, MeasureSurvey
from bertcore.analysis.heads.stream import AttentionBatch, attention_batches, run_surveys
from bertcore.data import Sentence
from tests.support.tiny import tiny_bert, tiny_config

SENTENCES = [
    Sentence("the river bank was steep ."),
    Sentence("he went to the shop", "she bought the milk !"),
    Sentence(""),
    Sentence("a dog and a cat"),
    Sentence("no", ""),
]


@pytest.mark.parity
@pytest.mark.parametrize("limit", [1, 10_000, 48 * 2**20])
def test_streamed_attention_is_that_of_a_trace(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention_stream, "BATCH_BYTES", limit)
    monkeypatch.setattr(attention_stream, "WINDOW", 3)
    bert = tiny_bert()
    seen = []
    for batch in attention_batches(bert, SENTENCES):
        seen += batch.rows
        for row, number in enumerate(batch.rows):
            trace = bert.trace(*SENTENCES[number][:2])
            length = trace.num_tokens
            found = batch.attentions[:, row]
            torch.testing.assert_close(
                found[..., :length, :length], trace.attentions, atol=1e-5, rtol=0
            )
            assert not found[..., length:].any()
            assert batch.encodings[row].tokens == trace.tokens
        if len(batch.rows) > 1:
            assert batch.attentions.nelement() * 4 <= limit
    assert sorted(seen) == [0, 1, 2, 3, 4]


def survey(sentences: list[Sentence]) -> tuple[HeadStatistics, np.ndarray]:
    bert = tiny_bert()
    made = MeasureSurvey(len(sentences), bert.config)
    run_surveys(bert, sentences, [made])
    return made.result(num_resamples=200), made.values


def test_means_are_those_of_the_sentences_one_by_one() -> None:
    bert = tiny_bert()
    found, values = survey(SENTENCES)
    for number, (text, pair, _) in enumerate(SENTENCES):
        trace = bert.trace(text, pair)
        alone = measure_heads(trace.attentions, trace.text_ids, trace.tokens)
        for name in MEASURES:
            np.testing.assert_allclose(
                values[number, :, :, MEASURES.index(name)],
                getattr(alone, name).numpy(),
                atol=1e-5,
            )
    index = MEASURES.index("a_to_b")
    assert found.num_sentences[index] == 1  # sentence 1; an empty text B has no token
    assert found.num_sentences[MEASURES.index("to_punctuation")] == 2
    assert found.num_sentences[MEASURES.index("to_same_word")] == 2
    assert np.isnan(found.of("a_to_b").low).all()
    np.testing.assert_allclose(found.of("a_to_b").mean, values[1, :, :, index], rtol=1e-6)
    previous = found.of("to_previous")
    assert (previous.low <= previous.mean).all()
    assert (previous.mean <= previous.high).all()
    # Sentences 0 and 1 have 8 tokens or more; sentence 3 is looked at where both lack the measure.
    own = MEASURES.index("to_self")
    np.testing.assert_array_equal(found.examples[..., own], values[:2, ..., own].argmax(0))
    assert (found.examples[..., index] == 1).all()
    # A head that looks at all tokens alike: 1 over the number of tokens, on average.
    lengths = [len(bert.tokenize(*sentence[:2])) for sentence in SENTENCES]
    expected = np.mean([1 / length for length in lengths])
    assert found.uniform[MEASURES.index("to_previous")] == pytest.approx(expected)


def statistics_of(*maps: torch.Tensor, is_decoder: bool = False) -> HeadStatistics:
    config = tiny_config(
        num_hidden_layers=1,
        num_attention_heads=len(maps),
        hidden_size=12,
        is_decoder=is_decoder,
    )
    made = MeasureSurvey(2, config)
    encoding = tiny_bert().tokenize("the river , the bank")
    attentions = torch.stack(maps)[None, None].expand(-1, 2, -1, -1, -1)
    made.add(AttentionBatch([0, 1], [encoding, encoding], attentions))
    return made.result()


def test_the_best_head_of_each_habit() -> None:
    num = 7  # [CLS] the river , the bank [SEP]
    eye = torch.eye(num)
    to_mark, to_last = torch.zeros(num, num), torch.zeros(num, num)
    to_mark[:, 3] = 1
    to_last[:, -1] = 1
    found = statistics_of(eye.roll(-1, 1), to_mark, torch.full((num, num), 1 / num), to_last)
    assert found.best("to_previous") == (0, 0)
    assert found.best("to_punctuation") == (0, 1)
    assert found.best("evenness") == (0, 2)
    assert found.best("to_separator") == (0, 3)
    assert found.best("a_to_b") is None
    # Two sentences that are alike: nothing varies, so the interval is the mean.
    assert found.of("to_previous").low[0, 0] == found.of("to_previous").high[0, 0] == 1


def test_the_baseline_of_a_causal_network_is_even_over_what_it_sees() -> None:
    even = torch.ones(7, 7).tril() / torch.arange(1, 8)[:, None]
    found = statistics_of(even, is_decoder=True)
    for name in MEASURES:
        uniform = found.uniform[MEASURES.index(name)]
        assert uniform == pytest.approx(found.of(name).mean[0, 0], nan_ok=True), name


def test_progress_is_told_and_may_stop_the_pass() -> None:
    bert, told = tiny_bert(), []
    run_surveys(bert, SENTENCES, [], progress=lambda share, stage: told.append((share, stage)))
    assert told[-1] == (1.0, "5 of 5 sentences read")
    assert [share for share, _ in told] == sorted(share for share, _ in told)

    class Stop(Exception):  # noqa: N818
        pass

    def stop(share: float, stage: str) -> None:
        raise Stop

    with pytest.raises(Stop):
        run_surveys(bert, SENTENCES, [], progress=stop)
    with pytest.raises(ValueError, match="there is no sentence"):
        run_surveys(bert, [], [])


def test_pairs_run_without_segments_too() -> None:
    bert = tiny_bert(tiny_config(type_vocab_size=1))
    pair = Sentence("The river.", "It rose.")
    [batch] = attention_batches(bert, [pair])
    wanted = bert.trace(pair.text, pair.text_pair).attentions
    torch.testing.assert_close(batch.attentions[:, 0], wanted, atol=1e-5, rtol=0)


def test_texts_are_read_from_lines_tables_and_trees() -> None:
    lines = read_texts(b"He ran. ||| He was late.\n\nIt rained.", "x.txt")
    assert lines.sentences == (Sentence("He ran.", "He was late."), Sentence("It rained."))
    table = read_texts(b"text,text_b\nHe ran.,He was late.\n", "x.csv")
    assert table.sentences == (Sentence("He ran.", "He was late."),)
    trees = read_texts(b"1\tGo\t_\t_\t_\t_\t0\troot\t_\t_\n\n", "x.CoNLLU")
    assert trees.sentences == (Sentence("Go"),)
    assert trees.trees[0].words == ("Go",)
    with pytest.raises(ValueError, match=r"line 1 of 'x.conllu': it has 1 column"):
        read_texts(b"Go\n", "../x.conllu")
    latin = "1\té\t_\t_\t_\t_\t0\troot\t_\t_\n\n".encode("latin-1")
    assert read_texts(latin, "x.conllu").sentences == (Sentence("é"),)
    rows = read_texts(b"text,text_b\n" + b"It rained.,He ran.\n" * 10_001, "x.csv")
    assert len(rows.sentences) == 10_000
    assert "more than 10,000 sentences: the first 10,000 were taken" in " ".join(rows.notes)


def test_our_sentences_have_all_that_the_measures_need() -> None:
    sentences = bundled_sentences().sentences
    assert len(sentences) == 60
    assert sum(sentence.text_pair is not None for sentence in sentences) == 13
    found, _ = survey(list(sentences))
    assert (found.num_sentences >= 10).all()
