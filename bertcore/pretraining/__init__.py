"""Pretraining: corpus -> instances -> batches -> objective -> loop -> run folder."""

from bertcore.base.public import imported
from bertcore.configs import DataConfig, OptimizerConfig, TrainConfig
from bertcore.data.sentences import split_sentences
from bertcore.objectives.masking import Masked, mask_tokens, num_masked
from bertcore.pretraining.data.batches import Batch, fixed_batches
from bertcore.pretraining.data.corpus import (
    NOVEL,
    PackedCorpus,
    pack_corpus,
    read_documents,
    read_sentences,
    train_tokenizer,
)
from bertcore.pretraining.data.rows import (
    Instances,
    PackedRows,
    create_instances,
    create_packed_rows,
)
from bertcore.pretraining.evaluation import (
    CausalScores,
    PretrainingScores,
    causal_rows,
    evaluate_next_tokens,
    evaluate_pretraining,
)
from bertcore.pretraining.loss import PretrainingLoss, pretraining_loss
from bertcore.pretraining.objectives.epochs import Batches
from bertcore.pretraining.run import Pretraining, check_objective, check_settings
from bertcore.pretraining.start_run import check_inputs, resume_run, start_run
from bertcore.training.loop import Progress
from bertcore.training.probes import read_probes
from bertcore.training.run_folder import RunFolder

__all__ = imported(globals())
