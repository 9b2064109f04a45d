"""The two trainers compared: our training step, and transformers' BERT in a plain loop."""

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from bertcore import Tokenizer
from bertcore.model.architecture.config import BertConfig
from bertcore.model.checkpoints.save import hf_state_dict
from bertcore.model.network import Network
from bertcore.model.network.initialize import initialize
from bertcore.model.tokenizer import SPECIAL_TOKENS
from bertcore.training.engine.optimizer import build_optimizers, set_rate
from bertcore.training.engine.processes import Processes
from bertcore.training.pretraining import Batch, OptimizerConfig, PackedCorpus, pretraining_loss
from bertcore.training.pretraining.objectives import objective_named
from bertcore.training.pretraining.train_step import TrainStep

PLAIN_RATE = 5e-4
"""Learning rate of the plain loop: the best of those tried at this batch size."""


def random_network(shape: BertConfig, *, seed: int = 0) -> Network:
    """Return a network with BERT's random initialisation and no dropout."""
    network = Network(shape)
    for module in network.modules():
        for name in ("hidden_dropout", "attention_dropout", "dropout"):
            if hasattr(module, name):
                setattr(module, name, 0.0)
    return initialize(network, torch.Generator().manual_seed(seed)).train()


class Ours:
    """Our step in bfloat16: head at hidden positions only, no dropout.

    The optimiser is "muon" (Muon and AdamW, the default of `bertscope pretrain`) or "adamw", which
    takes less time per step but needs more steps.
    """

    def __init__(self, network: Network, device: str, *, optimizer: str = "muon") -> None:
        processes = Processes(device)
        self.network = network.to(processes.device)
        self.optimizers = build_optimizers(
            network, OptimizerConfig(optimizer=optimizer), dtype="bfloat16"
        )
        self.train_step = TrainStep(
            network,
            self.optimizers,
            processes,
            objective=objective_named("mlm+nsp"),
            dtype="bfloat16",
            max_grad_norm=1.0,
        )

    def set_rate(self, fraction: float) -> None:
        """Set the learning rates to a fraction of their peaks."""
        set_rate(self.optimizers, fraction)

    def step(self, batch: Batch) -> float:
        """Train on a batch; return its loss, for which the device must be done."""
        return self.train_step([batch])["loss"]


class Theirs:
    """transformers' BertForPreTraining in a plain loop.

    Its own forward pass, with logits over the whole vocabulary at every position; AdamW, gradient
    clipping, its default dropout of 0.1 and its default attention; float32 or bfloat16 autocast.
    """

    def __init__(self, network: Network, device: str, *, dtype: str) -> None:
        self.device, self.dtype = torch.device(device), dtype
        self.model = their_model(network).to(self.device).train()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=PLAIN_RATE)

    def set_rate(self, fraction: float) -> None:
        """Set the learning rate to a fraction of its peak."""
        for group in self.optimizer.param_groups:
            group["lr"] = PLAIN_RATE * fraction

    def step(self, batch: Batch) -> float:
        """Train on a batch; return its loss, for which the device must be done."""
        self.optimizer.zero_grad()
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.dtype == "bfloat16"):
            loss = self.model(**their_inputs(batch, self.device)).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return float(loss.detach())

    @torch.no_grad()
    def held_out(self, batches: list[Batch]) -> tuple[float, float]:
        """Return masked-word loss in nats and next-sentence accuracy over all batches."""
        self.model.eval()
        loss = num = right = rows = 0.0
        for batch in batches:
            inputs = their_inputs(batch, self.device)
            with torch.autocast(self.device.type, torch.bfloat16, enabled=True):
                out = self.model(**inputs)
            labels = inputs["labels"]
            logits = out.prediction_logits[labels != -100].float()
            loss += float(F.cross_entropy(logits, labels[labels != -100], reduction="sum"))
            num += len(logits)
            right += float(
                (out.seq_relationship_logits.argmax(-1) == inputs["next_sentence_label"]).sum()
            )
            rows += len(labels)
        self.model.train()
        return loss / num, right / rows


def their_model(network: Network) -> Any:
    """Return transformers' model with the weights of ours."""
    from transformers import BertConfig as TheirConfig
    from transformers import BertForPreTraining

    model = BertForPreTraining(TheirConfig(**network.config.to_hf_dict()))
    weights = {name: value.clone() for name, value in hf_state_dict(network).items()}
    missing, unexpected = model.load_state_dict(weights, strict=False)
    tied = {"cls.predictions.decoder.weight", "cls.predictions.decoder.bias"}
    if unexpected or not set(missing) <= tied:
        raise RuntimeError(f"weights differ: missing {missing}, unexpected {unexpected}.")
    model.tie_weights()
    return model


def their_inputs(batch: Batch, device: torch.device) -> dict[str, Any]:
    """Return a batch in transformers' format, with label -100 for tokens that are not predicted."""
    rows = torch.arange(len(batch.positions))[:, None].expand_as(batch.positions)
    hidden = batch.weights == 1
    labels = torch.full(batch.input_ids.shape, -100)
    labels[rows[hidden], batch.positions[hidden]] = batch.labels[hidden]
    return {
        "input_ids": batch.input_ids.to(device),
        "token_type_ids": batch.segment_ids.to(device),
        "attention_mask": batch.attention_mask.to(device),
        "labels": labels.to(device),
        "next_sentence_label": batch.next_sentence_labels.to(device),
    }


@torch.no_grad()
def check_equal(network: Network, batch: Batch) -> None:
    """Check that both compute the same loss; a speed is meaningless if they differ."""
    cpu = torch.device("cpu")
    ours = float(pretraining_loss(network, batch.to(cpu))["loss"])
    theirs = float(their_model(network).eval()(**their_inputs(batch, cpu)).loss)
    if not abs(ours - theirs) <= 1e-4:
        raise RuntimeError(
            f"on the same batch, our loss is {ours:.5f} and transformers' {theirs:.5f}."
        )


def synthetic_corpus(vocab_size: int, num_tokens: int) -> PackedCorpus:
    """Return random sentences in four long documents, with word frequencies by Zipf's law."""
    rng = np.random.default_rng(0)
    ranks = np.arange(1, vocab_size - len(SPECIAL_TOKENS) + 1)
    probabilities = 1 / ranks / (1 / ranks).sum()
    ids = rng.choice(len(ranks), size=num_tokens, p=probabilities) + len(SPECIAL_TOKENS)
    ends = np.cumsum(rng.integers(5, 45, size=num_tokens // 20))
    starts = np.concatenate([[0], ends[ends < num_tokens], [num_tokens]])
    documents = np.linspace(0, len(starts) - 1, 5).astype(np.int64)
    return PackedCorpus(ids.astype(np.uint16), starts.astype(np.int64), documents, "synthetic")


def numbered_tokenizer(vocab_size: int) -> Tokenizer:
    """Return a tokenizer with `vocab_size` pieces, named by number."""
    names = [f"w{number}" for number in range(vocab_size - len(SPECIAL_TOKENS))]
    return Tokenizer([*SPECIAL_TOKENS, *names], do_lower_case=True)
