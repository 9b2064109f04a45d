"""Pretraining with a teacher: DistilBERT's losses on a corpus, TinyBERT's as an option.

The soft-target loss over the vocabulary starts from the input vectors of two decoders.
"""

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim import Optimizer

from bertcore.configs import DataConfig, DistillConfig
from bertcore.model.architecture.config import BertConfig
from bertcore.model.bert import Bert
from bertcore.model.network import Network
from bertcore.model.tokenizer import Tokenizer
from bertcore.training.distillation import (
    attended,
    check_same_vocabulary,
    cosine_loss,
    layer_losses,
    run_with_states,
    start_projection,
)
from bertcore.training.pretraining.loss import Inputs, Losses, fastest, loss_of_hidden, reported


class Teacher(NamedTuple):
    """The checkpoint that a student learns from, and the weights of the losses."""

    bert: Bert
    losses: DistillConfig


class DistillationWithLoss(nn.Module):
    """A student with its loss, instead of `NetworkWithLoss`.

    The teacher is not part of the module, so it is not trained, saved or synchronised: it is in
    evaluation mode and has no gradients.

    Args:
        student: A network with a masked-word head; shared, not copied. If rows are pairs, its
            next-sentence head also learns their labels.
        teacher: A network with a masked-word head and the same vocabulary, on the student's device.
        dtype: "bfloat16" or "float32": its compute format.

    ValueError if their states cannot be compared, the teacher has no masked-word head, or the
    losses have two phases.

    Source: Sanh et al. 2019 (DistilBERT), section 2; Jiao et al. 2020 (TinyBERT), section 3.1.
    """

    def __init__(
        self, student: Network, teacher: Network, config: DistillConfig, *, dtype: str, seed: int
    ) -> None:
        super().__init__()
        if config.layer_phase:
            raise ValueError(
                f"layer_phase is {config.layer_phase}, but a corpus has one phase; expected 0. "
                "Train once with the layers' loss and once with the others."
            )
        config.check_shapes(student.config, teacher.config)
        teacher.masked_word_head()
        self.network, self.config = student, config
        self._teacher = [teacher.eval().requires_grad_(False)]
        self.projection: nn.Linear | None = None
        if config.layer_weight:
            widths = student.config.hidden_size, teacher.config.hidden_size
            self.projection = start_projection(*widths, seed).to(student.token_table.device)
        self.attention, self.word_loss = fastest(student, dtype, is_compiled=False)

    @property
    def teacher(self) -> Network:
        return self._teacher[0]

    def forward(self, batch: Inputs) -> Losses:
        """Return the losses of `pretraining_loss`, with "loss" as the weighted sum, and the
        teacher's: "soft_loss", a mean over all tokens except padding, in nats times the squared
        temperature, "cosine_loss" and "layer_loss"."""
        config, mask = self.config, batch.get("attention_mask")
        inputs = batch["input_ids"], batch["segment_ids"], mask
        total = batch["total_tokens"]
        if self.projection is not None:
            ours = run_with_states(self.network, *inputs)
            with torch.no_grad():
                theirs = run_with_states(self.teacher, *inputs)
            hidden, wanted = ours.hidden[-1], theirs.hidden[-1]
            layers = layer_losses(ours, theirs, self.projection, mask).sum() / total
        else:
            hidden = self.network(*inputs, attention=self.attention)
            with torch.no_grad():
                wanted = self.teacher(*inputs, attention=self.attention)
            layers = hidden.new_zeros((), dtype=torch.float32)
        base = loss_of_hidden(self.network, hidden, batch, word_loss=self.word_loss)
        student, teacher = attended(hidden, mask), attended(wanted, mask)  # [N, D]
        soft = cosine = hidden.new_zeros((), dtype=torch.float32)
        if config.soft_weight:
            soft = self._soft_loss(student, teacher) / total
        if config.cosine_weight:
            cosine = cosine_loss(student, teacher).sum() / total
        loss = config.soft_weight * soft + config.cosine_weight * cosine
        loss = loss + config.layer_weight * layers + config.hard_weight * base["mlm_loss"]
        if "next_sentence_labels" in batch:
            loss = loss + base["nsp_loss"]
        own = {"loss": loss, "soft_loss": soft, "cosine_loss": cosine, "layer_loss": layers}
        return reported({**base, **own})

    def _soft_loss(self, student: Tensor, teacher: Tensor) -> Tensor:
        """Return the sum over tokens of the soft-target loss, for vectors [N, D]."""
        ours, theirs = self.network.masked_word_head(), self.teacher.masked_word_head()
        with torch.no_grad():
            wanted = theirs.transform(teacher)
        return soft_word_loss(
            ours.transform(student),
            Decoder(self.network.decoder_table, ours.word_bias),
            wanted,
            Decoder(self.teacher.decoder_table, theirs.word_bias),
            temperature=self.config.temperature,
        )


def add_projection(optimizer: Optimizer, module: DistillationWithLoss) -> None:
    """Add the projection of TinyBERT's losses to AdamW, at its own rate."""
    if module.projection is None:
        return
    first = optimizer.param_groups[0]
    optimizer.add_param_group(
        {
            "params": list(module.projection.parameters()),
            "weight_decay": 0.0,
            "lr": first["lr"],
            "peak_lr": first["peak_lr"],
        }
    )


