"""`bertscope export`: write results as a file for another tool."""

from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from bertcore.configs.maps import PacmapSettings, TsneSettings, UmapSettings
from bertscope.cli.options import NUMBERS, chosen, config_options, layer_numbers, refuse_options
from bertscope.cli.progress import stages

_OF_METHODS = {
    "umap": ("neighbors", "min_dist"),
    "tsne": ("perplexity", "early_exaggeration", "learning_rate", "n_iter", "initialization"),
    "pacmap": ("neighbors", "MN_ratio", "FP_ratio"),
    "pca": (),
}
"""Methods and the options that only some of them have."""


@config_options(
    ("UMAP", UmapSettings, "min_dist"),
    ("t-SNE", TsneSettings, " ".join(_OF_METHODS["tsne"])),
    ("PaCMAP", PacmapSettings, "MN_ratio FP_ratio"),
)
def export(
    context: typer.Context,
    corpus: Annotated[Path, typer.Argument(metavar="DIR")],
    atlas: Annotated[Path, typer.Option(metavar="FILE.parquet")],
    layers: Annotated[str | None, typer.Option(metavar=NUMBERS)] = None,
    method: str = "umap",
    points: int = 200_000,
    fitted: int = 10_000,
    neighbors: int | None = None,
    metric: str = "cosine",
    seed: int = 0,
    **values: Any,
) -> None:
    """Write the map of an encoded corpus as a file for another tool.

    The map is stored beside the corpus, so that the app shows the same one at once.

    Args:
        corpus: Encoded corpus, from `bertscope encode`.
        atlas: File to write for embedding-atlas: row, the corpus's columns, text, and x_N, y_N of
            each layer N.
        layers: Default: all stored layers.
        method: umap, pca, tsne or pacmap.
        points: Maximum number of rows; beyond it, a random sample.
        fitted: Rows, over all layers, to fit the map to.
        neighbors: n_neighbors of UMAP or PaCMAP. Default: 15 for UMAP, 10 for PaCMAP.
        metric: Distance between vectors.
        seed: Seed of the sample and the map.

    \b
    Examples:
      bertscope export vectors --atlas map.parquet
      bertscope export vectors --atlas layer-4.parquet --layers 4 --method pca
      bertscope export vectors --atlas map.parquet --method tsne --perplexity 50
    """
    from bertcore.analysis.space.corpus_map import CorpusMapSettings, atlas_table, write_atlas
    from bertcore.corpus import open_encoded
    from bertscope.cli.files import check_target

    for option in dict.fromkeys(chain.from_iterable(_OF_METHODS.values())):
        methods = [name for name, options in _OF_METHODS.items() if option in options]
        if method in _OF_METHODS and method not in methods:
            refuse_options(context, {option}, f"it is for --method {' and '.join(methods)}")
    check_target(atlas, ".parquet", option="--atlas")
    opened = open_encoded(corpus)
    num: dict[str, Any] = {} if neighbors is None else {"n_neighbors": neighbors}
    shared: dict[str, Any] = {"metric": metric, "seed": seed}
    settings = CorpusMapSettings(
        layers=layer_numbers(layers) if layers else opened.layers,
        method=method,
        num_points=points,
        num_fitted=fitted,
        umap=UmapSettings(**num, **shared, **chosen(UmapSettings, values)),
        tsne=TsneSettings(**shared, **chosen(TsneSettings, values)),
        pacmap=PacmapSettings(**num, **shared, **chosen(PacmapSettings, values)),
        seed=seed,
    )
    with stages() as show:
        table = atlas_table(
            opened, settings, progress=lambda fraction, stage: show(stage, fraction)
        )
    write_atlas(table, atlas)
    x, y = (f"{axis}_{settings.layers[-1]}" for axis in "xy")
    typer.echo(f"{table.num_rows:,} rows written to {atlas}. To open it:")
    typer.echo(f"embedding-atlas {atlas} --text text --x {x} --y {y}")
