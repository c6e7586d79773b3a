"""Arrays in temporary files, which may be larger than memory."""

from __future__ import annotations

import math
import tempfile
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import numpy as np

Shape = tuple[int, ...]


def memory_mapped_array(shape: Shape, dtype: Any) -> np.ndarray:
    """Return an array in a temporary file, column by column. It may be larger than the memory."""
    # The file is deleted with the array. The system keeps in memory the part that is in use.
    import numpy as np

    with tempfile.TemporaryFile(prefix="skeval-") as file:
        # an empty file cannot be mapped
        flat = np.memmap(file, dtype=dtype, mode="w+", shape=(max(1, math.prod(shape)),))
    return cast("np.ndarray", flat[: math.prod(shape)].reshape(shape, order="F"))
