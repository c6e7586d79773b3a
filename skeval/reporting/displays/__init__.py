"""Displays: each draws one thing, on given axes or on a figure of its own."""

# A display is known to reports and to Result.plot when its module is imported.
from skeval.reporting.displays import attacks as attacks
from skeval.reporting.displays import base as base
from skeval.reporting.displays import curves as curves
from skeval.reporting.displays import distributions as distributions
from skeval.reporting.displays import maps as maps
from skeval.reporting.displays import matrices as matrices
from skeval.reporting.displays import ranks as ranks
from skeval.reporting.displays import relations as relations
from skeval.reporting.displays import survival as survival
from skeval.reporting.displays import values as values
