"""The settings of `bertscope pretrain`, in the groups in which --help shows them."""

from pathlib import Path
from typing import Annotated

from typer import Option

TEXT = "Text and run"
LENGTH = "Length"
NETWORK = "Network"
BATCHES = "Batches"
OPTIMIZER = "Optimiser"
MACHINE = "Machine"
RECORDS = "Scores and checkpoints"

Out = Annotated[
    Path, Option("--out", help="Run folder; new, or old with --resume.", rich_help_panel=TEXT)
]
Resume = Annotated[
    bool,
    Option(
        "--resume",
        help="Continue the run in --out with its own settings.",
        rich_help_panel=TEXT,
    ),
]
Corpus = Annotated[
    list[Path],
    Option(
        "--corpus",
        metavar="<path>",
        help="Training text; repeat for several files.",
        rich_help_panel=TEXT,
    ),
]
Valid = Annotated[
    Path | None,
    Option("--valid", help="Held-out text, in the same form.", rich_help_panel=TEXT),
]
TokenizerFolder = Annotated[
    Path | None,
    Option("--tokenizer", help="Folder of a tokenizer to use.", rich_help_panel=TEXT),
]
VocabSize = Annotated[
    int,
    Option(
        "--vocab-size",
        help="Pieces to learn where no --tokenizer is given.",
        rich_help_panel=TEXT,
    ),
]
Uncased = Annotated[
    bool,
    Option(
        "--uncased/--cased",
        help="Lower-case the text and strip accents.",
        rich_help_panel=TEXT,
    ),
]

Steps = Annotated[int | None, Option("--steps", help="Length in steps.", rich_help_panel=LENGTH)]
Minutes = Annotated[
    float | None,
    Option("--minutes", help="Length by the clock, in place of --steps.", rich_help_panel=LENGTH),
]
Seed = Annotated[
    int,
    Option(
        "--seed",
        help="The same seed gives the same run (by --steps, on a CPU).",
        rich_help_panel=LENGTH,
    ),
]

Layers = Annotated[
    int, Option("--layers", min=1, help="L: encoder layers.", rich_help_panel=NETWORK)
]
Hidden = Annotated[int, Option("--hidden", min=1, help="D: width.", rich_help_panel=NETWORK)]
Heads = Annotated[
    int | None,
    Option("--heads", min=1, help="H, divides D; default: D / 64.", rich_help_panel=NETWORK),
]
Dropout = Annotated[
    float,
    Option("--dropout", help="Fine-tuning goes on with it.", rich_help_panel=NETWORK),
]
Start = Annotated[
    str,
    Option(
        "--start", help="warm: vectors from counts; noise: BERT's own.", rich_help_panel=NETWORK
    ),
]
FromCheckpoint = Annotated[
    str | None,
    Option(
        "--from-checkpoint",
        help="Go on from the weights of a checkpoint (default, a folder or a hub id); "
        "it brings shape and tokenizer.",
        rich_help_panel=NETWORK,
    ),
]

Objective = Annotated[
    str,
    Option(
        "--objective",
        help="mlm+nsp: BERT's, on sentence pairs; mlm: masked words alone, on rows packed full "
        "of running text.",
        rich_help_panel=BATCHES,
    ),
]
BatchSize = Annotated[int, Option("--batch-size", help="Rows of a step.", rich_help_panel=BATCHES)]
MaxSeqLength = Annotated[
    int, Option("--max-seq-length", help="Tokens of a row.", rich_help_panel=BATCHES)
]
LongRatio = Annotated[
    float,
    Option(
        "--long-ratio",
        help="Share of the run, at its end, in long rows; BERT: 0.1.",
        rich_help_panel=BATCHES,
    ),
]
LongSeqLength = Annotated[
    int,
    Option(
        "--long-seq-length",
        help="Tokens of a long row, as many a step.",
        rich_help_panel=BATCHES,
    ),
]
MaskedLmProb = Annotated[
    float,
    Option("--masked-lm-prob", help="Share of tokens that are hidden.", rich_help_panel=BATCHES),
]

Optimizer = Annotated[str, Option("--optimizer", help="muon or adamw.", rich_help_panel=OPTIMIZER)]
LearningRate = Annotated[
    float, Option("--learning-rate", help="Peak rate of AdamW.", rich_help_panel=OPTIMIZER)
]
MuonLearningRate = Annotated[
    float, Option("--muon-learning-rate", help="Peak rate of Muon.", rich_help_panel=OPTIMIZER)
]
WarmupRatio = Annotated[
    float,
    Option(
        "--warmup-ratio", help="Share of the run with a rising rate.", rich_help_panel=OPTIMIZER
    ),
]
FlatRatio = Annotated[
    float,
    Option(
        "--flat-ratio",
        help="Share at the peak; then linear decay to 0.",
        rich_help_panel=OPTIMIZER,
    ),
]

Device = Annotated[
    str, Option("--device", help="auto, cpu, cuda, cuda:1, mps.", rich_help_panel=MACHINE)
]
Dtype = Annotated[str, Option("--dtype", help="bfloat16 or float32.", rich_help_panel=MACHINE)]
Compile = Annotated[
    str,
    Option(
        "--compile",
        help="auto (long runs), on or off; takes a minute, then faster.",
        rich_help_panel=MACHINE,
    ),
]
GradientAccumulation = Annotated[
    int,
    Option(
        "--gradient-accumulation",
        help="Parts of a step's batch, to save memory.",
        rich_help_panel=MACHINE,
    ),
]

EvaluateEvery = Annotated[
    int,
    Option("--evaluate-every", help="Steps between held-out scores.", rich_help_panel=RECORDS),
]
SaveEvery = Annotated[
    int, Option("--save-every", help="Steps between checkpoints.", rich_help_panel=RECORDS)
]
KeepCheckpoints = Annotated[
    int,
    Option(
        "--keep-checkpoints",
        help="Newest saved moments kept, beside the best.",
        rich_help_panel=RECORDS,
    ),
]
Tensorboard = Annotated[
    bool,
    Option(
        "--tensorboard",
        help="Write TensorBoard event files into the run too.",
        rich_help_panel=RECORDS,
    ),
]
