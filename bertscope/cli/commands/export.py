"""`bertscope export`: a checkpoint as a page that computes, in one file or as a site."""

import re
from pathlib import Path
from typing import Annotated

import typer

from bertscope.cli.options import WORDS


def export(
    live: Annotated[Path | None, typer.Option(metavar="FILE.html")] = None,
    site: Annotated[Path | None, typer.Option(metavar="FOLDER")] = None,
    checkpoint: str = "default",
    weights: str = "rounded",
    pages: Annotated[str | None, typer.Option(metavar=WORDS)] = None,
) -> None:
    """Write a checkpoint as a page that computes without a server.

    With --live, one HTML file reads what is typed into it, in any browser and without a network or
    a server: BERT at a glance, word pieces, the attention of all heads, masked words and next
    sentence. With --site, the same is a folder for a static host, with the lessons that these pages
    can show.

    Args:
        live: HTML file to write.
        site: Folder to write, new or empty, with index.html, worker and weights.
        checkpoint: 'default', a folder, or a hub id. A BERT of at most 12 layers.
        weights: rounded (13.9 MB for the default checkpoint), float16 or float32.
        pages: What is shown, of glance tokens attention masked-words pairs. Default: all.

    \b
    Examples:
      bertscope export --live bert.html
      bertscope export --live mine.html --checkpoint runs/mine/out --weights float16
      bertscope export --live heads.html --pages attention tokens
      bertscope export --site public
    """
    if (live is None) == (site is None):
        raise ValueError("give one of --live FILE.html and --site FOLDER.")
    from bertcore import load
    from bertcore.model.bert import with_parts
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
        write_whole(live, written)
        typer.echo(f"{live}: {len(written) / 1e6:.1f} MB. Open it in a browser.")
        return
    assert site is not None
    files = module.live_site(bert, weights, **options)
    site.mkdir(parents=True, exist_ok=True)
    for name, content in reversed(files.items()):  # index.html last, which names the others
        write_whole(site / name, content)
        typer.echo(f"{site / name}: {len(content) / 1e6:.1f} MB")
    lessons = app_module("app.live.lessons")
    places = lessons.kept(bert, shown)
    for lesson, steps in lessons.lessons(places, "en"):
        typer.echo(f"lesson: {lesson.title} ({len(steps)} of {len(lesson.steps)} steps)")
    if not places:
        typer.echo("No lesson: these pages, or this checkpoint, show less than half of each.")
    typer.echo(f"Put them on any static host. To look: python -m http.server -d {site}")
