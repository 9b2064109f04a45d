"""Weights of training examples by their own bias: how sure a biased model is of their labels."""

from dataclasses import replace

import numpy as np
from scipy.special import softmax

from bertcore.distillation.student import check_same_vocabulary
from bertcore.tasks import TaskData
from bertcore.tasks.model import TaskModel
from bertcore.tasks.scoring import row_logits
from bertcore.tokenizer import Tokenizer


def weigh_by_bias(
    data: TaskData, biased: TaskModel, tokenizer: Tokenizer, *, focus: float
) -> TaskData:
    """Return a data set whose examples weigh less, the surer a biased model is of their labels.

    The weight is (1 - p) ** focus, with p the biased model's probability of the example's label.

    Args:
        data: Examples with one label each.
        biased: Fine-tuned for the task; it should know little but the bias, as after a few
            examples.
        tokenizer: Of the data's rows.
        focus: 0: all weigh alike.

    ValueError if labels or vocabulary differ, or it is certain of every label.

    Source: the debiased focal loss (Karimi Mahabadi et al. 2020, section 3.2); a biased model from
        few examples, where the bias is not known (Utama et al. 2020).
    """
    if biased.labels != data.labels:
        raise ValueError(
            f"the biased model {biased.name!r} has the labels {', '.join(biased.labels)}, but the "
            f"training data {', '.join(data.labels)}. Fine-tune it on the same data."
        )
    check_same_vocabulary(tokenizer, biased.tokenizer)
    targets = data.rows.targets.astype("int64")
    probabilities = softmax(row_logits(biased.module, data, biased.task), axis=-1)
    of_label = probabilities[np.arange(len(targets)), targets]
    weights = ((1 - of_label) ** focus).astype(np.float32)
    if not weights.max() > 0:
        raise ValueError(
            f"the biased model {biased.name!r} is certain of every label, so no example has a "
            "weight. Use one that has learned less, such as from --sample 200."
        )
    is_right = probabilities.argmax(-1) == targets
    parts = [
        f"{np.mean(weights[chosen]):.2f} on average for the {chosen.sum():,} that it answers {how}"
        for chosen, how in ((is_right, "rightly"), (~is_right, "wrongly"))
        if chosen.any()
    ]
    note = f"Weights by the bias of {biased.name!r}: {', '.join(parts)}."
    return replace(data, rows=replace(data.rows, weights=weights), notes=(*data.notes, note))
