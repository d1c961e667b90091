"""Where the compilers behind ``torch.compile`` keep what they made."""

from __future__ import annotations

import os


def make(folder: str, uid: int | None) -> None:
    """Makes the folder in which compilers of a user keep what they made, and tells them; before they are used.

    Inductor unpickles what lies there, so it must be this user's alone: raises PermissionError where it is not. ``uid`` is the
    user that this process will be, None for the one that it is.
    """
    user = os.geteuid() if uid is None or os.geteuid() else uid
    own = os.path.join(folder, str(user))
    os.makedirs(own, mode=0o700, exist_ok=True)
    if os.geteuid() == 0:
        os.chown(own, user, user)
    state = os.stat(own)
    if state.st_uid != user or state.st_mode & 0o077:
        raise PermissionError(f"{own} must belong to user {user} alone (mode 0700); remove it")
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(own, "inductor")
    os.environ["TRITON_CACHE_DIR"] = os.path.join(own, "triton")
