"""A stand-in for Nsight Compute's command line: it runs the program and writes a raw page as ncu does, or fails as ncu does."""

import os
import stat
import sys

PERMISSION = (
    "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the target "
    "device 0. For instructions on enabling permissions and to get more information see "
    "https://developer.nvidia.com/ERR_NVGPUCTRPERM"
)
LIBRARY = "==ERROR== Failed to initialize the profiler: LibraryNotLoaded"

_STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
COLUMNS = (
    ("ID", ""), ("Process ID", ""), ("Process Name", ""), ("Host Name", ""), ("Kernel Name", ""), ("Context", ""),
    ("Stream", ""), ("Block Size", ""), ("Grid Size", ""), ("Device", ""), ("CC", ""),
    ("gpu__time_duration.sum", "ns"),
    ("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "%"),
    ("sm__throughput.avg.pct_of_peak_sustained_elapsed", "%"),
    ("launch__registers_per_thread", "register/thread"),
    ("sm__maximum_warps_per_active_cycle_pct", "%"),
    ("sm__warps_active.avg.pct_of_peak_sustained_active", "%"),
    (_STALL.format("long_scoreboard"), "inst"),
    (_STALL.format("long_scoreboard_not_issued"), "inst"),
    (_STALL.format("wait"), "inst"),
    (_STALL.format("selected"), "inst"),
    (_STALL.format("gmma"), "inst"),
)  # fmt: skip
"""Header and units of the wide page."""

_WHERE = ("4711", "python3.12", "127.0.0.1")
_SHAPE = ("1", "7", "(128, 1, 1)", "(65536, 1, 1)", "0", "9.0")
LAUNCHES = (
    ("0", *_WHERE, "first_kernel", *_SHAPE, "1,000", "10.5", "3.25", "16", "100", "61.5", "1", "9", "2", "1", "n/a"),
    ("1", *_WHERE, "add_kernel", *_SHAPE, "98,304", "91.25", "12.5", "32", "100", "88.75", "6", "9", "3", "1", "n/a"),
    ("2", *_WHERE, "first_kernel", *_SHAPE, "2,500.5", "20", "4", "16", "100", "62", "5", "0", "4", "1", "n/a"),
)


def page(rows=LAUNCHES):
    """A raw page with one row for each launch."""
    header, units = zip(*COLUMNS, strict=True)
    return "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in (header, units, *rows))


def install(folder, behaviour):
    """Puts an executable ``ncu`` that behaves so into ``folder``: ``page, denied, unloaded, hang, mute``."""
    path = os.path.join(folder, "ncu")
    with open(path, "w") as file:
        tests = os.path.dirname(os.path.abspath(__file__))
        file.write(f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {tests!r})\nimport fake_ncu\n")
        file.write(f"sys.exit(fake_ncu.main({behaviour!r}, sys.argv[1:]))\n")
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)


def main(behaviour, words):
    """Behaves as told, with ncu's command line; returns the exit code."""
    import subprocess
    import time

    options, program = _parsed(words)
    if options["--clock-control"] != "none":
        print("==ERROR== this test touches the card's clocks")
        return 1
    if behaviour == "mute":
        return 255
    if behaviour == "hang":
        started = subprocess.Popen(["sleep", "1000"])
        print(f"==PROF== Connected to process {started.pid} (sleep)", flush=True)
        time.sleep(1000)
    code = subprocess.run(program).returncode if behaviour == "page" else 0
    with open(options["--log-file"], "w") as log:
        log.write("==PROF== Connected to process 4711 (python3.12)\n")
        if behaviour in ("denied", "unloaded"):
            log.write({"denied": PERMISSION, "unloaded": LIBRARY}[behaviour] + "\n")
        if code:
            log.write(f"==ERROR== The application returned an error code ({code}).\n")
        log.write("==PROF== Disconnected from process 4711\n")
        log.write("==WARNING== No kernels were profiled.\n" if code or behaviour != "page" else page())
    return code


def _parsed(words):
    """``({option: value}, program)``; every option that kbx gives has a value but --csv."""
    options, rest = {}, list(words)
    while rest[0].startswith("--"):
        name = rest.pop(0)
        options[name] = None if name == "--csv" else rest.pop(0)
    return options, rest
