"""Every line that ends in an ignored error is one: mypy --strict says so if it is not."""

import tessera

tessera.verify(1, "proof.h5")  # type: ignore[arg-type]
tessera.verify("key", "proof.h5", before="state")  # type: ignore[arg-type]
accepted: str = tessera.verify("key", "proof.h5").accepted  # type: ignore[assignment]
tessera.Proof("proof.h5").timings.minutes  # type: ignore[attr-defined]
