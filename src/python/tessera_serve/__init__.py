"""An OpenAI-compatible server in front of `tessera generate`, which proves its answers afterwards."""

from .__main__ import main

__all__ = ["main"]
