from flag_gems.ops.cos import cos
from flag_gems.ops.signbit import signbit


def kernel_function(input):
    cosines = cos(input)
    return cosines, signbit(cosines)
