"""What the lecture draws: generators by F8 and F1/8, and what a generator costs by rows and columns."""

import pytest
from matplotlib.figure import Figure

from skeval import MetricSuite
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError
from skeval.fidelity import KSComplement, PRDCurve
from skeval.generators import Bootstrap, IndependentMarginals
from skeval.model_selection import efficiency_curve
from skeval.plotting import plot_f_beta
from tests.snapshots import raises

TRAIN = make_mixed(200, random_state=0)


@pytest.mark.slow
def test_the_map_of_generators():
    generators = {"copies": Bootstrap(), "independent": IndependentMarginals()}
    suite = MetricSuite([("ks", KSComplement()), ("prd", PRDCurve())]).fit(TRAIN)
    results = {
        name: suite.evaluate(made.fit(TRAIN).sample(200, random_state=0))
        for name, made in generators.items()
    }
    display = plot_f_beta(results)
    assert isinstance(display.figure_, Figure)
    for name, row in display.frame().iterrows():
        details = results[name]["prd"].details
        assert (row["F8"], row["F1/8"]) == (details["f_beta"], details["f_beta_inv"])
    alone = {name: result["prd"] for name, result in results.items()}
    assert plot_f_beta(alone).frame().equals(display.frame())
    with raises(InvalidParameterError):
        plot_f_beta({"other": results["copies"]["ks"]})


def test_costs_by_rows_and_columns():
    costs = efficiency_curve(IndependentMarginals(), TRAIN)
    assert costs["n_rows"].tolist() == [25, 50, 100, 200] + [200] * 3
    assert costs["n_columns"].tolist() == [7] * 4 + [1, 3, 7]
    assert (costs[["fit_seconds", "sample_seconds"]] > 0).all(axis=None)
    for wrong in ({"n_rows": [0]}, {"n_columns": [8]}, {"n_rows": [2.5]}):
        with raises(InvalidParameterError):
            efficiency_curve(Bootstrap(), TRAIN, **wrong)
