"""`bertscope export`: a checkpoint as a page that computes, or a map for another tool."""

import re
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from bertcore.configs.maps import PacmapSettings, TsneSettings, UmapSettings
from bertscope.cli.options import (
    NUMBERS,
    WORDS,
    chosen,
    config_options,
    layer_numbers,
    refuse_options,
)
from bertscope.cli.progress import stages

_OF_METHODS = {
    "umap": ("neighbors", "min_dist"),
    "tsne": ("perplexity", "early_exaggeration", "learning_rate", "n_iter", "initialization"),
    "pacmap": ("neighbors", "MN_ratio", "FP_ratio"),
    "pca": (),
}
"""Methods and the options that only some of them have."""
_LIVE = {"checkpoint", "weights", "pages"}
"""Options of --live and --site."""


@config_options(
    ("UMAP", UmapSettings, "min_dist"),
    ("t-SNE", TsneSettings, " ".join(_OF_METHODS["tsne"])),
    ("PaCMAP", PacmapSettings, "MN_ratio FP_ratio"),
)
def export(
    context: typer.Context,
    corpus: Annotated[Path | None, typer.Argument(metavar="DIR")] = None,
    live: Annotated[Path | None, typer.Option(metavar="FILE.html")] = None,
    site: Annotated[Path | None, typer.Option(metavar="FOLDER")] = None,
    checkpoint: str = "default",
    weights: str = "rounded",
    pages: Annotated[str | None, typer.Option(metavar=WORDS)] = None,
    atlas: Annotated[Path | None, typer.Option(metavar="FILE.parquet")] = None,
    layers: Annotated[str | None, typer.Option(metavar=NUMBERS)] = None,
    method: str = "umap",
    points: int = 200_000,
    fitted: int = 10_000,
    neighbors: int | None = None,
    metric: str = "cosine",
    seed: int = 0,
    **values: Any,
) -> None:
    """Write a checkpoint as a page that computes, or a corpus's map for another tool.

    With --live, one HTML file reads what is typed into it, in any browser and without a network or
    a server: BERT at a glance, word pieces, the attention of all heads, masked words and next
    sentence. With --site, the same is a folder for a static host, with the lessons that these pages
    can show. With --atlas, the map is stored
    beside the corpus too, so that the app shows the same one at once.

    Args:
        corpus: Encoded corpus, from `bertscope encode`; for --atlas.
        live: HTML file to write.
        site: Folder to write, new or empty, with index.html, worker and weights.
        checkpoint: For --live and --site: 'default', a folder, or a hub id. A BERT of at most 12
            layers.
        weights: For --live and --site: rounded (13.9 MB for the default checkpoint), float16 or
            float32.
        pages: For --live and --site: what is shown, of glance tokens attention masked-words pairs.
            Default: all.
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
      bertscope export --live bert.html
      bertscope export --live mine.html --checkpoint runs/mine/out --weights float16
      bertscope export --live heads.html --pages attention tokens
      bertscope export --site public
      bertscope export vectors --atlas map.parquet
      bertscope export vectors --atlas layer-4.parquet --layers 4 --method pca
      bertscope export vectors --atlas map.parquet --method tsne --perplexity 50
    """
    if [live, site, atlas].count(None) != 2:
        raise ValueError(
            "give one of --live FILE.html, --site FOLDER, and DIR with --atlas FILE.parquet."
        )
    if atlas is None:
        others = context.params.keys() - _LIVE - {"live", "site"}
        refuse_options(context, others, "it is for --atlas")
        _write_live(live, site, checkpoint, weights, pages)
        return
    refuse_options(context, _LIVE, "it is for --live and --site")
    if corpus is None:
        raise ValueError("--atlas needs the folder of an encoded corpus; see `bertscope encode`.")
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


def _write_live(
    live: Path | None, site: Path | None, checkpoint: str, weights: str, pages: str | None
) -> None:
    """Write the file or the folder."""
    from bertcore import load
    from bertcore.bert import with_parts
    from bertscope.cli.files import check_target, write_whole
    from bertscope.notebook.notebook_view import app_module

    if live is not None:
        check_target(live, ".html", option="--live")
    elif site is not None:
        if site.exists() and (not site.is_dir() or any(site.iterdir())):
            raise ValueError(f"--site is {str(site)!r}, which is not empty. Name a new folder.")
        check_target(site / "index.html", option="--site", makes_folder=True)
    module = app_module("app.live.live_file")
    if weights not in module.FORMS:
        raise ValueError(f"--weights is {weights!r}; expected one of {', '.join(module.FORMS)}.")
    shown = module.PAGES if pages is None else re.split(r"[,\s]+", pages.strip(", "))
    unknown = [page for page in shown if page not in module.PAGES]
    if unknown:
        expected = ", ".join(module.PAGES)
        raise ValueError(f"--pages has {unknown[0]!r}; expected some of {expected}.")
    bert = with_parts(load(checkpoint, device="cpu"))
    options = {"source": checkpoint, "pages": shown}
    typer.echo(f"heads: {module.heads(bert)}")
    if live is not None:
        written = module.live_file(bert, weights, **options).encode()
        write_whole(live, lambda file: file.write(written))
        typer.echo(f"{live}: {len(written) / 1e6:.1f} MB. Open it in a browser.")
        return
    assert site is not None
    files = module.live_site(bert, weights, **options)
    site.mkdir(parents=True, exist_ok=True)
    for name, content in reversed(files.items()):  # index.html last, which names the others
        write_whole(site / name, lambda file, content=content: file.write(content))  # type: ignore[misc]
        typer.echo(f"{site / name}: {len(content) / 1e6:.1f} MB")
    lessons = app_module("app.live.lessons")
    places = lessons.kept(bert, shown)
    for lesson, steps in lessons.lessons(places, "en"):
        typer.echo(f"lesson: {lesson.title} ({len(steps)} of {len(lesson.steps)} steps)")
    if not places:
        typer.echo("No lesson: these pages, or this checkpoint, show less than half of each.")
    typer.echo(f"Put them on any static host. To look: python -m http.server -d {site}")
