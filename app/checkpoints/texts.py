"""What the app says on the page: Checkpoints, the doctor among them."""

from __future__ import annotations

TEXTS: dict[str, str] = {}
CODE: dict[str, str] = {}

TEXTS["checkpoints.open"] = (
    "A folder holds config.json, model.safetensors and vocab.txt or tokenizer.json, as "
    "`bertscope pretrain` and transformers write them. A hub id is fetched from the "
    "Hugging Face hub, the only time that BertScope uses the network."
)
TEXTS["doctor.patience"] = "Looking at every matrix and at eight sentences"
TEXTS["doctor.spectrum"] = (
    "Each dot is a matrix; the dotted line at 1 is where the largest singular value of random "
    "numbers of the same spread lies (Marchenko and Pastur). Training pulls matrices above it, for "
    "what was learned are directions that stand out. A layer whose dots all lie on the line was "
    "not trained. The scale is logarithmic."
)
TEXTS["doctor.entropy"] = (
    "Bright: a head that spreads its attention over all tokens alike (1); dark: one that looks at "
    "few. Mean over eight sentences. A bright head here and there is normal, above all in the "
    "first layer; if all are bright, queries and keys have learned nothing, which is the usual "
    "reason why attention *looks uniform*."
)
CODE["doctor"] = """
from bertcore.analysis.health.checkpoint import examine

found = examine(bert)
found.verdict, found.sentences()
found.entropies                             # [L, H]
"""
TEXTS["checkpoints.zip"] = (
    "Zip the folder of the checkpoint. Only config, tokenizer, model card and weights are "
    "unpacked, on the machine where BertScope runs. The last five uploads are kept there."
)
TEXTS["checkpoints.memory"] = (
    "Checkpoints are shared by everybody who uses this server; the longest unused is let go when "
    "there are too many. What is unloaded opens again when somebody needs it."
)
CODE["checkpoints.parameters"] = """
from bertcore.analysis.health.parameters import count_parameters

count_parameters(bert)
"""
TEXTS["checkpoints.parameters"] = (
    "Each bar is a part of the network, its length the number of parameters, the numbers that "
    "training sets. In small BERTs most of them are the token table."
)
TEXTS["checkpoints.tensors"] = (
    "Every tensor of the file and every one that the network asks for. Missing ones belong to a "
    "head that the file does not have; those of a task head (a classifier from fine-tuning) are "
    "used on the Inspect page; unexpected ones are no part of the network and are not used. A "
    "tensor of the wrong shape is never loaded."
)
TEXTS["checkpoints.no_card"] = (
    "This checkpoint has no model card (README.md), so nobody says what it was trained on."
)
CODE["checkpoints.tensors"] = """
for line in bert.report.sentences():
    print(line)
bert.report.matched, bert.report.missing, bert.report.unexpected
"""
CONFIG_MEANINGS: dict[str, str] = {
    "vocab_size": "rows of the token table, V",
    "hidden_size": "width of a token's vector, D",
    "num_hidden_layers": "encoder layers, L",
    "num_attention_heads": "attention heads of a layer, H",
    "intermediate_size": "width inside the feed-forward block, F",
    "hidden_act": "activation function",
    "hidden_dropout_prob": "share of activations dropped in training",
    "attention_probs_dropout_prob": "share of attention weights dropped in training",
    "max_position_embeddings": "rows of the position table: the longest input in tokens",
    "type_vocab_size": "rows of the segment table",
    "initializer_range": "standard deviation of the starting weights",
    "layer_norm_eps": "added to the variance inside LayerNorm",
    "pad_token_id": "id of the padding token",
    "embedding_size": "width of the embeddings, E, which a matrix brings to D",
    "sinusoidal_pos_embds": "whether the position table holds sines and is not trained",
    "num_hidden_groups": "groups of layers with weights of their own; 1: all layers are one",
}
"""What each field of config.json means."""
