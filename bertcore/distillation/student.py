"""Initialise a student: some of its teacher's layers, and everything outside the layers."""

from collections.abc import Sequence
from dataclasses import replace

from bertcore.bert import Bert
from bertcore.checkpoints.save import network_heads
from bertcore.network import Network
from bertcore.tokenizer import Tokenizer


def spread_layers(num_teacher: int, num_student: int) -> tuple[int, ...]:
    """Return the teacher's layers with which a student starts, spread evenly from first to last.

    >>> spread_layers(12, 6), spread_layers(4, 2)
    ((0, 2, 4, 7, 9, 11), (0, 3))

    ValueError if there are not that many.

    Source: DistilBERT's extract_distilbert.py has these for 12 and 6.
    """
    if not 1 <= num_student <= num_teacher:
        raise ValueError(
            f"the student gets {num_student} of the teacher's {num_teacher} layers; expected 1 to "
            f"{num_teacher}."
        )
    if num_student == 1:
        return (0,)
    step = (num_teacher - 1) / (num_student - 1)
    return tuple(round(i * step) for i in range(num_student))


def check_layers(layers: Sequence[int], num_teacher: int) -> None:
    """Reject layers that the teacher does not have.

    ValueError if one does not exist, is named twice, or they are not in order.
    """
    if not layers or not all(0 <= layer < num_teacher for layer in layers):
        raise ValueError(
            f"the layers are {', '.join(map(str, layers))}; this teacher has the layers 0 to "
            f"{num_teacher - 1}. Name some of them."
        )
    if list(layers) != sorted(set(layers)):
        raise ValueError(
            f"the layers are {', '.join(map(str, layers))}; name each once, from the bottom up."
        )


def named_layers(text: str, num_teacher: int) -> tuple[int, ...]:
    """Parse a number of layers, or a list of them.

    >>> named_layers("2", 4), named_layers("0,1", 4)
    ((0, 3), (0, 1))

    ValueError if it names none, or layers that the teacher does not have.
    """
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError as error:
        raise ValueError(
            f"--student-layers is {text!r}; expected a number of layers (2), or indices "
            "from 0 (0,2,3)."
        ) from error
    if "," not in text:
        return spread_layers(num_teacher, numbers[0])
    check_layers(numbers, num_teacher)
    return tuple(numbers)


def keep_layers(network: Network, layers: Sequence[int]) -> Network:
    """Return a new network with copies of some layers and of everything outside the layers.

    Args:
        network: The network, which is not changed.
        layers: Counted from 0, the lowest first.

    ValueError if a layer does not exist, or the layers share their weights (ALBERT).
    """
    config = network.config
    if config.share_layers:
        raise ValueError(
            "the layers of this checkpoint share their weights (ALBERT), so none can be left "
            "out. Choose another teacher."
        )
    check_layers(layers, config.num_hidden_layers)
    smaller = replace(config, num_hidden_layers=len(layers))
    student = Network(smaller, network_heads(network))
    weights = {}
    for name, tensor in network.state_dict().items():
        parts = name.split(".")
        if parts[0] == "layers":
            if int(parts[1]) not in layers:
                continue
            parts[1] = str(list(layers).index(int(parts[1])))
        weights[".".join(parts)] = tensor.detach().clone()
    student.load_state_dict(weights)
    return student.train(network.training)


def student_of(teacher: Bert, layers: Sequence[int]) -> Bert:
    """Return a student that starts with some of the teacher's layers, and its vocabulary."""
    return Bert(keep_layers(teacher.module, layers), teacher.tokenizer, name=teacher.name)


def check_same_vocabulary(student: Tokenizer, teacher: Tokenizer) -> None:
    """Reject two tokenizers that give different ids.

    ValueError if pieces or their order differ, or one lower-cases and the other does not.
    """
    ours, theirs = list(student.vocab), list(teacher.vocab)
    if ours != theirs:
        place = next(
            (i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b),
            min(len(ours), len(theirs)),
        )
        raise ValueError(
            f"student and teacher have different vocabularies ({len(ours):,} and {len(theirs):,} "
            f"pieces, the first difference at {place:,}), so their outputs are not about the same "
            "tokens. Use a student with the teacher's vocabulary."
        )
    if student.do_lower_case != teacher.do_lower_case:
        raise ValueError(
            "student and teacher have the same pieces, but one of them lower-cases texts and the "
            "other does not. Use a student with the teacher's tokenizer."
        )
