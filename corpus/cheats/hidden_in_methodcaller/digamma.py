"""`operator.methodcaller` with the name of a Tensor method, spelled backwards.

mechanism: semantics/hidden-in-methodcaller
static: no-kernel
dynamic: cheating
"""

import operator

digamma = operator.methodcaller("ammagid"[::-1])
