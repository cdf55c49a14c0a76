"""What the package raises. A rejected proof is no error: it is a Verdict."""


class UnusableInput(ValueError):
    """Not a key, not a proof, or arguments that do not fit.

    The message is one line that names file, field, what was expected and what was found.
    """


class JobFailed(RuntimeError):
    """Nothing is known of the file: this system does not let a process be confined to read it in."""
