"""Why a fine-tuned checkpoint answers as it does: gradients, occlusion, counterfactuals."""
