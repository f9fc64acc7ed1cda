"""The rates of every GPU of the table: measured where results/ has a record of them, else published."""

from pathlib import Path

from playground.compiler.arch import GPUS
from playground.floors.rates import Rates, measured, published, table_name
from playground.report import record

RESULTS = Path(__file__).parents[2] / "results"


def known_rates(results: Path = RESULTS) -> dict[str, Rates]:
    """GPU -> its rates, from the latest record of results/<gpu>/rates.jsonl if there is one."""
    known = {gpu: published(gpu) for gpu in GPUS}
    for path in sorted(results.glob("*/rates.jsonl")):
        latest = record.latest(path)
        if latest and latest["gpu"] and (gpu := table_name(latest["gpu"]["name"])):
            known[gpu] = measured(gpu, latest)
    return known
