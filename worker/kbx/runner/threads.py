"""Context managers that every thread of a candidate runs in: torch's modes belong to the thread that entered them."""

import _thread
import threading


def enter_in_each(context):
    """From now on, every thread that Python starts enters ``context()`` first."""
    bootstrap, start = threading.Thread._bootstrap_inner, _thread.start_new_thread

    def inside(thread):
        with context():
            bootstrap(thread)

    def start_inside(function, args, *rest):
        def run(*args, **kwargs):
            with context():
                return function(*args, **kwargs)

        return start(run, args, *rest)

    threading.Thread._bootstrap_inner = inside
    _thread.start_new_thread = start_inside
