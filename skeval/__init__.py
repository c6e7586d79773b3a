"""Evaluate synthetic tabular data the scikit-learn way."""

import lazy_loader

__version__ = "0.1.0"

# Packages and public modules: attributes of skeval that `from skeval import *` does not import.
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
# Names are imported when they are first used, because each takes its time and few are used at once.
__getattr__, __dir__, _attached = lazy_loader.attach_stub(__name__, __file__)
__all__ = [name for name in _attached if name not in _PACKAGES]
