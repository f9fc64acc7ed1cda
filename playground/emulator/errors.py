"""What stops a run: bad input, an instruction that is not known, a kernel that does not end."""

from playground.errors import Refusal


class BadLaunch(Refusal, ValueError):
    """The launch was asked for something impossible. The message is one line with the actual numbers."""


class UnknownInstruction(Refusal):
    """An instruction whose meaning is not written down here: its text and its Python line."""

    def __init__(self, instruction):
        super().__init__(f"{instruction.where}: the emulator does not know {instruction.text!r}")
        self.instruction = instruction


class BudgetExceeded(Refusal):
    """A warp ran more instructions than the budget allows; the message says where it was spinning."""
