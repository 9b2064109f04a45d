"""Match a file's tensors to the network of config.json, before reading them."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from bertcore.model.architecture.config import BertConfig
from bertcore.model.architecture.families import POSITION_IDS, Family
from bertcore.model.checkpoints.adapter import MergedWeights
from bertcore.model.checkpoints.report import (
    Shape,
    TensorReport,
    findings,
    head_findings,
    list_up_to,
    name_sentences,
)
from bertcore.model.checkpoints.task import head_numbers, outside
from bertcore.model.checkpoints.weights import OpenWeights
from bertcore.model.network import Network


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """The assignment of stored tensors to parameters, from names and shapes alone."""

    network: Network
    """The network without weights (on the meta device)."""
    table: dict[str, str]
    """Our parameter name -> name in the file."""
    report: TensorReport
    """What is loaded, and what is not."""


def plan_loading(weights: OpenWeights, config: BertConfig, folder: Path) -> LoadPlan:
    """Match the stored tensors to the network that config.json describes.

    Only the decoder is read, to see whether it is tied, and the biases of task heads. Heads that
    are incomplete or of another shape are left out. Of the two names of the decoder's bias, the one
    under which `transformers` reads it is preferred.

    ValueError if it is the weights of something else: no encoder of the family, a decoder.
    RuntimeError if tensors of the encoder are missing or of another shape, or any is not stored as
    floats; the message names them.
    """
    family = config.family
    keys = family.mend_keys(weights.stored, weights.encoder)
    stored = keys.stored
    prefix = family.prefix if keys.prefix is None else keys.prefix
    if not prefix.startswith(weights.encoder):
        raise RuntimeError(
            f"{folder / 'config.json'} names the encoder {weights.encoder[:50]!r} (bertscope), but "
            f"the weights have {', '.join(map(repr, [prefix, *keys.others]))}. Name one of them."
        )
    if any(".crossattention." in key and key.startswith(family.prefix) for key in stored):
        raise ValueError(
            f"the weights in {folder} are a decoder's, whose layers also attend to the states of "
            "an encoder (crossattention). Open its encoder."
        )
    num_stored_layers = _count_layers(weights, stored, config, folder)
    is_tied = _is_tied(weights, stored, config)
    config = replace(config, tie_word_embeddings=is_tied)
    full = _describe(config, folder)
    head_keys = _head_keys(full, stored, config)

    def table_of(heads: Collection[str]) -> dict[str, str]:
        table = family.keys(config.num_hidden_layers, heads, is_tied=is_tied)
        return {ours: theirs for ours, theirs in table.items() if ours in full}

    shapes = {theirs: full[ours] for ours, theirs in table_of(head_keys).items()}
    of_file = {key: weights.stored[name].shape for key, name in stored.items()}
    of_heads = [key for keys_of_head in head_keys.values() for key in keys_of_head]
    wrong = [key for key in of_heads if key in of_file and of_file[key] != shapes[key]]
    begun = {head for head, names in head_keys.items() if of_file.keys() & names}
    whole = {h for h in begun if of_file.keys() - wrong >= {*head_keys[h]}}
    # Of BERT's three heads, the two on pairs read the pooler.
    heads = frozenset(whole if "pooler" in whole else whole - {"nsp", "sop"})
    table = table_of(heads)
    _check(weights, stored, table.values(), shapes, folder)
    unused = {*shapes, family.decoder_bias, family.decoder_weight, family.prefix + POSITION_IDS}
    others = {key: shape for key, shape in of_file.items() if key not in unused}
    others |= {name: weights.stored[name].shape for name in keys.doubled}
    beside = [key for key in outside(keys, family) if not key.startswith(family.prefix)]
    tasks = {key: others[key] for key in beside if key in others}
    with torch.device("meta"):
        network = Network(config, heads)
    unexpected = {key: shape for key, shape in others.items() if key not in tasks}
    mis_shaped = {stored[key]: (of_file[key], shapes[key]) for key in wrong}
    numbers, broken = head_numbers(weights, {stored.get(n, n): s for n, s in tasks.items()})
    has_words = "mlm" in heads
    untied = ["The decoder is a matrix of its own, not the token table (untied)."]
    names = name_sentences(
        family.name,
        unexpected,
        prefix=keys.prefix,
        num_renamed=keys.num_renamed,
        tied_head="masked-word head" if has_words and is_tied else "",
        others=keys.others,
    )
    loaded = as_capabilities(config, sorted(heads))
    return LoadPlan(
        network=network,
        table={ours: stored[theirs] for ours, theirs in table.items()},
        report=TensorReport(
            stored_dtype=weights.stored[stored[family.token_table]].dtype,
            matched={stored[theirs]: of_file[theirs] for theirs in table.values()},
            missing={theirs: shape for theirs, shape in shapes.items() if theirs not in of_file},
            unexpected=unexpected,
            mis_shaped=mis_shaped,
            decoder="absent" if not has_words else "tied" if is_tied else "untied",
            heads=loaded,
            task_heads=tasks,
            broken_heads=broken,
            findings=[
                *numbers,
                *findings("numbers", _left_out(num_stored_layers, config.num_hidden_layers)),
                *head_findings(
                    loaded,
                    as_capabilities(config, family.heads),
                    family.absent.values(),
                    sorted(begun - whole),
                    mis_shaped,
                ),
                *findings("heads", untied if has_words and not is_tied else ()),
                *findings("names", names),
            ],
        ),
    )


def _left_out(num_stored: int, num_layers: int) -> Iterator[str]:
    if num_stored > num_layers:
        yield (
            f"Warning: the file has {num_stored} layers but config.json asks for {num_layers}; the "
            "others were left out."
        )


def as_capabilities(config: BertConfig, heads: Iterable[str]) -> tuple[str, ...]:
    """Return heads as capabilities: with causal attention, the word head predicts next tokens."""
    return tuple("next" if config.is_decoder and head == "mlm" else head for head in heads)


def _count_layers(
    weights: OpenWeights, stored: dict[str, str], config: BertConfig, folder: Path
) -> int:
    """Return the number of stored layers, checked before a network of that many is built."""
    family, wanted = config.family, config.num_hidden_layers
    count = family.count_layers(stored)
    if count == 0:
        some = ", ".join(sorted(weights.stored)[:3])
        if weights.doubt:
            raise ValueError(
                f"the {len(weights.stored)} tensors in {folder}, such as {some}, have no names of "
                f"{family.name}. {weights.doubt}"
            )
        raise ValueError(
            f"{folder} contains no {family.name} encoder: no tensor is called "
            f"{family.layer_prefix.format(0)} ... "
            f"It has {len(weights.stored)} tensors{': ' + some if some else ''}. "
            f"Choose a {family.name} checkpoint."
        )
    if config.share_layers:
        return wanted
    if wanted > count:
        raise RuntimeError(
            f"{folder}: config.json asks for {wanted} layers but the weights "
            f"have {count}. {weights.doubt or 'Use the config.json that belongs to them.'}"
        )
    return count


def _head_keys(
    full: Mapping[str, Shape], stored: dict[str, str], config: BertConfig
) -> dict[str, list[str]]:
    """Return the keys of each head; the word head's bias may be stored under either name."""
    family = config.family
    head_keys = {
        head: [theirs for ours, theirs in names.items() if ours in full]
        for head, names in family.heads.items()
    }
    bias = family.words_bias
    if family.decoder_bias in stored:
        stored[bias] = stored[family.decoder_bias]
    if not config.tie_word_embeddings:
        head_keys["mlm"].append(family.decoder_weight)
    if bias not in stored and _is_of_task(head_keys["mlm"], stored, family):
        del head_keys["mlm"]
    return head_keys


