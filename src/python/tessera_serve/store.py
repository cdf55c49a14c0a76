"""Receipts: what was asked and answered, and what became of its proof. In SQLite: they survive the process."""

from __future__ import annotations

import hashlib
import json
import secrets
import sqlite3
import time
from pathlib import Path
from typing import Any

SCHEMA = """
CREATE TABLE IF NOT EXISTS receipts (
  id TEXT PRIMARY KEY,
  number INTEGER NOT NULL,         -- order of arrival
  name TEXT UNIQUE,                -- Idempotency-Key of the client
  created REAL NOT NULL,
  path TEXT NOT NULL,
  request BLOB NOT NULL,           -- as it came
  request_digest TEXT NOT NULL,    -- BLAKE2s-256 of it
  messages TEXT,                   -- for tessera-verify --expect-messages
  line TEXT NOT NULL,              -- what tessera generate is given
  state TEXT NOT NULL,             -- answering, queued, proving, proven, failed
  answer TEXT,                     -- what tessera generate said
  text TEXT,
  reason TEXT,                     -- of failed
  tries INTEGER NOT NULL DEFAULT 0,
  proof TEXT                       -- file
);
CREATE INDEX IF NOT EXISTS by_state ON receipts (state, number);
"""


class Store:
    """One process at a time uses it. What a method has written stays written, whatever happens to the machine."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._base = sqlite3.connect(folder / "receipts.sqlite", isolation_level=None)
        self._base.row_factory = sqlite3.Row
        self._base.execute("PRAGMA locking_mode=EXCLUSIVE")
        self._base.execute("PRAGMA journal_mode=WAL")
        self._base.execute("PRAGMA synchronous=FULL")
        self._base.executescript(SCHEMA)
        # what a process that ended was at is begun again: that was no try
        self._base.execute("UPDATE receipts SET state = 'queued', tries = tries - 1 WHERE state = 'proving'")

    def add(self, path: str, request: bytes, line: dict[str, Any], messages: str | None, name: str | None) -> str:
        """A new receipt, which is to be answered."""
        receipt = secrets.token_hex(16)
        self._base.execute(
            "INSERT INTO receipts (id, number, name, created, path, request, request_digest, messages, line, state)"
            " VALUES (?, (SELECT coalesce(max(number), 0) + 1 FROM receipts), ?, ?, ?, ?, ?, ?, ?, 'answering')",
            (
                receipt,
                name,
                time.time(),
                path,
                request,
                hashlib.blake2s(request).hexdigest(),
                messages,
                json.dumps(line),
            ),
        )
        return receipt

    def find(self, receipt: str) -> sqlite3.Row | None:
        row: sqlite3.Row | None = self._base.execute("SELECT * FROM receipts WHERE id = ?", (receipt,)).fetchone()
        return row

    def named(self, name: str) -> sqlite3.Row | None:
        row: sqlite3.Row | None = self._base.execute("SELECT * FROM receipts WHERE name = ?", (name,)).fetchone()
        return row

    def answered(self, receipt: str, answer: dict[str, Any], text: str) -> None:
        self._base.execute(
            "UPDATE receipts SET state = 'queued', answer = ?, text = ? WHERE id = ? AND state = 'answering'",
            (json.dumps(answer), text, receipt),
        )

    def failed(self, receipt: str, reason: str) -> None:
        self._base.execute("UPDATE receipts SET state = 'failed', reason = ? WHERE id = ?", (reason, receipt))

    def unanswered(self) -> list[sqlite3.Row]:
        return self._base.execute("SELECT * FROM receipts WHERE state = 'answering' ORDER BY number").fetchall()

    def take(self, most: int) -> list[sqlite3.Row]:
        """The oldest that are queued and can be proven by one job: alike but for their prompts. They become proving."""
        rows = self._base.execute("SELECT * FROM receipts WHERE state = 'queued' ORDER BY tries, number").fetchall()
        alike = [row for row in rows if rows and _job_of(row) == _job_of(rows[0])][:most]
        if alike and alike[0]["tries"] > 0:
            alike = alike[:1]  # it has spoiled a job, perhaps
        for row in alike:
            self._base.execute("UPDATE receipts SET state = 'proving', tries = tries + 1 WHERE id = ?", (row["id"],))
        return alike

    def again(self, receipt: str) -> None:
        self._base.execute("UPDATE receipts SET state = 'queued' WHERE id = ?", (receipt,))

    def proven(self, receipt: str, proof: str) -> None:
        self._base.execute("UPDATE receipts SET state = 'proven', proof = ? WHERE id = ?", (proof, receipt))

    def counts(self) -> dict[str, int]:
        return dict(self._base.execute("SELECT state, count(*) FROM receipts GROUP BY state").fetchall())


def _job_of(row: sqlite3.Row) -> tuple[Any, ...]:
    """Answers of as many tokens, drawn alike, are proven by one job, whatever bound was asked for."""
    sampling = json.dumps(json.loads(row["line"]).get("sampling"))
    return (len(json.loads(row["answer"])["generated"]), sampling, row["tries"] > 0)
