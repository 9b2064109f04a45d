"""The losses of distillation, one value per row; the caller chooses rows and averages."""

import torch
import torch.nn.functional as F
from torch import Tensor


def soft_target_loss(student: Tensor, teacher: Tensor, temperature: float) -> Tensor:
    """Return temperature^2 x KL(teacher || student) of each row in nats, float32, [N].

    The square keeps the gradients as large as those of hard labels at any temperature.

    Args:
        student, teacher: Logits, [N, C].
        temperature: Divides the logits, above 0.

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

    Args:
        student: The student's vectors, as wide as the teacher's, i.e. after the projection.
        teacher: The teacher's vectors, without gradients.

    Source: Jiao et al. 2020 (TinyBERT), equations 8 and 9.
    """
    return (student.float() - teacher.float()).square().mean(-1)


def attention_loss(student: Tensor, teacher: Tensor, attention_mask: Tensor | None) -> Tensor:
    """Return for each token the mean squared difference of its scores, over heads and keys.

    Args:
        student, teacher: Scores before the softmax and without a mask, [B, H, T, T].
        attention_mask: True at tokens, [B, T]; None: all are tokens.

    Returns:
        [N]: one for each token that is not padding.

    Source: Jiao et al. 2020, equation 7. Differs: padding is left out of the mean, whereas
    TinyBERT's code counts it as zeros, so that the loss does not depend on the amount of padding.
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
