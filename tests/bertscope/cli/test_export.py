"""`bertscope export`: the map of an encoded corpus for embedding-atlas."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from bertcore.analysis.space.corpus_map import CorpusMapSettings, corpus_map
from bertcore.configs.maps import PacmapSettings, TsneSettings
from bertcore.corpus import EncodedCorpus
from bertscope.cli.main import app
from tests.support.encoded_table import ROWS, encode_table

runner = CliRunner(env={"COLUMNS": "160", "TERM": "dumb"})


@pytest.fixture(scope="module")
def encoded(tmp_path_factory: pytest.TempPathFactory) -> EncodedCorpus:
    return encode_table(tmp_path_factory.mktemp("export"))


def run(*words: str | Path) -> str:
    result = runner.invoke(app, ["export", *map(str, words)])
    assert result.exit_code == 0, (result.stderr, result.exception)
    return result.stdout


def refusal(*words: str | Path) -> str:
    result = runner.invoke(app, ["export", *map(str, words)])
    assert result.exit_code == 2, (result.stdout, result.stderr)
    return result.stderr.splitlines()[-1]


def test_the_file_has_ids_columns_text_and_places(encoded: EncodedCorpus, tmp_path: Path) -> None:
    out = tmp_path / "atlas.parquet"
    said = run(encoded.folder, "--atlas", out, "--method", "pca")
    assert f"{len(encoded):,} rows" in said
    assert "--x x_2 --y y_2" in said
    table = pq.read_table(out)
    assert {"row", "topic", "word", "text", "x_0", "y_0", "x_2", "y_2"} <= {*table.column_names}
    assert table["row"].to_pylist() == list(range(len(encoded)))
    for word, text in zip(table["word"].to_pylist(), table["text"].to_pylist(), strict=True):
        assert word in text
    topics = dict(ROWS)
    for text, topic in zip(table["text"].to_pylist(), table["topic"].to_pylist(), strict=True):
        assert topics[text] == topic
    found = corpus_map(encoded, CorpusMapSettings(layers=(0, 2)))
    np.testing.assert_array_equal(table["x_2"].to_numpy(), found.coordinates[1, :, 0])
    np.testing.assert_array_equal(table["y_0"].to_numpy(), found.coordinates[0, :, 1])


def test_an_option_of_another_method_is_refused(encoded: EncodedCorpus, tmp_path: Path) -> None:
    line = [encoded.folder, "--atlas", tmp_path / "a.parquet", "--method", "pca"]
    told = refusal(*line, "--perplexity", "5")
    assert "--perplexity would have no effect: it is for --method tsne" in told
    assert "--method umap and pacmap" in refusal(*line, "--neighbors", "5")


def test_layers_and_points_are_chosen(encoded: EncodedCorpus, tmp_path: Path) -> None:
    out = tmp_path / "atlas.parquet"
    options = ("--method", "pca", "--layers", "2", "--points", "40", "--fitted", "20")
    run(encoded.folder, "--atlas", out, *options)
    table = pq.read_table(out)
    assert table.num_rows == 40
    assert "x_2" in table.column_names
    assert "x_0" not in table.column_names


@pytest.mark.slow  # opening PaCMAP compiles its kernels
@pytest.mark.parametrize(
    ("options", "settings"),
    [
        (
            ("--method", "tsne", "--perplexity", "6", "--n-iter", "80", "--metric", "euclidean"),
            {"tsne": TsneSettings(perplexity=6, n_iter=80, metric="euclidean")},
        ),
        (
            ("--method", "pacmap", "--neighbors", "4", "--mn-ratio", "1", "--fp-ratio", "3"),
            {"pacmap": PacmapSettings(n_neighbors=4, MN_ratio=1, FP_ratio=3)},
        ),
    ],
)
def test_tsne_and_pacmap_take_their_parameters(
    encoded: EncodedCorpus, tmp_path: Path, options: tuple[str, ...], settings: dict
) -> None:
    out = tmp_path / "atlas.parquet"
    run(encoded.folder, "--atlas", out, *options)
    expected = CorpusMapSettings(layers=(0, 2), method=options[1], **settings)
    found = corpus_map(encoded, expected, keep=False)
    np.testing.assert_array_equal(pq.read_table(out)["x_2"].to_numpy(), found.coordinates[1, :, 0])


def test_what_cannot_be_is_a_sentence(encoded: EncodedCorpus, tmp_path: Path) -> None:
    out = tmp_path / "a.parquet"
    assert "has no encoded corpus" in refusal(tmp_path, "--atlas", out)
    assert "ends in .parquet" in refusal(encoded.folder, "--atlas", tmp_path / "a.csv")
    assert "does not exist. Create it first" in refusal(
        encoded.folder, "--atlas", tmp_path / "none" / "a.parquet"
    )
    (tmp_path / "b.parquet").mkdir()
    for folder in (encoded.folder, tmp_path):  # the target is looked at first
        assert "is a folder" in refusal(folder, "--atlas", tmp_path / "b.parquet")
    assert "expected one of pca, umap, tsne, pacmap" in refusal(
        encoded.folder, "--atlas", out, "--method", "x"
    )
    assert "layer 1 is not stored" in refusal(encoded.folder, "--atlas", out, "--layers", "1")
    assert "expected numbers" in refusal(encoded.folder, "--atlas", out, "--layers", "a")
    tsne, pacmap = ([encoded.folder, "--atlas", out, "--method", one] for one in ("tsne", "pacmap"))
    assert "perplexity is 0.5" in refusal(*tsne, "--perplexity", "0.5")
    assert "FP_ratio is 0" in refusal(*pacmap, "--fp-ratio", "0")
    assert not out.exists()