def _is_of_task(names: Iterable[str], stored: dict[str, str], family: Family) -> bool:
    """Return whether tensors named like the masked-word head belong to a task head (ModernBERT)."""
    layers = {name for form in family.tasks.values() for name in (form.dense, form.norm) if name}
    has_classifier = any(f"{form.classifier}.weight" in stored for form in family.tasks.values())
    return has_classifier and any(name.rpartition(".")[0] in layers for name in names)


def _describe(config: BertConfig, folder: Path) -> dict[str, Shape]:
    try:
        with torch.device("meta"):
            network = Network(config, frozenset(config.family.heads))
            return {n: tuple(p.shape) for n, p in network.named_parameters()}
    except (RuntimeError, TypeError, OverflowError) as error:  # sizes over 64 bits
        raise RuntimeError(
            f"{folder / 'config.json'} describes a network of impossible size "
            f"(hidden_size {config.hidden_size}, vocab_size {config.vocab_size}). "
            "Use the config.json that belongs to the weights."
        ) from error


def _check(
    weights: OpenWeights,
    stored: dict[str, str],
    needed: Iterable[str],
    shapes: dict[str, Shape],
    folder: Path,
) -> None:
    """Raise one error that names all tensors that are missing, mis-shaped or not floats."""
    lacking, wrong, sizes = [], [], {}
    for key in needed:
        if key not in stored:
            lacking.append(f"{key} {list(shapes[key])}")
            continue
        tensor = weights.stored[stored[key]]
        if tensor.shape != shapes[key]:
            wrong.append(f"{stored[key]} is {list(tensor.shape)}, expected {list(shapes[key])}")
            sizes[key] = (tensor.shape, shapes[key])
        elif not tensor.is_float:
            wrong.append(f"{stored[key]} is {tensor.dtype}, expected F32, F16 or BF16")
    if lacking or wrong:
        advice = _rows(sizes) if sizes and not lacking and len(wrong) == len(sizes) else ""
        raise misfit(weights, folder, lacking, wrong, advice)


