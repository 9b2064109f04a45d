"""`bertscope export`: what BertScope computed, as a file for another tool.

Heavy libraries are imported inside the command, so that `bertscope --help` answers at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bertcore.cli.encode import join_numbers
from bertcore.cli.options import GroupedCommand
from bertcore.cli.progress import stages


class ExportCommand(GroupedCommand):
    """A command whose --layers takes several numbers."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Join the numbers behind --layers, then parse."""
        return super().parse_args(ctx, join_numbers(args, "--layers"))


def register(app: typer.Typer) -> None:
    """Add the command of this file to the command line."""
    app.command("export", cls=ExportCommand)(export)


def export(
    corpus: Annotated[
        Path, typer.Argument(metavar="DIR", help="An encoded corpus, of `bertscope encode`.")
    ],
    atlas: Annotated[
        Path,
        typer.Option(
            "--atlas",
            metavar="FILE.parquet",
            help="For embedding-atlas: row, the corpus's columns, text, and x_N, y_N of layer N.",
        ),
    ],
    layers: Annotated[
        str | None,
        typer.Option("--layers", metavar="N [N ...]", help="Default: all that are stored."),
    ] = None,
    method: Annotated[str, typer.Option("--method", help="umap or pca.")] = "umap",
    points: Annotated[
        int, typer.Option("--points", help="Most rows; of more, a random sample.")
    ] = 200_000,
    fitted: Annotated[
        int,
        typer.Option("--fitted", help="Rows, over all layers, that the map is fitted to."),
    ] = 10_000,
    neighbors: Annotated[int, typer.Option("--neighbors", help="UMAP's n_neighbors.")] = 15,
    min_dist: Annotated[float, typer.Option("--min-dist", help="UMAP's min_dist.")] = 0.1,
    metric: Annotated[str, typer.Option("--metric", help="Distance between vectors.")] = "cosine",
    seed: Annotated[int, typer.Option("--seed", help="Of the sample and of UMAP.")] = 0,
) -> None:
    """Write the map of an encoded corpus as a file for another tool.

    The map is kept beside the corpus: the app shows the same one at once.

    \b
    Examples:
      bertscope export vectors --atlas map.parquet
      bertscope export vectors --atlas layer-4.parquet --layers 4 --method pca
    """
    from bertcore.analysis.space.atlas import atlas_table, write_atlas
    from bertcore.analysis.space.corpus_map import CorpusMapSettings
    from bertcore.analysis.space.projection import UmapSettings
    from bertcore.corpus import open_encoded

    if atlas.suffix != ".parquet":
        raise ValueError(f"--atlas is {str(atlas)!r}; expected a file that ends in .parquet.")
    if not atlas.absolute().parent.is_dir():
        raise ValueError(f"there is no folder {str(atlas.parent)!r}. Make it, or choose another.")
    opened = open_encoded(corpus)
    umap = UmapSettings(n_neighbors=neighbors, min_dist=min_dist, metric=metric, seed=seed)
    settings = CorpusMapSettings(
        layers=_numbers(layers) if layers else opened.layers,
        method=method,
        num_points=points,
        num_fitted=fitted,
        umap=umap,
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
