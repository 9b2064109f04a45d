"""Task heads: a label for a text or for each token, a span, a choice.

Each is the head of a class of `transformers` with the same weights, so that checkpoints open there.
"""

from collections.abc import Sequence
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from bertcore.model.architecture.config import BertConfig
from bertcore.model.architecture.families import CLS, MEAN, TASK_CLASSES, HeadForm
from bertcore.model.network.attention import AttentionFunction, attention_fused
from bertcore.model.network.empty import empty_linear, layer_norm
from bertcore.model.network.encoder import Network, collect_into
from bertcore.model.network.feed_forward import activate
from bertcore.model.network.protocol import Encoder
from bertcore.model.network.task_module import TaskModule

HEAD_KINDS = (*TASK_CLASSES, "features", "text-features")
CONCATENATED = "concat-last-four"
FEATURES = {
    "embeddings": slice(0, 1),
    "second-to-last": slice(-2, -1),
    "last": slice(-1, None),
    "weighted-last-four": slice(-4, None),
    CONCATENATED: slice(-4, None),
    "weighted-all": slice(None),
}
"""What a BiLSTM may read of an encoder that is not trained, and of which layers; "embeddings" is
the input of the first layer.

Source: Devlin et al. 2019, section 5.3 and table 7.
"""
FEATURE_HEAD = "features."
"""Prefix of the tensors of a head on features, besides its last layer, in files."""
LSTM = f"{FEATURE_HEAD}lstm."
_WEIGHTS = f"{FEATURE_HEAD}weights"


class TaskHead(nn.Module):
    """Dropout and a linear layer, in some families after a layer of width D and its LayerNorm.

    It has `num_outputs`: classes of a text or token, 1 for a score or a choice, 2 for a span;
    `form` is its input, and whether there is a layer before the last.
    """

    def __init__(self, config: BertConfig, num_outputs: int, form: HeadForm) -> None:
        super().__init__()
        d = config.hidden_size
        if form.reads == "first" and getattr(config, "classifier_pooling", "cls") == "mean":
            form = form._replace(reads="mean")
        self.form = form
        bias = config.has_bias("classifier_bias")
        self.dense = empty_linear(d, d, bias=bias) if form.dense else None
        self.norm = layer_norm(config, d) if form.norm else None
        self.activation = form.activation or config.mlm_act
        self.classifier = empty_linear(d, num_outputs)
        dropout = config.classifier_dropout
        self.dropout = config.hidden_dropout_prob if dropout is None else dropout

    def forward(self, vectors: Tensor) -> Tensor:
        """Return logits, [..., C], of vectors [..., D]."""
        if self.dense is not None:
            if self.form.drops_input:
                vectors = F.dropout(vectors, self.dropout, self.training)
            vectors = activate(self.dense(vectors), self.activation)
            if self.norm is not None:
                vectors = self.norm(vectors)
        if self.form.has_dropout:
            vectors = F.dropout(vectors, self.dropout, self.training)
        logits: Tensor = self.classifier(vectors)
        return logits

    def vectors(
        self, network: Encoder, hidden: Tensor, attention_mask: Tensor | None = None
    ) -> Tensor:
        """Return the head's input from the network's last hidden states [..., T, D].

        [..., D] for a text, or [..., T, D] for its tokens; True in the mask [..., T] is a token.
        """
        if self.form.reads == "pooler":
            return network.pooled(hidden)
        if self.form.reads == "mean":
            if attention_mask is None:
                return hidden.mean(-2)
            return (hidden * attention_mask[..., None]).sum(-2) / attention_mask.sum(
                -1, keepdim=True
            )
        if self.form.reads == "last":
            return last_token(hidden, attention_mask)[..., 0, :]
        return hidden[..., 0, :] if self.form.reads == "first" else hidden

    def named_tensors(self) -> dict[str, Tensor]:
        """Return its tensors under their names in files."""
        layers = {
            self.form.classifier: self.classifier,
            self.form.dense: self.dense,
            self.form.norm: self.norm,
        }
        return {
            f"{name}.{part}": tensor
            for name, layer in layers.items()
            if layer is not None
            for part, tensor in layer.named_parameters()
        }


