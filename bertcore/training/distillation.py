"""Distillation: the losses, one value per row, and a student's initial weights.

Used by `bertcore.training.pretraining.distillation` on a corpus,
`bertcore.training.finetuning.distillation` on a task. The caller chooses rows and averages.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bertcore.model.bert import Bert
from bertcore.model.checkpoints.save import network_heads
from bertcore.model.network import Network
from bertcore.model.network.attention import attention_scores, cast_mask
from bertcore.model.network.encoder import collect_into
from bertcore.model.tokenizer import Tokenizer


def soft_target_loss(student: Tensor, teacher: Tensor, temperature: float) -> Tensor:
    """Return temperature^2 x KL(teacher || student) of each row [C] in nats, float32, [N].

    The square keeps the gradients as large as those of hard labels at any temperature above 0.

    Source: Hinton et al. 2015, section 2; DistilBERT's distiller.py (its "batchmean" is the mean of
        these rows).
    """
    log_students = F.log_softmax(student.float() / temperature, -1)
    log_teachers = F.log_softmax(teacher.float() / temperature, -1)
    divergence = F.kl_div(log_students, log_teachers, reduction="none", log_target=True)
    return divergence.sum(-1) * temperature**2


def cosine_loss(student: Tensor, teacher: Tensor) -> Tensor:
    """Return 1 - the cosine of each pair of vectors, [N], of vectors [N, D].

    Source: Sanh et al. 2019, section 2; torch's cosine_embedding_loss with target 1.
    """
    return 1 - F.cosine_similarity(student.float(), teacher.float(), dim=-1)


def hidden_loss(student: Tensor, teacher: Tensor) -> Tensor:
    """Return the mean squared difference of each pair of vectors, [N], of vectors [N, D].

    The student's are as wide as the teacher's, i.e. after the projection; these have no gradients.

    Source: Jiao et al. 2020 (TinyBERT), equations 8 and 9.
    """
    return (student.float() - teacher.float()).square().mean(-1)


def attention_loss(student: Tensor, teacher: Tensor, attention_mask: Tensor | None) -> Tensor:
    """Return for each token the mean squared difference of its scores, over heads and keys, [N].

    Of scores before the softmax and without a mask, [B, H, T, T]; True in the mask [B, T] is a
    token, and each has a number.

    Source: Jiao et al. 2020, equation 7. Differs: padding is left out of the mean, whereas
        TinyBERT's code counts it as zeros, so that the loss does not depend on the amount of
        padding.
    """
    squares = (student.float() - teacher.float()).square().mean(1)  # [B, T, T]
    if attention_mask is None:
        return squares.mean(-1).flatten()
    kept = attention_mask.float()
    of_query = (squares * kept[:, None]).sum(-1) / kept.sum(-1, keepdim=True)
    return of_query[attention_mask.bool()]


def attended(vectors: Tensor, attention_mask: Tensor | None) -> Tensor:
    """Return the vectors that are not padding, [N, D], from [B, T, D]."""
    if attention_mask is None:
        return vectors.flatten(0, 1)
    return vectors[torch.as_tensor(attention_mask, dtype=torch.bool)]


@dataclass(slots=True)
class States:
    """The states of an encoder, from embeddings to the last layer."""

    embeddings: Tensor
    """The input of the first layer, [B, T, D]."""
    hidden: list[Tensor] = field(default_factory=list)
    """After each layer, [B, T, D]."""
    scores: list[Tensor] = field(default_factory=list)
    """Of each layer, before mask and softmax, [B, H, T, T]."""


def run_with_states(
    network: Network, input_ids: Tensor, segment_ids: Tensor | None, attention_mask: Tensor | None
) -> States:
    """Run an encoder and keep its states; the numbers equal those of `Network.forward`."""
    hidden, mask = network.embed(input_ids, segment_ids, attention_mask)
    states = States(hidden)

    def attend(
        queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, dropout: float
    ) -> Tensor:
        scores = attention_scores(queries, keys)
        states.scores.append(scores)
        if mask is not None:
            scores = scores + cast_mask(mask, scores.dtype)
        return F.dropout(torch.softmax(scores, dim=-1), dropout) @ values

    network.run_layers(hidden, mask, attend, after=collect_into(states.hidden))
    return states


def layer_losses(
    student: States, teacher: States, projection: nn.Linear, attention_mask: Tensor | None
) -> Tensor:
    """Return the sum over layers of TinyBERT's losses for each token that is not padding, [N].

    Layer m of M is compared with the teacher's m * N / M, the embeddings with the embeddings. One
    projection, from the student's width to the teacher's, is for all of them, as in TinyBERT's
    code.

    Source: Jiao et al. 2020, equations 7 to 9 and 11; huawei-noah TinyBERT, modeling.py.
    """

    def compare(ours: Tensor, theirs: Tensor) -> Tensor:
        kept = attended(ours, attention_mask)
        return hidden_loss(projection(kept), attended(theirs, attention_mask))

    every = len(teacher.hidden) // len(student.hidden)
    total = compare(student.embeddings, teacher.embeddings)
    for m, (hidden, scores) in enumerate(zip(student.hidden, student.scores, strict=True), start=1):
        other = m * every - 1
        total = total + compare(hidden, teacher.hidden[other])
        total = total + attention_loss(scores, teacher.scores[other], attention_mask)
    return total


def start_projection(student_width: int, teacher_width: int, seed: int) -> nn.Linear:
    """Return the shared projection: the identity if the widths are equal, else random."""
    generator = torch.Generator().manual_seed(seed)
    projection = nn.Linear(student_width, teacher_width)
    with torch.no_grad():
        nn.init.zeros_(projection.bias)
        if student_width == teacher_width:
            nn.init.eye_(projection.weight)
        else:
            nn.init.normal_(projection.weight, 0.0, student_width**-0.5, generator=generator)
    return projection


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

    Layers count from 0, the lowest first. ValueError if one does not exist, or the layers share
    their weights (ALBERT).
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
