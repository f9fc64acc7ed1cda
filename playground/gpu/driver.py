"""The CUDA driver API with every status checked."""

from cuda.bindings import driver


class DriverError(RuntimeError):
    """A driver call failed: the call, the error's name and its description."""


def call(function, *arguments):
    """Call a driver function; its result without the status, or DriverError."""
    status, *results = function(*arguments)
    if status != driver.CUresult.CUDA_SUCCESS:
        name = driver.cuGetErrorName(status)[1] or b"?"
        description = driver.cuGetErrorString(status)[1] or b"?"
        raise DriverError(f"{function.__name__}: {name.decode()}: {description.decode()}")
    return results[0] if len(results) == 1 else tuple(results)
