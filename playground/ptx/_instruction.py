"""How an intrinsic is declared: one PTX statement over the names and types of a Python signature.

    @instruction("cp.async.cg.shared.global [{destination}], [{source}], 16, {source_bytes};")
    def copy_16(destination: uint32, source: int64, source_bytes: int32): ...

The annotations fix the operand types, so Numba casts what the kernel passes (its index arithmetic is 64-bit) to them.
"""

import functools
import inspect
from dataclasses import dataclass

from llvmlite import ir
from numba.cuda import types
from numba.cuda.core.errors import TypingError
from numba.cuda.extending import intrinsic

LLVM_TYPE = {
    types.uint16: ir.IntType(16),
    types.int32: ir.IntType(32),
    types.uint32: ir.IntType(32),
    types.int64: ir.IntType(64),
    types.float32: ir.FloatType(),
}
CONSTRAINT = {types.uint16: "h", types.int32: "r", types.uint32: "r", types.int64: "l", types.float32: "f"}


@dataclass(frozen=True)
class Fragment:
    """An operand that is a vector of registers: in Python a one-dimensional local array of `count` elements."""

    dtype: types.Type
    count: int
    read: bool = False
    written: bool = False


class Immediate:
    """An operand that PTX wants as a literal: in Python an integer that is constant at compile time."""


def instruction(text, *, touches_memory=True):
    """Decorator: a Numba intrinsic that emits `text`, where `{name}` stands for the parameter of that name.

    `{result}` stands for the value returned, if the return annotation is a type. An instruction that touches memory
    (or that the warp must execute together) is neither moved nor removed by the compiler.
    """

    def declare(stub):
        parameters = list(inspect.signature(stub).parameters.values())

        def definition(typing_context, *actual):
            operands = [_operand_type(stub, parameter, given) for parameter, given in zip(parameters, actual)]
            result = types.void if stub.__annotations__.get("return") is None else stub.__annotations__["return"]

            def emit(context, builder, signature, values):
                statement = _Statement(context, builder, touches_memory)
                if result is not types.void:
                    statement.write("result", result)
                for parameter, value, operand in zip(parameters, values, operands):
                    statement.add(parameter.name, parameter.annotation, value, operand)
                returned = statement.emit(text)
                return context.get_dummy_value() if result is types.void else returned

            return result(*operands), emit

        functools.update_wrapper(definition, stub)
        context = inspect.Parameter("typing_context", inspect.Parameter.POSITIONAL_ONLY)
        definition.__signature__ = inspect.Signature([context, *parameters])
        return intrinsic(definition)

    return declare


def _operand_type(stub, parameter, given):
    wanted = parameter.annotation
    if wanted is Immediate:
        if not isinstance(given, types.IntegerLiteral):
            raise TypingError(f"{stub.__name__}: {parameter.name} must be a compile-time constant, got {given}")
        return given
    if isinstance(wanted, Fragment):
        if not (isinstance(given, types.Array) and given.ndim == 1 and given.dtype == wanted.dtype):
            raise TypingError(
                f"{stub.__name__}: {parameter.name} must be a local array of {wanted.count} {wanted.dtype}, got {given}"
            )
        return given
    return wanted


class _Statement:
    """One inline-assembly call under construction; LLVM numbers the results first, then the inputs."""

    def __init__(self, context, builder, touches_memory):
        self.context, self.builder, self.touches_memory = context, builder, touches_memory
        self.results, self.stores = [], []
        self.inputs, self.constraints = [], []
        self.slots = {}

    def add(self, name, annotation, value, operand):
        if annotation is Immediate:
            self.slots[name] = operand.literal_value
        elif isinstance(annotation, Fragment):
            self.fragment(name, annotation, value, operand)
        else:
            self.slots[name] = [("in", self.read(value, CONSTRAINT[annotation]))]

    def read(self, value, constraint):
        self.inputs.append(value)
        self.constraints.append(constraint)
        return len(self.inputs) - 1

    def write(self, name, dtype):
        self.results.append(dtype)
        self.slots[name] = [("out", len(self.results) - 1)]

    def fragment(self, name, annotation, value, operand):
        data = self.context.make_array(operand)(self.context, self.builder, value).data
        pointers = [self.builder.gep(data, [ir.Constant(ir.IntType(32), i)]) for i in range(annotation.count)]
        self.slots[name] = []
        for pointer in pointers:
            if annotation.written:
                self.results.append(annotation.dtype)
                slot = len(self.results) - 1
                self.stores.append((slot, pointer))
                self.slots[name].append(("out", slot))
                if annotation.read:  # tied to its result: the register is updated in place
                    self.read(self.builder.load(pointer), str(slot))
            else:
                self.slots[name].append(("in", self.read(self.builder.load(pointer), CONSTRAINT[annotation.dtype])))

    def emit(self, text):
        outputs = [LLVM_TYPE[dtype] for dtype in self.results]
        returned = {0: ir.VoidType(), 1: outputs[0] if outputs else None}.get(
            len(outputs), ir.LiteralStructType(outputs)
        )
        constraints = ["=" + CONSTRAINT[dtype] for dtype in self.results] + self.constraints
        if self.touches_memory:
            constraints.append("~{memory}")
        assembly = ir.InlineAsm(
            ir.FunctionType(returned, [value.type for value in self.inputs]),
            text.format(**{name: self._spell(slot) for name, slot in self.slots.items()}),
            ",".join(constraints),
            side_effect=self.touches_memory,
        )
        # Without `convergent` LLVM may copy the statement into both sides of a branch, where half a warp executes it.
        call = self.builder.call(assembly, self.inputs, attrs=("convergent",))
        for slot, pointer in self.stores:
            self.builder.store(call if len(outputs) == 1 else self.builder.extract_value(call, slot), pointer)
        return call

    def _spell(self, slot):
        if not isinstance(slot, list):
            return str(slot)
        names = [f"${i if kind == 'out' else i + len(self.results)}" for kind, i in slot]
        return names[0] if len(names) == 1 else "{" + ", ".join(names) + "}"