_FIELDS = {
    "embeddings.word_embeddings.weight": "vocab_size",
    "embeddings.tok_embeddings.weight": "vocab_size",
    "embeddings.position_embeddings.weight": "max_position_embeddings",
    "embeddings.token_type_embeddings.weight": "type_vocab_size",
}
"""Tables -> the field of config.json with the number of their rows."""


def _rows(wrong: Mapping[str, tuple[Shape, Shape]]) -> str:
    """Return what to write into config.json if only the rows of tables differ, or ""."""
    rows = {
        field: f'"{field}": {came[0]}'
        for name, (came, expected) in wrong.items()
        for table, field in _FIELDS.items()
        if f".{name}".endswith(f".{table}") and came[1:] == expected[1:]
    }
    if len(rows) != len(wrong):
        return ""
    return f" If the tables were resized, write into config.json: {', '.join(rows.values())}."


def misfit(
    weights: OpenWeights, folder: Path, lacking: list[str], wrong: list[str], advice: str = ""
) -> RuntimeError:
    """Return the error for weights that do not fit their config.json, naming the tensors.

    `wrong` have another shape or number format than expected; `advice` is what to do if only the
    rows of tables differ. The reason is the `doubt` about the weights, if there is one.
    """
    parts = []
    if lacking:
        parts.append(f"{len(lacking)} tensors are missing: {list_up_to(lacking)}")
    if wrong:
        parts.append(f"{len(wrong)} tensors do not fit: {list_up_to(wrong)}")
    return RuntimeError(
        f"the weights in {folder} do not fit its config.json: {'. '.join(parts)}. "
        f"{weights.doubt or f'Use the config.json and the weights that belong together.{advice}'}"
    )


def _is_tied(weights: OpenWeights, stored: dict[str, str], config: BertConfig) -> bool:
    """Return whether the decoder is the token table: a stored one counts, then config.json.

    Of two tied tensors a file may have the decoder alone: that is then the table.
    """
    name, first = config.family.decoder_weight, config.family.token_table
    table, decoder = stored.get(first), stored.get(name)
    if table is None:
        if decoder is not None and config.tie_word_embeddings:
            stored[first] = decoder
        return config.tie_word_embeddings
    # A table that peft saved whole replaces the encoder's only; the decoder keeps the base's.
    if decoder is None and isinstance(weights, MergedWeights) and weights.has_new(table):
        stored[name] = decoder = weights.add_old(table, name)
    if decoder is None:
        return config.tie_word_embeddings
    if weights.stored[decoder].shape != weights.stored[table].shape:
        return False
    own, tied = weights.read(decoder), weights.read(table)
    is_same = torch.equal(own, tied)
    if not is_same and own.isnan().any():  # NaN, as in broken files, equals NaN
        is_same = torch.equal(own.isnan(), tied.isnan())
        is_same &= torch.equal(own.nan_to_num(), tied.nan_to_num())
    return is_same
