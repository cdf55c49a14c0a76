"""Files that are whole and say something else."""

import hashlib
from pathlib import Path

import h5py
import numpy as np


def change_last(path: Path, name: str) -> None:
    """Adds 1 to the last entry of a dataset and mends the digests, its own and the file's."""
    with h5py.File(path, "r+") as file:
        values = file[name][()]
        values[-1] += 1
        file[name][...] = values
        file[name].attrs.modify("digest", _digest(values.tobytes()))
        file.attrs.modify("digest", _digest(_summary(file)))


def _digest(content: bytes) -> np.ndarray:
    return np.frombuffer(hashlib.blake2s(content).digest(), dtype=np.uint8)


def _summary(file: h5py.File) -> bytes:
    """What the file's digest is of: file_digest() in src/datasets."""
    datasets: dict[str, h5py.Dataset] = {}
    file.visititems(lambda name, item: datasets.update({name: item}) if isinstance(item, h5py.Dataset) else None)
    summary = b"tessera file\n" + _text(file.attrs["format"]) + _numbers(file.attrs["format_version"], len(datasets))
    for name, item in sorted(datasets.items()):
        kind = f"string{item.dtype.itemsize}" if item.dtype.kind == "S" else item.dtype.name
        summary += _text(name) + _text(kind) + _numbers(item.ndim, *item.shape) + item.attrs["digest"].tobytes()
    return summary


def _numbers(*values: int) -> bytes:
    return b"".join(int(value).to_bytes(8, "little") for value in values)


def _text(text: str | bytes) -> bytes:
    content = text.encode() if isinstance(text, str) else bytes(text)
    return _numbers(len(content)) + content
