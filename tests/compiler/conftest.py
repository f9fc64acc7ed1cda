"""What is inside a cubin, read from the ELF file itself."""

import struct

import pytest

REGISTER_COUNT = 0x2F  # attribute of .nv.info: symbol, registers per thread


class Elf:
    def __init__(self, cubin: bytes):
        self.cubin = cubin
        (start,) = struct.unpack_from("<Q", cubin, 0x28)
        size, count, names = struct.unpack_from("<HHH", cubin, 0x3A)
        headers = [struct.unpack_from("<IIQQQQIIQQ", cubin, start + size * index) for index in range(count)]
        strings = headers[names][4]
        self.sections = {self._string(strings + header[0]): header for header in headers}

    def section(self, name: str) -> bytes:
        _, _, _, _, offset, size, *_ = self.sections[name]
        return self.cubin[offset : offset + size]

    def registers(self) -> int:
        """Of the function that takes most."""
        info, place, counts = self.section(".nv.info"), 0, []
        while place < len(info):
            form, attribute, value = struct.unpack_from("<BBH", info, place)
            place += 4
            if form == 4:
                if attribute == REGISTER_COUNT:
                    counts.append(struct.unpack_from("<II", info, place)[1])
                place += value
        return max(counts)

    def _string(self, start: int) -> str:
        return self.cubin[start : self.cubin.index(b"\0", start)].decode()


@pytest.fixture(scope="session")
def elf():
    """`elf(cubin)`: its sections and its register count."""
    return Elf
