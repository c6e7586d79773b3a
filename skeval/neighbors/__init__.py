"""Exact nearest neighbours of mixed rows."""

from skeval.neighbors.mixed import MixedNearestNeighbors
from skeval.neighbors.part_tasks import Part
from skeval.neighbors.parts import PartitionedNearestNeighbors

__all__ = ["MixedNearestNeighbors", "Part", "PartitionedNearestNeighbors"]
