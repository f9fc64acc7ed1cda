"""What the GPU did meanwhile: clocks, temperature, power and throttle reasons, through NVML."""

import contextlib
import threading

import numpy as np

PERIOD = 0.02

READINGS = {
    "sm_clock_mhz": lambda nvml, handle: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM),
    "memory_clock_mhz": lambda nvml, handle: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_MEM),
    "temperature_c": lambda nvml, handle: nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU),
    "power_w": lambda nvml, handle: nvml.nvmlDeviceGetPowerUsage(handle) / 1000,
}

REASONS = {
    "SwPowerCap": "power cap",
    "HwSlowdown": "hardware slowdown",
    "SwThermalSlowdown": "thermal (software)",
    "HwThermalSlowdown": "thermal (hardware)",
    "HwPowerBrakeSlowdown": "power brake",
    "SyncBoost": "sync boost",
    "ApplicationsClocksSetting": "application clocks",
}


class Telemetry:
    """Context manager: samples NVML every 20 ms in the background. `summary` afterwards; empty without NVML."""

    def __init__(self, pci_bus_id: str):
        self.samples: dict[str, list[float]] = {name: [] for name in READINGS}
        self.reasons, self.taken = set(), 0
        self.handle = None
        try:
            import pynvml

            pynvml.nvmlInit()
            self.nvml, self.handle = pynvml, pynvml.nvmlDeviceGetHandleByPciBusId(pci_bus_id)
        except Exception as error:  # NVML missing, or a virtual machine that hides it: the timing stands without
            self.missing = str(error)

    def __enter__(self):
        if self.handle is not None:
            self.stop = threading.Event()
            self.thread = threading.Thread(target=self._watch, daemon=True)
            self.thread.start()
        return self

    def __exit__(self, *_):
        if self.handle is not None:
            self.stop.set()
            self.thread.join()

    @property
    def summary(self) -> dict:
        """Minimum, median and maximum of each reading (MHz, °C, W), and the throttle reasons seen.

        A reading that this GPU does not offer is left out.
        """
        if self.handle is None:
            return {"missing": self.missing}
        found = {
            name: [float(np.min(values)), float(np.median(values)), float(np.max(values))]
            for name, values in self.samples.items()
            if values
        }
        return {"readings": self.taken, "throttle_reasons": sorted(self.reasons), **found}

    def _watch(self):
        while True:
            self._sample()
            if self.stop.wait(PERIOD):
                return

    def _sample(self):
        self.taken += 1
        for name, read in READINGS.items():
            with contextlib.suppress(self.nvml.NVMLError):
                self.samples[name].append(read(self.nvml, self.handle))
        with contextlib.suppress(self.nvml.NVMLError):
            mask = self.nvml.nvmlDeviceGetCurrentClocksThrottleReasons(self.handle)
            for name, meaning in REASONS.items():
                if mask & getattr(self.nvml, f"nvmlClocksThrottleReason{name}"):
                    self.reasons.add(meaning)
