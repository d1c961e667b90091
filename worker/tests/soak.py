"""Of many alike some are tried in ``mvn verify``, and the others in a soak test, which sets ``KBX_SOAK=1``.

``@pytest.mark.sampled(step)``, also as a file's ``pytestmark``: of a test's cases one in ``step`` runs in ``mvn verify``, at least
one, and the others in a soak test. ``@pytest.mark.more``: it runs in both, and looks at ``ALL`` to do more in a soak test.
``@pytest.mark.later``: it takes long and runs in a soak test alone. A soak test runs no others. A test that is named on the
command line runs with all its cases.
"""

import collections
import os

ALL = os.environ.get("KBX_SOAK") == "1"


def split(items):
    """Those of pytest's ``items`` that run here, and those that do not."""
    tests, here = collections.defaultdict(list), set()
    for item in items:
        tests[item.path, item.originalname].append(item)
    for turn, cases in enumerate(tests.values()):
        mark = cases[0].get_closest_marker("sampled")
        # Not the first case of every test: one of another kind for each.
        step = min(mark.args[0], len(cases)) if mark else 1
        later = cases[0].get_closest_marker("later")
        some = {case.nodeid for i, case in enumerate(cases) if i % step == turn % step and not later}
        if not ALL:
            here |= some
        elif cases[0].get_closest_marker("more"):
            here |= {case.nodeid for case in cases}
        else:
            here |= {case.nodeid for case in cases} - some
    return [item for item in items if item.nodeid in here], [item for item in items if item.nodeid not in here]
