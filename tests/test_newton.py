"""One fit: where it stops, its log-likelihood is that of the maximum."""

import numpy as np
import pytest

from stepsel.core.likelihoods import Binomial, Poisson
from stepsel.core.newton import maximise, polished


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("family", [Binomial, Poisson])
def test_stops_at_the_maximum(family, seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(60, 400)), int(rng.integers(1, 6))
    Z = np.vstack([np.ones(n), rng.standard_normal((k, n))])
    eta = rng.uniform(-0.6, 0.6, k + 1) @ Z
    y = rng.binomial(1, 1 / (1 + np.exp(-eta))) if family is Binomial else rng.poisson(np.exp(eta))
    likelihood = family(y.astype(float), None, None, n)
    stopped = maximise(likelihood, Z, np.zeros(k + 1))
    top = polished(likelihood, Z, polished(likelihood, Z, stopped))
    assert stopped.converged
    assert not stopped.separated
    assert abs(top.loglik - stopped.loglik) < 1e-9
    np.testing.assert_allclose(Z @ top.residual, 0, atol=1e-9)
