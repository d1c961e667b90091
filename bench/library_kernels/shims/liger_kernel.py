"""What Liger's kernels import that asks for the machine."""


def infer_device():
    return "cuda"


def infer_device_arch():
    return "hopper"


def is_npu_available():
    return False


def compare_version(package, operator, target):
    return True


def is_hip():
    return False
