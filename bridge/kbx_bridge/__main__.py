"""``python -m kbx_bridge``: connects to a cluster, then speaks frames on stdin and stdout until stdin ends."""

import argparse
import json
import os
import pathlib
import platform
import signal
import sys
import threading

PROTOCOL = 9

CONNECTIONS = 5
"""Attempts to connect through Ray's client."""


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--address", required=True)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--wanted", type=int, help="slots at first, of a cluster that follows the demand")
    parser.add_argument("--ship", action="append", default=[], metavar="HASH=FILE")
    parser.add_argument("--command", required=True, help="of a node's kbx, a JSON array")
    return parser.parse_args()


def read(events, cluster):
    """Passes on what the JVM sends, until it closes its end."""
    from kbx.protocol import ProtocolError, read_frame

    stream = os.fdopen(os.dup(0), "rb")  # Not sys.stdin, which the interpreter locks at its end.
    try:
        while frame := read_frame(stream):
            events.put((cluster.frame, *frame))
    except (ProtocolError, OSError):
        pass
    events.put((None,))


def connect(ray, address):
    """Connects, or raises what Ray says.

    Ray's client server forks a process for each client while its own threads use gRPC. Some of these die as they start, more
    often on a busy machine: another is asked for.
    """
    attempts = CONNECTIONS
    while True:
        try:
            return ray.init(address=address, log_to_driver=False, logging_level="ERROR", namespace="kbx")
        except ConnectionAbortedError:
            ray.shutdown()
            attempts -= 1
            if not attempts:
                raise


def main():
    given = arguments()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Of a terminal: the JVM gets it too, and closes its end.
    out = os.fdopen(os.dup(1), "wb", buffering=1 << 16)
    os.dup2(2, 1)  # Ray prints.
    import ray
    from ray import cloudpickle

    from kbx.protocol import write_frame
    from kbx_bridge import cluster, slot

    cloudpickle.register_pickle_by_value(slot)
    try:
        connect(ray, given.address)
    except Exception as error:
        sys.exit(f"cannot connect to the Ray cluster at {given.address}: {cluster.in_a_line(error)}")
    archives = {}
    for shipped in given.ship:
        name, _, file = shipped.partition("=")
        archives[name] = [ray.put(pathlib.Path(file).read_bytes())]
    bridge = cluster.Cluster(out, given.device, given.jobs, json.loads(given.command), archives, given.wanted)
    signal.signal(signal.SIGTERM, lambda *_: bridge.events.put((None,)))
    versions = {"ray": ray.__version__, "python": platform.python_version()}
    hello = {"type": "hello", "protocol": PROTOCOL, "role": "bridge", "pid": os.getpid(), "versions": versions}
    write_frame(out, json.dumps(hello).encode())
    threading.Thread(target=read, args=(bridge.events, bridge), daemon=True).start()
    try:
        bridge.run()
    except Exception as error:
        sys.exit(f"{type(error).__name__}: {cluster.in_a_line(error)}")
    ray.shutdown()


if __name__ == "__main__":
    main()
