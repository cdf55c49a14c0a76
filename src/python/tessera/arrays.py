"""Bytes of the compiled part as arrays, and back."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Union

import numpy as np
from numpy.typing import NDArray

from .errors import UnusableInput

Bytes = Union[bytes, bytearray, memoryview]
#: A file by its path, or the bytes of one.
Source = Union[str, "os.PathLike[str]", Bytes]
Ids = Union[NDArray[np.integer], Sequence[int]]


def ids_of(raw: bytes) -> NDArray[np.uint32]:
    return np.frombuffer(raw, dtype=np.uint32)


def seconds_of(raw: bytes) -> NDArray[np.float64]:
    return np.frombuffer(raw, dtype=np.float64)


def sizes_of(raw: bytes) -> NDArray[np.uint64]:
    return np.frombuffer(raw, dtype=np.uint64)


def raw_ids(ids: Ids) -> bytes:
    """Token ids as uint32; UnusableInput for what is none."""
    values = np.asarray(ids)
    if values.size == 0:
        return b""
    if values.ndim != 1 or not np.issubdtype(values.dtype, np.integer):
        raise UnusableInput(f"ids: expected a list of integers, found {values.dtype} of shape {values.shape}")
    if int(values.min()) < 0 or int(values.max()) > np.iinfo(np.uint32).max:
        raise UnusableInput("ids: expected integers from 0 to 2^32 - 1, found others")
    return values.astype(np.uint32).tobytes()
