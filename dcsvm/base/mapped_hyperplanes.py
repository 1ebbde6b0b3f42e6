"""Hyperplanes in the feature space of a kernel with an explicit feature map."""

from math import comb

import attrs

from dcsvm.base.cost import Cost
from dcsvm.base.models import Hyperplanes, LocalModel
from dcsvm.numeric.array_types import FloatArray, Matrix
from dcsvm.numeric.kernels.kernel import Kernel
from dcsvm.numeric.row_plan import Plan, Step


@attrs.frozen(eq=False)
class MappedHyperplanes(LocalModel):
    """Hyperplanes in the finite-dimensional feature space of a kernel."""

    kernel: Kernel
    hyperplanes: Hyperplanes

    def check_stored(self, **sizes: int) -> dict[str, int]:
        if self.kernel.kind != "trbf":
            raise ValueError(f"MappedHyperplanes.kernel must be trbf, got {self.kernel.kind}")
        if "features" not in sizes:
            return sizes
        mapped = comb(sizes["features"] + self.kernel.degree, self.kernel.degree)
        self.hyperplanes.check_stored(**sizes | {"features": mapped})
        return sizes

    def scores(self, X: Matrix) -> FloatArray:
        return self.hyperplanes.scores(self.kernel.feature_map(X))

    def add_to_plan(self, plan: Plan, n_features: int) -> Step | None:
        mapped = plan.feature_map(self.kernel, n_features)
        if mapped is None:
            return None
        return plan.chain(mapped, self.hyperplanes.add_to_plan(plan, plan.outputs(mapped)))

    @property
    def cost(self) -> Cost:
        return self.hyperplanes.cost
