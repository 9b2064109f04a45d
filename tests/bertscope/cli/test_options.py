"""Options made from config dataclasses: each setting is written once."""

import inspect
from dataclasses import dataclass, fields
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from bertcore.configs import DataConfig, DistillConfig, FinetuneConfig, OptimizerConfig, TrainConfig
from bertscope.cli.commands.finetune import finetune
from bertscope.cli.commands.pretrain import pretrain
from bertscope.cli.errors import SentenceGroup
from bertscope.cli.main import build_app
from bertscope.cli.options import Command, chosen, config_options, field_docstrings, refuse_options

CONFIGS: tuple[Any, ...] = (
    DataConfig,
    DistillConfig,
    FinetuneConfig,
    OptimizerConfig,
    TrainConfig,
)


@dataclass(frozen=True, kw_only=True)
class Oven:
    """How to bake."""

    degrees: int = 180
    """Heat, in degrees
    Celsius."""
    fan: bool = False
    """Stir the air."""
    rack: int | None = None
    """From below."""
    not_an_option: int = 3
    """Fixed."""


def run(*words: str) -> tuple[Any, dict[str, Any]]:
    """Run the command `bake` of a made-up app; return the result and its arguments."""
    seen: dict[str, Any] = {}
    app = typer.Typer(cls=SentenceGroup, rich_markup_mode=None)

    @app.callback()
    def start() -> None:
        """Keep `bake` a command of a group."""

    @app.command(cls=Command)
    @config_options((Oven(degrees=200), "degrees fan"), (Oven, "rack"))
    def bake(
        context: typer.Context,
        what: Annotated[str, typer.Option("--what")],
        lamp: bool = False,
        how_long: float = 1.5,
        **settings: Any,
    ) -> None:
        """Bake.

        Args:
            what: What
                to bake.
            lamp: See it.
            how_long: Hours.

        Serve.
        """
        if what == "ice":
            refuse_options(context, {"degrees", "fan"}, "ice is not baked")
        seen.update(what=what, lamp=lamp, oven=chosen(Oven, settings), all=settings)

    return CliRunner(env={"COLUMNS": "100", "TERM": "dumb"}).invoke(app, ["bake", *words]), seen


def test_a_command_gets_what_was_typed_and_nothing_else() -> None:
    result, seen = run("--what", "bread", "--degrees", "200", "--lamp")
    assert result.exit_code == 0, result.output
    assert seen == {
        "what": "bread",
        "lamp": True,
        "oven": {"degrees": 200},  # typed, though it is the default
        "all": {"degrees": 200},
    }
    assert run("--what", "bread")[1]["all"] == {}
    assert run("--what", "bread", "--fan", "--rack", "2")[1]["oven"] == {"fan": True, "rack": 2}


def test_help_has_the_docstrings_and_defaults() -> None:
    shown = " ".join(run("--help")[0].stdout.split())
    assert "Heat, in degrees Celsius. [default: 200]" in shown
    assert "--what <str> What to bake. [required]" in shown
    assert "See it." in shown
    assert "--no-lamp" not in shown
    assert "--how-long <float> Hours. [default: 1.5]" in shown
    assert "Args:" not in shown
    assert "Serve." in shown
    assert shown.index("--lamp") < shown.index("--degrees") < shown.index("--rack")
    assert "--not-an-option" not in shown


def test_wrong_input_is_one_sentence() -> None:
    for words, parts in (
        (["--what", "bread", "--degrees", "warm"], ["--degrees", "integer"]),
        (["--what", "bread", "--not-an-option", "1"], ["--not-an-option"]),
        (["--what", "ice", "--fan", "--degrees", "2"], ["--degrees, --fan would have no effect"]),
    ):
        result = run(*words)[0]
        assert result.exit_code == 2
        assert result.stderr.count("\n") == 1
        assert all(part in result.stderr for part in parts), result.stderr


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.__name__)
def test_each_setting_has_a_sentence(config: Any) -> None:
    texts = field_docstrings(config)
    assert set(texts) == {field.name for field in fields(config)}
    assert all(text.endswith(".") for text in texts.values()), texts


@pytest.mark.parametrize(
    ("command", "configs"),
    [
        (pretrain, (TrainConfig, DataConfig, OptimizerConfig)),
        (finetune, (FinetuneConfig,)),
    ],
)
def test_no_option_has_a_default_of_its_own(command: Any, configs: tuple[Any, ...]) -> None:
    """But the two of `finetune` whose default depends on the task or the network."""
    own = {"max_seq_length", "learning_rate"} if command is finetune else set()
    found = 0
    for name, parameter in inspect.signature(command).parameters.items():
        for config in configs:
            known = {field.name: field.default for field in fields(config)}
            if name in known and name not in own:
                assert parameter.default == known[name], name
                found += 1
    assert found > 5


def test_there_are_few_commands_and_options() -> None:
    """What belongs to a recipe is written in the recipe, and what prints a picture is `show`."""
    group: Any = typer.main.get_command(build_app())
    numbers = [
        sum(parameter.param_type_name == "option" for parameter in command.params)
        for command in (group, *group.commands.values())
    ]
    assert len(group.commands) <= 15
    assert sum(numbers) <= 144
