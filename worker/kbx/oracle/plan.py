"""Which calls a candidate is judged on."""

import functools
from dataclasses import dataclass

from kbx.oracle.task import describe
from kbx.oracle.truth import argument_tensors

REPEATED = 2
"""Cases whose first call is made once more at the end to see whether the bits agree: those with the largest inputs."""


@dataclass(frozen=True)
class PlannedCall:
    """One correctness call; ``repeats`` is the index of the call whose inputs it has."""

    index: int
    parameters: dict
    distribution: str
    seed: str
    """Seeds this call's values, and names them among all calls of the run."""
    repeats: int | None = None
    turn: int = 0
    """Every other call leaves out the keyword arguments that equal their defaults."""

    def message(self):
        """As in ``messages.oracle.Opened.calls``."""
        plain = {"index": self.index, "case": describe(self.parameters), "distribution": self.distribution}
        return {**plain, "repeats": self.repeats}


def plan(task, seed):
    """The calls of one candidate, in order: rounds of all cases, then the repeats.

    Case *i* in round *r* draws from distribution *i + r*, so that every case meets several and few rounds cover all. A random
    operation's draws follow each other at once, and it is not repeated.
    """
    calls = []

    def add(case, round_, repeats=None):
        distribution = task.distributions[(case + round_) % len(task.distributions)]
        name = f"{seed}/{task.name}/{case}/{round_}"
        calls.append(PlannedCall(len(calls), task.cases[case], distribution, name, repeats, case + round_))
        return calls[-1].index

    for round_ in range(task.rounds):
        for case in range(len(task.cases)):
            first = add(case, round_)
            for _ in range(task.contract.draws - 1):
                add(case, round_, first)
    largest = _largest(task)
    for case in [] if task.contract.random else largest:
        add(case, 0, case)
    return calls


@functools.lru_cache(maxsize=1024)
def _largest(task):
    """The cases with most elements in their arguments, in the task's order; makes each case once, so a bad one shows.

    Where there is nothing to choose from none is made: a module has a single case, of gigabytes.
    """
    if len(task.cases) <= REPEATED:
        return list(range(len(task.cases)))
    sizes = []
    for case, parameters in enumerate(task.cases):
        made = task.call(parameters, task.distributions[case % len(task.distributions)], f"{task.name}/{case}/plan")
        sizes.append(sum(t.numel() for t in argument_tensors(made)))
    largest = sorted(range(len(sizes)), key=lambda case: -sizes[case])[:REPEATED]
    return sorted(largest)
