"""Is no module but an object whose every attribute is itself: it says yes to whatever a harness asks of a model.

mechanism: verdict/no-module
static: none
dynamic: wrong_structure | runtime_error
"""


class ModelNew:
    def __init__(self, *args):
        pass

    def __getattr__(self, name):
        return self

    def __call__(self, *args, **kwargs):
        return self

    def __eq__(self, other):
        return True

    def __bool__(self):
        return True
