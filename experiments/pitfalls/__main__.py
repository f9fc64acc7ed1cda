"""The mistakes that the source paid for, made on purpose, each caught by its gate. Without a name: all of them."""

import json
import os
import signal
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

from experiments import pitfalls
from experiments.pitfalls import _report
from playground import Refusal
from playground.command import GATE_FAILED, Parser, refusing
from playground.recording import add_output_options, choose_device, make_record
from playground.report import environment
from playground.report.narrator import Narrator


@refusing
def main(arguments: Sequence[str] | None = None) -> int:
    parser = Parser(prog="python -m experiments.pitfalls", description=__doc__)
    parser.add_argument("name", nargs="?", help=", ".join(pitfalls.NAMES))
    add_output_options(parser)
    parser.add_argument("--launch-only", action="store_true", help="launch on the GPU and print what came of it")
    options = parser.parse_args(arguments)
    if options.launch_only:
        return launch_only(options.name)
    names = pitfalls.NAMES if options.name is None else (options.name,)
    for name in names:
        pitfalls.load(name)
    made, path, out = make_record("pitfalls", options, lambda device, out: run(names, options.name, device, out))
    if options.name is None:
        _report.write_markdown(made, path.with_suffix(".md"))
        out.print(f"table    {path.with_suffix('.md')}")
    return 0 if all_caught(made) else GATE_FAILED


def launch_only(name: str | None) -> int:
    """What a pitfall's process of its own does on the GPU."""
    if name is None or (launch := pitfalls.load(name).launch) is None:
        raise Refusal(f"{name}: --launch-only takes a pitfall that is a kernel")
    print(json.dumps(launch(choose_device("gpu"))))
    return 0


def run(names: Sequence[str], alone: str | None, device, out) -> dict:
    """Make the mistakes, several at a time, and on `device` one after the other if it is one; the record.

    alone: the only one, which is told at length; otherwise all are, in one table.
    """
    narrator = Narrator(out)
    with narrator.progress("making mistakes", len(names)) as advance:
        made = _advancing(_examined(names), advance)
    if device:
        with narrator.progress(f"on the {device.name}", len(names)) as advance:
            for found in made:
                found["gpu"] = _on_gpu(found["name"], device)
                advance()
    if alone:
        _report.tell(out, made[0])
    else:
        out.print(_report.as_table(made))
    return {**environment.of_run(device), "pitfalls": made}


def all_caught(made: dict) -> bool:
    """Whether every mistake was caught, and no correct kernel went wrong on the GPU."""
    wrong = [found["gpu"]["right"]["wrong"] for found in made["pitfalls"] if found["gpu"] and "right" in found["gpu"]]
    return all(found["caught"] for found in made["pitfalls"]) and not any(wrong)


def _examined(names: Sequence[str]):
    if len(names) == 1:
        yield pitfalls.examine(names[0])
        return
    workers, context = min(len(names), os.cpu_count() or 1), get_context("spawn")  # a fork would share a CUDA context
    with ProcessPoolExecutor(workers, context, signal.signal, (signal.SIGINT, signal.SIG_DFL)) as pool:
        handler = signal.signal(signal.SIGINT, signal.SIG_IGN)  # what workers inherit: no traceback while they start
        examined = pool.map(pitfalls.examine, names)
        signal.signal(signal.SIGINT, handler)
        try:
            yield from examined
        except BrokenProcessPool as error:
            raise Refusal(f"one of {workers} processes was killed: {error}") from error


def _advancing(items, advance) -> list:
    made = []
    for item in items:
        made.append(item)
        advance()
    return made


def _on_gpu(name: str, device) -> dict | None:
    on_gpu = pitfalls.load(name).on_gpu
    try:
        return on_gpu and on_gpu(name, device)
    except Refusal as refusal:
        return {"refused": str(refusal), "says": f"refused: {refusal}"}


if __name__ == "__main__":
    sys.exit(main())
