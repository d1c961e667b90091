"""What fla's kernels import that asks for the machine."""

autotune_cache_kwargs = {}


def input_guard(function=None, **options):
    return function if function is not None else lambda inner: inner
