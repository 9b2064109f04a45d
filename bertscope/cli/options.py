"""Command options generated from the fields of config dataclasses and from docstrings.

A setting is written once, in its dataclass: name, type, default, and the docstring under it, which
becomes the option's help. The dataclass checks its values. A field's `metadata` may contain "flag",
if the option is not named after the field, and other arguments of `typer.Option`. The help of a
command's own options is in its docstring, under "Args:".
"""

import ast
import functools
import inspect
import itertools
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import MISSING, fields, is_dataclass
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand
from typer.models import OptionInfo

from bertcore.configs.numbers import INFINITE, check_numbers
from bertcore.configs.recipe import Setting, changes_of, read_recipes, shipped_recipes

Fields = tuple[Any, str]
"""A dataclass, or an instance with other defaults, and space-separated names of its fields."""

Function = TypeVar("Function", bound=Callable[..., None])

NUMBERS = "N [N ...]"
"""Metavar of an option that takes several numbers."""
WORDS = "NAME [NAME ...]"
"""Metavar of an option that takes several names."""
_NUMBER = re.compile(r"-?\d[\d.]*(?:e[-+]?\d+)?")
_SEVERAL = {NUMBERS: _NUMBER, WORDS: re.compile(r"[^-].*")}


def config_options(*configs: Fields) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command an option for each named field.

    The command gets only the values that were typed, as keyword arguments named after the fields;
    the dataclass supplies the other defaults. The command must take `context`.

    Args:
        configs: In the order in which --help shows them, after the command's own options.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(documented(command))
        own = [
            parameter.replace(kind=parameter.KEYWORD_ONLY)
            for parameter in signature.parameters.values()
            if parameter.kind is not parameter.VAR_KEYWORD
        ]
        generated = [
            option for config, names in configs for option in _options(config, names.split())
        ]
        several = {
            name: kind
            for config, names in configs
            for name in names.split()
            if (kind := _number_kind(config, name)) is not None
        }

        @functools.wraps(command)
        def run(**values: Any) -> None:
            context = values["context"]
            for option in generated:
                if not is_typed(context, option.name):
                    del values[option.name]
                elif kind := several.get(option.name):
                    flag = f"--{option.name.replace('_', '-')}"
                    values[option.name] = numbers_of(values[option.name], flag, kind)
            command(**values)

        run.__signature__ = signature.replace(parameters=[*own, *generated])  # type: ignore[attr-defined]
        return run

    return decorate


def documented(command: Function) -> Function:
    """Give a command's parameters the help under "Args:" in its docstring, which --help leaves out.

    A parameter becomes an option of its name unless it is annotated as an argument, or with other
    flags; a `bool` is a flag that is False unless it is given.
    """
    command.__doc__, texts = split_args(command.__doc__ or "")
    signature = inspect.signature(command, eval_str=True)
    parameters = [
        _documented(parameter, texts.pop(name)) if name in texts else parameter
        for name, parameter in signature.parameters.items()
    ]
    assert not texts, f"{command.__name__} has no parameter {', '.join(texts)}"
    command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return command


def split_args(docstring: str) -> tuple[str, dict[str, str]]:
    r"""Return a docstring without its section "Args:", and the text of each argument on one line.

    >>> split_args("Bake.\n\nArgs:\n    what: Bread\n        or cake.\n    fan: Stir.\n\nEnd.")
    ('Bake.\n\nEnd.', {'what': 'Bread or cake.', 'fan': 'Stir.'})
    """
    text = inspect.cleandoc(docstring)
    section = re.search(r"^Args:\n((?: {4}.*\n?)+)\n?", text, re.M)
    if section is None:
        return text, {}
    texts = re.findall(r"^ {4}(\w+): (.*\n?(?: {8}.*\n?)*)", section[1], re.M)
    about = text[: section.start()] + text[section.end() :]
    return about, {name: " ".join(words.split()) for name, words in texts}


def join_values(words: Iterable[str], option: str, value: re.Pattern[str] = _NUMBER) -> list[str]:
    """Return the words of a command line with the values after an option joined by commas.

    >>> join_values(["a.txt", "--layers", "0", "2", "-1", "--unit", "word"], "--layers")
    ['a.txt', '--layers', '0,2,-1', '--unit', 'word']
    """
    joined: list[str] = []
    values: list[str] | None = None
    for word in words:
        if values is not None and value.fullmatch(word):
            values.append(word)
            continue
        if values:
            joined.append(",".join(values))
        values = [] if word == option else None
        joined.append(word)
    return [*joined, ",".join(values)] if values else joined


def numbers_of(text: str, option: str, kind: type) -> tuple[Any, ...]:
    """Return the numbers in the value of an option.

    >>> numbers_of("0,2 -1", "--layers", int), numbers_of("1e-4", "--learning-rate", float)
    ((0, 2, -1), (0.0001,))

    ValueError if there is none, or one is not of that kind.
    """
    try:
        numbers = tuple(kind(word) for word in re.split(r"[,\s]+", text) if word)
    except ValueError:
        numbers = ()
    if not numbers:
        raise ValueError(f"{option} is {text!r}; expected numbers, such as {option} 2 4.")
    check_numbers([(option, numbers)])
    return numbers


