"""What a probe's record says was launched: variants, controls beside them, and of a pipeline its steps."""

from collections.abc import Mapping, Sequence


def launched(record: Mapping) -> list[dict]:
    """The variants that are compared, and the controls beside them (an old record has none)."""
    return [*record["variants"], *record.get("controls", ())]


def steps_of(variant: dict) -> Sequence[dict]:
    """The kernels that a variant launches, each with its label, name and ledgers: itself, or a pipeline's steps."""
    return variant.get("steps", [variant])
