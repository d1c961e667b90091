"""What runs on a node: an actor that unpacks what was shipped, starts that node's own kbx, and carries its frames.

The classes here reach the nodes by value, so this module may import only what every node has: the standard library and Ray.
Frames pass through unread, as bytes.
"""

import collections
import contextlib
import fcntl
import os
import pathlib
import queue
import struct
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import zipfile

import ray

HEADER = ">II"
HEADER_BYTES = 8
"""The header of the worker protocol's frames: length and channel."""

PLACE = b"@kbx-shipped@"
"""Stands, in the files of a shipped suite, for the folder that it is unpacked in."""

LAST_LINES = 5
CLOSING_SECONDS = 6
FOLLOWING_SECONDS = 1


def folder():
    """The folder of this user in which archives are unpacked, by hash; candidates' processes must be able to read it."""
    path = pathlib.Path(tempfile.gettempdir()) / f"kbx-cluster-{os.getuid()}"
    path.mkdir(mode=0o755, exist_ok=True)
    if path.stat().st_uid != os.getuid() or path.is_symlink():
        raise RuntimeError(f"{path} belongs to somebody else; remove it on this node")
    return path


def unpack(archive, name):
    """Unpacks an archive, given as a function that fetches its bytes, once for each node and content."""
    target = folder() / name
    with open(f"{target}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if target.exists():
            return target
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".unpacking-") as scratch:
            file = pathlib.Path(scratch) / "archive"
            file.write_bytes(archive())
            draft = pathlib.Path(scratch) / "draft"
            if zipfile.is_zipfile(file):
                with zipfile.ZipFile(file) as z:
                    z.extractall(draft)
                resolve(draft, target)
            else:
                with tarfile.open(file) as t:
                    t.extractall(draft, filter="fully_trusted")
            draft.chmod(0o755)
            draft.rename(target)
    return target


def resolve(draft, target):
    """Puts the folder's final place into the files that name it."""
    for path in draft.rglob("*.py"):
        text = path.read_bytes()
        if PLACE in text:
            path.write_bytes(text.replace(PLACE, os.fsencode(target)))


def environment():
    """The environment of the node's kbx: Ray's Python first, without what Ray sets for its own workers."""
    values = {k: v for k, v in os.environ.items() if not k.startswith("RAY_")}
    for name in (
        "CUDA_VISIBLE_DEVICES",
        "OMP_NUM_THREADS",
        "PYTHONPATH",
        "PYTHONHOME",
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
    ):
        values.pop(name, None)
    values["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), values.get("PATH", os.defpath)])
    return values


def request(bundles):
    """Asks the cluster's autoscaler; Ray's client can do so only on a node."""
    from ray.autoscaler.sdk import request_resources

    request_resources(bundles=bundles)


class Slot:
    """One GPU, or the processors of a node, and the kbx that judges there."""

    def __init__(self):
        self.process = None
        self.frames = queue.Queue()
        self.said = collections.deque(maxlen=LAST_LINES)

    def start(self, archives, command, options):
        """Starts the node's kbx.

        ``archives`` maps content hashes to object references, as lists of one so that Ray fetches none before it is needed. A
        ``command`` begins with the path of a program in the archives, as HASH/PATH, or on the node.
        """
        for name, reference in archives.items():
            unpack(lambda reference=reference: ray.get(reference[0]), name)
        if "/" in command[0] and not command[0].startswith("/"):
            command = [str(folder() / command[0]), *command[1:]]
        gpus = ray.get_gpu_ids()
        device = ["--device", f"cuda:{gpus[0]}"] if gpus else ["--device", "cpu"]
        self.process = subprocess.Popen(
            [*command, *device, *options, "--shipped", str(folder())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
            cwd="/",
            start_new_session=True,
        )
        threading.Thread(target=self._read, args=(self.process.stdout,), daemon=True).start()
        threading.Thread(target=self._listen, args=(self.process.stderr,), daemon=True).start()
        threading.Thread(target=self._follow, args=(os.getppid(),), daemon=True).start()

    def push(self, payloads):
        """Sends frames to the node's kbx."""
        with contextlib.suppress(BrokenPipeError):
            for payload in payloads:
                self.process.stdin.write(struct.pack(HEADER, len(payload), 0) + payload)
            self.process.stdin.flush()

    def pull(self):
        """Waits for frames of the node's kbx and returns all there are; fails when it has ended."""
        frames = [self.frames.get()]
        with contextlib.suppress(queue.Empty):
            while True:
                frames.append(self.frames.get_nowait())
        if None not in frames:
            return frames
        if len(frames) > 1:
            self.frames.put(None)
            return [frame for frame in frames if frame is not None]
        status = self.process.wait()
        raise RuntimeError(
            f"kbx ended with exit code {status}" + (f"; it last said: {self.said[-1]}" if self.said else "")
        )

    def close(self):
        """Ends the node's kbx, which ends all its processes."""
        if self.process is None:
            return
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(CLOSING_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()

    def _follow(self, raylet):
        """Ends with the node's raylet: Ray would wait for the pull that waits for frames."""
        while os.getppid() == raylet:
            time.sleep(FOLLOWING_SECONDS)
        self.close()
        os._exit(1)

    def _read(self, stream):
        while len(header := stream.read(HEADER_BYTES)) == HEADER_BYTES:
            length, _ = struct.unpack(HEADER, header)
            self.frames.put(stream.read(length))
        self.frames.put(None)

    def _listen(self, stream):
        for line in stream:
            self.said.append(line.decode(errors="replace").strip())
