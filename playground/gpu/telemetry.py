"""What the GPU did meanwhile: clocks, temperature, power and throttle reasons, through NVML."""

import threading

import numpy as np

PERIOD = 0.02

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
        self.samples, self.reasons = [], set()
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
        """Minimum, median and maximum of each reading (MHz, °C, W), and the throttle reasons seen."""
        if self.handle is None:
            return {"missing": self.missing}
        readings = {}
        for name, values in zip(("sm_clock_mhz", "memory_clock_mhz", "temperature_c", "power_w"), zip(*self.samples)):
            readings[name] = [float(np.min(values)), float(np.median(values)), float(np.max(values))]
        return {"readings": len(self.samples), "throttle_reasons": sorted(self.reasons), **readings}

    def _watch(self):
        while True:
            self._sample()
            if self.stop.wait(PERIOD):
                return

    def _sample(self):
        nvml, handle = self.nvml, self.handle
        self.samples.append(
            (
                nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM),
                nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_MEM),
                nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU),
                nvml.nvmlDeviceGetPowerUsage(handle) / 1000,
            )
        )
        mask = nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle)
        for name, meaning in REASONS.items():
            if mask & getattr(nvml, f"nvmlClocksThrottleReason{name}"):
                self.reasons.add(meaning)
