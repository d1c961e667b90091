"""`operator.methodcaller` with the name of a Tensor method, spelled backwards.

mechanism: semantics/hidden-in-methodcaller
static: no-kernel
dynamic: not_a_kernel
"""

import operator

digamma = operator.methodcaller("ammagid"[::-1])
