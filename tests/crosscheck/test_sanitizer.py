"""compute-sanitizer's summaries, and what becomes of them."""

import sys

import pytest

from experiments import pitfalls
from playground.__main__ import main
from playground.commands import crosscheck
from playground.commands.crosscheck import every_kernel
from playground.crosscheck import sanitizer
from playground.errors import Refusal
from playground.kernels import KERNELS, add_bias, swiglu
from playground.report import record

MEMCHECK = """\
========= COMPUTE-SANITIZER
========= Invalid __shared__ write of size 16 bytes
=========     at fa_prefill+0x1230 in output.py:43
=========     by thread (96,0,0) in block (1,0,0)
=========     Address 0x6600 is out of bounds
=========
========= ERROR SUMMARY: 1 error
"""
RACECHECK = """\
========= COMPUTE-SANITIZER
========= Error: Race reported between Read access at fa_prefill+0x1a0 in products.py:66
=========     and Write access at fa_prefill+0x2b0 in staging.py:95 [1024 hazards]
=========
========= RACECHECK SUMMARY: 12 hazards displayed (12 errors, 0 warnings)
"""
CLEAN = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n"
NO_GPU = "========= Error: Target application terminated before first instrumented API call\n"


@pytest.mark.parametrize(
    ("output", "errors"),
    [
        (MEMCHECK, 1),
        (RACECHECK, 12),
        (CLEAN, 0),
        (CLEAN + CLEAN + MEMCHECK, 1),
        ("========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n", 0),
        (NO_GPU, None),
        ("", None),
    ],
)
def test_the_summaries_are_summed(output, errors):
    assert sanitizer.errors_in(output) == errors


def fake_tool(folder, body: str) -> str:
    """A compute-sanitizer that only prints; `body`: Python, in which `arguments` is what it was given."""
    tool = folder / "compute-sanitizer"
    tool.write_text(f"#!{sys.executable}\nimport sys\narguments = sys.argv[1:]\n{body}\n")
    tool.chmod(0o755)
    return str(tool)


def test_only_a_tool_that_found_something_is_asked_whose_it_is(tmp_path):
    """racecheck finds two hazards, in swiglu."""
    tool = fake_tool(
        tmp_path,
        "found = 'racecheck' in arguments and ('--kernel' not in arguments or 'swiglu(per_lane=4)' in arguments)\n"
        f"open({str(tmp_path / 'calls')!r}, 'a').write(arguments[1] + '\\n')\n"
        "print(f'========= ERROR SUMMARY: {2 * found} errors')",
    )
    kernels = [add_bias(), swiglu()]
    errors = {name: sanitizer._errors_by_kernel(tool, name, kernels) for name in sanitizer.TOOLS}
    assert errors.pop("racecheck") == {"add_bias()": 0, "swiglu(per_lane=4)": 2}
    assert all(found == {"add_bias()": 0, "swiglu(per_lane=4)": 0} for found in errors.values())
    calls = (tmp_path / "calls").read_text().split()
    assert [calls.count(name) for name in sanitizer.TOOLS] == [1, 3, 1, 1]


def test_a_tool_that_sums_nothing_up_is_refused(tmp_path):
    with pytest.raises(Refusal, match=r"memcheck failed .* before first instrumented API call"):
        sanitizer._errors(fake_tool(tmp_path, f"print({NO_GPU!r})"), "memcheck")


def test_a_kernel_that_the_gpu_stopped_is_told_and_not_clean(tmp_path):
    said = "playground.gpu.driver.DriverError: cuMemFree: CUDA_ERROR_ILLEGAL_ADDRESS"
    tool = fake_tool(
        tmp_path, f"print('========= ERROR SUMMARY: 0 errors')\nprint({said!r}, file=sys.stderr)\nsys.exit(1)"
    )
    assert sanitizer._errors_by_kernel(tool, "racecheck", [swiglu()]) == {"swiglu(per_lane=4)": "fault"}
    assert not sanitizer.clean({"sanitized": [entry(racecheck="fault")]})
    with pytest.raises(Refusal, match="racecheck failed"):
        sanitizer._errors(fake_tool(tmp_path, "print('= ERROR SUMMARY: 0 errors')\nsys.exit(1)"), "racecheck")


def entry(hazards=0, **errors):
    return {"label": "swiglu(per_lane=4)", "hazards": hazards, "errors": dict.fromkeys(sanitizer.TOOLS, 0) | errors}


def test_a_record_is_clean_only_without_any_finding():
    assert sanitizer.clean({"sanitized": [entry()]})
    assert not sanitizer.clean({"sanitized": [entry(), entry(hazards=1)]})
    assert not sanitizer.clean({"sanitized": [entry(synccheck=1)]})
    assert sanitizer.sees({"wrong": [entry(hazards=1), entry(memcheck=1)]})
    assert not sanitizer.sees({"wrong": [entry(hazards=1)]})


def test_the_table_and_the_record(tmp_path):
    made = {"time": "", "commit": None, "dirty": None, "versions": {"compute-sanitizer": "2025.3.1.0"}}
    made |= {"gpu": {"name": "NVIDIA H200"}, "sanitized": [entry(racecheck=5)], "wrong": [entry(hazards=3, memcheck=2)]}
    sanitizer.write_table(made, tmp_path / "sanitizer.md")
    text = (tmp_path / "sanitizer.md").read_text()
    assert (
        "| `swiglu(per_lane=4)` | 0 | 0 | 5 | 0 | 0 |" in text
        and "| `swiglu(per_lane=4)` | 3 | 2 | 0 | 0 | 0 |" in text
    )
    record.append(tmp_path / "sanitizer.jsonl", made)
    assert record.read(tmp_path / "sanitizer.jsonl") == ([{"schema": record.SCHEMA, **made}], [])


def test_without_the_tool_it_refuses_in_one_line(monkeypatch, capsys):
    monkeypatch.setattr(sanitizer, "find_tool", lambda name: None)
    monkeypatch.setattr(crosscheck, "choose_device", lambda on: None)
    assert main(["sanitize"]) == 2
    assert "compute-sanitizer was not found" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["--launch-only", "--kernel", "swiglu"], "no kernel is called 'swiglu', such as "),
        (["--kernel", str(swiglu())], "--kernel goes with --launch-only"),
    ],
)
def test_a_kernel_that_would_not_be_the_one_launched_is_refused(typed, said, capsys):
    """Where nothing is launched, no tool finds an error."""
    assert main(["sanitize", *typed]) == 2
    assert said in capsys.readouterr().err


def test_the_wrong_kernels_are_those_that_the_emulator_sees_a_hazard_in():
    mistakes = [kernel.parameters["mistake"] for kernel in pitfalls.hazardous_kernels()]
    assert mistakes == ["bare_barrier", "staging_stride", "forgotten_write_back", "missing_barrier"]


def test_every_kernel_is_there():
    labels = [str(kernel) for kernel in every_kernel()]
    assert len(set(labels)) == len(labels)
    assert {str(factory()) for factory in KERNELS.values()} <= set(labels)