class TaskNetwork(TaskModule):
    """Our encoder and one task head.

    Args:
        network: The encoder, with a pooler if the family's head reads it.
        kind: "sequence": labels or a score of a text (BertForSequenceClassification). "token": a
            label for each token (BertForTokenClassification). "span": logits of an answer's start
            and end (BertForQuestionAnswering). "choice": one score per choice
            (BertForMultipleChoice). "features": a label for each token from a BiLSTM over frozen
            layers; "text-features": a label of a text from the mean of its states. `transformers`
            has no such class.
        num_outputs: C; "span" has 2 and "choice" 1.
        features: What a BiLSTM reads, of FEATURES.
        pooling: What "sequence" reads, of POOLINGS: "mean" is the mean over all tokens but padding,
            [CLS] and [SEP] included, which no class of these families in `transformers` reads.

    The head starts empty: fill it with `initialize_head` or from a checkpoint. ValueError if the
    kind is unknown, or the network lacks the pooler.

    Source: Devlin et al. 2019, section 4; "features": section 5.3 (two layers of BiLSTM, as wide as
        the encoder: half for each direction); the other families' heads as in `transformers`;
        "mean": Reimers and Gurevych 2019, section 3, and sentence-transformers' default.
        Differs: DistilBERT's answer spans have no dropout of their own; weighted sums have learned
        weights, a softmax as in ELMo, which the paper does not describe; it has features for tags
        only.
    """

    def __init__(
        self,
        network: Network,
        kind: str,
        num_outputs: int,
        features: str = CONCATENATED,
        pooling: str = CLS,
    ) -> None:
        super().__init__()
        if kind not in HEAD_KINDS:
            raise ValueError(f"kind is {kind!r}; expected one of {', '.join(HEAD_KINDS)}.")
        forms = network.config.family.tasks
        is_of_features = kind in ("features", "text-features")
        if is_of_features:
            of_text = kind == "text-features"
            form = HeadForm("mean" if of_text else "all")
            form = form._replace(classifier=forms["sequence" if of_text else "token"].classifier)
        else:
            form = forms[kind].over_mean() if pooling == MEAN else forms[kind]
        if form.reads == "pooler" and network.pooler is None:
            raise ValueError(
                f"a head of kind {kind!r} reads the pooler, which this checkpoint lacks. "
                "Open one with a pooler such as 'default'."
            )
        self.network: Network = network
        self.kind = kind
        self.head = TaskHead(network.config, num_outputs, form)
        self.lstm: nn.LSTM | None = None
        self.mix: nn.Parameter | None = None
        self.features, self.num_states = features, 1
        if is_of_features:
            self._add_lstm(features)

    def _add_lstm(self, features: str) -> None:
        """Add the BiLSTM and the weights of its input."""
        if features not in FEATURES:
            raise ValueError(f"features is {features!r}; expected one of {', '.join(FEATURES)}.")
        config = self.network.config
        d = config.hidden_size
        # For an odd width, the two directions together would be one short.
        if d % 2:
            raise ValueError(f"hidden_size is {d}; the BiLSTM needs an even width.")
        depth = len(range(config.num_hidden_layers)[FEATURES[features]])
        if not depth:
            raise ValueError(f"features is {features!r}, but the encoder has one layer.")
        self.num_states, width = depth, depth * d
        if features.startswith("weighted"):
            width, self.mix = d, nn.Parameter(torch.zeros(depth))
        self.lstm = nn.LSTM(width, d // 2, num_layers=2, batch_first=True, bidirectional=True)

    @property
    def state_width(self) -> int:
        return self.num_states * self.network.config.hidden_size

    @property
    def device(self) -> torch.device:
        return self.head.classifier.weight.device

    @property
    def reads_one_state(self) -> bool:
        """Whether the head reads the state of one token: [CLS], or the last."""
        return self.head.form.reads in ("pooler", "first", "last")

    def encode(
        self,
        input_ids: Tensor,
        segment_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        *,
        attention: AttentionFunction = attention_fused,
    ) -> Tensor:
        """Return the encoder states that the head reads, of R rows, one per choice.

        With "features" and "text-features", those of several layers side by side, [R, T, n D].
        """
        # Choices become separate rows: [B, N, T] -> [B * N, T].
        ids, segments, mask = (
            None if x is None else x.flatten(0, -2)
            for x in (input_ids, segment_ids, attention_mask)
        )
        assert ids is not None
        if self.head.form.reads == "last":
            return last_token(self.network(ids, segments, mask, attention=attention), mask)
        if self.reads_one_state:
            # In the last layer only [CLS] has a query: a quarter less work in four layers.
            first = torch.zeros(len(ids), dtype=torch.long, device=ids.device)
            states = self.network.word_states_at(ids, segments, mask, first, attention)
            return states[:, None]
        if self.lstm is not None:
            return feature_states(
                self.network, ids, segments, mask, features=self.features, attention=attention
            )
        hidden: Tensor = self.network(ids, segments, mask, attention=attention)
        return hidden

    def read(self, hidden: Tensor, attention_mask: Tensor | None, lead: Sequence[int]) -> Tensor:
        if self.mix is not None:
            states = hidden.reshape(*hidden.shape[:-1], self.num_states, -1)
            hidden = (states * self.mix.softmax(0)[:, None]).sum(-2)
        if self.lstm is not None:
            hidden = _run_lstm(self.lstm, hidden, attention_mask)
        mask = None
        if attention_mask is not None and not self.reads_one_state:
            mask = attention_mask.flatten(0, -2)
        logits: Tensor = self.head(self.head.vectors(self.network, hidden, mask))
        return logits.view(*lead) if self.kind == "choice" else logits

    def logits_of(self, hidden: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        logits: Tensor = self.head(self.head.vectors(self.network, hidden, attention_mask))
        return logits

    def head_tensors(self) -> dict[str, Tensor]:
        lstm = {} if self.lstm is None else dict(self.lstm.named_parameters())
        mix = {} if self.mix is None else {_WEIGHTS: self.mix}
        return {**self.head.named_tensors(), **{f"{LSTM}{n}": t for n, t in lstm.items()}, **mix}

    def is_of_head(self, name: str) -> bool:
        return name.startswith(("head.", "lstm.", "mix", "network.pooler."))

    def set_dropout(self, p: float) -> None:
        """Drop a fraction of activations in training, and record it in the encoder's config.

        0 <= p < 1; of the encoder and the head, not of a BiLSTM.
        """
        for part in self.modules():
            if isinstance(part, nn.LSTM):
                continue
            for name in {"dropout", "hidden_dropout", "attention_dropout"} & vars(part).keys():
                setattr(part, name, p)
        of_head = None if self.network.config.classifier_dropout is None else p
        self.network.config = replace(
            self.network.config,
            hidden_dropout_prob=p,
            attention_probs_dropout_prob=p,
            classifier_dropout=of_head,
        )


def last_token(hidden: Tensor, attention_mask: Tensor | None) -> Tensor:
    """Return the state of the last token of each row, [..., 1, D], of hidden states [..., T, D].

    True in the mask [..., T] is a token; they come before the padding. None: there is no padding.
    """
    if attention_mask is None:
        return hidden[..., -1:, :]
    last = (attention_mask.sum(-1, dtype=torch.long) - 1)[..., None, None]
    return hidden.gather(-2, last.expand(*last.shape[:-1], hidden.shape[-1]))


@torch.no_grad()
def feature_states(
    network: Network,
    input_ids: Tensor,
    segment_ids: Tensor | None,
    attention_mask: Tensor | None,
    *,
    features: str,
    attention: AttentionFunction = attention_fused,
) -> Tensor:
    """Return the states of FEATURES side by side, [B, T, n D], without gradients.

    If the network has fewer than four layers, the outputs of all its layers are the last four.
    """
    hidden, mask = network.embed(input_ids, segment_ids, attention_mask)
    if features == "embeddings":
        return hidden
    states: list[Tensor] = []
    network.run_layers(hidden, mask, attention, after=collect_into(states))
    return torch.cat(states[FEATURES[features]], dim=-1)


def _run_lstm(lstm: nn.LSTM, features: Tensor, mask: Tensor | None) -> Tensor:
    """Return the LSTM's states, [B, T, D]; padding is skipped, and 0 in the result."""
    with torch.autocast(features.device.type, enabled=False):
        features = features.float()
        if mask is None:
            plain: Tensor = lstm(features)[0]
            return plain
        lengths = mask.sum(-1).cpu()
        packed = nn.utils.rnn.pack_padded_sequence(
            features, lengths, batch_first=True, enforce_sorted=False
        )
        states: Tensor = nn.utils.rnn.pad_packed_sequence(
            lstm(packed)[0], batch_first=True, total_length=features.shape[1]
        )[0]
        return states


@torch.no_grad()
def initialize_head(model: TaskNetwork, generator: Generator) -> None:
    """Draw the head's weights as `initialize` does, with biases of 0; a BiLSTM's as in torch."""
    std = model.network.config.initializer_range
    for layer in (model.head.dense, model.head.classifier):
        if layer is not None:
            nn.init.trunc_normal_(layer.weight, 0.0, std, -2 * std, 2 * std, generator=generator)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
    if model.lstm is not None:
        bound = model.lstm.hidden_size**-0.5
        for parameter in model.lstm.parameters():
            nn.init.uniform_(parameter, -bound, bound, generator=generator)
