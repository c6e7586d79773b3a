"""Evaluate synthetic tabular data the scikit-learn way."""

import lazy_loader

__version__ = "0.1.0"

# Packages and public modules, which are attributes of skeval but not in `from skeval import *`.
_PACKAGES = (
    "checks",
    "compat",
    "core",
    "datasets",
    "diagnostic",
    "exceptions",
    "fidelity",
    "generators",
    "model_selection",
    "neighbors",
    "parameters",
    "plotting",
    "privacy",
    "relational",
    "reporting",
    "results",
    "scale",
    "suites",
    "tables",
    "text",
    "utility",
)
# Names are imported on first use, because imports are slow and most programs use few names.
__getattr__, __dir__, _attached = lazy_loader.attach_stub(__name__, __file__)
__all__ = [name for name in _attached if name not in _PACKAGES]
