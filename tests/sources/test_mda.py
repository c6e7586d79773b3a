"""The areas of minimum distance accumulation over the points of both tables, against numpy."""

import numpy as np
import pandas as pd
import pytest

from skeval.fidelity import MDAResemblance
from skeval.privacy import MinimumDistanceAccumulation


@pytest.mark.parametrize("n_synthetic", [40, 120])
def test_points_of_both_tables_are_pooled(n_synthetic):
    rng = np.random.default_rng(0)
    train, synthetic = rng.random(120), rng.random(n_synthetic)
    span = np.ptp(train)
    apart = np.minimum(1.0, np.abs(synthetic[:, None] - train) / span)
    points = np.concatenate([apart.min(axis=1), apart.min(axis=0)])
    tables = pd.DataFrame({"x": train}), pd.DataFrame({"x": synthetic})
    thresholds = [0.1, 0.3]
    for kind in (MinimumDistanceAccumulation, MDAResemblance):
        result = kind(thresholds).fit(tables[0]).evaluate(tables[1])
        for k, t in enumerate(thresholds):
            left = np.maximum(0.0, t - points).mean() / t
            right = (1.0 - np.maximum(points, t)).mean() / (1.0 - t)
            assert result.details["pooled"]["privacy_area"][k] == pytest.approx(left, abs=1e-8)
            assert result.details["pooled"]["resemblance"][k] == pytest.approx(right, abs=1e-8)
        of_value = result.details["pooled"][kind.area]
        if n_synthetic == len(train):
            assert of_value[0] == pytest.approx(result.value, abs=1e-12)
