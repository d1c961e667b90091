"""Executes compiled Triton IR on the CPU, all programs of a grid at once, and says what is wrong with its accesses to memory.

Begin with ``executor.Kernel``. ``parser`` reads the text to a tree (``tree``, ``types``); ``lowering`` makes functions of its operations,
which are in ``operations``; ``lanes`` are the values of all programs; ``memory``, ``races``, ``ordering`` and ``findings`` are what is checked.
Nothing here imports Triton, or anything of the candidate's.

An H200 gives the same bits but for what follows; ``bench/ttir_gpu.py`` measures it, ``bench/ttir-h200.txt`` is what it found.

- Sums in another order: reductions, scans, products of matrices, atomic operations of floats. In float16 and bfloat16, which round after
  each addition, that is the last digits; where terms cancel, any number of them. With NaN, ``argmax`` depends on the order, too.
- Approximate functions, by one or two of the last bits of float32: division, square roots, exponentials, logarithms, sines, ``tanh``, all
  of libdevice. Its fast sines and cosines (``__nv_fast_sinf``) know no large arguments; here they are exact. Its ``cbrtf``, ``logbf``
  and Bessel functions give NaN or nonsense for subnormal numbers, and the latter for large ones.
- Products and sums that the compiler contracts to one ``fma``.
- Products of 8-bit floats on Hopper, whose sums keep 13 bits of a fraction.
- The conversion of float8_e5m2 to bfloat16 of Triton 3.6, which takes infinity and NaN for numbers.
- ``arith.floordivsi`` and ``ceildivsi`` by zero, which Triton's front end does not make.
"""
