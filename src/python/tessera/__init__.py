"""Verifies proofs that a committed language model generated a text.

>>> verdict = tessera.verify("verifying.key", "proof.h5")
>>> verdict.accepted, verdict.generated
"""

from importlib.metadata import version as _version

from ._tessera import format_version
from .errors import JobFailed, UnusableInput
from .key import Key
from .proof import Machine, Proof, Rounds, Sampling, State, Statement, Timings
from .renewal import Renewal, RenewalVerdict, verify_renewal
from .verdict import Soundness, Verdict, verify

__version__ = _version("tessera")

__all__ = [
    "JobFailed",
    "Key",
    "Machine",
    "Proof",
    "Renewal",
    "RenewalVerdict",
    "Rounds",
    "Sampling",
    "Soundness",
    "State",
    "Statement",
    "Timings",
    "UnusableInput",
    "Verdict",
    "format_version",
    "verify",
    "verify_renewal",
]
