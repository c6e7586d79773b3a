"""Figures of results and of suites."""

from __future__ import annotations

import pytest

from skeval import MetricSuite, make_suite
from skeval.datasets import make_mixed
from skeval.fidelity import KSComplement
from skeval.reporting import Display
from skeval.reporting.displays.property_scores import PropertyDisplay
from skeval.reporting.displays.scores import ScoresDisplay
from tests.notebook import cell_of


@pytest.fixture(scope="module")
def measured():
    train, holdout, fresh = (make_mixed(150, random_state=seed) for seed in (3, 4, 5))
    return make_suite("quality").fit(train, holdout).evaluate(fresh)


def test_displays_return_themselves(measured):
    for one in (measured, measured["column_shapes/ks_complement"]):
        display = one.plot()
        assert isinstance(display, Display)
        assert display.figure_ is display.ax_.figure
        assert cell_of(display).startswith("<img alt=")
        assert type(one.display()) is type(display)
    assert isinstance(measured.display(), ScoresDisplay)
    assert "base64" in cell_of(measured.display())  # drawn where it was not


def test_properties_as_one_frame_and_figure(measured):
    details = measured.details()
    assert set(details["property"]) == {"column_shapes", "column_pair_trends"}
    for name, own in details.groupby("property"):
        assert len(own) == len(measured.details(name)) == measured.properties().loc[name, "n_used"]
        assert len(measured.display(name).plot().ax_.get_yticks()) == len(own)
    whole = PropertyDisplay(measured)
    assert 10 < len(whole.plot().ax_.get_yticks()) <= len(details)  # the worst are drawn
    assert whole.frame()["column"].str.contains("column_shapes: age").any()
    alone = MetricSuite([("ks", KSComplement())]).fit(make_mixed(30)).evaluate(make_mixed(30))
    assert alone.details().empty
