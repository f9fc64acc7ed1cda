"""Does any kernel of the campaign change a byte of what the model writes?  (source: GB10, no landed step did)

Decodes 32 tokens greedily from several prompts under each configuration. Exit status 1 if any token differs from the
first configuration's; both margins, of the likeliest token over the next, then tell how close the choice was.
"""

import argparse
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from playground.command import GATE_FAILED, Parser, refusing, whole_from
from playground.compiler.arch import arch_named
from playground.compiler.build import build
from playground.emulator.arrays import EmulatedArrays
from playground.errors import Refusal
from playground.prefill import checkpoint, comparison, tokenizer, transformers_logits
from playground.prefill.comparison import Plan
from playground.prefill.configuration import Configuration, campaign
from playground.prefill.small import DIRECTORY
from playground.prefill.weights import tensor_shapes
from playground.recording import add_output_options, make_record
from playground.report import environment
from playground.report import greedy as report
from playground.report.narrator import Narrator
from playground.report.tables import check_line
from playground.shapes import Model

PROMPTS = (
    "def ",
    "import os\nimport sys\n\nclass ",
    "The following statement ",
    "    for name in sorted(names):\n        if not name.startswith('_'):\n            result.append(",
    'def read(path, encoding="utf-8"):\n    """Return the text of the file at *path*.\n\n    Raises OSError if the file'
    ' cannot be opened, and UnicodeDecodeError if it is not text.\n    """\n    with open(path, ',
)
"""As bytes, some fill less than the 64 rows of a tile, one more than one tile, one more than three."""
TOKENS = 32

EMULATED_ON, EMULATED_TOKENS = "H200", 4
EMULATED_PARAMETERS = 3e9
"""Parameters times forward passes, at most: about an hour. A pass of the small model takes 2 to 3 s."""


def run(options: argparse.Namespace, model: Model, weights: Mapping[str, np.ndarray], words, device, out) -> dict:
    """Decode and tell of it; the record."""
    configurations, texts, tokens = chosen(options, model, emulated=device is None)
    plan = Plan(configurations, [words.encode(text) for text in texts], tokens)
    runner = _runner(device, model, plan)
    expected = []
    if options.check_transformers:
        expected = list(transformers_logits.expected(options.model, model, plan.prompts))
    decoder_of = comparison.decoders(runner, model, weights, plan)
    names = ", ".join(configuration.name for configuration in configurations)
    where = device.name if device else "emulated"
    out.print(f"{options.model.name}, {where}. Prompts: {len(texts)}; tokens after each: {tokens}; under {names}\n")
    with Narrator(out).progress("decoding", len(configurations) * len(texts)) as advance:
        compared = comparison.against_the_first(comparison.decode(decoder_of, plan, advance))
    gates = comparison.parities(decoder_of, plan, expected) if expected else {}
    for entry in (entry for entries in compared.values() for entry in entries):
        entry["text"] = words.decode(entry["tokens"])
    record = {
        "probe": "greedy32",
        **environment.of_run(device, {"cuda": build(configurations[0].gemm, runner.arch).toolkit}),
        "model": {"name": options.model.name, **asdict(model)},
        "configurations": {one.name: {k: str(v) for k, v in one.kernels.items()} for one in configurations},
        "prompts": texts,
        "decoded": compared,
        "transformers": gates,
        "checks": comparison.checks(compared, getattr(runner, "hazards", None), gates),
    }
    tell(record, words, out)
    return record


def chosen(options: argparse.Namespace, model: Model, emulated: bool) -> tuple[Sequence[Configuration], list[str], int]:
    """(configurations, prompts, tokens): all that are not named; in the emulator, where a token takes seconds, few."""
    rungs = campaign(model.head_dim)
    configurations, prompts, tokens = (
        ([rungs[0], rungs[-1]], PROMPTS[:1], EMULATED_TOKENS) if emulated else (rungs, PROMPTS, TOKENS)
    )
    if options.configuration:
        configurations = _named(rungs, options.configuration)
    if len(configurations) < 2 and not options.check_transformers:
        raise Refusal(f"{configurations[0].name} alone has nothing to differ from: name another --configuration")
    return configurations, list(options.prompt or prompts), options.tokens or tokens


def tell(record: Mapping, words: tokenizer.Tokenizer, out) -> None:
    """What was written, where it differs, and what held."""
    for line in report.texts(record):
        out.print(line)
    out.print()
    out.print(report.as_table(record))
    out.print()
    for line in (*report.differences(record, words.decode), *report.parities(record)):
        out.print(line)
    for check, held in record["checks"].items():
        out.print(check_line(check, held), style=None if held else "bold red")


@refusing
def main(arguments: Sequence[str] | None = None) -> int:
    parser = Parser(prog="python -m experiments.greedy32", description=__doc__)
    add_output_options(parser)
    parser.add_argument("--model", type=Path, default=DIRECTORY, metavar="DIR", help="a Qwen2.5 directory")
    parser.add_argument("--prompt", type=_text, action="append", metavar="TEXT", help="instead of the five; repeatable")
    many = f"default: {TOKENS}, emulated {EMULATED_TOKENS}"
    parser.add_argument("--tokens", type=whole_from(1), metavar="N", help=many)
    parser.add_argument("--configuration", action="append", metavar="NAME", help="instead of all; repeatable")
    parser.add_argument("--check-transformers", action="store_true", help="compare the prompts' logits with theirs")
    options = parser.parse_args(arguments)
    model, weights = checkpoint.load(options.model)
    words = tokenizer.load(options.model, model.vocabulary)
    record, *_ = make_record("greedy32", options, lambda device, out: run(options, model, weights, words, device, out))
    return 0 if all(record["checks"].values()) else GATE_FAILED


def _runner(device, model: Model, plan: Plan):
    """Where the launches go. What would take hours in the emulator is refused."""
    if device:
        from playground.gpu.arrays import DeviceArrays

        return DeviceArrays(device)
    parameters = sum(math.prod(shape) for shape, _ in tensor_shapes(model).values())
    if parameters * plan.passes > EMULATED_PARAMETERS:
        raise Refusal(
            f"{plan.passes:,} passes of {parameters:,} parameters are too much without a GPU: the emulator is given at"
            f" most {EMULATED_PARAMETERS / parameters:,.1f} of them"
        )
    return EmulatedArrays(arch_named(EMULATED_ON))


def _named(rungs: Sequence[Configuration], names: Sequence[str]) -> list[Configuration]:
    """The configurations of these names, once each; a point may stand for the dot of P5·0."""
    known = {rung.name: rung for rung in rungs}
    dotted = dict.fromkeys(name.replace(".", "·") for name in names)
    for name in dotted:
        if name not in known:
            raise Refusal(f"unknown configuration {name!r}: there are {', '.join(known)}")
    return [known[name] for name in dotted]


def _text(argument: str) -> str:
    """A prompt from the command line."""
    try:
        if not argument.encode():
            raise argparse.ArgumentTypeError("the prompt is empty")
    except UnicodeEncodeError:  # Python hands on bytes that are not UTF-8 as lone surrogates
        raise argparse.ArgumentTypeError(f"{argument!r} is not UTF-8") from None
    return argument


if __name__ == "__main__":
    sys.exit(main())
