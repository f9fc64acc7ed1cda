"""A mistake as one edit to a kernel's own source: the wrong line in the right one's place, and everything else real."""

import contextlib
import importlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from unittest import mock

from playground import Refusal
from playground.emulator.workspace import ROOT

COMPOSED_IN = ("playground.kernels", "experiments.pitfalls")


@dataclass(frozen=True)
class Edit:
    """`wrong` in the place of `right` in the source of `module`, which has it `occurrences` times.

    Both are of equally many lines, so that whatever is found in the edited kernel is at the line of the real one. What
    is edited must be called while a kernel is composed: a factory, or a class.
    """

    module: str
    right: str
    wrong: str
    occurrences: int = 1

    @property
    def path(self) -> Path:
        return Path(importlib.import_module(self.module).__file__)

    @property
    def where(self) -> str:
        """File and line of the first difference."""
        source, edited = self.path.read_text(encoding="utf-8"), self.source()
        lines = zip(source.splitlines(), edited.splitlines())
        number = next(number for number, (right, wrong) in enumerate(lines, 1) if right != wrong)
        return f"{self.path.relative_to(ROOT)}:{number}"

    def source(self) -> str:
        """The module's source with the mistake in it."""
        source = self.path.read_text(encoding="utf-8")
        found = source.count(self.right)
        if found != self.occurrences or self.right.count("\n") != self.wrong.count("\n"):
            raise Refusal(f"{self.path} has {self.right!r} {found} times, expected {self.occurrences}: mend the edit")
        return source.replace(self.right, self.wrong)

    def diff(self) -> list[str]:
        """The lines that differ, - the right one and + the wrong one."""
        pairs = zip(self.right.splitlines(), self.wrong.splitlines())
        return [f"{sign} {line.strip()}" for pair in pairs if pair[0] != pair[1] for sign, line in zip("-+", pair)]

    @contextlib.contextmanager
    def in_force(self) -> Iterator[None]:
        """While this lasts, kernels are composed of the edited module's pieces wherever they take the real one's."""
        real = vars(importlib.import_module(self.module))
        edited = vars(self._execute())
        pieces = {id(real[name]): piece for name, piece in edited.items() if name in real and not name.startswith("__")}
        with contextlib.ExitStack() as stack:
            for module in [module for name, module in sys.modules.items() if name.startswith(COMPOSED_IN)]:
                for name, value in list(vars(module).items()):
                    if pieces.get(id(value), value) is not value:
                        stack.enter_context(mock.patch.object(module, name, pieces[id(value)]))
            yield

    def _execute(self) -> ModuleType:
        module = ModuleType(self.module)
        module.__file__ = str(self.path)
        with mock.patch.dict(sys.modules, {self.module: module}):  # dataclasses look their module up
            exec(compile(self.source(), self.path, "exec"), vars(module))
        return module
