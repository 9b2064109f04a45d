"""Fine-tuned models for tests: tiny random ones for each task, and some whose answer is known."""

from collections.abc import Mapping
from pathlib import Path
from types import MethodType
from typing import Any

import torch
from torch import Tensor, nn

from bertcore.model.network.task_heads import TaskNetwork
from bertcore.training.tasks import TASKS, TaskModel, start_task_model
from tests.support.tiny import tiny_bert, tiny_config, tiny_network, tiny_tokenizer

NUM_OUTPUTS = {"regress": 1, "qa": 2, "choice": 1}
LABELS = {
    "classify": ("bad", "good", "so-so"),
    "pair": ("no", "yes"),
    "tag": ("O", "B-LOC", "I-LOC"),
    "multilabel": ("insult", "threat", "toxic"),
}


def random_model(task: str, *, seed: int = 0, labels: tuple[str, ...] | None = None) -> TaskModel:
    """Return a tiny random model for a task, with a spread of weights that makes it take sides."""
    chosen = TASKS[task]
    network = tiny_network(seed=seed)
    network.mlm = network.nsp = None
    labels = LABELS.get(task, ()) if labels is None else labels
    module = TaskNetwork(network, chosen.kind, NUM_OUTPUTS.get(task) or len(labels))
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        module.head.classifier.weight.normal_(0, 0.3, generator=generator)
        module.head.classifier.bias.normal_(0, 0.1, generator=generator)
    return TaskModel(chosen, module.eval(), tiny_tokenizer(), labels, "rigged")


class BagOfWords(TaskNetwork):
    """Logits are the sum of what each token says to each class (others 0), wherever it stands."""

    def __init__(self, words: Mapping[str, tuple[float, ...]], num_outputs: int) -> None:
        network = tiny_network(tiny_config())
        super().__init__(network, "sequence", num_outputs)
        tokenizer = tiny_tokenizer()
        self.says = torch.zeros(tokenizer.vocab_size, num_outputs)
        for word, values in words.items():
            token_id = tokenizer.token_to_id(word)
            assert token_id is not None
            self.says[token_id] = torch.tensor(values)

    def forward(
        self,
        input_ids: Tensor,
        segment_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        **kwargs: object,
    ) -> Tensor:
        """Return logits, [B, C]."""
        said = self.says[input_ids]
        if attention_mask is not None:
            said = said * attention_mask[..., None]
        return said.sum(1)


class BagOfWordsTagger(BagOfWords):
    """A tagger of which each token's tag hangs on all tokens of the sentence; logits [B, T, C]."""

    def forward(self, input_ids: Tensor, *args: object, **kwargs: object) -> Tensor:
        """Return logits, [B, T, C], the same at every token."""
        return self.says[input_ids].sum(1, keepdim=True).expand(-1, input_ids.shape[1], -1)


def bag_of_words(
    words: Mapping[str, tuple[float, ...]],
    *,
    task: str = "classify",
    labels: tuple[str, ...] = ("bad", "good"),
) -> TaskModel:
    """Return a model that adds up words."""
    kind = BagOfWordsTagger if task == "tag" else BagOfWords
    module = kind(words, len(labels) or 1).eval()
    return TaskModel(TASKS[task], module, tiny_tokenizer(), labels, "bag of words")


def linear_model(seed: int = 0) -> TaskModel:
    """Return a regression that is linear in the embeddings: w . mean over tokens of their sum."""
    model = random_model("regress", seed=seed)
    network = model.module.network
    network.layers = nn.ModuleList()
    network.embeddings.normalize = MethodType(lambda self, summed: summed, network.embeddings)
    network.pooled = MethodType(lambda self, hidden: hidden.mean(1), network)
    return model


def started(
    source: Path | str, task: str = "classify", *, is_large: bool = False, **options: Any
) -> TaskModel:
    """Start a model for a task, with the labels of LABELS if none are given, from a fixed seed.

    A head is larger than at a start if `is_large`, biases too, so that mistakes show.
    """
    generator = torch.Generator().manual_seed(3)
    options = {"labels": LABELS.get(task, ()), **options}
    model = start_task_model(source, task=task, generator=generator, **options)
    if is_large:
        with torch.no_grad():
            model.module.head.classifier.weight.normal_(generator=generator)
            model.module.head.classifier.bias.normal_(generator=generator)
    return model


def save_task_checkpoint(folder: Path, task: str, *, seed: int = 1) -> Path:
    """Write a model with a large head on a checkpoint of its own folder; return its folder."""
    start = tiny_bert(seed=seed).save(folder / f"start-{seed}")
    return started(start, task, is_large=True).save(folder / task)
