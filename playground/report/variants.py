"""The variants of a record by the names that tell them apart."""

from collections.abc import Sequence


def short_names(variants: Sequence[dict]) -> dict[str, str]:
    """Label -> the parameters that not all variants share, and the kernel's name if that differs."""
    shared = shared_parameters(variants)
    one_kernel = len({variant["name"] for variant in variants}) == 1
    names = {}
    for variant in variants:
        own = [f"{name}={value}" for name, value in variant["parameters"].items() if name not in shared]
        parts = own if one_kernel else [variant["name"], *own]
        names[variant["label"]] = ", ".join(parts) or variant["label"]
    return names


def shared_parameters(variants: Sequence[dict]) -> dict[str, int | str]:
    """The parameters that every variant has with the same value."""
    first, *others = (variant["parameters"].items() for variant in variants)
    return dict(pair for pair in first if all(pair in other for other in others))
