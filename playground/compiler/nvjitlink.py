"""nvJitLink: PTX to machine code for one architecture, in this process and without a GPU."""

from cuda.bindings import nvjitlink

from playground.errors import Refusal


def link(ptx: str, arch: str) -> tuple[bytes, str]:
    """(cubin, log): the log holds the register, stack and spill counts that ptxas reports. arch: `sm_90`."""
    # Where there is a driver, PTX seen before comes from its cache, with a log that lacks what ptxas reported.
    options = [f"-arch={arch}", "-O3", "-verbose", "-lineinfo", "-no-cache"]
    handle = nvjitlink.create(len(options), options)
    try:
        source = ptx.encode()
        try:
            nvjitlink.add_data(handle, nvjitlink.InputType.PTX, source, len(source), "kernel.ptx")
            nvjitlink.complete(handle)
        except nvjitlink.nvJitLinkError as error:
            log = _text(handle, nvjitlink.get_error_log_size, nvjitlink.get_error_log)
            raise Refusal(f"{arch}: nvJitLink refused the PTX: {' '.join(log.split()) or error}") from error
        cubin = bytearray(nvjitlink.get_linked_cubin_size(handle))
        nvjitlink.get_linked_cubin(handle, cubin)
        return bytes(cubin), _text(handle, nvjitlink.get_info_log_size, nvjitlink.get_info_log)
    finally:
        nvjitlink.destroy(handle)


def _text(handle, size, read) -> str:
    buffer = bytearray(size(handle))
    if buffer:
        read(handle, buffer)
    return buffer.decode(errors="replace").strip("\0\n ")
