"""Tries to reach what an agent must not reach, or the tries that are named; prints a line for each."""

import ctypes
import glob
import http.client
import os
import socket
import subprocess
import sys
import urllib.request

HOME, STATE, OUT, OTHER, KEYFILE, PID = "@HOME@", "@STATE@", "@OUT@", "@OTHER@", "@KEYFILE@", "@PID@"
PROVIDER = "@PROVIDER@"


def read(path):
    def body():
        with open(path, errors="replace") as file:
            return file.read() or None

    return body


def found(*patterns):
    paths = (path for pattern in patterns for path in glob.iglob(pattern, recursive=True))
    return lambda: [path for path in paths if os.path.exists(path)] or None


def connected(host, port, family=socket.AF_INET):
    def body():
        with socket.socket(family, socket.SOCK_STREAM) as end:
            end.settimeout(5)
            end.connect((host, port) if family != socket.AF_UNIX else host)
            return "connected"

    return body


def asked(method, target, headers=None, body=b"{}"):
    def attempt():
        connection = http.client.HTTPConnection("127.0.0.1", 8080, timeout=20)
        try:
            connection.putrequest(method, target, skip_host=True)
            for name, value in {"Host": "127.0.0.1:8080", "Content-Length": str(len(body)), **(headers or {})}.items():
                connection.putheader(name, value)
            connection.endheaders(body)
            status = connection.getresponse().status
        except OSError as error:
            return f"no answer: {error}"  # is no refusal
        return status if status != 403 else None

    return attempt


def called(number, *arguments):
    def body():
        libc = ctypes.CDLL(None, use_errno=True)
        result = libc.syscall(ctypes.c_long(number), *arguments)
        if result < 0:
            raise OSError(ctypes.get_errno(), "denied")
        return result

    return body


def real_keys():
    return [name for name, value in os.environ.items() if "sk-" in value or "secret" in value.lower()] or None


def other_environments():
    texts = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ") as file:
                texts.append(file.read())
        except OSError:
            continue
    return [text for text in texts if "KBX_PROVIDER" not in text and text] or None


def other_processes():
    names = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with open(f"/proc/{pid}/cmdline") as file:
            names.append(file.read())
    return [name for name in names if "java" in name or "zygote" in name] or None


def program(*words):
    def body():
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
        return done.stdout if done.returncode == 0 and done.stdout.strip() else None

    return body


def written(path):
    def body():
        with open(path, "w") as file:
            return file.write("x")

    return body


def linked(path):
    """The answer as a link: what it leads to must not come out of the sandbox as the answer."""

    def body():
        os.symlink(path, "draft.py")
        with open("draft.py") as file:
            return file.read() or None

    return body


TRIES = {
    "another attempt's ledger": read(OTHER),
    "results": found(f"{OUT}/**"),
    "store": read(f"{OUT}/kbx.db"),
    "secret of seeds": read(f"{STATE}/secret"),
    "state": found(f"{STATE}/secret", f"{STATE}/signing-key.pem", f"{STATE}/replies", f"{STATE}/references"),
    "task file": read(f"{HOME}/tasks/kernelbenchx/Activation/tanh.py"),
    "all tasks": found(f"{HOME}/tasks/**/*.py"),
    "bundled kernel": read(f"{HOME}/tasks/kernelbenchx/Activation/kernels/tanh.py"),
    "oracle": found(f"{HOME}/worker/kbx/oracle/*.py"),
    "kbx's own files": found(f"{HOME}/pom.xml", f"{HOME}/corpus/**", f"{HOME}/.git/**"),
    "key file": read(KEYFILE),
    "key in the environment": real_keys,
    "environments of processes": other_environments,
    "environment of kbx": read(f"/proc/{PID}/environ"),
    "memory of kbx": read(f"/proc/{PID}/mem"),
    "files of pid 1": read("/proc/1/environ"),
    "root of pid 1": found(f"/proc/1/root{STATE}/secret"),
    "processes": other_processes,
    "home": found("/root/.ssh/**", "/home/**", "/root/.bash_history", "/root/.config/**"),
    "passwords": read("/etc/shadow"),
    "host name service": read("/etc/resolv.conf"),
    "other temporary files": lambda: sorted({*os.listdir("/tmp")} - {"agent", *OUT.split("/")}) or None,
    "sockets of the machine": found("/run/**", "/var/run/**"),
    "address": connected("1.1.1.1", 443),
    "address by IPv6": connected("2606:4700:4700::1111", 443, socket.AF_INET6),
    "gateway of the machine": connected("10.0.0.1", 80),
    "provider directly": connected("127.0.0.1", int(PROVIDER.rsplit(":")[-1].split("/")[0])),
    "socket of docker": connected("/var/run/docker.sock", 0, socket.AF_UNIX),
    "abstract socket": connected("\0/tmp/.X11-unix/X0", 0, socket.AF_UNIX),
    "names": lambda: socket.getaddrinfo("example.com", 443),
    "raw packets": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP),
    "web": lambda: urllib.request.urlopen("http://example.com/", timeout=5).status,
    "proxy to another host": asked("GET", "http://example.com/", body=b""),
    "tunnel": asked("CONNECT", "example.com:443", body=b""),
    "host in the header": asked("POST", "/v1/chat/completions", {"Host": "api.example.com"}),
    "other path of the provider": asked("GET", "/v1/files", body=b""),
    "path out of the interface": asked("POST", "/v1/chat/completions/../../files"),
    "address in the query": asked("POST", "/v1/chat/completions?url=http://example.com/"),
    "other provider": asked("POST", "/v1/messages"),
    "ptrace of pid 1": called(101, 16, 1, 0, 0),
    "memory by call": called(310, 1, 0, 0, 0, 0, 0),
    "mount": called(165, b"none", b"/tmp", b"tmpfs", 0, 0),
    "namespaces": called(272, 0x10000000),
    "namespaces by a program": program("unshare", "-Urm", "cat", f"{STATE}/secret"),
    "more rights": program("sudo", "-n", "cat", f"{STATE}/secret"),
    "kernel log": called(103, 3, ctypes.create_string_buffer(100), 100),
    "writing to the system": written("/usr/lib/kbx-was-here"),
    "writing to Python": written(os.path.join(os.path.dirname(os.__file__), "kbx_was_here.py")),
    "link": linked(f"{STATE}/secret"),
}

for name in sys.argv[1:] or TRIES:
    try:
        got = TRIES[name]()
    except Exception as error:
        print(f"refused {name}: {type(error).__name__}: {error}".replace("\n", " "), flush=True)
    else:
        print(f"{'refused' if got is None else 'REACHED'} {name}: {got}".replace("\n", " ")[:300], flush=True)
print("tried all", flush=True)
