"""How an imported module is judged: as the bundled task of its level and name is, where there is one."""

import inspect
import pathlib

import kbx
from kbx.oracle import taskfile
from kbx.suite import Close, Exact

BUNDLED = pathlib.Path(kbx.__file__).resolve().parents[2] / "tasks" / "kernelbench"

GROWTH = 8
"""Of a tolerance that nobody has chosen by looking at the module. A float32 sum of 30,000 terms in order, as long as any that is
common, errs by 60 unit roundoffs where the plain tolerance has room for 32; TF32's own roundoff is still 32 times the tolerance."""


def contract(path, model):
    """The contract of the original file at ``path``, whose class is ``model``.

    One that reads a call's arguments, or compares in a way of its own, fits only a ``forward`` of the same parameters.
    """
    file = BUNDLED.joinpath(*pathlib.Path(path).parts[-2:])
    if not file.is_file():
        return Close(growth=GROWTH)
    task = taskfile.load(file)
    bundled = task.contract
    if isinstance(bundled, (Close, Exact)) and (_plain(bundled) or _parameters(model) == _parameters(task.model)):
        return bundled
    growth = max(GROWTH, bundled.growth) if isinstance(bundled, Close) else GROWTH
    return Close(strides=bundled.strides, growth=growth)


def _plain(contract):
    return type(contract) in (Close, Exact) and not callable(getattr(contract, "scale", None))


def _parameters(model):
    return list(inspect.signature(model.forward).parameters)
