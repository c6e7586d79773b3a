"""Exact nearest neighbors of mixed rows."""

from typing import TYPE_CHECKING, Any

from skeval.neighbors.mixed import MixedNearestNeighbors

if TYPE_CHECKING:
    from skeval.scale.partitioned import PartitionedNearestNeighbors
    from skeval.scale.parts import Part

__all__ = ["MixedNearestNeighbors", "Part", "PartitionedNearestNeighbors"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # skeval.scale is built on this package, so its classes are imported only if they are used
    from skeval.scale import partitioned

    return getattr(partitioned, name)
