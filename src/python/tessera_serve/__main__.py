"""tessera-serve: answers first, proofs later."""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tessera-serve",
        description="An OpenAI-compatible server for a committed model: answers at once, proofs afterwards.",
    )
    parser.add_argument("--model", required=True, help="model file")
    parser.add_argument("--commitment", required=True, help="directory written by tessera commit")
    parser.add_argument("--data", required=True, type=Path, help="directory for receipts and proofs, kept over restarts")
    parser.add_argument("--name", help="the model's name in requests (default: the file's)")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen at (default: this machine alone)")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--keys", type=Path, help="file of keys that give access, one a line (default: no key needed)")
    parser.add_argument("--most-tokens", type=int, default=256, help="of an answer (default: 256)")
    parser.add_argument("--most-body", type=int, default=1 << 20, help="bytes of a request (default: 1048576)")
    parser.add_argument("--most-waiting", type=int, default=64, help="answers that are not finished (default: 64)")
    parser.add_argument("--prove", choices=("here", "sbatch", "none"), default="here", help="how proofs are made")
    parser.add_argument("--ranks", type=int, default=1, help="of a proof that is made here (default: 1)")
    parser.add_argument("--batch", type=int, default=16, help="answers that one job proves at most (default: 16)")
    parser.add_argument("--script", default="jobs/prove_array.sbatch", help="of --prove sbatch")
    parser.add_argument("--programs", type=Path, help="folder of tessera and tessera-verify (default: PATH)")
    return parser.parse_args()


def _key(tessera: str, commitment: str) -> tuple[str, bool]:
    """The key's digest, and whether it is hiding."""
    found = subprocess.run([tessera, "inspect", "--json", commitment], capture_output=True, text=True, check=False)
    if found.returncode != 0:
        raise SystemExit(f"tessera-serve: {found.stderr.strip()}")
    key = json.loads(found.stdout)
    return str(key["key_digest"]), bool(key["hiding"])


def main() -> None:
    options = _options()
    try:
        import uvicorn

        from .app import Limits, Service, application
        from .programs import Generator, Renderer
        from .prover import Jobs, Prover
        from .store import Store
    except ImportError as error:
        print(f"tessera-serve: expected the package's part serve (pip install 'tessera[serve]'): {error}", file=sys.stderr)
        sys.exit(2)
    folder = options.programs
    tessera, verifier = (str(folder / name) if folder else name for name in ("tessera", "tessera-verify"))
    keys = []
    if options.keys:
        lines = options.keys.read_text().split("\n")
        keys = [hashlib.sha256(line.strip().encode()).digest() for line in lines if line.strip()]
        if not keys:
            raise SystemExit(f"tessera-serve: {options.keys}: expected a key, found none")
    digest, hiding = _key(tessera, options.commitment)
    store = Store(options.data)
    script = options.script if options.prove == "sbatch" else None
    build = str(folder) if folder else "build"
    jobs = Jobs(
        tessera, verifier, options.model, options.commitment, options.data, options.ranks, options.batch, script, build
    )
    service = Service(
        name=options.name or re.sub(r"\.h5$", "", Path(options.model).name),
        store=store,
        generator=Generator(tessera, options.model),
        renderer=Renderer(),
        prover=None if options.prove == "none" else Prover(store, jobs),
        key_digest=digest,
        hiding=hiding,
        key_file=str(Path(options.commitment) / "verifying.key"),
        limits=Limits(options.most_body, options.most_tokens, options.most_waiting),
        keys=keys,
    )
    uvicorn.run(application(service), host=options.host, port=options.port, log_level="warning")


if __name__ == "__main__":
    main()
