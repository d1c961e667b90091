"""Nsight Compute's command line: where it is, how it is asked, and what its answer says.

Its figures are made in the process that it profiles, which is the candidate's: they are claims.
"""

import csv
import glob
import math
import os
import re
import shutil

LAUNCHES = 32
"""Launches of one call that are profiled, the first ones: each is replayed about a dozen times."""
KERNELS = 5
"""Kernels that are told of, those that take most time."""
_PLACES = ("/usr/local/cuda/bin/ncu", "/usr/local/cuda-*/bin/ncu", "/opt/nvidia/nsight-compute/*/ncu")
_SECTIONS = ("SpeedOfLight", "LaunchStats", "Occupancy", "WarpStateStats")
"""Groups of metrics that every version has for every chip that it knows, whatever it calls each there."""
_FIGURES = {
    "registers": ("launch__registers_per_thread",),
    "achieved_occupancy_pct": ("sm__warps_active.avg.pct_of_peak_sustained_active",),
    "theoretical_occupancy_pct": ("sm__maximum_warps_per_active_cycle_pct",),
    "dram_pct": (
        "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    ),
    "sm_pct": ("sm__throughput.avg.pct_of_peak_sustained_elapsed",),
}  # fmt: skip
_DURATION = "gpu__time_duration.sum"
_STALL = re.compile(r"smsp__average_warps_issue_stalled_(\w+)_per_issue_active\.ratio")
_MILLISECONDS = {
    "ns": 1e-6,
    "nsecond": 1e-6,
    "us": 1e-3,
    "usecond": 1e-3,
    "ms": 1.0,
    "msecond": 1.0,
    "s": 1e3,
    "second": 1e3,
}
_NAME_CHARS, _LINE_CHARS = 200, 300
_ASIDE = ("The application returned an error code", "unmodified GPU clocks", "--target-processes all")
"""What says nothing of why there is no page."""


def find():
    """Path of ``ncu`` on the PATH or in the newest usual place; None where there is none."""
    if found := shutil.which("ncu"):
        return found
    for place in _PLACES:
        for path in sorted(glob.glob(place), key=_version, reverse=True):
            if os.access(path, os.X_OK):
                return path
    return None


def _version(path):
    return [int(digits) for digits in re.findall(r"\d+", path)]


def command(ncu, log, program):
    """The command line that profiles what ``program`` does between profiler start and stop, and writes to ``log``.

    Clocks stay as they are: other sessions' measurements depend on them.
    """
    options = [
        "--config-file", "off", "--target-processes", "application-only", "--profile-from-start", "off",
        "--clock-control", "none", "--launch-count", str(LAUNCHES), "--csv", "--page", "raw", "--print-units", "base",
        "--print-kernel-base", "function", "--log-file", log,
    ]  # fmt: skip
    for section in _SECTIONS:
        options += ["--section", section]
    return [ncu, *options, *program]


def kernels(text):
    """The kernels of a raw page, most time first: as in ``messages.runner.Profiled``. None where the text holds no such page."""
    try:
        launches = list(_launches(text))
    except csv.Error:
        return None
    by_name = {}
    for launch in filter(None, map(_launch, launches)):
        by_name.setdefault(launch["kernel"], []).append(launch)
    found = [{**max(same, key=_duration), "launches": len(same)} for same in by_name.values()]
    order = sorted(found, key=lambda kernel: -sum(map(_duration, by_name[kernel["kernel"]])))
    return order[:KERNELS] or None


def _duration(launch):
    return launch["duration_ms"]


def _launches(text):
    """``(name, {metric: (value, unit)})`` of each launch.

    Newer versions print a row for each launch with a column for each metric, and one row of units; older ones a row for each
    metric of each launch.
    """
    rows = csv.reader(line for line in text.splitlines() if line.startswith('"'))
    header = next(rows, [])
    if not {"ID", "Kernel Name"} <= set(header):
        return
    rows = [dict(zip(header, row, strict=True)) for row in rows if len(row) == len(header)]
    if "Metric Name" in header:
        long = {}
        for row in rows:
            metrics = long.setdefault(row["ID"], (row["Kernel Name"], {}))[1]
            metrics[row["Metric Name"]] = row.get("Metric Value", ""), row.get("Metric Unit", "")
        yield from long.values()
        return
    units = next((row for row in rows if not row["ID"]), {})
    for row in rows:
        if row["ID"]:
            yield row["Kernel Name"], {name: (value, units.get(name, "")) for name, value in row.items()}


def _launch(found):
    """One launch with the figures that are told of; None where even its duration is unknown."""
    name, metrics = found
    value, unit = metrics.get(_DURATION, ("", ""))
    duration = _number(value)
    if duration is None or unit not in _MILLISECONDS:
        return None
    launch = {"kernel": name[:_NAME_CHARS], "duration_ms": round(duration * _MILLISECONDS[unit], 9)}
    for figure, names in _FIGURES.items():
        known = (_number(metrics[n][0]) for n in names if n in metrics)
        if (number := next((k for k in known if k is not None), None)) is not None:
            launch[figure] = round(number) if figure == "registers" else number
    return launch | _stall(metrics)


def _stall(metrics):
    """What a warp mostly waits for between two instructions, and the share of that time in percent."""
    parts = {m[1]: _number(metrics[name][0]) for name in metrics if (m := _STALL.fullmatch(name))}
    parts = {reason: part for reason, part in parts.items() if part is not None and not reason.endswith("_not_issued")}
    whole = sum(parts.values())
    parts.pop("selected", None)  # that is when it does issue
    if not parts or whole <= 0:
        return {}
    top = max(parts, key=parts.get)
    return {"stall": top, "stall_pct": round(100 * parts[top] / whole, 2)}


def _number(text):
    """A number with or without commas between thousands; None for anything else."""
    try:
        number = float(text.replace(",", ""))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def complaint(log, output, code):
    """Why there is no page, in one line: ncu's errors, else what the program said last, else ncu's last word."""
    said, printed = _lines(log), _lines(output)
    # What is in the way of the program it complains of beside its log.
    errors = [line for line in said + printed if line.startswith("==ERROR==")]
    found = errors or (printed[-1:] if code else []) or said[-1:] or printed[-1:]
    words = "; ".join(dict.fromkeys(re.sub(r"^==(ERROR|WARNING)==\s*", "", line) for line in found))
    return f"ncu (exit code {code}): {words or 'it printed nothing'}"[:_LINE_CHARS]


def _lines(text):
    lines = (line.strip() for line in text.splitlines() if not line.startswith(('"', "==PROF==")))
    return [line for line in lines if line and not any(aside in line for aside in _ASIDE)]
