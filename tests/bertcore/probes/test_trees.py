"""Trees and structural probes: brute force, scipy, networkx, and worked out by hand."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
import torch
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.stats import spearmanr

from bertcore import Bert
from bertcore.probes import ProbeData, ProbeSentence, ProbeSettings, run_probes
from bertcore.probes.data_sets import divide, of_words
from bertcore.probes.live import draw_trees
from bertcore.probes.structural import (
    Batch,
    Example,
    StructuralProbe,
    attachment_counts,
    fit_structural,
    is_scored,
    loss,
    row_correlations,
    scored_edges,
    spanning_tree,
    tree_depths,
    tree_distances,
)
from bertcore.probes.vectors import word_vectors
from tests.support.tiny import WORDS, tiny_bert

HEADS = (1, -1, 4, 4, 1, 1)
"""The dog | chased the old cat | . : two levels below the verb."""


def random_tree(generator: np.random.Generator, size: int) -> tuple[int, ...]:
    order = generator.permutation(size)
    heads = [-1] * size
    for place in range(1, size):
        heads[order[place]] = int(order[generator.integers(0, place)])
    return tuple(heads)


def test_distances_and_depths_are_those_of_networkx() -> None:
    assert tree_depths(HEADS).tolist() == [1, 0, 2, 2, 1, 1]
    assert tree_distances(HEADS)[2].tolist() == [3, 2, 0, 2, 1, 3]
    generator = np.random.default_rng(0)
    for size in (1, 2, 7, 15):
        heads = random_tree(generator, size)
        graph = nx.Graph()
        graph.add_nodes_from(range(size))
        graph.add_edges_from((word, head) for word, head in enumerate(heads) if head >= 0)
        peer = dict(nx.all_pairs_shortest_path_length(graph))
        found = tree_distances(heads)
        assert all(found[a, b] == peer[a][b] for a in range(size) for b in range(size))
        assert tree_depths(heads).tolist() == found[heads.index(-1)].tolist()


def test_the_spanning_tree_is_the_lightest_of_all() -> None:
    generator = np.random.default_rng(1)
    for _ in range(5):
        table = generator.random((5, 5))
        table = table + table.T
        np.fill_diagonal(table, 0)
        pairs = list(itertools.combinations(range(5), 2))
        trees = [
            edges
            for edges in itertools.combinations(pairs, 4)
            if nx.is_tree(nx.Graph(edges)) and len(nx.Graph(edges)) == 5
        ]
        assert len(trees) == 125  # Cayley: 5^3
        best = min(trees, key=lambda edges: sum(table[edge] for edge in edges))
        assert spanning_tree(table) == tuple(sorted(best))
        assert len(minimum_spanning_tree(table).nonzero()[0]) == 4
    assert spanning_tree(np.zeros((3, 3))) != ()  # distances of zero are edges too
    assert spanning_tree(np.zeros((1, 1))) == ()


def test_attachment_without_punctuation_by_hand() -> None:
    gold = tree_distances(HEADS)
    marks = [False] * 5 + [True]
    assert attachment_counts(gold, gold, marks) == (4, 4)
    chain = np.abs(np.arange(6)[:, None] - np.arange(6))
    predicted, right = scored_edges(chain, gold, marks)
    assert predicted == ((0, 1), (1, 2), (2, 3), (3, 4))
    assert right == ((0, 1), (1, 4), (2, 4), (3, 4))
    assert attachment_counts(chain, gold, marks) == (2, 4)
    assert attachment_counts(chain, gold, [True] * 6) == (0, 0)
    # A mark within the tree: its two neighbours are joined by what is left.
    inner = tree_distances((1, -1, 1))
    assert scored_edges(inner, inner, [False, True, False])[1] == ((0, 2),)


def test_correlations_are_those_of_scipy() -> None:
    generator = np.random.default_rng(2)
    predicted = generator.random((6, 9)).round(1)  # with ties
    gold = generator.integers(0, 4, (6, 9))
    expected = [spearmanr(a, b).statistic for a, b in zip(predicted, gold, strict=True)]
    np.testing.assert_allclose(row_correlations(predicted, gold), expected, atol=1e-12)
    assert row_correlations(np.ones((1, 3)), np.array([[1, 2, 3]])).tolist() == [0]
    assert [is_scored(length) for length in (4, 5, 50, 51)] == [False, True, True, False]


@pytest.mark.parametrize("kind", ["distance", "depth"])
def test_the_loss_is_the_papers(kind: str) -> None:
    generator = np.random.default_rng(3)
    matrix = generator.normal(size=(2, 4))
    lengths, batch_states = (3, 5), np.zeros((2, 5, 4))
    gold = np.zeros((2, 5, 5) if kind == "distance" else (2, 5))
    expected = []
    for row, size in enumerate(lengths):
        heads = random_tree(generator, size)
        states = generator.normal(size=(size, 4))
        batch_states[row, :size] = states
        total = 0.0
        if kind == "distance":
            table = tree_distances(heads)
            gold[row, :size, :size] = table
            for i in range(size):
                for j in range(size):
                    mapped = matrix @ (states[i] - states[j])
                    total += abs(table[i, j] - mapped @ mapped)
            expected.append(total / size**2)
        else:
            depths = tree_depths(heads)
            gold[row, :size] = depths
            for i in range(size):
                mapped = matrix @ states[i]
                total += abs(depths[i] - mapped @ mapped)
            expected.append(total / size)
    batch = Batch(
        torch.tensor(batch_states, dtype=torch.float32),
        torch.tensor(gold, dtype=torch.float32),
        torch.tensor(lengths),
    )
    found = loss(kind, batch, torch.tensor(matrix, dtype=torch.float32))  # type: ignore[arg-type]
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4)


def embedded(generator: np.random.Generator, heads: tuple[int, ...]) -> np.ndarray:
    """Return vectors in which the tree is: each word has its head's and a direction of its own."""
    size = len(heads)
    states = np.zeros((size, 24))
    order = np.argsort(tree_depths(heads), kind="stable")
    for word in order:
        if heads[word] >= 0:
            states[word] = states[heads[word]]
            states[word, word] += 1
    return states + 0.01 * generator.normal(size=states.shape)


