"""The one exception that means "this cannot run, and here is why"."""


class Refusal(Exception):
    """Bad input or a limit exceeded. The message is one line with the actual numbers; the command line exits with 2."""
