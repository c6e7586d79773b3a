"""Exact nearest neighbours of mixed rows."""

from skeval.neighbors.mixed import MixedNearestNeighbors
from skeval.scale.part_tasks import Part
from skeval.scale.partitioned import PartitionedNearestNeighbors

__all__ = ["MixedNearestNeighbors", "Part", "PartitionedNearestNeighbors"]