@pytest.mark.parametrize("kind", ["distance", "depth"])
def test_a_probe_finds_a_tree_that_is_there(kind: str) -> None:
    generator = np.random.default_rng(4)
    examples = []
    for _ in range(120):
        heads = random_tree(generator, int(generator.integers(4, 12)))
        gold = tree_distances(heads) if kind == "distance" else tree_depths(heads)
        examples.append(Example(embedded(generator, heads), gold))
    fractions: list[float] = []
    probe = fit_structural(
        kind,  # type: ignore[arg-type]
        examples[:80],
        examples[80:100],
        rank=24,
        progress=fractions.append,
    )
    assert probe.matrix.shape == (24, 24)
    assert fractions == sorted(fractions)
    errors = [np.abs(probe.predict(e.states) - e.gold).mean() for e in examples[100:]]
    blind = [np.abs(e.gold - np.median(e.gold)).mean() for e in examples[100:]]
    assert np.mean(errors) < 0.6 * np.mean(blind)
    if kind == "distance":
        counts = [
            attachment_counts(probe.predict(e.states), e.gold, [False] * len(e.states))
            for e in examples[100:]
        ]
        right, edges = np.sum(counts, axis=0)
        assert right / edges > 0.9


def test_the_first_map_is_of_low_rank_and_of_the_seed() -> None:
    generator = np.random.default_rng(5)
    examples = [Example(generator.normal(size=(4, 6)), tree_depths((1, -1, 1, 2)))] * 3
    one, two, other = (
        fit_structural("depth", examples, examples, rank=2, seed=seed) for seed in (0, 0, 1)
    )
    assert one.matrix.shape == (2, 6)
    assert torch.equal(one.matrix, two.matrix)
    assert not torch.equal(one.matrix, other.matrix)


@pytest.fixture(scope="module")
def bert() -> Bert:
    return tiny_bert()


@pytest.fixture(scope="module")
def trees() -> tuple[ProbeSentence, ...]:
    generator = np.random.default_rng(6)
    sentences = []
    for _ in range(60):
        size = int(generator.integers(4, 8))
        words = [*(WORDS[n] for n in generator.integers(0, len(WORDS), size)), "."]
        heads = random_tree(generator, size)
        sentence = of_words(words)
        sentences.append(
            ProbeSentence(
                sentence.text,
                sentence.words,
                sentence.spans,
                (),
                (*heads, heads.index(-1)),
                (*[False] * size, True),
            )
        )
    return tuple(sentences)


