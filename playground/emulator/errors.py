"""What stops a run: bad input, an instruction that is not known, a kernel that does not end."""

from playground.errors import Refusal


class BadLaunch(Refusal, ValueError):
    """The launch was asked for something impossible. The message is one line with the actual numbers."""


class UnknownInstruction(Refusal):
    """An instruction whose meaning is not written down here: its Python line, and its text or what was meant by it."""

    def __init__(self, instruction, reason: str = ""):
        super().__init__(f"{instruction.where}: {reason or f'the emulator does not know {instruction.text!r}'}")
        self.instruction = instruction


class BudgetExceeded(Refusal):
    """A warp ran more instructions than the budget allows; the message says where it was spinning."""
