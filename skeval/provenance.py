"""What an evaluation was made of: versions, parameters, seeds and hashes of the tables."""

from skeval.results.provenance import *  # noqa: F403
from skeval.results.provenance import __all__ as __all__