def check_teacher(
    teacher: Teacher, tokenizer: Tokenizer, student: BertConfig, data: DataConfig
) -> None:
    """Reject a teacher that cannot read the rows or has another vocabulary.

    ValueError if one of them is not a BERT, or the teacher has another vocabulary than the
    student's tokenizer, no masked-word head, another number of rows in its token table, too few
    positions, no second segment for pairs, weights that are not finite, or states that the losses
    cannot compare.
    """
    bert, longest_row = teacher.bert, (data.long_phase() or data).max_seq_length
    check_same_vocabulary(tokenizer, bert.tokenizer)
    for who, config in (("teacher", bert.config), ("student", student)):
        if config.model_type != "bert":
            raise ValueError(
                f"the {who} is a checkpoint of model_type {config.model_type!r}; distillation on a "
                "corpus is for BERT itself. Choose a BERT checkpoint."
            )
    bert.require("mlm")
    rows = student.vocab_size, bert.config.vocab_size
    if rows[0] != rows[1]:
        raise ValueError(
            f"the student's token table has {rows[0]:,} rows and the teacher's {rows[1]:,}, so "
            "their probabilities cannot be compared. Use a student with the same number."
        )
    if bert.config.max_length < longest_row:
        raise ValueError(
            f"the teacher {bert.name!r} reads at most {bert.config.max_length} tokens, but "
            f"the rows have {longest_row}. Lower --max-seq-length."
        )
    if data.has_pairs and bert.config.type_vocab_size < 2:
        raise ValueError(
            f"the teacher {bert.name!r} has no second segment, so it cannot read pairs. Use "
            "--objective mlm."
        )
    if bert.report is not None:
        bert.report.check_finite()
    teacher.losses.check_shapes(student, bert.config)


_BLOCK = 1024
"""Rows whose logits exist at a time: 32 MB each for student and teacher with 16,384 pieces."""
_CHUNK = 32  # rows of them that a CPU processes at a time in float32: 2 MB, which stay in its cache


class Decoder(NamedTuple):
    """Maps vectors to logits: the token table [V, E] and a bias [V]."""

    table: Tensor
    bias: Tensor


def soft_word_loss(
    vectors: Tensor,
    decoder: Decoder,
    teacher_vectors: Tensor,
    teacher_decoder: Decoder,
    *,
    temperature: float,
) -> Tensor:
    """Return the sum over rows of `soft_target_loss` of their logits, a float32 scalar.

    Vectors are the decoder's input, [N, E]; the student's have gradients, the teacher's none. Both
    networks' logits of all tokens would be the largest tensors by far. So each chunk of rows goes
    from logits to gradients at once, and the logits are not kept: the same work with less memory
    traffic. Under autocast, the products are computed in its format.
    """
    device = vectors.device.type
    dtype = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else torch.float32
    loss: Tensor = _SoftWordLoss.apply(  # type: ignore[no-untyped-call]
        vectors, *decoder, teacher_vectors, *teacher_decoder, temperature, dtype
    )
    return loss


class _SoftWordLoss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        vectors: Tensor,
        table: Tensor,
        bias: Tensor,
        teacher_vectors: Tensor,
        teacher_table: Tensor,
        teacher_bias: Tensor,
        temperature: float,
        dtype: torch.dtype,
    ) -> Tensor:
        x, weight = vectors.to(dtype), table.to(dtype)
        y, teacher_weight = teacher_vectors.to(dtype), teacher_table.to(dtype)
        total = torch.zeros((), dtype=torch.float32, device=vectors.device)
        of_vectors = torch.empty_like(x)
        of_table = torch.zeros_like(table, dtype=torch.float32)
        of_bias = torch.zeros_like(bias, dtype=torch.float32)
        with torch.autocast(vectors.device.type, enabled=False):
            for start in range(0, len(vectors), _BLOCK):
                rows = slice(start, start + _BLOCK)
                logits = x[rows] @ weight.T
                wanted = y[rows] @ teacher_weight.T
                # The gradients overwrite the logits.
                total += _to_gradients(logits, bias, wanted, teacher_bias, temperature, of_bias)
                of_vectors[rows] = logits @ weight
                of_table += logits.T @ x[rows]
        ctx.save_for_backward(of_vectors, of_table, of_bias)
        ctx.dtypes = vectors.dtype, table.dtype, bias.dtype
        return total * temperature**2

    @staticmethod
    def backward(ctx: Any, scale: Tensor) -> tuple[Tensor | None, ...]:
        gradients = [
            (gradient * scale).to(dtype)
            for gradient, dtype in zip(ctx.saved_tensors, ctx.dtypes, strict=True)
        ]
        return *gradients, None, None, None, None, None


def _to_gradients(
    logits: Tensor,
    bias: Tensor,
    wanted: Tensor,
    teacher_bias: Tensor,
    temperature: float,
    of_bias: Tensor,
) -> Tensor:
    """Turn the student's logits into gradients in place; return the sum of KL.

    Logits have no bias yet, [N, V]; biases and `of_bias`, a sum of gradients, are float32, [V].
    """
    size = _CHUNK if logits.device.type == "cpu" else _BLOCK
    total = torch.zeros((), dtype=torch.float32, device=logits.device)
    for ours, theirs in zip(torch.split(logits, size), torch.split(wanted, size), strict=True):
        # A sum with a float32 bias is float32.
        log_student = F.log_softmax((ours + bias).div_(temperature), -1)
        log_teacher = F.log_softmax((theirs + teacher_bias).div_(temperature), -1)
        teacher = log_teacher.exp()
        total += log_teacher.sub_(log_student).mul_(teacher).sum()
        # d (temperature^2 x KL) / d logits = temperature x (p - the teacher's p)
        gradient = log_student.exp_().sub_(teacher).mul_(temperature)
        of_bias += gradient.sum(0)
        ours.copy_(gradient)
    return total
