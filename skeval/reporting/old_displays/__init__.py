"""Displays that only the old pages draw, until those pages are gone."""

# A display is known to reports and to Result.plot when its module is imported.
from skeval.reporting.old_displays import attacks as attacks
from skeval.reporting.old_displays import base as base
from skeval.reporting.old_displays import curves as curves
from skeval.reporting.old_displays import distributions as distributions
from skeval.reporting.old_displays import maps as maps
from skeval.reporting.old_displays import matrices as matrices
from skeval.reporting.old_displays import ranks as ranks
from skeval.reporting.old_displays import relations as relations
from skeval.reporting.old_displays import survival as survival
from skeval.reporting.old_displays import values as values
