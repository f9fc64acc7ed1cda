"""Records that nothing can tear: appended whole, read past a torn line, refused when newer than this version."""

import fcntl
import json
import multiprocessing
import os
import resource
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from playground.errors import Refusal
from playground.measure import parity
from playground.measure.references import Expected
from playground.report import record
from playground.runner import Outcome

FORK = multiprocessing.get_context("fork")
RUN = {"commit": None, "dirty": None, "versions": {}, "gpu": None}
LONG = "µ" * 20_000  # beyond what a pipe or a page writes at once


def entry_of(**more):
    """A record of the smallest kind, with more in it."""
    return {**RUN, "kernels": [], **more}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "results" / "gpu" / "probe.jsonl"
    record.prepare(path)
    return path


def run_in_child(function, *arguments):
    child = FORK.Process(target=function, args=arguments, daemon=True)
    child.start()
    return child


def test_records_are_read_as_they_were_appended(path):
    written = [entry_of(n=1, samples=[1.5, 2.25]), entry_of(n=2, text="TM=128 · ratio ≥ 1 µs")]
    for entry in written:
        record.append(path, entry)
    read, warnings = record.read(path)
    assert read == [{"schema": record.SCHEMA, **entry} for entry in written]
    assert warnings == []


def test_a_record_is_one_line_even_if_its_text_has_several(path):
    record.append(path, entry_of(text="two\nlines\r\nand more\u2028"))
    assert path.read_bytes().count(b"\n") == 1
    assert path.read_bytes().endswith(b"\n")
    assert record.read(path)[0][0]["text"] == "two\nlines\r\nand more\u2028"


def test_a_name_that_is_not_utf_8_costs_its_letter_and_not_the_record(path):
    record.append(path, entry_of(model="m\udcff"))
    assert record.read(path)[0][0]["model"] == "m?"


def test_a_gate_that_failed_on_unwritten_outputs_can_be_recorded_as_strict_json(path):
    expected = {"C": Expected(np.ones((2, 2)), np.ones((2, 2)), "test")}
    failed = parity.check(Outcome({"C": np.full((2, 2), np.nan, np.float32)}), expected)
    record.append(path, {"parity": failed.as_record()})

    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    written = json.loads(path.read_text(), parse_constant=refuse)
    assert written["parity"]["passed"] is False
    assert written["parity"]["not_finite"] == 4


def torn(path, keep=10):
    """A file of one whole record and the first bytes of another."""
    record.append(path, entry_of(n=1))
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:keep])


def test_a_torn_last_line_is_skipped_and_named_with_its_number(path):
    torn(path)
    records, (warning,) = record.read(path)
    assert [entry["n"] for entry in records] == [1]
    assert warning.startswith(f"{path}:2: ")
    assert "10 bytes" in warning


def test_after_a_torn_line_the_next_record_has_a_line_of_its_own(path):
    torn(path)
    record.append(path, entry_of(n=2))
    records, warnings = record.read(path)
    assert [entry["n"] for entry in records] == [1, 2]
    assert len(warnings) == 1
    assert path.read_bytes().count(b"\n") == 3


def test_a_line_torn_inside_a_character_is_skipped(path):
    record.append(path, entry_of(n=1))
    path.write_bytes(path.read_bytes() + '{"schema": 1, "text": "µ'.encode()[:-1])
    records, (warning,) = record.read(path)
    assert len(records) == 1
    assert ":2: " in warning


@pytest.mark.parametrize("line", ["{}", "[]", "7", "null", '"text"', '{"schema": "1"}', '{"schema": null}', "\0\0\0\0"])
def test_a_line_that_is_no_record_is_skipped_and_named(path, line):
    record.append(path, entry_of(n=1))
    with path.open("a") as file:
        file.write(line + "\n")
    record.append(path, entry_of(n=2))
    records, (warning,) = record.read(path)
    assert [entry["n"] for entry in records] == [1, 2]
    assert warning.startswith(f"{path}:2: ")


@pytest.mark.parametrize("kind", record.KINDS.values(), ids=record.KINDS)
def test_a_record_that_lacks_a_key_is_skipped_and_the_key_named(path, kind):
    record.append(path, dict.fromkeys(kind))
    for key in kind:
        record.append(path, dict.fromkeys(kind - {key}))
    records, warnings = record.read(path)
    assert len(records) == 1
    for number, (key, warning) in enumerate(zip(kind, warnings, strict=True), 2):
        assert warning.startswith(f"{path}:{number}: ")
        assert f"without {key})" in warning


