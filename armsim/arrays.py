"""Arrays of numpy, as signatures name them; their shapes are in the docstrings."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike as ArrayLike
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]
