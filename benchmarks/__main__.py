"""`python -m benchmarks [name ...] [--write]`: measure, print the tables, and save them."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from benchmarks import (
    attention_clicks,
    attention_views,
    bias,
    corpus_map,
    edit_time,
    encode,
    exam,
    families,
    finetune,
    finetune_tasks,
    head_ranking,
    machine,
    memory,
    minimal_pairs,
    objectives,
    page_speed,
    patching,
    pretrain,
    pretrain_loss,
    pretrain_memory,
    probes,
    scale,
    search,
    splitter,
    task_heads,
    trace,
    tuned_lens,
    uploads,
    visitors,
)

RESULTS = Path(__file__).parent / "RESULTS.md"
BENCHMARKS = {
    "machine": machine.run,
    "trace": trace.run,
    "attention_views": attention_views.run,
    "attention_clicks": attention_clicks.run,
    "page_speed": page_speed.run,
    "memory": memory.run,
    "edit_time": edit_time.run,
    "visitors": visitors.run,
    "uploads": uploads.run,
    "head_ranking": head_ranking.run,
    "patching": patching.run,
    "minimal_pairs": minimal_pairs.run,
    "exam": exam.run,
    "tuned_lens": tuned_lens.run,
    "encode": encode.run,
    "scale": scale.run,
    "probes": probes.run,
    "search": search.run,
    "corpus_map": corpus_map.run,
    "splitter": splitter.run,
    "task_heads": task_heads.run,
    "pretrain": pretrain.run,
    "pretrain_loss": pretrain_loss.run,
    "pretrain_memory": pretrain_memory.run,
    "finetune": finetune.run,
    "finetune_tasks": finetune_tasks.run,
    "objectives": objectives.run,
    "families": families.run,
    "bias": bias.run,
}


def main() -> None:
    """Run the named benchmarks, or all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(BENCHMARKS))
    parser.add_argument("--write", action="store_true", help=f"save the tables in {RESULTS.name}")
    parser.add_argument("--to", type=Path, default=RESULTS, help="another file for --write")
    views = parser.add_argument_group("attention_views", "the texts that are drawn")
    lengths = attention_views.OPTIONS.lengths
    views.add_argument(
        "--tokens", type=int, nargs="+", default=lengths, help="text lengths in tokens"
    )
    loss = parser.add_argument_group("pretrain_loss", "time and data of the two trainers")
    options = pretrain_loss.OPTIONS
    loss.add_argument("--seconds", type=float, default=options.seconds, help="of each trainer")
    loss.add_argument("--corpus", type=Path, nargs="+", default=options.corpus, metavar="FILE")
    loss.add_argument("--valid", type=Path, default=options.valid, metavar="FILE")
    loss.add_argument("--vocab-size", type=int, default=options.vocab_size)
    room = parser.add_argument_group("visitors", "a class on one server")
    crowd = visitors.OPTIONS
    room.add_argument(
        "--visitors", type=int, nargs="+", default=crowd.visitors, help="numbers of visitors"
    )
    room.add_argument(
        "--processes", type=int, nargs="+", default=crowd.processes, help="numbers of servers"
    )
    room.add_argument("--visit-seconds", type=float, default=crowd.seconds, help="of each run")
    sent, uploads_group = uploads.OPTIONS, parser.add_argument_group("uploads", "to one server")
    uploads_group.add_argument("--uploads", type=int, default=sent.uploads, help="of all visitors")
    uploads_group.add_argument(
        "--upload-rest", type=float, default=sent.rest, help="seconds after their visits ended"
    )
    tuned, finetune_group = finetune.OPTIONS, parser.add_argument_group("finetune")
    finetune_group.add_argument(
        "--sst2", type=Path, nargs=2, metavar=("TRAIN", "DEV"), help="SST-2 files"
    )
    finetune_group.add_argument("--checkpoint", default=tuned.checkpoint)
    finetune_group.add_argument("--epochs", type=int, default=tuned.epochs)
    finetune_group.add_argument(
        "--seeds",
        type=int,
        help=f"default: {tuned.num_seeds}; other benchmarks: {finetune_tasks.OPTIONS.num_seeds}",
    )
    finetune_group.add_argument(
        "--sentences", type=int, default=tuned.num_sentences, help="generated without --sst2"
    )
    grammar = parser.add_argument_group("exam", "more pairs and checkpoints")
    grammar.add_argument("--blimp", type=Path, metavar="FILE", help="the BLiMP pairs")
    grammar.add_argument(
        "--every",
        type=int,
        help=f"use every n-th of them; default: {exam.OPTIONS.every}; objectives: "
        f"{objectives.OPTIONS.every}",
    )
    grammar.add_argument(
        "--moments", type=Path, nargs="+", default=[], metavar="FOLDER", help="checkpoints of a run"
    )
    sets, tasks_group = finetune_tasks.OPTIONS, parser.add_argument_group("finetune_tasks")
    tasks_group.add_argument("--tasks", type=Path, metavar="FOLDER", help="the labelled sets")
    tasks_group.add_argument("--runs", type=Path, default=sets.runs, help="stored and resumed here")
    tasks_group.add_argument("--only", nargs="+", default=[], metavar="SET", help="only these sets")
    equal, objectives_group = objectives.OPTIONS, parser.add_argument_group("objectives")
    objectives_group.add_argument("--objective-corpus", type=Path, nargs="+", default=[])
    objectives_group.add_argument("--objective-valid", type=Path, metavar="FILE")
    objectives_group.add_argument("--objective-runs", type=Path, default=equal.runs)
    objectives_group.add_argument("--objective-only", nargs="+", default=[], metavar="NAME")
    objectives_group.add_argument(
        "--objective-speeds", action="store_true", help="measure only the seconds per step"
    )
    objectives_group.add_argument(
        "--minutes", type=float, default=equal.minutes, help="processor time per objective"
    )
    before, bias_group = bias.OPTIONS, parser.add_argument_group("bias", "with --tasks FOLDER")
    bias_group.add_argument("--bias-corpus", type=Path, nargs="+", default=[], metavar="FILE")
    bias_group.add_argument("--bias-valid", type=Path, metavar="FILE", help="held-out text")
    bias_group.add_argument("--bias-runs", type=Path, default=before.runs)
    bias_group.add_argument("--bias-minutes", type=float, default=before.minutes)
    bias_group.add_argument("--bias-penalty", type=float, default=before.penalty)
    bias_group.add_argument("--bias-items", type=int, help="first items of each set; default: all")
    bias_group.add_argument(
        "--bias-loop", type=int, default=before.loop_items, help="items of the loop"
    )
    bias_group.add_argument("--bias-tuned", action="store_true", help="also fine-tune them")
    corpus_group, encoded = parser.add_argument_group("encode"), encode.OPTIONS
    corpus_group.add_argument(
        "--encode-sentences", type=int, default=encoded.sentences, help="per round"
    )
    corpus_group.add_argument("--encode-rounds", type=int, default=encoded.rounds)
    probed, probes_group = probes.OPTIONS, parser.add_argument_group("probes")
    probes_group.add_argument("--probe-checkpoint", default=probed.checkpoint)
    probes_group.add_argument("--probe-sentences", type=int, help="default: all")
    lens_group = parser.add_argument_group("tuned_lens")
    lens_group.add_argument("--lens-steps", type=int, default=tuned_lens.OPTIONS.steps)
    scale_group = parser.add_argument_group("scale")
    scale_group.add_argument("--scale-tokens", type=int, default=scale.OPTIONS.tokens)
    search_group, found = parser.add_argument_group("search"), search.OPTIONS
    search_group.add_argument("--search-tokens", type=int, default=found.tokens)
    search_group.add_argument("--search-queries", type=int, default=found.queries)
    chosen = parser.parse_args()
    probed.checkpoint, probed.sentences = chosen.probe_checkpoint, chosen.probe_sentences
    before.corpus, before.valid = tuple(chosen.bias_corpus), chosen.bias_valid
    before.runs, before.minutes = chosen.bias_runs, chosen.bias_minutes
    before.penalty, before.items = chosen.bias_penalty, chosen.bias_items
    before.loop_items, before.tuned = chosen.bias_loop, chosen.bias_tuned
    encoded.sentences, encoded.rounds = chosen.encode_sentences, chosen.encode_rounds
    tuned_lens.OPTIONS.steps, scale.OPTIONS.tokens = chosen.lens_steps, chosen.scale_tokens
    found.tokens, found.queries = chosen.search_tokens, chosen.search_queries
    equal.corpus, equal.valid = tuple(chosen.objective_corpus), chosen.objective_valid
    equal.runs, equal.only = chosen.objective_runs, tuple(chosen.objective_only)
    equal.minutes, equal.blimp = chosen.minutes, chosen.blimp
    equal.only_speeds = chosen.objective_speeds
    equal.every = chosen.every or equal.every
    exam.OPTIONS.blimp, exam.OPTIONS.every = chosen.blimp, chosen.every or exam.OPTIONS.every
    exam.OPTIONS.moments = tuple(chosen.moments)
    crowd.visitors, crowd.seconds = tuple(chosen.visitors), chosen.visit_seconds
    crowd.processes = tuple(chosen.processes)
    sent.uploads, sent.rest = chosen.uploads, chosen.upload_rest
    sets.tasks, sets.runs, sets.only = chosen.tasks, chosen.runs, tuple(chosen.only)
    sets.num_seeds = chosen.seeds or sets.num_seeds
    tuned.train, tuned.dev = chosen.sst2 or (None, None)
    tuned.checkpoint, tuned.epochs = chosen.checkpoint, chosen.epochs
    tuned.num_seeds = chosen.seeds or tuned.num_seeds
    tuned.num_sentences = chosen.sentences
    options.seconds, options.vocab_size = chosen.seconds, chosen.vocab_size
    attention_views.OPTIONS.lengths = tuple(sorted(chosen.tokens))
    options.corpus, options.valid = tuple(chosen.corpus), chosen.valid
    unknown = [name for name in chosen.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]!r}; expected {', '.join(BENCHMARKS)}")
    without = {
        "finetune_tasks": not chosen.tasks,
        "objectives": not chosen.objective_corpus,
        "families": not chosen.objective_corpus,
        "bias": not chosen.tasks or not chosen.bias_valid,
    }
    every = [name for name in BENCHMARKS if not without.get(name)]
    for name in chosen.names or every:
        print(f"## {name}\n", flush=True)
        table = BENCHMARKS[name]()
        print(table + "\n", flush=True)
        if chosen.write:
            write(chosen.to, name, table)


def write(path: Path, name: str, table: str) -> None:
    """Put a table between its two marks in a file, replacing the old one.

    Raises:
        ValueError: If the file lacks the marks.
    """
    text = path.read_text(encoding="utf-8")
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    pattern = re.compile(f"({re.escape(begin)}).*?({re.escape(end)})", flags=re.S)
    if not pattern.search(text):
        raise ValueError(f"{path} has no place for {name}: expected the lines {begin} and {end}.")
    new = pattern.sub(lambda match: f"{match[1]}\n{table}\n{match[2]}", text)
    path.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
