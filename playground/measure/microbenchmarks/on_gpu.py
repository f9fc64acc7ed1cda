"""The samples of a microbenchmark on a device, every run's result checked."""

from playground.compiler.build import Build
from playground.gpu.device import Device
from playground.gpu.program import Program
from playground.gpu.workspace import Workspace
from playground.measure import parity
from playground.measure.microbenchmarks.benchmark import Benchmark, summary
from playground.measure.microbenchmarks.clocks import hertz, one_block_per_sm, per_cycle_and_sm
from playground.measure.plain_copy import PlainCopy
from playground.measure.timing import Stopwatch

WARM_UP, SAMPLES = 2, 20
LAUNCHES = 100
COPY_TRAFFIC = 2 * 10**9


def measure(benchmark: Benchmark, built: Build, device: Device, stopwatch: Stopwatch) -> tuple[dict, dict, dict]:
    """(the rate and the SM's clock meanwhile, both as they go into a record; check by name -> whether it held)."""
    inputs = benchmark.full(device.sms, device.l2)
    work, expected, right = benchmark.work(inputs), benchmark.expected(inputs), True
    stamps = []
    with Workspace(device, built.kernel.contract, inputs) as workspace:
        for _ in range(WARM_UP + SAMPLES):
            if benchmark.cold:
                stopwatch.sweep()
            outcome = workspace.run(built)
            right &= parity.check(outcome, expected).passed
            stamps.append(outcome.outputs["stamps"])
    run = {"kernel": str(built.kernel), "arrays": {name: list(array.shape) for name, array in inputs.items()}}
    run |= {name: array.tolist() for name, array in inputs.items() if array.size <= 2}
    timed = stamps[WARM_UP:]
    checks = {"result": right}
    if benchmark.rate is per_cycle_and_sm:
        checks["one block per SM"] = all(one_block_per_sm(taken) for taken in timed)
    rate = summary((benchmark.rate(taken, work) for taken in timed), benchmark.unit, benchmark.best, **run)
    return rate, summary(map(hertz, timed), "Hz", max, **run), checks


def launch_seconds(stopwatch: Stopwatch, device: Device, built: Build) -> dict:
    """An empty kernel between two events, as every kernel is timed."""
    launch = Program(built, device).launcher([], {})
    samples = stopwatch.measure({"empty": launch}, LAUNCHES)["empty"] / 1e6
    return summary(samples, "s", min, kernel=str(built.kernel))


def copied_bytes_per_second(stopwatch: Stopwatch, device: Device) -> tuple[dict, dict]:
    """A device-to-device copy, bytes read and written; and its check."""
    with PlainCopy(device, COPY_TRAFFIC) as copy:
        held = copy.check().passed
        microseconds = stopwatch.measure({"copy": copy.launch}, SAMPLES)["copy"]
    traffic = 2 * copy.values.nbytes
    return summary(traffic * 1e6 / microseconds, "B/s", max, call="cuMemcpyDtoDAsync", traffic=traffic), {
        "result": held
    }
