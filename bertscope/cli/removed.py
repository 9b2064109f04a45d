"""What the command line no longer has, and what to use instead; docs/removed.md has the reasons."""

import re
from collections.abc import Collection

COMMANDS = {
    "heads": "The page Heads shows the same, and `bertcore.analysis.heads.report` computes it.",
    "ablate": "What if? ranks heads, and `bertcore.analysis.heads.importance` computes it.",
    "prune": "What if? switches heads off; no file without them is written any more.",
    "patch": "Minimal pair patches a pair, and `bertcore.analysis.patch_pairs` many.",
    "audit": "Compare the answers of `bertscope evaluate` by group with a library like fairlearn.",
    "compare": "The page Compare shows it, and `bertcore.analysis.compare` computes it.",
    "tuned-lens": "Masked words draws the prediction at each layer by the plain lens.",
    "search": "Search what `bertscope encode` writes with usearch: docs/scale.md has ten lines.",
    "label-curve": "Use `bertscope finetune --label-curve 50 200 1000`.",
    "train-tokenizer": "`bertscope pretrain` learns the vocabulary of a run, and "
    "`bertcore.pretraining.train_tokenizer` one alone.",
    "trace": "`bertcore.load(...).trace(text)` has every activation as a tensor.",
}
"""By name of the command."""
_MEASURES = "`bertscope bias` prints all our measures; with --data FILE it scores CrowS-Pairs."
_ERASE = "`bertscope bias --save FOLDER` removes the direction, and `bertcore.bias.leace` erases."
_TYPED = "The page Bias takes your own templates and words, and so does `bertcore.bias`."
_PENALTY = "The recipe of `bertscope finetune` weighs biased examples by bias_model or balance."
_SWAPPED = "Write swap_words in the recipe of `bertscope finetune`: it adds swapped examples."
_MAPS = "Layer map draws maps; docs/scale.md draws those of a corpus in embedding-atlas."
_OF_MAPS = (
    "layers method points fitted neighbors metric seed min-dist perplexity early-exaggeration "
    "learning-rate n-iter initialization mn-ratio fp-ratio"
)
OPTIONS = {
    "bertscope": {
        "--port": "Use `bertscope app --port`.",
        "--address": "Use `bertscope app --address`.",
        "--no-browser": "Use `bertscope app --no-browser`.",
        "--no-training": "Use `bertscope app --training-minutes 0`.",
    },
    "app": {
        "--allow-training": "Use --training-minutes 10.",
        "--no-training": "Use --training-minutes 0.",
        "--key": "Use --key-file, or the variable BERTSCOPE_KEY.",
        "--class-key": "Use --class-key-file, or the variable BERTSCOPE_CLASS_KEY.",
        "--processes": "docs/deploy starts several `bertscope app` behind a proxy.",
    },
    "bias": {
        "--layer": "Use --layers.",
        **dict.fromkeys(
            ("templates", "weat", "direction", "crows-pairs", "stereoset", "winobias"), _MEASURES
        ),
        **dict.fromkeys(("erase", "--method"), _ERASE),
        **dict.fromkeys(("--template", "--group", "--filler", "--pooling"), _TYPED),
        "--report": "Print it with --json.",
        "--skip-bad-rows": "Rows that cannot be used are left out and counted.",
        "--dtype": "It computes in float32.",
    },
    "encode": {
        "--layer": "Use --layers.",
        "--text-column": "Use --text.",
        "--batch-size": "A .npy file takes 32 texts at a time, a folder --tokens-per-batch.",
        "--special-tokens": "`bertcore.corpus.encode_corpus` takes special_tokens.",
    },
    "evaluate": {
        **dict.fromkeys(
            ("--good", "--bad"), "Name the columns `sentence_good` and `sentence_bad`."
        ),
        "--groups": "Every column that groups pairs is counted.",
        **dict.fromkeys(
            ("--scoring", "--by-layer"),
            "`bertcore.grammar.pseudo_log_likelihoods` has both ways of scoring.",
        ),
        "--objective": "The heads of the checkpoint and the text decide it.",
        "--null-threshold": "The report has the best threshold and its F1.",
        "--dtype": "Scores are computed in float32.",
        "--counts-from": "No baseline of word frequency is computed any more.",
        "--resume": "`--predictions` writes the scores when all pairs are scored.",
    },
    "probe": {
        "--against": "Run it once for each checkpoint.",
        "--pooling": "A word's vector is the mean of its pieces.",
        "--no-control": "The control task is always part of it.",
        "--no-twin": "There is no untrained twin any more.",
        "--no-code": "There is no code length any more.",
        "--no-mix": "There is no expected layer any more.",
        "--rank": "There are no structural probes any more.",
    },
    "export": {
        "--atlas": "Open what `bertscope encode` writes in embedding-atlas: docs/scale.md.",
        **dict.fromkeys((f"--{name}" for name in _OF_MAPS.split()), _MAPS),
    },
    "pretrain": {
        **dict.fromkeys(("--direction-penalty", "--direction-words"), _PENALTY),
        **dict.fromkeys(("--swap-words", "--swap-mode"), _SWAPPED),
        "--from-checkpoint": "Use --checkpoint.",
        "--tensorboard": "The page Training draws metrics.jsonl, and pandas reads it.",
        "--cased": "Write `uncased = false` in a recipe.",
        "--keep-accents": "Write `strip_accents = false` in a recipe.",
        "--join-chinese-chars": "Write `tokenize_chinese_chars = false` in a recipe.",
    },
    "finetune": {
        **dict.fromkeys(("--direction-penalty", "--direction-words"), _PENALTY),
        "--bias-focus": "The weight of bias_model is the square of 1 - p.",
        "--swap-mode": _SWAPPED,
        "--lr": "Use --learning-rate.",
        "--frozen": "Use --trained none.",
        "--approaches": "Run each: with --trained none, or `feature_based = true` in a recipe.",
    },
    "fill-mask": {"--dtype": "Texts are computed in float32."},
    "nsp": {"--dtype": "Texts are computed in float32."},
    "loss": {
        "--dtype": "Texts are computed in float32.",
        "--masked-lm-prob": "`bertcore.load(...).loss` takes masked_lm_prob.",
    },
}
"""By command, and option or first word."""
CHECKPOINTS = ("inspect", "probe")
"""Commands whose checkpoint was an argument."""


