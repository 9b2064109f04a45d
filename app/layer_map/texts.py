"""What the app says on the page: Layer map."""

from __future__ import annotations

TEXTS: dict[str, str] = {}
CODE: dict[str, str] = {}

TEXTS["layer-map.pca"] = (
    "Each point is a token (or a word, or a sentence); near points have similar vectors. Move the "
    "slider, or press Play, to follow them from the embeddings (layer 0) to the last layer. PCA "
    "shows the directions in which the points differ most and hides all others; *How true is the "
    "map?* says how much that is. Search a word to ring it and see its path. Under *More*: with "
    "*one map for all*, a place means the same in every layer (each is first brought to one centre "
    "and size); with *each by itself*, every layer has its own best view, turned to fit the one "
    "before."
)
TEXTS["layer-map.umap"] = (
    "UMAP keeps neighbours together and lets go of large distances. "
    "Believe who is near whom; do not read the size of a cluster or the gap between two. Change "
    "the seed and the number of neighbours under *More*: what stays is real, what moves is not."
)
TEXTS["layer-map.labels"] = (
    "Measured on the full vectors, not on the map. The first curve: of a point's nearest "
    "neighbours in other sentences, the share with its own label. It rises where the layers begin "
    "to tell the labels apart. Silhouette 1 is far apart, 0 is mixed."
)
TEXTS["layer-map.isotropy"] = (
    "Cosine 0: the vectors use all directions. Near 1: all point the same way, and every two "
    "words look alike. If one word in two places is much more alike than two words are, the layer "
    "still holds the word itself; as the curves meet, context has taken over."
)
TEXTS["layer-map.truth"] = (
    "Trustworthiness 1: points that are near in the map are near in truth; 0.5 is chance. Shared "
    "neighbours: of the nearest points by the full vectors, how many are nearest in the map too. "
    "Low values mean: do not trust single neighbours in this picture."
)
TEXTS["layer-map.no_pasted"] = (
    "Paste some sentences above, one a line. Ten to a few hundred make a good map."
)
TEXTS["layer-map.no_file"] = (
    "Upload a text or CSV file above. The first 2,000 sentences and 2,000 tokens are drawn."
)
