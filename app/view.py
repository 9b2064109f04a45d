"""A view: a function of the core, the chart of what it returns, and how to read it.

Everything about a picture is made from its `View`: the section of a page, the Python shown, the
downloads, `bertscope show` and `bertscope.show`. A page declares its own in its `views.py`, which
imports no Streamlit.
"""

from __future__ import annotations

import inspect
import itertools
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from difflib import get_close_matches
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_args

from bertcore import load
from bertcore.model.architecture.families import Capability

from .on_demand import pd
from .plots import Figure
from .plots.charts import Chart
from .plots.tables import at

if TYPE_CHECKING:
    from .parts.html_file.chart import Data
    from .parts.html_file.document import ScriptedPicture

T = TypeVar("T")
NOTHING: Mapping[str, Any] = MappingProxyType({})
REPORTS = ("on_fraction", "progress")
"""Parameters to which a function reports the fraction done: one that has them is slow."""
SECOND = "second"
"""Parameter for another checkpoint."""
MODELS = (SECOND, "twin", "proposer")
"""All that take an opened checkpoint, or its source."""
_WIDTH = 88  # letters of a line of Python; a longer call has one argument a line


@lru_cache(maxsize=512)  # a page asks for those of its views several times in each run
def _signature(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(function).parameters


def tidy_rows(result: Any) -> list[dict[str, Any]] | None:
    """Return a row for each dataclass of a result; None if there is anything else in it."""
    rows = result if isinstance(result, list | tuple) else [result]
    is_tidy = all(is_dataclass(row) and not isinstance(row, type) for row in rows)
    return [asdict(row) for row in rows] if is_tidy else None


def tidy(result: Any) -> Data:
    """Return a result as a table: a frame or arrays as they are, a row for each dataclass."""
    if isinstance(result, pd.DataFrame | Mapping):
        return result
    if (rows := tidy_rows(result)) is None:
        raise TypeError(f"{type(result).__name__} is no table; its view needs `table=`.")
    return pd.DataFrame(rows)


def tidy_at(place: str) -> Callable[[object], Data]:
    """Return what makes the table of what is at a place of a result."""
    return lambda result: tidy(at(result, place))


@dataclass(frozen=True, slots=True, kw_only=True)
class View(Generic[T]):
    """What a picture shows, said once."""

    name: str
    """Unique in the app: `bertscope show NAME`, the downloads' file name, the widgets' key."""
    question: str
    """What it answers: the heading of its section."""
    of: Callable[..., T]
    """Function of the core. If it begins with a `Model`, a `Trace`, both in this order, or a
    `TaskModel`, those are the page's checkpoint, the trace of its text, and the fine-tuned model;
    the others are given to `show`. One called `second` is another checkpoint: an opened one, or for
    `bertscope show` its source."""
    how: str
    """How to read it, in Markdown: a line of at most 25 words, which a page shows alone, and more
    paragraphs behind it. BERT's special tokens become the checkpoint's own. Braces are filled by
    `fills`; a literal brace is doubled."""
    fills: Callable[[T], Mapping[str, object]] = lambda result: NOTHING
    """Result -> what fills the braces of `how`. Text from outside goes through `plain`."""
    table: Callable[[T], Data] = tidy
    """Result -> the numbers that are drawn: a tidy frame (CSV) or named arrays (NPZ)."""
    chart: Chart | None = None
    """How the frame is drawn."""
    figure: Callable[..., Figure] | None = None
    """Result -> figure, for looks that no chart has."""
    part: Callable[..., ScriptedPicture] | None = None
    """Result -> picture of an HTML file, for a view that one of our components draws."""
    needs: frozenset[Capability] = frozenset()
    """Capabilities of a model without which there is no such picture."""

    def draw(self, result: T, data: Data | None = None, **drawn: Any) -> Figure:
        """Return the figure of a result.

        Args:
            data: What `table` returns for it, if that is known.
            drawn: Fields of the chart, or arguments of `figure`, that differ this time; `chart`
                is another chart of the same frame.
        """
        if self.figure is not None:
            return self.figure(result, **drawn)
        chart = drawn.pop("chart", self.chart)
        assert chart is not None
        frame = self.table(result) if data is None else data
        assert isinstance(frame, pd.DataFrame)
        figure: Figure = chart.draw(frame, **drawn)
        return figure

    def picture(self, result: T, **drawn: Any) -> ScriptedPicture:
        """Return the picture of a result for an HTML file."""
        if self.part is not None:
            return self.part(result, **drawn)
        if not self.is_drawn:
            raise ValueError(f"{self.name} is drawn on its page alone; its numbers are a table.")
        from .parts.html_file import chart

        return chart.chart(self.draw(result, **drawn))

    @property
    def is_drawn(self) -> bool:
        """Whether it has a picture beside that of its page's component."""
        return any(each is not None for each in (self.chart, self.figure, self.part))

    @property
    def takes(self) -> tuple[str, ...]:
        """What the function begins with: "bert", "trace" or both, or "model", the task model."""
        first = [*_signature(self.of).values()][:2]
        names = tuple(map(_given, first))
        return names if names == ("bert", "trace") else tuple(filter(None, names[:1]))

    @property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """Those behind checkpoint and trace, without those that progress is reported to."""
        known = [*_signature(self.of).items()][len(self.takes) :]
        return {name: parameter for name, parameter in known if name not in REPORTS}

    def split(self, arguments: Sequence[Any]) -> tuple[Sequence[Any], dict[str, Any]]:
        """Return arguments as those given by place and those that the function takes by name."""
        kinds = [parameter.kind for parameter in self.parameters.values()]
        count = sum(kind is not inspect.Parameter.KEYWORD_ONLY for kind in kinds)
        named = dict(zip([*self.parameters][count:], arguments[count:], strict=False))
        return arguments[:count], named

    def bind(self, texts: Sequence[str], options: Mapping[str, Any] = NOTHING) -> dict[str, Any]:
        """Return the arguments behind what it `takes`, from typed texts and named options.

        ValueError if an argument is missing, or an option is none of the function's.
        """
        known = self.parameters
        if unknown := [name for name in options if name not in known]:
            listed = ", ".join(name for name in known if name not in _TEXTS) or "none"
            raise ValueError(f"{self.name} has no option {unknown[0]}; its options are: {listed}.")
        bound = {
            **_typed(self.name, known, texts, most=2 if "trace" in self.takes else None),
            **options,
        }
        missing = [
            name
            for name, parameter in known.items()
            if name not in bound and parameter.default is inspect.Parameter.empty
        ]
        if missing:
            raise ValueError(f"{self.name} needs {' and '.join(missing)}.")
        return bound

    def compute(self, bert: Any, texts: Sequence[str], **options: Any) -> T:
        """Return the result for typed texts; errors are those of `bind` and of the function.

        Args:
            bert: A `Model`, or the `TaskModel` of a view that takes one.
        """
        bound = self.bind(texts, options)
        if "model" in self.takes:
            return self.of(bert, **bound)
        for name in MODELS:
            if isinstance(bound.get(name), str):
                bound[name] = load(bound[name], device=str(bert.device))
        trace = bert.trace(*texts[:2]) if "trace" in self.takes else None
        given = {"bert": bert, "trace": trace}
        return self.of(*(given[name] for name in self.takes), **bound)

    def python(
        self,
        arguments: Sequence[Any] | Mapping[str, Any],
        texts: tuple[str, str | None] | None,
        spelled: Mapping[str, str] = NOTHING,
    ) -> str:
        """Return the call as Python that follows the lines that define what the view takes.

        None, tuples and dataclasses are left out where they are the defaults.

        Args:
            arguments: Those behind what it `takes`, in their order or by name.
            texts: The texts of `trace`; None if there is no such line.
            spelled: Python of arguments that is not their `repr`, by name.
        """
        written: list[str] = []
        classes: list[type] = []
        by_order = {*itertools.takewhile((SECOND, *_TEXTS).__contains__, self.parameters)}
        if isinstance(arguments, Mapping):
            given = {name: arguments[name] for name in self.parameters if name in arguments}
        else:
            given = dict(zip(self.parameters, arguments, strict=False))
        for name, value in given.items():
            is_plain = value is None or isinstance(value, tuple) or is_dataclass(value)
            if is_plain and name not in spelled and value == self.parameters[name].default:
                continue
            python = spelled.get(name) or _written(name, value, texts)
            written.append(python if name in by_order else f"{name}={python}")
            classes += [] if name in spelled else _classes(value)
        if "." in self.of.__qualname__:
            function, imported = f"{self.takes[0]}.{self.of.__name__}", ""
        else:
            function = self.of.__name__
            exported: list[Callable[..., Any]] = [self.of, *classes]
            named = {each.__name__: each for each in exported}
            lines = (f"from {public_module(each)} import {name}" for name, each in named.items())
            imported = "\n" + "\n".join(sorted(lines)) + "\n"
            written = [*self.takes, *written]
        call = f"result = {function}({', '.join(written)})"
        if len(call) > _WIDTH:
            indented = "".join(f"    {argument},\n" for argument in written)
            call = f"result = {function}(\n{indented})"
        return f"{imported}\n{call}\n"


_GIVEN = {"Trace": "trace", "Model": "bert", "Bert": "bert", "TaskModel": "model"}
"""What a page gives for a parameter, by its annotation."""
_TEXTS = ("text", "text_a", "text_b", "text_pair", "sentences", "texts")
"""Parameters for what a person types."""


def _given(parameter: inspect.Parameter) -> str:
    if parameter.name == "self":
        return "bert"  # of a method of Model
    kind = parameter.annotation
    first = next(iter(get_args(kind)), kind)  # of `Trace | Attention`, the trace
    return _GIVEN.get(kind if isinstance(kind, str) else getattr(first, "__name__", ""), "")


def _typed(
    name: str, known: Mapping[str, inspect.Parameter], texts: Sequence[str], most: int | None
) -> dict[str, Any]:
    """Return what of the parameters the typed texts are; ValueError if there are too many."""
    several = next((of for of in ("sentences", "texts") if of in known), None)
    if several is not None:
        return {several: tuple(texts)} if texts else {}
    taken = [of for of in ("text", "text_a", "text_b", "text_pair") if of in known]
    most = len(taken) if most is None else most
    if len(texts) > most:
        raise ValueError(f"{name} takes {most} texts, but {len(texts)} came.")
    return dict(zip(taken, texts, strict=False))


def _written(name: str, value: object, texts: tuple[str, str | None] | None) -> str:
    if name == SECOND:
        return SECOND
    if name in _TEXTS and isinstance(value, str):
        for of, text in zip(("text_a", "text_b"), texts or (), strict=False):
            if value == text:
                return f"trace.{of}"
    return name if hasattr(value, "__array__") else repr(value)


def _classes(value: object) -> list[type]:
    """Return the dataclasses and named tuples in an argument, at any depth, of its Python."""
    if isinstance(value, list | tuple):
        own = [type(value)] if hasattr(value, "_fields") else []
        return own + [each for part in value for each in _classes(part)]
    if is_dataclass(value) and not isinstance(value, type):
        return [type(value), *_classes([getattr(value, field.name) for field in fields(value)])]
    return []


def public_module(function: Callable[..., Any]) -> str:
    """Return the package nearest to the root that exports a function or class."""
    parts = function.__module__.split(".")
    for count in range(1, len(parts) + 1):
        name = ".".join(parts[:count])
        exported = getattr(sys.modules.get(name), "__all__", ())
        if function.__name__ in exported:
            return name
    return function.__module__


def views_of(page: str) -> dict[str, View[Any]]:
    """Return the views of the page in a folder of the app, by name."""
    if not (Path(__file__).parent / "screens" / page / "views.py").is_file():
        return {}
    module = import_module(f".screens.{page}.views", __package__)
    declared = (value for value in vars(module).values() if isinstance(value, View))
    return {view.name: view for view in declared}


def all_views() -> dict[str, View[Any]]:
    """Return the views of all pages, by name, in the order of the menu."""
    from .navigation import PAGES

    return {name: view for page in PAGES for name, view in views_of(page).items()}


def named_view(name: str) -> View[Any]:
    """Return the view of a name; ValueError if there is none.

    The pages whose `views.py` contains the name come first, and mostly no other is imported.
    """
    for file in (Path(__file__).parent / "screens").glob("*/views.py"):
        is_named = f'"{name}"' in file.read_text(encoding="utf-8")
        if is_named and (view := views_of(file.parent.name).get(name)) is not None:
            return view
    views = all_views()
    if name not in views:
        close = ", ".join(get_close_matches(name[:100], views, 5, 0.4)) or next(iter(views))
        raise ValueError(f"there is no view {name!r}; try {close}. `bertscope show` lists all.")
    return views[name]
