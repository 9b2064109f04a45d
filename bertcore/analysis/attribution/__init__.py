"""Why a fine-tuned model answers as it does: attribution, occlusion, counterfactuals, errors.

model = bertcore.open_task("my-classifier")
source = task_input(model, "The film was very good.")
target = answer(model, source).target(source)
occlusion(model, source, target).importance
"""

from bertcore.analysis.attribution.counterfactual import (
    MAX_FORWARDS,
    Counterfactual,
    Search,
    Swap,
    answer,
    find_counterfactuals,
)
from bertcore.analysis.attribution.explanation import (
    AnsweredText,
    Explanation,
    LayerExplanation,
    answer_text,
    explain_layers,
    explain_text,
)
from bertcore.analysis.attribution.faithfulness_scores import (
    Faithfulness,
    faithfulness,
    random_faithfulness,
)
from bertcore.analysis.attribution.file_words import FileWords, RowWords, WordMean, explain_file
from bertcore.analysis.attribution.gradients import (
    BASELINES,
    Attribution,
    Conductance,
    can_differentiate,
    can_follow_layers,
    gradient_x_input,
    integrated_gradients,
    layer_conductance,
)
from bertcore.analysis.attribution.labelled_file import FileRun, run_file
from bertcore.analysis.attribution.masked_word import (
    RandomWeightsCheck,
    WordAttribution,
    attribute_word,
    check_random_weights,
)
from bertcore.analysis.attribution.task_input import (
    OCCLUSIONS,
    Occlusion,
    occlusion,
    run_task,
    task_input,
    without,
)
from bertcore.base.public import imported
from bertcore.training.tasks import (
    ChoiceAnswer,
    ChoiceInput,
    LabelAnswer,
    LabelsAnswer,
    ScoreAnswer,
    SpanAnswer,
    SpanAnswers,
    TagAnswer,
    TaskAnswer,
    TaskInput,
    Word,
)
from bertcore.training.tasks.answers import (
    ClassTarget,
    LabelTarget,
    ScoreTarget,
    SpanTarget,
    TagTarget,
    Target,
)
from bertcore.training.tasks.judged import MetricTable, WrongAnswer

__all__ = imported(globals())
