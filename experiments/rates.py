"""How fast is this GPU at each thing? The rates that lower bounds of a kernel's time are computed from.

Checks in the emulator, and in the machine code, that each kernel does what it says; measures on the GPU if there is
one. Exit status 1 if any check fails.
"""

import sys
from collections.abc import Sequence

from rich.table import Table

from playground.command import Parser, refusing
from playground.compiler.arch import arch_named
from playground.compiler.build import Build, build
from playground.kernels.rates.empty import empty
from playground.measure.microbenchmarks import memory_benchmarks, sm_benchmarks, without_gpu
from playground.measure.microbenchmarks.benchmark import Benchmark
from playground.measure.microbenchmarks.published import published
from playground.recording import add_record_options, run_recorded
from playground.report import environment
from playground.report.narrator import Narrator
from playground.report.tables import table

EMULATED_ON = "H200"
CLOCK_UNDER = "issue_per_cycle_sm"
PLAIN = "shared_wavefronts_per_cycle_sm"
CONFLICTING = ("shared_2_way_wavefronts_per_cycle_sm", "shared_4_way_wavefronts_per_cycle_sm")
CONFLICTS_WITHIN = 0.1
"""How far the wavefronts of loads that conflict may be from those of loads that do not, per cycle."""


def make_record(device, out) -> dict:
    """Check every kernel, measure it on `device` if that is one; print what is found to `out`."""
    narrator, arch = Narrator(out), device.arch if device else arch_named(EMULATED_ON)
    benchmarks = [
        benchmark
        for benchmark in (*sm_benchmarks.benchmarks(), *memory_benchmarks.benchmarks())
        if arch.cc >= benchmark.kernel.minimum_cc
    ]
    with narrator.progress("checking", len(benchmarks)) as advance:
        builds, checks = {}, {}
        for benchmark in benchmarks:
            built = builds[benchmark.name] = build(benchmark.kernel, arch)
            checks[benchmark.name] = without_gpu.emulated(benchmark, built) | without_gpu.machine_code(benchmark, built)
            advance()
    rates = measured(device, benchmarks, builds, checks, narrator) if device else {}
    out.print(checks_table(checks))
    if device:
        out.print()
        out.print(rates_table(rates, published(device.name, arch)))
    else:
        narrator.not_timed()
    return {
        "probe": "rates",
        **environment.of_run(device, {"cuda": next(iter(builds.values())).toolkit}),
        "rates": rates,
        "checks": checks,
    }


def measured(
    device, benchmarks: Sequence[Benchmark], builds: dict[str, Build], checks: dict[str, dict], narrator: Narrator
) -> dict:
    """Rate by name, as in the record; what the GPU finds is added to `checks`."""
    from playground.measure.microbenchmarks import on_gpu
    from playground.measure.timing import Stopwatch

    rates = {}
    with Stopwatch(device) as stopwatch, narrator.progress("measuring", len(benchmarks) + 2) as advance:
        for benchmark in benchmarks:
            rate, clock, found = on_gpu.measure(benchmark, builds[benchmark.name], device, stopwatch)
            rates[benchmark.name] = rate | {"clock_hz": clock["median"]}
            checks[benchmark.name] |= found
            if benchmark.name == CLOCK_UNDER:
                rates["clock_hz"] = clock
            advance()
        copied = "dram_copy_bytes_per_second"
        rates[copied], checks[copied] = on_gpu.copied_bytes_per_second(stopwatch, device)
        advance()
        rates["launch_seconds"] = on_gpu.launch_seconds(stopwatch, device, build(empty(), device.arch))
        advance()
    for name in CONFLICTING:
        apart = abs(rates[name]["median"] / rates[PLAIN]["median"] - 1)
        checks[name]["time follows wavefronts"] = apart <= CONFLICTS_WITHIN
    return rates


def held(record: dict) -> bool:
    """Whether no check failed; one that could not be made is None."""
    return all(check is not False for found in record["checks"].values() for check in found.values())


def checks_table(checks: dict[str, dict[str, bool | None]]) -> Table:
    """A row per rate, a column per check."""
    columns = list(dict.fromkeys(check for found in checks.values() for check in found))
    rows = table("checks", *columns)
    words = {True: "yes", False: "NO", None: "no nvdisasm"}
    for name, found in checks.items():
        rows.add_row(name, *(words[found[check]] if check in found else "" for check in columns))
    return rows


def rates_table(rates: dict[str, dict], known: dict[str, tuple[float, str]]) -> Table:
    """A row per rate: the value that floors take, the median, how far the samples lie apart, and what is published."""
    rows = table("rate", "value", "median", "spread", "SM clock MHz", "published", "unit")
    rows.add_column("source of what is published", overflow="fold")
    for name, rate in rates.items():
        spread = (max(rate["samples"]) - min(rate["samples"])) / rate["median"]
        clock = f"{rate['clock_hz'] / 1e6:,.0f}" if "clock_hz" in rate else ""
        value, source = known.get(name, (None, ""))
        figures = (f"{rate['value']:.5g}", f"{rate['median']:.5g}", f"{spread:.1%}", clock)
        rows.add_row(name, *figures, f"{value:.5g}" if value else "", rate["unit"], source)
    return rows


@refusing
def main(arguments: Sequence[str] | None = None) -> int:
    parser = Parser(prog="python -m experiments.rates", description=__doc__)
    add_record_options(parser)
    return run_recorded("rates", parser.parse_args(arguments), make_record, held)


if __name__ == "__main__":
    sys.exit(main())
