"""An OpenAI-compatible server in front of `tessera generate`, which proves its answers afterwards."""
