"""Fine-tuning with a teacher: soft targets beside the labels."""

import torch
from torch import Tensor, nn

from bertcore.configs import DistillConfig
from bertcore.data.labels import some_labels
from bertcore.model.network.attention import AttentionFunction
from bertcore.model.network.task_heads import TaskNetwork
from bertcore.model.network.task_module import TaskModule
from bertcore.training.distillation import (
    attended,
    check_same_vocabulary,
    layer_losses,
    run_with_states,
    start_projection,
)
from bertcore.training.finetuning.task_step import TaskWithLoss, Totals
from bertcore.training.tasks import Task
from bertcore.training.tasks.model import TaskModel
from bertcore.training.tasks.rows import Batch


class DistilledTask(TaskWithLoss):
    """A student's task network with its loss: labels, the teacher's answers, and maybe its layers.

    The teacher, of the same task and kind, with the same vocabulary and order of labels, on the
    student's device, is no part of the module: it is in evaluation mode and has no gradients.

    ValueError if their layers cannot be compared.

    Source: Hinton et al. 2015; Sanh et al. 2019, section 3; Jiao et al. 2020, equation 10. Differs
        from TinyBERT's code: the soft loss is divided by the examples only, not also by the
        classes.
    """

    def __init__(
        self,
        module: TaskModule,
        teacher: TaskModule,
        task: Task,
        config: DistillConfig,
        *,
        attention: AttentionFunction,
        class_weights: Tensor | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(module, task, attention=attention, class_weights=class_weights)
        config.check_shapes(module.network.config, teacher.network.config)
        self.config = config
        self.fraction = 0.0
        """Of the run that is done; the run sets it before each step."""
        self._teacher = [teacher.eval().requires_grad_(False)]
        self.projection: nn.Linear | None = None
        if config.layer_weight:
            widths = module.network.config.hidden_size, teacher.network.config.hidden_size
            self.projection = start_projection(*widths, seed).to(module.device)

    @property
    def teacher(self) -> TaskModule:
        return self._teacher[0]

    def forward(self, batch: Batch, hidden: Tensor | None, totals: Totals | None) -> Tensor:
        """Return the weighted sum of the losses of a batch or of a part of it."""
        config, task = self.config, self.task
        num = task.num_targets(batch.targets) if totals is None else totals.num
        layers = batch.targets.new_zeros((), dtype=torch.float32)
        if self.projection is None:
            logits = self.logits(batch, hidden)
            with torch.no_grad():
                wanted: Tensor = self.teacher(
                    batch.input_ids,
                    batch.segment_ids,
                    batch.attention_mask,
                    attention=self.attention,
                )
        else:
            logits, wanted, layers = self._with_layers(batch, totals)
        soft = task.soft_loss(logits, wanted, batch, config.temperature)
        total = None if totals is None else totals.weight
        hard = task.loss(logits, batch.targets, self.class_weights, total=total)
        answers = config.hard_weight * hard + config.soft_weight * soft / num
        of_layers, of_answers = config.phase_weights(self.fraction)
        # Also what weighs nothing is added: several processes wait for each weight's gradient.
        return of_answers * answers + of_layers * layers

    def _with_layers(self, batch: Batch, totals: Totals | None) -> tuple[Tensor, Tensor, Tensor]:
        """Return the logits of student and teacher, and the mean of the losses of layers."""
        assert self.projection is not None
        ids, segments, mask = (
            None if x is None else x.flatten(0, -2)
            for x in (batch.input_ids, batch.segment_ids, batch.attention_mask)
        )
        assert ids is not None
        lead = batch.input_ids.shape[:-1]
        assert isinstance(self.module, TaskNetwork)
        assert isinstance(self.teacher, TaskNetwork)  # `check_teacher`
        ours = run_with_states(self.module.network, ids, segments, mask)
        logits = self.module.read(ours.hidden[-1], mask, lead)
        with torch.no_grad():
            theirs = run_with_states(self.teacher.network, ids, segments, mask)
            wanted = self.teacher.read(theirs.hidden[-1], mask, lead)
        tokens = float(len(attended(ids, mask))) if totals is None else totals.tokens
        layers = layer_losses(ours, theirs, self.projection, mask).sum() / tokens
        return logits, wanted, layers


def check_teacher(student: TaskModel, teacher: TaskModel, config: DistillConfig) -> None:
    """Refuse a teacher of another task, labels or vocabulary, and a loss that a task does not have.

    ValueError if task, labels or vocabulary differ, the states cannot be compared, or the cosine
    weight is not 0.
    """
    if config.cosine_weight:
        raise ValueError(
            f"cosine_weight is {config.cosine_weight}, but only distillation on a corpus has that "
            "loss; expected 0, as in DistillConfig.for_task. Compare hidden states with "
            "layer_weight."
        )
    if student.task.features:
        raise ValueError("feature-based training has no teacher. Leave one of the two out.")
    if teacher.module.kind != student.module.kind:
        raise ValueError(
            f"the teacher {teacher.name!r} is for the task {teacher.task.name!r}, but the student "
            f"learns {student.task.name!r}. Choose a teacher for the same task."
        )
    if teacher.labels != student.labels:
        raise ValueError(
            f"the teacher {teacher.name!r} has the labels {some_labels(teacher.labels)}, and the "
            f"student {some_labels(student.labels)}. Both need the same labels in the same order; "
            "--new-head gives the student the teacher's."
        )
    check_same_vocabulary(student.tokenizer, teacher.tokenizer)
    if config.layer_weight:
        student.require_parts("the loss of layers")
        teacher.require_parts("the loss of layers")
    config.check_shapes(student.module.network.config, teacher.module.network.config)
