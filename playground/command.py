"""What every command line here has in common: one line for each refusal, and an exit status."""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

from playground.errors import Refusal

GATE_FAILED = 1
CANNOT_RUN = 2
INTERRUPTED = 130


class Parser(argparse.ArgumentParser):
    """argparse whose errors are Refusals, so that they are one line like all others."""

    def __init__(self, **options):
        super().__init__(allow_abbrev=False, **options)

    def error(self, message):
        raise Refusal(message)


def refusing(main):
    """Decorator: what stops a command is one line on standard error, and an exit status other than 0."""

    def guarded(*arguments):
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.reconfigure(errors="replace")  # the locale may lack × and §
        try:
            status = main(*arguments)
            if sys.stdout is not None:
                sys.stdout.flush()
            return status
        except Refusal as refusal:
            return _stopped(str(refusal), CANNOT_RUN)
        except MemoryError as error:
            return _stopped(f"not enough memory: {error}", CANNOT_RUN)
        except BrokenPipeError:
            _discard_output()
            return 0
        except OSError as error:
            _discard_output()
            return _stopped(f"cannot write the output: {error.strerror}", CANNOT_RUN)
        except KeyboardInterrupt:
            return _stopped("interrupted: this run leaves no record", INTERRUPTED)

    return guarded


def _stopped(why: str, status: int) -> int:
    program = Path(sys.argv[0])
    name = program.parent.name if program.stem == "__main__" else program.stem
    print(f"{name}: {why}", file=sys.stderr)
    return status


def _discard_output() -> None:
    """Nobody reads standard output any more: what Python still holds of it must not fail at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def whole_from(least: int) -> Callable[[str], int]:
    """What argparse reads a whole number from the command line by."""

    def whole(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} on")
        return int(text)

    return whole


seed = whole_from(0)