def instead(error: Exception) -> str | None:
    """Return what to use instead of what a command line named; None if it was never there.

    Args:
        error: Typer's, on a command, option or word that it does not know.
    """
    command = getattr(getattr(error, "ctx", None), "info_name", None) or ""
    option = getattr(error, "option_name", None)
    message = str(getattr(error, "message", ""))
    if extra := re.search(r"unexpected extra argument\S* \(((\S+?)(?: .+)?)\)", message):
        option = extra[2]
        if command in CHECKPOINTS:
            return f"the checkpoint of `bertscope {command}` is named by --checkpoint {extra[1]}."
    if option is not None:
        advice, name = OPTIONS.get(command, {}).get(option), f"{command} {option}"
        if extra and command == "export":
            advice = _MAPS
        field = option.removeprefix("--").replace("-", "_")
        if advice is None and field in recipe_settings(command):
            return (
                f"{field} is no option of `bertscope {command}` but a setting of its recipe. Write "
                f"`{field} = ...` in a file, and give it with --recipe FILE.toml."
            )
    else:
        unknown = re.search(r"No such command '(.+?)'", message)
        name = unknown[1] if unknown else ""
        advice = COMMANDS.get(name)
    named = f"bertscope {name.removeprefix('bertscope ')}"
    return advice and f"`{named}` was removed in 0.3.0. {advice}"


def recipe_settings(command: str) -> Collection[str]:
    """Return the settings that the recipes of a command may have; none of another command."""
    from bertscope.cli import finetune, pretrain

    known = {"pretrain": pretrain.RECIPE, "finetune": finetune.RECIPE}
    return known.get(command, {}).keys()
