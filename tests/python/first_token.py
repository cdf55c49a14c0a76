"""How long a first token takes: over HTTP from tessera-serve, beside the program behind it.

first_token.py PROGRAMS MODEL COMMITMENT [TIMES]: medians of so many answers (default: 20), one of each kind after the
other. With PYTHONPATH or an environment that has tessera_serve and tessera_chat; makes its data in a temporary folder.
"""

from __future__ import annotations

import http.client
import json
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tessera_chat import Chat, render

PROGRAMS, MODEL, COMMITMENT = (str(Path(path).resolve()) for path in sys.argv[1:4])
TIMES = int(sys.argv[4]) if len(sys.argv) > 4 else 20
PROMPT = "The old man looked at the sea and said"


class Program:
    """tessera generate --requests."""

    def __init__(self) -> None:
        command = [PROGRAMS + "/tessera", "generate", "--quiet", "--model", MODEL, "--requests"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.chat = json.loads(self._line())["chat"]

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def first(self, asked: dict[str, object]) -> float:
        assert self.process.stdin is not None
        begin = time.perf_counter()
        self.process.stdin.write(json.dumps({"generate": 2, "until_end": False, **asked}) + "\n")
        self.process.stdin.flush()
        line = json.loads(self._line())
        seconds = time.perf_counter() - begin
        assert "token" in line, line
        while "generated" not in line:
            line = json.loads(self._line())
        return seconds


class Server:
    """tessera-serve; each request has a connection of its own."""

    def __init__(self, folder: str) -> None:
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port = found.getsockname()[1]
        command = [sys.executable, "-m", "tessera_serve", "--model", MODEL, "--commitment", COMMITMENT, "--data", folder]
        command += ["--port", str(self.port), "--programs", PROGRAMS, "--prove", "none", "--name", "model"]
        self.process = subprocess.Popen(command)
        for _ in range(600):
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                time.sleep(0.1)

    def first(self, path: str, asked: dict[str, object]) -> float:
        body = json.dumps({"model": "model", "max_tokens": 2, "stream": True, **asked})
        begin = time.perf_counter()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        connection.request("POST", path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        seconds = 0.0
        while line := answer.readline():
            event = line.removeprefix(b"data: ").strip()
            if seconds == 0 and event.startswith(b"{"):
                choice = json.loads(event)["choices"][0]
                if choice.get("text") or choice.get("delta", {}).get("content") or choice["finish_reason"]:
                    seconds = time.perf_counter() - begin
        connection.close()
        assert seconds > 0
        return seconds


def main() -> None:
    program = Program()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(folder)
        ways: dict[str, Callable[[], float]] = {
            "generate": lambda: program.first({"text": PROMPT, "begins": True}),
            "/v1/completions": lambda: server.first("/v1/completions", {"prompt": PROMPT}),
        }
        if program.chat:
            messages = [{"role": "user", "content": PROMPT}]
            rendered = render(Chat(**program.chat), messages)
            ways["generate, of the chat"] = lambda: program.first({"text": rendered.text, "marks": rendered.marks})
            ways["/v1/chat/completions"] = lambda: server.first("/v1/chat/completions", {"messages": messages})
        try:
            taken: dict[str, list[float]] = {way: [] for way in ways}
            for _ in range(TIMES + 2):  # two to warm up
                for way, first in ways.items():
                    taken[way].append(first())
        finally:
            server.process.kill()
            server.process.wait()
            program.process.kill()
            program.process.wait()
    for way, seconds in taken.items():
        ordered = sorted(seconds[2:])
        print(f"{way}: median {statistics.median(ordered) * 1000:.1f} ms ({ordered[0] * 1000:.1f} to {ordered[-1] * 1000:.1f})")


if __name__ == "__main__":
    main()