@pytest.mark.parametrize("task", ["distance", "depth"])
def test_a_report_of_trees_has_the_scores_of_the_test_part(
    bert: Bert, trees: tuple[ProbeSentence, ...], task: str
) -> None:
    data = ProbeData(task, trees)  # type: ignore[arg-type]
    report = run_probes(bert, data, ProbeSettings(layers=(1,), rank=8))
    assert [one.layer for one in report.layers] == [one.layer for one in report.twin] == [0, 1]
    assert report.labels == ()
    test = divide(data)["test"]
    assert [sentence.text for sentence in report.test] == [trees[n].text for n in test]
    result = report.layers[1]
    assert isinstance(result.probe, StructuralProbe)
    vectors = word_vectors(bert, [trees[n] for n in test], (1,))
    hits, cases, by_length = 0, 0, {}
    for place, number in enumerate(test):
        sentence = trees[number]
        predicted = result.probe.predict(vectors.states[0][vectors.rows([place])])
        if task == "distance":
            gold = tree_distances(sentence.heads)
            right, total = attachment_counts(predicted, gold, sentence.is_punctuation)
            rho = np.mean([spearmanr(a, b).statistic for a, b in zip(predicted, gold, strict=True)])
        else:
            gold = tree_depths(sentence.heads)
            right, total = int(gold[predicted[:-1].argmin()] == 0), 1
            rho = spearmanr(predicted, gold).statistic
        hits, cases = hits + right, cases + total
        by_length.setdefault(len(sentence.words), []).append(rho)
    main = "uuas" if task == "distance" else "root"
    assert result.scores[main].value == pytest.approx(hits / cases)
    expected = np.mean([np.mean(values) for values in by_length.values()])
    assert result.scores["spearman"].value == pytest.approx(expected, abs=1e-4)
    assert list(report.baselines) == ["chain"]


def test_a_chain_is_right_about_chains(bert: Bert) -> None:
    sentences = []
    for number in range(30):
        words = [WORDS[(number + place * 7) % len(WORDS)] for place in range(6)]
        sentence = of_words([*words, WORDS[number]])
        heads = (-1, 0, 1, 2, 3, 4, 5)
        sentences.append(
            ProbeSentence(sentence.text, sentence.words, sentence.spans, (), heads, (False,) * 7)
        )
    for task, main in (("distance", "uuas"), ("depth", "root")):
        data = ProbeData(task, tuple(sentences))  # type: ignore[arg-type]
        report = run_probes(bert, data, ProbeSettings(layers=(0,), twin=False, rank=4))
        chain = report.baselines["chain"]
        assert chain[main].value == 1
        assert chain["spearman"].value == pytest.approx(1)


def test_a_tree_is_drawn_over_a_sentence(bert: Bert, trees: tuple[ProbeSentence, ...]) -> None:
    data = ProbeData("distance", trees)
    report = run_probes(bert, data, ProbeSettings(layers=(1, 2), twin=False, rank=8))
    known = report.test[0]
    drawn = draw_trees(bert, report, f" {known.text} ")
    assert drawn.words == known.words
    size = len(known.words)
    assert drawn.layers == (0, 1, 2)
    assert all(len(edges) == size - 2 for edges in drawn.edges)  # without the full stop
    gold = {(min(w, h), max(w, h)) for w, h in enumerate(known.heads) if h >= 0 and w < size - 1}
    assert drawn.gold_edges is not None
    assert set(drawn.gold_edges) == gold
    assert drawn.num_right(1) == len(set(drawn.edges[1]) & gold)
    other = draw_trees(bert, report, "The river, it rained!")
    assert other.words == ("The", "river", ",", "it", "rained", "!")
    assert other.gold_edges is None
    assert all(len(edges) == 3 for edges in other.edges)
    deep = run_probes(
        bert, ProbeData("depth", trees), ProbeSettings(layers=(1,), twin=False, rank=8)
    )
    shown = draw_trees(bert, deep, known.text)
    assert shown.depths.shape == (2, size)
    assert shown.gold_depths == tuple(tree_depths(known.heads).tolist())
