"""Laws and checks: a law is a function with a sentence, a check is a law and a component."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import attrs
from hypothesis import HealthCheck, given, reject, settings
from hypothesis.errors import Flaky
from hypothesis.strategies import SearchStrategy

from dcsvm.base.component import Component, check_names
from dcsvm.base.errors import DataError, SettingError, did_you_mean
from dcsvm.drive.registry import KINDS, default_registry
from dcsvm.testing.problems import describe_problem

Law = Callable[[Any], None]
Example = TypeVar("Example")


#: The law of each kind that a component is used by at all; what breaks it may break all others.
FIRST = {
    "decomposer": "divides_and_answers_at_all",
    "learner": "scores_every_row_and_class",
    "combiner": "scores_every_row_and_class",
}


class BrokenLawError(AssertionError):
    """What was seen and what was expected: half of the sentence of a failing check."""


class RaisedError(BrokenLawError):
    """What a component raised where it should have answered."""

    @classmethod
    def of(cls, error: BaseException, example: str = "") -> RaisedError:
        return cls(f"it raised {type(error).__name__}: {error}{example}")


@attrs.frozen(eq=False)
class Check:
    """One law, to be tried on one component: call it. Its text is its name in pytest's output."""

    kind: str
    name: str
    component: Any
    law: Law

    @property
    def sentence(self) -> str:
        """The law in words."""
        return (self.law.__doc__ or self.law.__name__).partition("\n")[0].rstrip(".")

    def __str__(self) -> str:
        return f"{self.kind}-{self.name}-{self.law.__name__}"

    def __call__(self) -> None:
        """Try the law; an AssertionError says which law, which component, what was seen."""
        try:
            self.law(self.component)
        except Flaky as flaky:
            # The component failed once and not again: what it did the first time is the story.
            first = next(iter(getattr(flaky, "exceptions", ())), flaky)
            raise self._build_error(first) from flaky
        except Exception as error:
            raise self._build_error(error) from error

    def _build_error(self, error: BaseException) -> AssertionError:
        seen = error if isinstance(error, BrokenLawError) else RaisedError.of(error)
        hint = self._suggest_first() if isinstance(seen, RaisedError) else ""
        sentence = f"{self.kind} {self.name} breaks a law: {self.sentence}. But {seen}{hint}"
        return AssertionError(sentence)

    def _suggest_first(self) -> str:
        """Where to begin, as one thing that is raised may break many laws."""
        first = FIRST[self.kind]
        if self.law.__name__ == first:
            return ". Mend this first: other laws may be broken by it alone"
        return f". If {self.kind}-{self.name}-{first} fails, too, mend that first"


@attrs.frozen(eq=False)
class _Entry:
    kind: str
    law: Law
    when: Callable[[Any], bool]


_LAWS: list[_Entry] = []


def law(kind: str, when: Callable[[Any], bool] = lambda component: True) -> Callable[[Law], Law]:
    """Make a function of one component a law of a kind, or of "any" kind.

    The first line of its docstring is the law in words. `when` says which components it is for.
    """

    def keep(function: Law) -> Law:
        _LAWS.append(_Entry(kind, function, when))
        return function

    return keep


def laws_of(kind: str) -> list[Law]:
    """The laws of one kind of component, those of any kind first."""
    return [each.law for each in _entries(kind)]


def checks_of(component: Any, name: str | None = None, /, **settings: Any) -> list[Check]:
    """List the checks of a component.

    Parameters
    ----------
    component : str, Component class or Component
        A kind, to be followed by a registered name; or the class or an instance of a component.
    name : str, optional
    **settings
        What to build the component with. Problems here have about 2 to 60 rows, so choose
        settings under which these are really divided: a tree's default ceiling is too large.

    Examples
    --------
    >>> from dcsvm.testing import checks_of
    >>> len(checks_of("decomposer", "whole")) > 10
    True
    """
    made = _build(component, name, settings)
    kind = next(kind for kind, base in KINDS.items() if isinstance(made, base))
    title = made.name or type(made).__name__
    return [Check(kind, title, made, each.law) for each in _entries(kind) if each.when(made)]


def expect(holds: object, seen: str) -> None:
    """Fail the check, with what was seen (and what was expected instead), unless it holds."""
    if not holds:
        raise BrokenLawError(seen)


def for_any(
    strategy: SearchStrategy[Example], examples: int = 12
) -> Callable[[Callable[[Any, Example], None]], Law]:
    """Make a law about a component and, say, a problem one about any problem, by hypothesis.

    A component may refuse a problem with a DataError. The examples are the same in every run.
    """

    def wrap(function: Callable[[Any, Example], None]) -> Law:
        @functools.wraps(function)
        def holds_for_any(component: Any) -> None:
            @settings(
                max_examples=examples,
                derandomize=True,
                database=None,
                deadline=None,
                report_multiple_bugs=False,
                suppress_health_check=list(HealthCheck),
            )
            @given(strategy)
            def holds(example: Example) -> None:
                try:
                    function(component, example)
                except DataError:
                    reject()
                except Exception as error:
                    seen = f" (seen with {describe_problem(example)})"
                    if isinstance(error, BrokenLawError):
                        raise BrokenLawError(f"{error}{seen}") from None
                    raise RaisedError.of(error, seen) from error

            holds()

        # pytest and hypothesis look through a wrapper at what it wraps: this one takes less.
        del holds_for_any.__wrapped__
        return holds_for_any

    return wrap


def _entries(kind: str) -> list[_Entry]:
    mine = [each for each in _LAWS if each.kind == kind]
    mine.sort(key=lambda each: each.law.__name__ != FIRST.get(kind))
    return [each for each in _LAWS if each.kind == "any"] + mine


def _build(component: Any, name: str | None, given: dict[str, Any]) -> Component:
    if isinstance(component, str):
        if component not in KINDS:
            raise SettingError(
                f"no kind of component is called {component!r}; {did_you_mean(component, KINDS)}"
            )
        if name is None:
            raise SettingError(f"checks_of({component!r}, ...) needs the name of a {component}")
        component = default_registry().build(component, name, **given)
    elif isinstance(component, type) and issubclass(component, Component):
        check_names(component, given)
        component = component(**given)
    elif given:
        raise SettingError("checks_of takes settings with a name or a class, not with an object")
    for kind, base in KINDS.items():
        if isinstance(component, base):
            return default_registry().resolve(kind, component)  # type: ignore[no-any-return]
    raise SettingError(
        f"checks_of needs a component, its class, or its kind and name, not {component!r}"
    )