def with_checked_numbers(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command refuse NaN, infinite and too large numbers before its work."""

    @functools.wraps(command)
    def run(**values: Any) -> None:
        check_numbers(
            (f"--{name.replace('_', '-')}", value)
            for name, value in values.items()
            if name not in INFINITE
        )
        command(**values)

    return run


def chosen(config: type, values: dict[str, Any]) -> dict[str, Any]:
    """Return the values that are fields of a dataclass."""
    return {field.name: values[field.name] for field in fields(config) if field.name in values}


def is_typed(context: typer.Context, name: str) -> bool:
    """Return whether a parameter was given on the command line or by the environment."""
    source: Any = context.get_parameter_source(name)
    return source is not None and source.name in ("COMMANDLINE", "ENVIRONMENT")


def field_names(*configs: type) -> set[str]:
    return {field.name for config in configs for field in fields(config)}


def refuse_options(context: typer.Context, names: Iterable[str], reason: str) -> None:
    """Raise ValueError if an option was typed that would have no effect."""
    typed = {p.name: p.opts[0] for p in context.command.params if is_typed(context, p.name or "")}
    refuse_without_effect(typed, [(True, names, reason)])


Rule = tuple[object, Iterable[str], str]
"""A condition, and settings that have no effect where it holds; and the reason."""


def refuse_without_effect(given: Mapping[Any, str], rules: Iterable[Rule]) -> None:
    """Raise ValueError if a setting was given that would have no effect.

    Args:
        given: What each setting is called, an option or a name in a recipe, by field.
        rules: The first that is broken is named.
    """
    for condition, names, reason in rules:
        if condition and (idle := sorted(given[name] for name in set(names) & given.keys())):
            raise ValueError(f"{', '.join(idle)} would have no effect: {reason}. Leave it out.")


def read_settings(
    command: str, recipes: Sequence[str], typed: Mapping[str, Any], known: Mapping[str, Setting]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the settings of recipes and options, and what those that a user gave are called.

    A note says where they differ from a recipe that ships.

    ValueError as `read_recipes`.
    """
    recipe = read_recipes(recipes, command, known)
    settings = {**recipe.settings, **typed}
    given = {name: name for name in recipe.own}
    given |= {name: f"--{name.replace('_', '-')}" for name in typed}
    shipped = [name for name in recipes if name in shipped_recipes(command)]
    if shipped and (changes := changes_of(recipe.shipped, settings)):
        told = f"differs from the recipe {', '.join(shipped)}: {', '.join(changes)}"
        typer.echo(f"Note: {told}.", err=True)
    return settings, given


class Command(TyperCommand):
    """A command in which an option whose metavar is NUMBERS or WORDS takes several values.

    `--layers 0 2 4` is `--layers 0,2,4`.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Join the values after an option that takes several, then parse."""
        for option in self.params:
            if option.metavar in _SEVERAL:
                args = join_values(args, option.opts[0], _SEVERAL[option.metavar])
        return super().parse_args(ctx, args)


def _documented(parameter: inspect.Parameter, text: str) -> inspect.Parameter:
    kind, info = parameter.annotation, typer.Option()
    if get_origin(kind) is Annotated:
        kind, info = get_args(kind)
    info = copy(info)
    info.help = text
    if isinstance(info, OptionInfo) and info.default is ...:  # it has no flags of its own
        info.default = f"--{parameter.name.replace('_', '-')}"
    return parameter.replace(annotation=Annotated[kind, info])


def _options(config: Any, names: list[str]) -> list[inspect.Parameter]:
    assert is_dataclass(config)
    cls: Any = config if isinstance(config, type) else type(config)
    known = {field.name: field for field in fields(cls)}
    types, texts = get_type_hints(cls), field_docstrings(cls)
    parameters = []
    for name in names:
        field = known[name]
        default = field.default if isinstance(config, type) else getattr(config, name)
        if default is MISSING:
            assert field.default_factory is not MISSING, name
            default = field.default_factory()
        more = {"flag": f"--{name.replace('_', '-')}", **field.metadata}
        # The dataclass checks the values: its error says what to do.
        kind = str if get_origin(types[name]) is Literal else types[name]
        if _number_kind(config, name) is not None:
            kind, default = str | None, None
            more["metavar"] = NUMBERS
        option = typer.Option(more.pop("flag"), help=texts[name], **more)
        parameters.append(
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=default,
                annotation=Annotated[kind, option],
            )
        )
    return parameters


def _number_kind(config: Any, name: str) -> type | None:
    """Return the kind of number of a field that has several; None of any other field."""
    hint = get_type_hints(config if isinstance(config, type) else type(config))[name]
    kind = get_args(hint)[0] if get_origin(hint) is tuple else None
    return kind if kind in (int, float) else None


def field_docstrings(config: type) -> dict[str, str]:
    """Return the string under each field of a dataclass, on one line."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(config)))
    (body,) = [node.body for node in tree.body if isinstance(node, ast.ClassDef)]
    docstrings = {}
    for field, text in itertools.pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
            assert isinstance(field.target, ast.Name)
            assert isinstance(text.value, ast.Constant)
            docstrings[field.target.id] = " ".join(str(text.value.value).split())
    return docstrings
