"""Floors and what they predict, as tables: before timing on every GPU, after it beside the times."""

from collections.abc import Mapping

import numpy as np
from rich.table import Table

from playground.floors.predict import layer_floor, layer_limiter
from playground.floors.rates import table_name
from playground.report.tables import table
from playground.report.variants import short_names
from playground.shapes import extent


def gpu_with_floors(record: Mapping) -> str | None:
    """The table's name of the GPU that the record is of; None without one, or if the record has no floors for it."""
    gpu = record["gpu"] and table_name(record["gpu"]["name"])
    return gpu if gpu in record.get("floor_rates", {}) else None


def floors_table(record: Mapping) -> Table:
    """GPU × variant: the floor of all shapes, each as often as the layer has it, what sets it, what it predicts."""
    names = short_names(record["variants"])
    rows = table("GPU", "rates", *names.values(), title="floors: no launch is faster than its busiest resource")
    for gpu, source in record["floor_rates"].items():
        rows.add_row(gpu, source, *(_cell(record, gpu, label) for label in names))
    return rows


def _cell(record: Mapping, gpu: str, label: str) -> str:
    floor = layer_floor(record["floors"], gpu, label)
    if floor is None:
        return _why(record["floors"], gpu, label)
    cell = f"{floor:,.1f} µs by {layer_limiter(record['floors'], gpu, label)}"
    foretold = record["predicted"].get(label, {}).get(gpu)
    return f"{cell}; predicted {foretold['ratio']:.2f}, {foretold['verdict']}" if foretold else cell


def _why(floors, gpu: str, label: str) -> str:
    refused = next(entry["gpus"][gpu][label]["refused"] for entry in floors if "refused" in entry["gpus"][gpu][label])
    return f"none: it {refused.removeprefix(label).lstrip(': ')}" if refused.startswith(label) else f"none: {refused}"


def reached_table(record: Mapping) -> Table | None:
    """Shape × variant on the GPU at hand: the floor as a part of the median time; None if that GPU has no floors."""
    gpu = gpu_with_floors(record)
    if gpu is None:
        return None
    names = short_names(record["variants"])
    rows = table("floor of the median time", *names.values())
    for entry, shape in zip(record["floors"], record["shapes"]):
        cells = (_reached(entry["gpus"][gpu][label], shape.get("samples_us", {}).get(label)) for label in names)
        rows.add_row(extent(shape["dims"]), *cells)
    return rows


def _reached(floor: Mapping, samples) -> str:
    if "refused" in floor:
        return "no floor"
    if samples is None:
        return "not timed"
    median = np.median(samples)
    return f"{floor['us']:,.1f} of {median:,.1f} µs, {floor['us'] / median:.0%}, {floor['limiter']}"
