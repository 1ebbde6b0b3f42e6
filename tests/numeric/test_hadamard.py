"""The fast Walsh-Hadamard transform is the product with the matrix of scipy."""

import numpy as np
import pytest
from scipy.linalg import hadamard

from dcsvm.numeric.hadamard import hadamard_transform


@pytest.mark.parametrize("length", [1, 2, 16])
def test_the_fast_transform_is_the_product_with_the_matrix_of_scipy(length):
    values = np.random.default_rng(0).normal(size=(3, 2, length))
    np.testing.assert_allclose(hadamard_transform(values), values @ hadamard(length))
