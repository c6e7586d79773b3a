"""Exact nearest neighbours of mixed rows."""

from skeval.neighbors.mixed import MixedNearestNeighbors
from skeval.neighbors.parts import Part, PartitionedNearestNeighbors

__all__ = ["MixedNearestNeighbors", "Part", "PartitionedNearestNeighbors"]
