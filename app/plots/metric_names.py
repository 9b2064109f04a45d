"""What metrics of fine-tuned models are called."""

METRIC_NAMES = {
    "accuracy": "Accuracy",
    "micro_f1": "Micro F1",
    "macro_f1": "Macro F1",
    "f1": "F1",
    "matthews": "Matthews",
    "pearson_spearman": "Pearson-Spearman mean",
    "pearson": "Pearson",
    "spearman": "Spearman",
    "average_precision": "Average precision",
    "best_accuracy": "Accuracy at the best threshold",
    "best_f1": "F1 at the best threshold",
    "precision": "Precision",
    "recall": "Recall",
    "exact_match": "Exact match",
}
