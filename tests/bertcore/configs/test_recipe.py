"""Recipes: what ships, what is written is read, and what cannot be read is one sentence."""

from pathlib import Path

import pytest

from bertcore.configs import FinetuneConfig
from bertcore.configs.recipe import (
    read_recipe,
    read_recipes,
    settings_of_configs,
    shipped_recipes,
    write_recipe,
)
from bertscope.cli.commands import finetune, pretrain

KNOWN = settings_of_configs([FinetuneConfig], without="dtype")


@pytest.mark.parametrize("command", ["pretrain", "finetune"])
def test_recipes_that_ship_are_read(command: str) -> None:
    known = {"pretrain": pretrain.RECIPE, "finetune": finetune.RECIPE}[command]
    assert set(shipped_recipes(command)) == {"paper", "tinybert"}
    for name in shipped_recipes(command):
        recipe = read_recipes([name], command, known)
        assert recipe.settings == recipe.shipped != {}
        assert not recipe.own


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / 'a "b" \\ é\x7f.toml'
    settings = {"corpus": (Path("a'\"\n.txt"), Path("ü😀")), "layers": 3, "uncased": False}
    settings |= {"learning_rate": 1e-05, "start": "noise \x7f\t\u2028"}
    write_recipe(path, {**settings, "tokenizer": None})
    assert read_recipe(path, pretrain.RECIPE) == settings


def test_a_byte_order_mark_is_no_part_of_a_recipe(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text("epochs = 3", encoding="utf-8-sig")
    assert read_recipe(path, KNOWN) == {"epochs": 3}


def test_a_later_recipe_overrides(tmp_path: Path) -> None:
    write_recipe(tmp_path / "a.toml", {"epochs": 5, "class_weights": [1, 2]})
    recipe = read_recipes(["paper", str(tmp_path / "a.toml")], "finetune", finetune.RECIPE)
    assert recipe.settings["learning_rate"] == (5e-5, 3e-5, 2e-5)
    assert (recipe.settings["epochs"], recipe.shipped["epochs"]) == (5, 3)
    assert recipe.settings["class_weights"] == (1.0, 2.0)
    assert recipe.own == {"epochs", "class_weights"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("epoch = 3", "'epoch' is not known here. Did you mean epochs?"),
        ("warmup-ratio = 0.1", "Did you mean warmup_ratio?"),
        ("dtype = 'float32'", "'dtype' is not known here"),
        ("[optimizer]\nepochs = 3", "'optimizer' is not known here"),
        ("epochs = 1.5", "epochs is 1.5; expected a whole number"),
        ("epochs = true", "epochs is true; expected a whole number"),
        ("patience = 'a'", "patience is 'a'; expected a whole number"),
        ("trained = ['biases']", "expected a text"),
        ("class_weights = 1979-05-27", "expected a text or a number, or a list of such"),
        ("dropout = nan", "dropout is nan"),
        ("dropout = 1e30", "dropout is 1e"),
        ("epochs = 3\nepochs = 4", "is no recipe"),
        ("epochs =", "is no recipe"),
        ("\x00", "is no recipe"),
        ("a = " + "[" * 5000, "is no recipe"),
        ("dropout = 1" + "0" * 400, "dropout is too large"),
        ("epochs = 1" + "0" * 400, "epochs is too large"),
    ],
)
def test_what_is_no_recipe_is_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "a.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"a\.toml|dropout|epochs") as error:
        read_recipe(path, KNOWN)
    assert said in str(error.value)


def test_a_file_that_is_not_text_or_not_there(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="is no recipe"):
        read_recipe(path, KNOWN)
    with pytest.raises(FileNotFoundError):
        read_recipes([str(tmp_path / "none.toml")], "finetune", KNOWN)
    with pytest.raises(ValueError, match="expected paper, tinybert, or a file"):
        read_recipes(["mine"], "finetune", KNOWN)
