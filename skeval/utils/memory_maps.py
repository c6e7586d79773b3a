"""Arrays in temporary files, which may be larger than memory."""

from __future__ import annotations

import math
import tempfile
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import numpy as np

Shape = tuple[int, ...]


def memory_mapped_array(shape: Shape, dtype: Any) -> np.ndarray:
    """Return an array, column by column, in a temporary file: it may be larger than memory."""
    # The file ends with the array; the system keeps in memory what of it is in use.
    import numpy as np

    with tempfile.TemporaryFile(prefix="skeval-") as file:
        # nothing can be mapped that is empty
        flat = np.memmap(file, dtype=dtype, mode="w+", shape=(max(1, math.prod(shape)),))
    return cast("np.ndarray", flat[: math.prod(shape)].reshape(shape, order="F"))
