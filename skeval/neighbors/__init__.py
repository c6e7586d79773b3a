"""Exact nearest neighbours of mixed rows."""

from skeval.neighbors.mixed import MixedNearestNeighbors

__all__ = ["MixedNearestNeighbors"]
