"""Many launches as one: a CUDA graph, so that the CPU's part in them stays out of their time."""

from collections.abc import Callable

from cuda.bindings import driver

from playground.gpu.device import Device
from playground.gpu.driver import call

MODE = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL


class Graph:
    """What `enqueue` puts on the device's stream, captured and not run. `with` frees it at the end.

    All that it launches was loaded before: a module cannot be loaded during a capture.
    """

    def __init__(self, device: Device, enqueue: Callable[[], None]):
        self.device = device
        call(driver.cuStreamBeginCapture, device.stream, MODE)
        try:
            enqueue()
        finally:
            captured = call(driver.cuStreamEndCapture, device.stream)
        try:
            self.executable = call(driver.cuGraphInstantiate, captured, 0)
        finally:
            call(driver.cuGraphDestroy, captured)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.device.synchronize()
        call(driver.cuGraphExecDestroy, self.executable)

    def launch(self) -> None:
        """Enqueue all of it."""
        call(driver.cuGraphLaunch, self.executable, self.device.stream)
