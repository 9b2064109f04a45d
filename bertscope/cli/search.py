"""`bertscope search`: the nearest tokens of an encoded corpus to a token of a text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bertscope.cli.options import documented, is_typed
from bertscope.cli.output import make_table, plain, print_json, print_table
from bertscope.cli.progress import stages
from bertscope.cli.text import AsJson, Checkpoint, Device

if TYPE_CHECKING:
    from bertcore import Trace
    from bertcore.corpus.search import Neighbours, Query, VectorIndex

_CONTEXT = 40  # characters of the sentence before and after a hit, in the table
_MOST_WORDS = 5


@documented
def search(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="DIR")],
    layer: int | None = None,
    text: str | None = None,
    token: str | None = None,
    k: Annotated[int, typer.Option(min=1)] = 10,
    exact: Annotated[bool | None, typer.Option("--exact/--index")] = None,
    rebuild: bool = False,
    checkpoint: Checkpoint = "default",
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Find the tokens of an encoded corpus that are nearest to a token of a text, in context.

    By default the checkpoint is the one that encoded the corpus. Without --text the index is built
    and nothing is searched.

    Args:
        folder: A folder written by `bertscope encode`.
        layer: 0: the embeddings' output. Default: the deepest stored layer.
        text: The text with the token.
        token: Position of the token ([CLS] is 0), or the word itself if it occurs once.
        k: Number of rows to find.
        exact: Compare every row, or use a usearch index. Default: an index above 300,000 rows,
            built on first use.
        rebuild: Rebuild the index, then search.

    \b
    Examples:
      bertscope search vectors --layer 2 --text "He sat on the bank of the river." --token bank
      bertscope search vectors --layer 4 --text "She robbed a bank." --token 4 --k 50 --json
      bertscope search vectors --layer 2 --index --rebuild
    """
    from bertcore.corpus import open_encoded
    from bertcore.corpus.search import Places, neighbours, open_index, query_of

    if exact and rebuild:
        raise ValueError("--exact builds no index, so there is none to --rebuild. Leave one out.")
    if text is None and token is not None:
        raise ValueError(
            "--token was given without a text. Add --text with the text that contains it."
        )
    encoded = open_encoded(folder)
    chosen = encoded.layers[-1] if layer is None else layer
    encoded.check_layers(chosen)

    def open_with_progress(*, exact: bool | None) -> VectorIndex:
        with stages() as show:
            return open_index(
                encoded,
                chosen,
                exact=exact,
                rebuild=rebuild,
                on_progress=lambda fraction, stage: show(stage, fraction),
            )

    if text is None:
        index = open_with_progress(exact=False)
        done = {"folder": str(folder), "layer": chosen, "rows": index.num_rows}
        if as_json:
            print_json({**done, "left_out": index.num_left_out})
        else:
            typer.echo(
                f"The index of layer {chosen} in {folder} has {index.num_rows:,} rows, "
                f"{index.num_left_out:,} left out."
            )
        return
    if not len(encoded):
        raise ValueError(f"{str(folder)!r} has no rows to search. Encode it again.")
    from bertcore import load

    source = checkpoint if is_typed(context, "checkpoint") else encoded.manifest.checkpoint
    bert = load(source, device=device)
    encoded.check_model(bert)
    trace = bert.trace(text)
    query = query_of(trace, token_position(trace, token, encoded.unit), encoded)
    index = open_with_progress(exact=exact)
    found = neighbours(index, Places(encoded), query, chosen, k, own_text=text)
    if index.num_left_out:
        typer.echo(f"Note: {index.num_left_out:,} rows without a direction are left out.", err=True)
    if as_json:
        print_json(_values(found, query, text, index.num_rows, index.num_left_out))
    else:
        _print(found, query)


def token_position(trace: Trace, token: str | None, unit: str) -> int:
    """Return the position of a token that is named by its position or its word.

    ValueError if no token was named, or it does not occur, or occurs several times.
    """
    shown = ", ".join(f"{place} {name}" for place, name in enumerate(trace.tokens))
    if token is None:
        if unit == "sentence":
            return 0
        raise ValueError(f"no --token was given. Name one of: {shown}.")
    if token.isdecimal():
        if int(token) >= trace.num_tokens:
            raise ValueError(f"--token is {token}; expected one of: {shown}.")
        return int(token)
    places: dict[int, int] = {}
    for place, word in enumerate(trace.word_ids):
        if word >= 0 and word not in places:
            end = place + 1
            while end < trace.num_tokens and trace.word_ids[end] == word:
                end += 1
            if trace.word_text(place, end).casefold() == token.casefold():
                places[word] = place
    if not places and token in trace.tokens:
        places = {i: i for i, name in enumerate(trace.tokens) if name == token}
    if len(places) != 1:
        times = "not in the text" if not places else f"in the text {len(places)} times"
        raise ValueError(f"--token {token!r} is {times}; name it by its position: {shown}.")
    return next(iter(places.values()))


def _values(
    found: Neighbours, query: Query, text: str, num_rows: int, num_left_out: int
) -> dict[str, Any]:
    from bertcore.corpus.search.places import shares, tag_shares

    return {
        "text": text,
        "word": query.word,
        "before": query.before,
        "after": query.after,
        "layer": found.layer,
        "rows": num_rows,
        "left_out": num_left_out,
        "same_word": found.same_word,
        "same_before": found.same_before,
        "same_after": found.same_after,
        "words": [share._asdict() for share in shares(hit.word for hit in found.hits)],
        "before_words": [share._asdict() for share in shares(hit.before for hit in found.hits)],
        "after_words": [share._asdict() for share in shares(hit.after for hit in found.hits)],
        "tags": {
            name: [share._asdict() for share in listed]
            for name, listed in tag_shares(found.hits).items()
        },
        "hits": found.hits,
    }


def _print(found: Neighbours, query: Query) -> None:
    from bertcore.corpus.search.places import shares, tag_shares

    columns = ("cosine", "before", "token", "after", "document")
    table = make_table(*columns, right=("cosine", "before", "document"))
    what = f"to {query.word!r}" if query.word else "to the text"
    table.title = plain(f"Nearest {what}, layer {found.layer}")
    for hit in found.hits:
        low, high = max(0, hit.start - _CONTEXT), hit.end + _CONTEXT
        middle = hit.text[hit.start : hit.end] if hit.word else ""
        right = hit.text[hit.end : high] if hit.word else hit.text[: 2 * _CONTEXT]
        left = hit.text[low : hit.start] if hit.word else ""
        row = (f"{hit.cosine:.3f}", left, middle, right, f"{hit.document}")
        table.add_row(*map(plain, row))
    print_table(table)
    if not query.word:
        return
    for name, listed in (
        ("the word", shares(hit.word for hit in found.hits)),
        ("before it", shares(hit.before for hit in found.hits)),
        ("after it", shares(hit.after for hit in found.hits)),
        *tag_shares(found.hits).items(),
    ):
        line = ", ".join(f"{share.word} {share.num}" for share in listed[:_MOST_WORDS])
        more = "" if len(listed) <= _MOST_WORDS else f", {len(listed) - _MOST_WORDS} others"
        typer.echo(str(plain(f"{name}: {line}{more}")))
