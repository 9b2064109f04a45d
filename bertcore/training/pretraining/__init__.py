"""Pretraining: corpus -> instances -> batches -> objective -> loop -> run folder."""

from bertcore.base.public import imported
from bertcore.configs import DataConfig, OptimizerConfig, TrainConfig
from bertcore.data.sentences import split_sentences
from bertcore.model.objectives.masking import Masked, mask_tokens, num_masked
from bertcore.training.engine.loop import Progress
from bertcore.training.engine.probes import read_probes
from bertcore.training.engine.run_folder import RunFolder
from bertcore.training.pretraining.data.batches import Batch, fixed_batches
from bertcore.training.pretraining.data.corpus import (
    NOVEL,
    PackedCorpus,
    pack_corpus,
    read_documents,
    read_sentences,
    train_tokenizer,
)
from bertcore.training.pretraining.data.rows import (
    Instances,
    PackedRows,
    create_instances,
    create_packed_rows,
)
from bertcore.training.pretraining.evaluation import (
    CausalScores,
    PretrainingScores,
    causal_rows,
    evaluate_next_tokens,
    evaluate_pretraining,
)
from bertcore.training.pretraining.loss import pretraining_loss
from bertcore.training.pretraining.objectives.epochs import Batches
from bertcore.training.pretraining.run import Pretraining, check_objective, check_settings
from bertcore.training.pretraining.start_run import check_inputs, resume_run, start_run

__all__ = imported(globals())
