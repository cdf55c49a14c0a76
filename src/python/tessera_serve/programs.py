"""The programs behind the server: one that generates, one that renders, and jobs that prove."""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any, AsyncGenerator

LINE = 1 << 26  # bytes of an answer's line at most
RENDER_SECONDS = 10.0


class Broken(Exception):
    """A program that has ended or does not answer."""


def _end_with_parent() -> None:
    """Linux ends the child when the server's process is gone, also by kill -9."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


class Lines:
    """A program that is given a line of JSON and answers in such lines. It is started where it is needed."""

    def __init__(self, command: list[str], environment: dict[str, str] | None = None) -> None:
        self._command = command
        self._environment = environment
        self._process: asyncio.subprocess.Process | None = None
        self.hello: dict[str, Any] = {}  # the first line, of programs that begin with one

    async def start(self, greets: bool) -> None:
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=LINE,
            env=self._environment,
            preexec_fn=_end_with_parent,
        )
        if greets:
            self.hello = await self.read()

    async def read(self) -> dict[str, Any]:
        assert self._process is not None and self._process.stdout is not None
        try:
            line = await self._process.stdout.readline()
            answer = json.loads(line)
        except (ValueError, OSError) as error:
            raise Broken(f"{self._command[0]}: expected a line of JSON, found {error}") from None
        if not isinstance(answer, dict):
            raise Broken(f"{self._command[0]}: expected an object, found another value")
        return answer

    async def ask(self, request: dict[str, Any]) -> None:
        if self._process is None or self._process.returncode is not None:
            await self.start(bool(self.hello))
        assert self._process is not None and self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            await self._process.stdin.drain()
        except OSError as error:
            raise Broken(f"{self._command[0]}: {error}") from None

    async def stop(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()
        self._process = None


class Generator:
    """`tessera generate --requests`: the model is loaded once. One request after another."""

    def __init__(self, tessera: str, model: str) -> None:
        self._lines = Lines([tessera, "generate", "--quiet", "--model", model, "--requests"])

    async def start(self) -> dict[str, Any]:
        """What it says of the model."""
        await self._lines.start(True)
        return self._lines.hello

    async def answer(self, request: dict[str, Any]) -> AsyncGenerator[dict[str, Any], None]:
        """Lines of an answer; the last one has `generated` or `error`. Raises Broken; then it is started again."""
        try:
            await self._lines.ask(request)
            while True:
                line = await self._lines.read()
                yield line
                if "generated" in line or "error" in line:
                    return
        except BaseException:  # also where nobody waits any more: what is left would be the next one's
            await self._lines.stop()
            raise

    async def stop(self) -> None:
        await self._lines.stop()


class Renderer:
    """`python3 -m tessera_chat --lines`: templates are strangers' programs, so they run elsewhere, for a while."""

    def __init__(self) -> None:
        folder = str(Path(__file__).resolve().parent.parent)
        path = os.pathsep.join(filter(None, (folder, os.environ.get("PYTHONPATH"))))
        self._lines = Lines([sys.executable, "-m", "tessera_chat", "--lines"], {**os.environ, "PYTHONPATH": path})
        self._turn = asyncio.Lock()

    async def render(self, chat: dict[str, Any], messages: str) -> dict[str, Any]:
        """text and marks, or error."""
        async with self._turn:
            try:
                await self._lines.ask({**chat, "messages": messages, "continues": None})
                return await asyncio.wait_for(self._lines.read(), RENDER_SECONDS)
            except asyncio.TimeoutError:
                await self._lines.stop()
                return {"error": f"the chat template takes longer than {RENDER_SECONDS:.0f} s"}
            except Broken as error:
                await self._lines.stop()
                return {"error": f"the chat template cannot be rendered: {error}"}

    async def stop(self) -> None:
        await self._lines.stop()


async def run(command: list[str], environment: dict[str, str] | None = None) -> tuple[int, str, str]:
    """Exit code, standard output and error of a program that ends by itself."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **(environment or {})},
        preexec_fn=_end_with_parent,
    )
    try:
        output, errors = await process.communicate()
    except asyncio.CancelledError:
        process.terminate()
        await process.wait()
        raise
    return process.returncode or 0, output.decode(errors="replace"), errors.decode(errors="replace")
