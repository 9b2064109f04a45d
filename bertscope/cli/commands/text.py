"""Commands on a text: tokenize, fill-mask, loss."""

from __future__ import annotations

import warnings
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from bertscope.cli.options import refuse_options
from bertscope.cli.output import make_table, plain, print_json, print_table, tabulate

if TYPE_CHECKING:
    from bertcore import Model
    from bertcore.model.tokenizer import Encoding
    from bertcore.model.tokenizer.wordpiece import WordSteps

Checkpoint = Annotated[
    str,
    typer.Option(
        "--checkpoint", help="'default', a folder, or a hub id such as bert-base-uncased."
    ),
]
Device = Annotated[str, typer.Option("--device", help="auto, cpu, cuda, cuda:1, mps.")]
Dtype = Annotated[str, typer.Option("--dtype", help="auto (float32), bfloat16, float16.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
TextA = Annotated[str, typer.Argument(metavar="TEXT", help="The text, or text A of a pair.")]
TextB = Annotated[str | None, typer.Argument(metavar="[TEXT_B]", help="Text B of a pair.")]
SHOWN_TRIES = 4
"""Failed candidates that the table of `tokenize` names; the others are counted."""


def tokenize(
    text: TextA, text_b: TextB = None, checkpoint: Checkpoint = "default", as_json: AsJson = False
) -> None:
    """Split a text or pair into tokens, with the reason for each split.

    \b
    Examples:
      bertscope tokenize "Unbelievable riverbanks!"
      bertscope tokenize "He was tired." "He went to bed." --json
    """
    from bertcore.analysis.space.embeddings import kept_text
    from bertcore.model.tokenizer.wordpiece import explain

    bert, encoding = open_with_text(checkpoint, "cpu", text, text_b)
    texts = [text] if text_b is None else [text, text_b]
    kind = bert.tokenizer.kind
    explained = kind == "WordPiece"
    words = [
        explain(kept_text(encoding, text_id, part), bert.tokenizer) if explained else []
        for text_id, part in enumerate(texts)
    ]
    if as_json:
        print_json({**asdict(encoding), "words": [word for part in words for word in part]})
        return
    # Every piece of a text in order; the encoding has the same pieces, fewer if truncated.
    reasons = [[reason for word in part for reason in _reasons(word)] for part in words]
    used = [0, 0]
    table = make_table("token", "id", "segment", "characters", "why", right=("id", "segment"))
    for position, token in enumerate(encoding.tokens):
        source = encoding.text_ids[position]
        if source < 0:
            where, why = "", "added by the tokenizer"
        else:
            start, end = encoding.offsets[position]
            where, why = f"{start}-{end}", f"{kind} (not explained here)"
            if explained:
                why = reasons[source][used[source]]
            used[source] += 1
        ids = str(encoding.input_ids[position]), str(encoding.segment_ids[position])
        table.add_row(*map(plain, (token, *ids, where, why)))
    print_table(table)


def fill_mask(
    text: TextA,
    text_b: TextB = None,
    top_k: int = 5,
    candidates: str = "",
    checkpoint: Checkpoint = "default",
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Predict words for each [MASK]; several masks are predicted independently.

    Args:
        top_k: Number of words for each [MASK].
        candidates: Your own words to score, separated by commas.

    \b
    Examples:
      bertscope fill-mask "He opened the [MASK] and went in." --top-k 5
      bertscope fill-mask "The [MASK] was steep." --candidates "river bank,hill"
      bertscope fill-mask "The cat sat." "The [MASK] sat on the mat."
    """
    from bertcore.analysis.shared.inputs import mask_positions
    from bertcore.analysis.words.candidates import parse_candidates, score_candidates
    from bertcore.model.objectives.text_loss import refuse_cut_masks

    words = parse_candidates(candidates)
    if candidates and not words:
        raise ValueError(
            f"--candidates is {candidates!r}: no candidate was given. Separate words with commas."
        )
    bert, encoding = open_with_text(checkpoint, device, text, text_b)
    positions = mask_positions(encoding, bert.tokenizer.mask_id)
    if not positions:
        refuse_cut_masks(bert.tokenizer, encoding, (text, text_b))
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # noted already
        filled = bert.fill_mask(text, text_b, top_k=top_k)
    scored = [score_candidates(bert, text, text_b, (), at, words) for at in positions]
    if as_json:
        print_json(
            [
                {
                    "position": position,
                    "predictions": [{"token": w, "probability": p} for w, p in best],
                    "candidates": [
                        {**asdict(c), "log_probability": c.log_probability} for c in scores
                    ],
                }
                for position, best, scores in zip(positions, filled, scored, strict=True)
            ]
        )
        return
    for number, (best, scores) in enumerate(zip(filled, scored, strict=True), start=1):
        table = make_table("word", "probability", "note", right=("probability",))
        mask = bert.tokenizer.mask_token
        table.title = plain(f"{mask} {number} of {len(positions)} (token {positions[number - 1]})")
        for word, probability in best:
            table.add_row(plain(word), f"{probability:.4f}")
        if scores:
            table.add_section()
        for candidate in scores:
            cell = "" if candidate.probability is None else f"{candidate.probability:.3g}"
            note = candidate.problem or (
                f"rank {candidate.rank:,}" if candidate.rank else " ".join(candidate.pieces)
            )
            table.add_row(plain(candidate.word), cell, plain(note))
        print_table(table)


def loss(
    context: typer.Context,
    text: TextA,
    text_b: TextB = None,
    words: str | None = None,
    follows: Annotated[bool | None, typer.Option("--follows/--random")] = None,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    checkpoint: Checkpoint = "default",
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Print the pretraining loss of a text or pair: -ln p of each hidden token, and the mean.

    Without a [MASK] in the text, tokens are hidden as in pretraining: 15%, 80/10/10.

    Args:
        words: The right word for each [MASK], separated by commas.
        follows: Add the next-sentence loss: B follows A, or is random.
        seed: Seed of the hidden tokens.

    \b
    Examples:
      bertscope loss "The [MASK] sat on the mat." --words cat
      bertscope loss "He went to the shop." "He bought milk." --follows --seed 3
    """
    if follows is not None and text_b is None:
        raise ValueError(
            f"{'--follows' if follows else '--random'} states whether B follows A, but there is "
            "no text B. Give a pair, or leave the option out."
        )
    bert, encoding = open_with_text(checkpoint, device, text, text_b)
    if bert.tokenizer.mask_id in encoding.input_ids:
        refuse_options(context, {"seed"}, f"the text already has {bert.tokenizer.mask_token}")
    found = bert.loss(
        text,
        text_b,
        words=None if words is None else [word.strip() for word in words.split(",")],
        follows=follows,
        seed=seed,
    )
    if found.num_unknown:
        unknown = bert.tokenizer.unk_token
        typer.echo(f"Note: if {unknown} is hidden, the word to predict is {unknown}.", err=True)
    if as_json:
        print_json({**asdict(found), "loss": found.loss})
        return
    print_table(tabulate(found.hidden))
    typer.echo(f"masked words, mean: {found.mlm_loss:.4f} nats")
    if found.nsp_loss is not None:
        typer.echo(f"next sentence:      {found.nsp_loss:.4f} nats")
        typer.echo(f"sum:                {found.loss:.4f} nats")


def open_with_text(
    checkpoint: str, device: str, text: str, text_b: str | None
) -> tuple[Model, Encoding]:
    """Open the checkpoint and encode; note on stderr what is cut or not read of the texts.

    ValueError if one is blank.
    """
    for name, value in (("text" if text_b is None else "text A", text), ("text B", text_b)):
        if value is not None and not value.strip():
            raise ValueError(f"{name} is blank. Give at least one word, in quotation marks.")
    from bertcore import load
    from bertcore.model.unread import find_unread

    bert = load(checkpoint, device=device)
    encoding = bert.tokenize(text, text_b)
    if encoding.truncation is not None:
        typer.echo(f"Note: {encoding.truncation.sentence()}", err=True)
    if (unread := find_unread(bert.tokenizer, encoding, (text, text_b))) is not None:
        typer.echo(f"Note: {unread.sentence(bert.tokenizer.unk_token)}", err=True)
    return bert, encoding


def _reasons(word: WordSteps) -> list[str]:
    """Return a short explanation of each piece of a word."""
    if word.is_added:
        return ["kept whole: a special token"]
    steps = [f"{name}: {before} -> {after}" for name, before, after in word.steps]
    if word.unk_reason:
        return ["; ".join([*steps, word.unk_reason])]
    out = []
    for number, piece in enumerate(word.pieces):
        parts = steps if number == 0 else []
        if piece.tried:
            named = ", ".join(piece.tried[:SHOWN_TRIES])
            more = len(piece.tried) - SHOWN_TRIES
            parts = [
                *parts,
                f"not in the vocabulary: {named}{f' and {more} more' if more > 0 else ''}",
            ]
        out.append("; ".join(parts) or "in the vocabulary")
    return out