def test_the_latest_record_is_the_last_whole_one_and_warnings_go_to_standard_error(path, capsys):
    assert record.latest(path) is None
    record.append(path, entry_of(n=1))
    record.append(path, RUN)
    assert record.latest(path)["n"] == 1
    assert capsys.readouterr().err.startswith(f"{path}:2: not a whole record (without kernels)")


def test_a_record_of_a_newer_schema_is_refused_with_both_numbers(path):
    record.append(path, entry_of(n=1))
    newer = record.SCHEMA + 1
    with path.open("a") as file:
        file.write(json.dumps({"schema": newer}) + "\n")
    with pytest.raises(Refusal, match=rf":2: .*schema {newer}.* {record.SCHEMA}$"):
        record.read(path)


def test_a_file_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(Refusal, match=r"cannot read results from .*absent"):
        record.read(tmp_path / "absent.jsonl")


@pytest.mark.parametrize("unwritable", ["file/gpu/probe.jsonl", "folder.jsonl"])
def test_a_place_that_cannot_be_written_is_refused_before_the_work_and_after(tmp_path, unwritable):
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "folder.jsonl").mkdir()
    path = tmp_path / unwritable
    for attempt in (lambda: record.prepare(path), lambda: record.append(path, entry_of(n=1))):
        with pytest.raises(Refusal, match="cannot write results to") as refused:
            attempt()
        assert str(path) in str(refused.value)
        assert "\n" not in str(refused.value)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is Linux's")
def test_a_full_disk_is_refused():
    with pytest.raises(Refusal, match="cannot write results to /dev/full: No space left on device"):
        record.append(Path("/dev/full"), entry_of(n=1))


def append_with_room_for_only(room, path):
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + room,) * 2)
    try:
        record.append(path, entry_of(n=2, text=LONG))
    except Refusal as refusal:
        os._exit(2 if "cannot write results" in str(refusal) and "\n" not in str(refusal) else 1)
    os._exit(0)


def test_a_disk_that_fills_up_within_a_record_is_refused_and_costs_only_that_record(path):
    record.append(path, entry_of(n=1))
    child = run_in_child(append_with_room_for_only, 100, path)
    child.join(30)
    assert child.exitcode == 2
    record.append(path, entry_of(n=3))
    records, warnings = record.read(path)
    assert [entry["n"] for entry in records] == [1, 3]
    assert len(warnings) <= 1


def append_many(path, writer, count):
    for number in range(count):
        record.append(path, entry_of(writer=writer, number=number, text=LONG))


def test_appends_of_several_processes_at_once_keep_every_line_whole(path):
    writers, count = 4, 15
    children = [run_in_child(append_many, path, writer, count) for writer in range(writers)]
    for child in children:
        child.join(60)
        assert child.exitcode == 0
    records, warnings = record.read(path)
    assert warnings == []
    assert all(entry["text"] == LONG for entry in records)
    for writer in range(writers):
        assert [entry["number"] for entry in records if entry["writer"] == writer] == list(range(count))


def test_an_append_waits_for_another_that_is_under_way(path):
    with path.open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        child = run_in_child(append_many, path, 0, 1)
        child.join(0.3)
        assert path.read_bytes() == b""
        other.write(b'{"schema": 1, "to')  # torn, and the waiting writer must see that
        other.flush()
        fcntl.flock(other, fcntl.LOCK_UN)  # for the child too, which was forked with this file open
    child.join(30)
    records, warnings = record.read(path)
    assert ([entry["writer"] for entry in records], len(warnings)) == ([0], 1)


def test_a_writer_that_is_killed_leaves_all_earlier_records(path):
    child = run_in_child(append_many, path, 0, 100_000)
    deadline = time.monotonic() + 30
    while path.read_bytes().count(b"\n") < 5 and time.monotonic() < deadline:
        time.sleep(0.001)
    os.kill(child.pid, signal.SIGKILL)
    child.join(30)
    record.append(path, entry_of(writer=1, number=0))
    records, warnings = record.read(path)
    assert len(records) >= 6
    assert [entry["number"] for entry in records[:-1]] == list(range(len(records) - 1))
    assert records[-1]["writer"] == 1
    assert len(warnings) <= 1
