"""Seeded bugs: each turns a component that keeps the laws into one that breaks a known law."""

from collections.abc import Callable
from typing import Any

import attrs
from sklearn.base import clone


@attrs.frozen(eq=False)
class Mutation:
    """A bug to seed, the law that must notice it, and the components it makes sense for."""

    kind: str
    name: str
    law: str
    methods_of: Callable[[type], dict[str, Any]]
    applies: Callable[[Any], bool] = lambda component: True

    def made(self, component):
        """A component like this one, with the bug."""
        cls = type(component)
        mutant = type(cls.__name__, (cls,), {"__doc__": cls.__doc__, **self.methods_of(cls)})
        return mutant(**clone(component).get_params(deep=False))


ALL: list[Mutation] = []


def mutation(kind, law, applies=lambda component: True):
    """Keep a function from a class to the methods that its mutant has instead."""

    def keep(methods_of):
        name = methods_of.__name__.replace("_", " ")
        ALL.append(Mutation(kind, name, law, methods_of, applies))
        return methods_of

    return keep


def mutations_of(kind, component):
    """All mutations that make sense for a component."""
    return [each for each in ALL if each.kind == kind and each.applies(component)]
