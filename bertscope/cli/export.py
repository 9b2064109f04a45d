"""`bertscope export`: write results as a file for another tool.

Heavy libraries are imported inside the command, so that `bertscope --help` answers at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bertscope.cli.encode import join_numbers
from bertscope.cli.options import GroupedCommand, refuse_options
from bertscope.cli.progress import stages


class ExportCommand(GroupedCommand):
    """A command whose --layers takes several numbers."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Join the numbers after --layers, then parse."""
        return super().parse_args(ctx, join_numbers(args, "--layers"))


def register(app: typer.Typer) -> None:
    """Add the command of this file to the command line."""
    app.command("export", cls=ExportCommand)(export)


_OF_METHODS = {
    "neighbors": ("umap", "pacmap"),
    "min_dist": ("umap",),
    **dict.fromkeys(
        ("perplexity", "early_exaggeration", "learning_rate", "n_iter", "initialization"),
        ("tsne",),
    ),
    "mn_ratio": ("pacmap",),
    "fp_ratio": ("pacmap",),
}
"""Options and the methods that have them."""


def export(
    context: typer.Context,
    corpus: Annotated[
        Path, typer.Argument(metavar="DIR", help="Encoded corpus, from `bertscope encode`.")
    ],
    atlas: Annotated[
        Path,
        typer.Option(
            "--atlas",
            metavar="FILE.parquet",
            help="File to write for embedding-atlas: row, the corpus's columns, text, and x_N, y_N "
            "of each layer N.",
        ),
    ],
    layers: Annotated[
        str | None,
        typer.Option("--layers", metavar="N [N ...]", help="Default: all stored layers."),
    ] = None,
    method: Annotated[str, typer.Option("--method", help="umap, pca, tsne or pacmap.")] = "umap",
    points: Annotated[
        int, typer.Option("--points", help="Maximum number of rows; beyond it, a random sample.")
    ] = 200_000,
    fitted: Annotated[
        int,
        typer.Option("--fitted", help="Rows, over all layers, to fit the map to."),
    ] = 10_000,
    neighbors: Annotated[
        int | None,
        typer.Option(
            "--neighbors",
            help="n_neighbors of UMAP or PaCMAP. Default: 15 for UMAP, 10 for PaCMAP.",
            show_default=False,
        ),
    ] = None,
    min_dist: Annotated[float, typer.Option("--min-dist", help="UMAP's min_dist.")] = 0.1,
    perplexity: Annotated[float, typer.Option("--perplexity", help="t-SNE's perplexity.")] = 30.0,
    early_exaggeration: Annotated[
        float, typer.Option("--early-exaggeration", help="t-SNE's early exaggeration.")
    ] = 12.0,
    learning_rate: Annotated[
        float, typer.Option("--learning-rate", help="t-SNE's learning rate; 0: auto.")
    ] = 0.0,
    n_iter: Annotated[
        int, typer.Option("--n-iter", help="Steps of t-SNE after early exaggeration.")
    ] = 500,
    initialization: Annotated[
        str, typer.Option("--initialization", help="t-SNE's initialization: pca or random.")
    ] = "pca",
    mn_ratio: Annotated[float, typer.Option("--mn-ratio", help="PaCMAP's MN_ratio.")] = 0.5,
    fp_ratio: Annotated[float, typer.Option("--fp-ratio", help="PaCMAP's FP_ratio.")] = 2.0,
    metric: Annotated[str, typer.Option("--metric", help="Distance between vectors.")] = "cosine",
    seed: Annotated[int, typer.Option("--seed", help="Seed of the sample and the map.")] = 0,
) -> None:
    """Write the map of an encoded corpus as a file for another tool.

    The map is stored beside the corpus, so that the app shows the same one at once.

    \b
    Examples:
      bertscope export vectors --atlas map.parquet
      bertscope export vectors --atlas layer-4.parquet --layers 4 --method pca
      bertscope export vectors --atlas map.parquet --method tsne --perplexity 50
    """
    from bertcore.analysis.space.atlas import atlas_table, write_atlas
    from bertcore.analysis.space.corpus_map import CorpusMapSettings
    from bertcore.analysis.space.neighbour_embedding import PacmapSettings, TsneSettings
    from bertcore.analysis.space.projection import UmapSettings
    from bertcore.corpus import open_encoded

    for name, methods in _OF_METHODS.items():
        if method not in methods:
            refuse_options(context, {name}, f"it is for --method {' and '.join(methods)}")
    if atlas.suffix != ".parquet":
        raise ValueError(f"--atlas is {str(atlas)!r}; expected a file that ends in .parquet.")
    if not atlas.absolute().parent.is_dir():
        raise ValueError(f"there is no folder {str(atlas.parent)!r}. Create it, or choose another.")
    opened = open_encoded(corpus)
    num = {} if neighbors is None else {"n_neighbors": neighbors}
    umap = UmapSettings(**num, min_dist=min_dist, metric=metric, seed=seed)
    tsne = TsneSettings(
        perplexity=perplexity,
        early_exaggeration=early_exaggeration,
        learning_rate=learning_rate,
        n_iter=n_iter,
        initialization=initialization,
        metric=metric,
        seed=seed,
    )
    pacmap = PacmapSettings(**num, MN_ratio=mn_ratio, FP_ratio=fp_ratio, metric=metric, seed=seed)
    settings = CorpusMapSettings(
        layers=_numbers(layers) if layers else opened.layers,
        method=method,
        num_points=points,
        num_fitted=fitted,
        umap=umap,
        tsne=tsne,
        pacmap=pacmap,
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


def _numbers(layers: str) -> tuple[int, ...]:
    try:
        return tuple(int(layer) for layer in layers.split(","))
    except ValueError:
        raise ValueError(f"--layers is {layers!r}; expected numbers, such as 0 2 4.") from None
