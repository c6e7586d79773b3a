"""Exact nearest neighbours of mixed rows."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from skeval.neighbors.mixed import MixedNearestNeighbors

if TYPE_CHECKING:
    from skeval.scale.part_tasks import Part
    from skeval.scale.partitioned import PartitionedNearestNeighbors

__all__ = ["MixedNearestNeighbors", "Part", "PartitionedNearestNeighbors"]

_LATER = {  # imported where they are asked for
    "Part": "skeval.scale.part_tasks",
    "PartitionedNearestNeighbors": "skeval.scale.partitioned",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_LATER[name]), name)
    return value
