"""What the app says on the page: Training."""

from __future__ import annotations

TEXTS: dict[str, str] = {}
CODE: dict[str, str] = {}

TEXTS["training.folder"] = (
    "Each run is a folder in it. `bertscope pretrain --out` writes such folders too: give the one "
    "that they are in."
)
TEXTS["training.no_runs"] = (
    "There is no run in {folder} yet. Choose *Start a run*, or the folder of your own runs above."
)
TEXTS["training.novel"] = (
    "{title}, in the public domain: 121,000 words. Enough to watch a model learn, far too little "
    "for one that knows English."
)
TEXTS["training.form_of_text"] = (
    "UTF-8 text (.txt, or packed as .xz or .gz): a paragraph a line and a blank line between "
    "documents. Sentence pairs need several documents."
)
TEXTS["training.forbidden"] = (
    "This server starts no runs from the browser. They can be watched here; `bertscope pretrain` "
    "starts them in a terminal."
)
TEXTS["training.starts"] = (
    "Word counts: the first vectors say which words stand beside each other in the text, which "
    "saves the slow first part. Noise: BERT's own start. A checkpoint: goes on from its weights."
)
TEXTS["training.from_checkpoint"] = (
    "It brings its own layers, width and word pieces. A copy is kept in the run."
)
TEXTS["training.objectives"] = (
    "Words and pairs: masked words and next sentences, from pairs of text, as BERT. Words alone: "
    "masked words from rows packed full of running text, as RoBERTa; there is no pair score then."
)
TEXTS["training.preparing"] = (
    "It learns the vocabulary and reads the text first; training begins when that is done. You may "
    "leave this page: the run goes on by itself."
)
TEXTS["training.held_out"] = "on held-out text at the last time that the run was scored."
TEXTS["training.healthy"] = "The coach sees nothing wrong with this run."
TEXTS["training.curves"] = (
    "Blue: the text it learns from, one batch each, so it jumps. Orange: held-out text, which it "
    "never learns from; believe this one. A loss of ln V means pure guessing{unigrams}. If orange "
    "rises while blue falls, it learns by heart."
)
TEXTS["training.curves.unigrams"] = (
    "; at the dashed line the model knows how frequent words are and nothing else"
)
TEXTS["training.moments"] = (
    "A saved moment is a whole checkpoint. Open it here for all other pages, or open two moments "
    "in two tabs and compare them side by side."
)
TEXTS["training.no_probes"] = (
    "This run has no probes yet. They are taken at its start and with each held-out score; runs "
    "of older versions have none."
)
TEXTS["training.replay"] = (
    "Press Play, or move the slider: all four pictures follow. *Attention*: rows look, columns are "
    "looked at; brighter is more, and the colours mean the same at every step. *Map*: each point "
    "is a word in its sentence, large for this one; its path is the grey trail. The axes are the "
    "last moment's own (they show {explained} of what differs there), so that a place means the "
    "same at every step. *Guesses*: the best five for the hidden word, pink if right. *Answers*: "
    "how probable the hidden word is{pairs}."
)
TEXTS["training.replay.pairs"] = (
    ", and that B follows A; the first pair belongs together and the second does not"
)
TEXTS["training.heads"] = (
    "A row for each attention head. Bright: it looks at all tokens alike, as most heads do at the "
    "start. Dark: at one token. A head forms where its row turns dark."
)
CODE["training.curves"] = """
import pandas as pd

table = pd.read_json({path!r}, lines=True)
table[{columns!r}]
"""
CODE["training.replay"] = """
from pathlib import Path
from bertcore.analysis.space.probe_map import probe_map
from bertcore.training.probes import read_probes

probes = read_probes(Path({path!r}))
[probe.sentences[{sentence}].attention[{layer}, {head}] for probe in probes]    # each [T, T]
probe_map(probes).coordinates                                        # [S, P, 2]
"""
CODE["training.heads"] = """
from pathlib import Path
from bertcore.analysis.heads.history import head_history
from bertcore.training.probes import read_probes

head_history(read_probes(Path({path!r}))).spread                     # [S, L, H]
"""
