"""Seed: the random numbers of every place in a division, whatever order its parts finish in."""

from __future__ import annotations

import attrs
import numpy as np

#: First step of the path below a problem's seed, for each use of random numbers.
DIVISION, PARTS, FOLDS, HELD_OUT = range(4)


@attrs.frozen
class Seed:
    """Entropy and a path in the division, from which all random numbers of that place are drawn.

    Different places have independent streams, whatever the order in which parts finish or the
    worker they run on.
    """

    entropy: int
    path: tuple[int, ...] = ()

    def child(self, *steps: int) -> Seed:
        """Return the seed of a place below this one."""
        return Seed(self.entropy, self.path + steps)

    def generator(self) -> np.random.Generator:
        """Return a new generator, with the same numbers at every call."""
        return np.random.default_rng(self._sequence())

    def integer(self) -> int:
        """Return an integer for scikit-learn's `random_state`."""
        return int(self._sequence().generate_state(1)[0] >> 1)

    def _sequence(self) -> np.random.SeedSequence:
        return np.random.SeedSequence(self.entropy, spawn_key=self.path)
