"""What follows the last layer, as rows of the drawing: the masked-word head and the pooler."""

import torch

from bertcore import Model
from bertcore.analysis.words.head_steps import masked_word_steps, pooler_steps
from bertcore.bert import with_parts

from .drawing import Sheet
from .one_token import activation_name
from .run import AskedWord, Run

NUM_LOGITS = 6
"""Words whose logits are shown."""
ANSWERS = {"nsp": ("B follows A", "B is random"), "sop": ("in order", "exchanged")}


def word_sheet(bert: Model, run: Run, asked: AskedWord) -> Sheet:
    """Return the rows of the masked-word head at a token."""
    steps = masked_word_steps(bert, run.trace, asked.position)
    head = with_parts(bert).module.masked_word_head()
    sheet = Sheet()
    sheet.add_vector(steps.state, "state", "Last state", "of the token")
    widths = f"{len(steps.state):,} → {len(steps.dense):,} numbers"
    sheet.add_vector(steps.dense, "dense", "Dense", f"a linear layer, {widths}")
    name = activation_name(head.activation)
    below = "zero" if name == "ReLU" else "small"
    sheet.add_vector(steps.activation, "dense", name, f"negatives become {below}, positives stay")
    sheet.add_vector(steps.norm, "norm", "LayerNorm", "compared with every word")
    best = steps.logits[: bert.tokenizer.vocab_size].topk(NUM_LOGITS)
    asked_id = None if asked.word is None else bert.tokenizer.token_to_id(asked.word)
    ids = best.indices.tolist()
    if asked_id is not None and asked_id not in ids:
        ids.append(asked_id)
    sheet.add(
        "logits",
        "Decoder",
        f"the token table, {len(steps.logits):,} words, and a bias for each",
        entries=[
            {
                "word": bert.tokenizer.id_to_token(word_id),
                "product": float(steps.products[word_id]),
                "bias": float(steps.biases[word_id]),
                "logit": float(steps.logits[word_id]),
                "probability": float(steps.probabilities[word_id]),
            }
            for word_id in ids
        ],
    )
    return sheet


def pair_sheet(bert: Model, run: Run) -> Sheet:
    """Return the rows of the pooler, and for a pair those of the head that reads it."""
    steps = pooler_steps(bert, run.trace)
    sheet = Sheet()
    sheet.add_vector(steps.state, "state", "Last state", f"of {run.trace.tokens[0]}")
    sheet.add_vector(steps.dense, "dense", "Dense", "a linear layer")
    sheet.add_vector(steps.pooled, "pooled", "tanh", "between −1 and 1: the pooled vector")
    if steps.logits is not None and run.text_b is not None:
        probabilities = torch.softmax(steps.logits, -1).tolist()
        rows = zip(ANSWERS[steps.kind], steps.logits.tolist(), probabilities, strict=True)
        sheet.add(
            "pair",
            "Next sentence" if steps.kind == "nsp" else "Sentence order",
            "two logits, then softmax",
            entries=[{"word": name, "logit": logit, "probability": p} for name, logit, p in rows],
        )
    return sheet
