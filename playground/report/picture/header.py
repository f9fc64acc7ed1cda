"""The head of the page: the question, and under what it was answered."""

from collections.abc import Sequence

from playground.measure.launched import launched
from playground.report.picture.page import LEFT, MUTED, RIGHT, TITLE, Page
from playground.report.variants import shared_parameters


def header(page: Page, record: dict, top: float) -> float:
    y = page.lines(LEFT, top, page.wrap(record["question"], RIGHT - LEFT, TITLE, "bold"), TITLE, weight="bold")
    for facts in (circumstances(record), _gpu_state(record), _common(record)):
        y = page.lines(LEFT, y, page.wrap(" · ".join(facts), RIGHT - LEFT), color=MUTED)
    return y


def circumstances(record: dict) -> list[str]:
    """The GPU or that there is none, the commit, the time."""
    gpu, commit = record["gpu"], record["commit"]
    where = "no GPU"
    if gpu:
        cuda = f"{gpu['cuda_driver'] // 1000}.{gpu['cuda_driver'] % 1000 // 10}"
        where = f"{gpu['name']} ({gpu['arch']}, {gpu['sms']} SMs) · driver for CUDA {cuda}"
    source = f"commit {commit[:8]}{' + changes (dirty)' if record['dirty'] else ''}" if commit else "commit unknown"
    return [where, source, record["time"][:16].replace("T", " ") + " UTC"]


def _gpu_state(record: dict) -> list[str]:
    """Median clock and power over the shapes, and every throttle reason seen."""
    summaries = [shape["telemetry"] for shape in record["shapes"] if "telemetry" in shape]
    missing = [summary["missing"] for summary in summaries if "missing" in summary]
    read = [summary for summary in summaries if "sm_clock_mhz" in summary]
    if not read:
        return [f"clock and power not read: {missing[0]}"] if missing else []
    reasons = sorted({reason for summary in read for reason in summary["throttle_reasons"]})
    return [
        f"SM clock {_medians(read, 'sm_clock_mhz')} MHz",
        f"power {_medians(read, 'power_w')} W (medians while timing, per shape)",
        f"throttled by {', '.join(reasons)}" if reasons else "not throttled",
    ]


def _medians(summaries: Sequence[dict], reading: str) -> str:
    medians = [f"{summary[reading][1]:,.0f}" for summary in sorted(summaries, key=lambda summary: summary[reading][1])]
    return medians[0] if medians[0] == medians[-1] else f"{medians[0]} to {medians[-1]}"


def _common(record: dict) -> list[str]:
    shared = ", ".join(f"{name}={value}" for name, value in shared_parameters(launched(record)).items())
    kernels = ", ".join(dict.fromkeys(variant["name"] for variant in record["variants"]))
    return [f"probe {record['probe']}", f"kernel {kernels}" + (f", all variants with {shared}" if shared else "")]
