"""Attack code in the real sandbox: each attempt may change its own runner's verdict and nothing else."""

import contextlib
import os
import socket
import sys

import patience
import pytest
import sandbox_harness as harness

from kbx.runner import landlock, mounts

pytestmark = pytest.mark.sampled(8)


MACHINES = ["plain", "no_namespaces", *(["nobody"] if os.geteuid() == 0 else [])]


@pytest.fixture(params=MACHINES)
def zygote(request, zygote_on):
    return zygote_on(request.param)


@pytest.fixture
def runner(zygote):
    runner = zygote.spawn()
    yield runner
    runner.kill()


def needs(runner, *names):
    missing = [name for name in names if not runner.protections[name]]
    if missing:
        pytest.skip(f"refused by this machine: {missing}")


def test_protections_are_reported(runner):
    assert set(runner.protections) == {
        "user", "files", "processes", "network", "ipc", "memory", "cpu", "landlock", "seccomp",
    }  # fmt: skip


def test_is_an_ordinary_user_without_capabilities(runner):
    status = runner("answer = open('/proc/self/status').read()")
    fields = dict(line.split(":\t", 1) for line in status.splitlines())
    assert set(fields["Uid"].split()) == {str(harness.NOBODY)} if os.geteuid() == 0 else {str(os.getuid())}
    assert int(fields["CapEff"], 16) == int(fields["CapPrm"], 16) == int(fields["CapInh"], 16) == 0
    assert fields["NoNewPrivs"] == "1"


def test_sees_only_its_own_processes(runner):
    needs(runner, "processes")
    assert runner("import os; answer = sorted(p for p in os.listdir('/proc') if p.isdigit())") == ["1", "2"]


def test_descriptors_are_the_known_ones(runner):
    found = runner("import os; answer = [n for n in range(1024) if os.path.exists(f'/proc/self/fd/{n}')]")
    assert found == [0, 1, 2, 3]


def test_forged_frames_on_every_descriptor(zygote):
    liar = zygote.spawn()
    liar.start("""
import os, struct
forged = b'{"type":"exited","runner":1,"reason":"exit","code":0}'
for fd in range(3000):
    for channel in (7, 0):
        try:
            os.write(fd, struct.pack('>II', len(forged), channel) + forged)
        except OSError:
            pass
""")
    exited = liar.exited()
    assert exited["reason"] == "protocol" and "channel 7" in exited["detail"]
    assert zygote.spawn()("answer = 1 + 1") == 2


@pytest.mark.parametrize("junk", ["b'\\xff' * 8", "struct.pack('>II', 13 << 20, 0)"])
def test_a_frame_too_long_ends_the_runner(zygote, junk):
    liar = zygote.spawn()
    liar.start(f"import struct, time; sock.sendall({junk}); time.sleep(60)")
    assert liar.exited()["reason"] == "protocol"


def test_unread_pipe_does_not_block_others(zygote):
    deaf = zygote.spawn()
    deaf.start("import time; time.sleep(60)")
    for _ in range(2):
        zygote.send(deaf.number, b"#" * (40 << 20))
    assert deaf.exited()["reason"] == "protocol"
    assert zygote.spawn()("answer = 'fine'") == "fine"


def test_kill_reaches_nobody(zygote):
    needs(bystander := zygote.spawn(), "processes")
    killer = zygote.spawn()
    killer.start("""
import os
for pid in (os.getppid(), 1, *(p for p in range(2, 40000) if p != os.getpid()), -1):
    try:
        os.kill(pid, 9)
    except OSError:
        pass
answer = 'alive'
""")
    assert zygote.expect(killer.number)["answer"] == "alive"
    assert killer.kill()["reason"] == "killed"
    assert bystander("answer = 'alive'") == "alive"
    bystander.kill()


def test_writes_nowhere_but_scratch(runner):
    needs(runner, "files")
    places = runner("""
import itertools, os, sys, torch
roots = ['/', '/usr', '/etc', '/root', '/home', '/var/tmp', '/sys', '/proc', '/proc/sys/kernel', '/dev', '/opt',
         sys.prefix, sys.base_prefix, os.path.dirname(torch.__file__), *sys.path]
for top in list(roots):
    for folder, names, _ in itertools.islice(os.walk(top), 20):
        roots += [os.path.join(folder, n) for n in names]
answer = []
for folder in {r for r in roots if not r.startswith(('/tmp', '/proc/2', '/proc/self', '/proc/thread-self'))}:
    try:
        with open(os.path.join(folder, 'kbx-was-here'), 'w'):
            answer.append(folder)
    except OSError:
        pass
""")
    assert set(places) <= {"/dev/shm"}
    assert runner("open('/tmp/mine', 'w').write('x'); answer = open('/tmp/mine').read()") == "x"


def test_own_code_is_read_only(runner):
    found = runner("""
import kbx.tensors, torch, json
answer = []
for module in (kbx.tensors, torch, json):
    try:
        open(module.__file__, 'a').close()
        answer.append(module.__name__)
    except OSError:
        pass
""")
    assert found == []


def test_tasks_oracle_and_home_are_hidden(runner):
    needs(runner, "files")
    package, home, var = runner("""
import kbx, os
answer = [sorted(os.listdir(os.path.dirname(kbx.__file__))), os.path.exists('/home'), os.path.exists('/var')]
""")
    assert package == [
        "__init__.py",
        "bytecode.py",
        "executor",
        "precision.py",
        "runner",
        "standins.py",
        "state.py",
        "tensors.py",
    ]
    assert not home and not var


def test_no_network(runner):
    found = runner("""
import socket
answer = []
for family, address in ((socket.AF_INET, ('1.1.1.1', 53)), (socket.AF_INET, ('127.0.0.1', 22)),
                        (socket.AF_INET6, ('::1', 22)), (socket.AF_UNIX, '\\0kbx-nobody')):
    try:
        socket.socket(family, socket.SOCK_STREAM).connect(address)
        answer.append(str(address))
    except OSError as error:
        pass
""")
    assert found == []


def test_file_rules_hold_without_namespaces(zygote):
    """A path that the runner's user cannot reach must not cost the rules on all others."""
    try:
        landlock.version()
    except OSError as error:
        pytest.skip(f"no Landlock: {error}")
    runner = zygote.spawn()
    assert (
        runner("""
import os
answer = []
for path, mode in (('/etc/hostname', os.O_RDONLY), ('/var/log', os.O_RDONLY), ('/dev/zero', os.O_RDWR)):
    try:
        os.close(os.open(path, mode))
        answer.append(path)
    except OSError:
        pass
""")
        == []
    )
    runner.kill()


def test_denied_calls(runner):
    needs(runner, "seccomp")
    assert runner("""
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
calls = {'ptrace': (101, 16, 1), 'mount': (165, 0, 0), 'unshare': (272, 0x10000000), 'setns': (308, 0, 0),
         'process_vm_readv': (310, 1), 'bpf': (321, 0), 'io_uring_setup': (425, 1), 'keyctl': (250, 0),
         'clone': (56, 0x10000000 | 17, 0), 'perf_event_open': (298, 0), 'userfaultfd': (323, 0)}
answer = {}
for name, call in calls.items():
    libc.syscall(*[ctypes.c_long(n) for n in call])
    answer[name] = ctypes.get_errno()
libc.syscall(ctypes.c_long(435), None, ctypes.c_long(0))
answer['clone3'] = ctypes.get_errno()
""") == dict.fromkeys(
        ("ptrace", "mount", "unshare", "setns", "process_vm_readv", "bpf", "io_uring_setup", "keyctl", "clone",
         "perf_event_open", "userfaultfd"), 1) | {"clone3": 38}  # fmt: skip


def test_memory_of_init_and_zygote_is_out_of_reach(runner):
    found = runner(f"""
answer = []
for pid in (1, {runner.zygote.process.pid}):
    for name in ('mem', 'environ', 'maps', 'fd/0', 'root/etc/passwd'):
        try:
            open(f'/proc/{{pid}}/{{name}}', 'rb').read(1)
            answer.append((pid, name))
        except OSError:
            pass
""")
    assert found == []


@contextlib.contextmanager
def executing(zygote, **options):
    """A runner with the processes beside it, the oracle's end of the executor's connection, and their process ids as the runner sees them."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        address = harness.marker()
        listener.bind("\0" + address)
        listener.listen()
        runner = zygote.spawn(data_address=address, **options)
        with listener.accept()[0], listener.accept()[0] as oracle:
            oracle.recv(4)
            pids = runner("answer = executor.connection.recv(100).decode()").split()
            yield runner, oracle, [int(pid) for pid in pids]


def test_processes_beside_a_runner_are_out_of_its_reach(zygote):
    with executing(zygote) as (runner, _, pids):
        assert len(pids) == 2
        assert (
            runner(f"""
import ctypes, os
answer = []
libc = ctypes.CDLL(None, use_errno=True)
for pid in {pids}:
    for name in ('mem', 'environ', 'maps', 'fd/0', 'fd/3', 'fd/7', 'map_files', 'root/etc/passwd'):
        try:
            open(f'/proc/{{pid}}/{{name}}', 'rb').read(1)
            answer.append((pid, name))
        except OSError:
            pass
    if libc.ptrace(16, pid, 0, 0) == 0:
        answer.append((pid, 'ptrace'))
""")
            == []
        )


def test_processes_beside_a_runner_share_its_memory_and_no_other_descriptors(zygote):
    with executing(zygote) as (runner, oracle, _):
        runner("import os; answer = os.pwrite(executor.heap, b'shared', 0)")
        oracle.sendall(b"the oracle, ")
        assert (
            runner("""
executor.connection.sendall(b'.')
answer = executor.connection.recv(100).rstrip(b'\\0').decode()
""")
            == "the oracle, shared"
        )
        found = runner("import os; answer = [n for n in range(1024) if os.path.exists(f'/proc/self/fd/{n}')]")
        runner.kill()
        assert len(found) == 7  # stdin to stderr, the referee's, the oracle's, the executor's; the heap


def test_memory_shared_with_the_executor_counts_when_it_is_unmapped(zygote):
    with executing(zygote, memory_bytes=1 << 30, file_bytes=2 << 30) as (runner, _, _):
        runner.start("""
import os, time
chunk = b'x' * (1 << 20)
for offset in range(0, 1200 << 20, len(chunk)):
    os.pwrite(executor.heap, chunk, offset)
time.sleep(60)
""")
        assert runner.exited()["reason"] == "memory"


def test_processes_beside_a_runner_end_with_it(zygote):
    with executing(zygote) as (runner, oracle, _):
        zygote.send(0, {"type": "kill", "runner": runner.number})
        oracle.settimeout(patience.SECONDS)
        assert oracle.recv(1) == b""


def test_environment_of_the_referee_is_gone(runner):
    names = runner("answer = open('/proc/self/environ').read() + repr(dict(__import__('os').environ))")
    assert "PYTEST_CURRENT_TEST" not in names


def test_temporary_files_go_to_scratch(runner):
    """And not to the folder that the zygote, which had another environment, has looked up already."""
    found, asked = runner("import os, tempfile; answer = [tempfile.gettempdir(), os.environ['TMPDIR']]")
    assert found == asked


def test_memory_hog_gets_a_memory_error(zygote):
    hog = zygote.spawn(memory_bytes=1 << 30)
    hog.start("x = bytearray(2 << 30)")
    assert "MemoryError" in zygote.expect(hog.number)["error"]
    hog.kill()


@pytest.mark.parametrize("others", [0, 6])
def test_shared_memory_hog_is_ended(zygote, others):
    """However many there are: they are looked at in turn."""
    bystanders = [zygote.spawn() for _ in range(others)]
    hog = zygote.spawn(memory_bytes=1 << 30, device="cuda")
    hog.start("""
import mmap, time
shared, chunk = mmap.mmap(-1, 1200 << 20), b'x' * (1 << 20)
for _ in range(1200):
    shared.write(chunk)
time.sleep(60)
""")
    assert hog.exited()["reason"] == "memory"
    for bystander in bystanders:
        assert bystander("answer = 1") == 1
        bystander.kill()


def test_mapped_memory_does_not_outlive_its_mapping(runner):
    """A shared page that nobody has mapped any more is counted for nobody."""
    needs(runner, "seccomp")
    assert (
        runner("""
import ctypes, mmap
libc = ctypes.CDLL(None, use_errno=True)
answer = []
try:
    mmap.mmap(-1, 1 << 20).madvise(mmap.MADV_DONTNEED)
    answer.append('shared anonymous memory')
except OSError:
    pass
try:
    with open('/dev/zero', 'r+b') as zero:
        mmap.mmap(zero.fileno(), 1 << 20)
    answer.append('/dev/zero')
except OSError:
    pass
for name, number, *arguments in (('shmget', 29, 0, 1 << 20, 0o1600), ('semget', 64, 0, 32000, 0o1600),
                                 ('memfd_create', 319, b'x', 0)):
    if libc.syscall(ctypes.c_long(number), *arguments) >= 0:
        answer.append(name)
""")
        == []
    )
    assert runner("import mmap; answer = len(mmap.mmap(-1, 9, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))") == 9


def test_meta_tensors_have_no_data(zygote):
    runner = zygote.spawn(memory_bytes=1 << 30)
    assert runner("""
import torch
from kbx import shapes
with shapes.Shapes():
    x = shapes.blank((1 << 16, 1 << 16), (1 << 16, 1), torch.float32)
    answer = list((x + torch.randn(1 << 16, 1 << 16)).add_(1).shape)
""") == [1 << 16, 1 << 16]
    runner.kill()


def test_page_tables_count_as_memory(zygote):
    """Reading untouched memory costs no page of data, but eight bytes of page table for each."""
    reader = zygote.spawn(memory_bytes=8 << 20)
    reader.start("""
import ctypes, mmap, time
pages = 16 << 20
span = mmap.mmap(-1, pages << 12, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, prot=mmap.PROT_READ)
span.madvise(15)  # no huge pages
span.find(b'x')
time.sleep(60)
""")
    assert reader.exited()["reason"] == "memory"


def test_files_are_counted(runner):
    needs(runner, "files")
    assert runner("import os; answer = [os.statvfs(p).f_files for p in ('/tmp', '/dev/shm')]") == [1 << 16, 1 << 16]


def test_core_dumps_are_disabled_even_for_a_handler(runner):
    needs(runner, "seccomp")
    assert "Max core file size        1                    1 " in runner("answer = open('/proc/self/limits').read()")
    assert (
        runner("""
import resource
answer = 'kept'
try:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answer = 'changed'
except (OSError, ValueError):
    pass
resource.setrlimit(resource.RLIMIT_NOFILE, (512, 512))
""")
        == "kept"
    )


def may_exceed_limits():
    with open("/proc/self/status") as file:
        status = file.read()
    return int(status.split("CapEff:")[1].split()[0], 16) >> 24 & 1


def test_runner_is_killed_first_on_out_of_memory(runner):
    assert runner("answer = open('/proc/self/oom_score_adj').read().strip()") == "1000"
    if runner.zygote.machine == "plain" and may_exceed_limits():
        assert (
            runner("""
try:
    with open('/proc/self/oom_score_adj', 'w') as file: file.write('0')
    answer = 'done'
except OSError as error:
    answer = 'denied'
""")
            == "denied"
        )


def test_connections_are_denied(runner):
    needs(runner, "seccomp")
    assert runner("""
import socket
answer = []
for address in ('\\0kbx-nobody', '/run/nobody'):
    try:
        socket.socket(socket.AF_UNIX).connect(address)
    except OSError as error:
        answer.append(error.errno)
one, other = socket.socketpair()
one.sendall(b'x')
answer.append(other.recv(1).decode())
""") == [1, 1, "x"]


TALKS_TO_ITSELF = """
import socket
answer = []
def attempt(what, act):
    try:
        act()
        answer.append(what)
    except OSError:
        pass
def listen():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        server.accept()[0].sendall(b"x")
        assert client.recv(1) == b"x"
attempt("itself", listen)
attempt("others", lambda: socket.socket().connect(("1.1.1.1", 53)))
attempt("the machine", lambda: socket.socket().connect(("127.0.0.1", PORT)))
attempt("an abstract socket", lambda: socket.socket(socket.AF_UNIX).connect(NAME))
attempt("the routing table", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW))
"""


@pytest.mark.parametrize("loopback", [False, True])
def test_loopback_is_available_on_request(zygote, loopback):
    runner = zygote.spawn(loopback=loopback)
    name = f"\0{harness.marker()}"
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as service:
        service.bind(name)
        service.listen()
        source = f"PORT, NAME = {server.getsockname()[1]}, {name!r}\n" + TALKS_TO_ITSELF
        own = loopback and runner.protections["network"] and runner.protections["files"]
        assert runner(source) == (["itself"] if own else [])
    runner.kill()


def test_one_gpu_is_visible(tmp_path, monkeypatch):
    for minor, uuid in ((0, "GPU-aa"), (3, "GPU-bb")):
        (tmp_path / f"0000:0{minor}:00.0").mkdir()
        text = f"Model: \t\t NVIDIA H200\nGPU UUID: \t {uuid}\nBus Type: \t PCIe\nDevice Minor: \t {minor}\n"
        (tmp_path / f"0000:0{minor}:00.0" / "information").write_text(text)
    monkeypatch.setattr(mounts.gpu_node, "__defaults__", (str(tmp_path),))
    devices = ("/dev/null", "/dev/nvidia-uvm", "/dev/nvidia0", "/dev/nvidia3", "/dev/nvidiactl")
    tree = mounts.Tree((), devices)
    assert tree.with_gpu("GPU-bb").devices == ("/dev/null", "/dev/nvidia-uvm", "/dev/nvidia3", "/dev/nvidiactl")
    assert tree.with_gpu("GPU-bb").gpu == "GPU-bb"
    assert tree.with_gpu("GPU-cc") == tree.with_gpu(None) == tree


def test_an_environment_behind_a_link_is_seen_through_its_target(tmp_path, monkeypatch):
    """Nothing can be bound inside of the link: when it is made its target need not be there yet."""
    real, link = tmp_path / "real", tmp_path / "environment"
    (real / "modules").mkdir(parents=True)
    (real / "secrets").mkdir()
    link.symlink_to(real)
    monkeypatch.setattr(sys, "prefix", str(link))
    monkeypatch.syspath_prepend(str(link / "modules"))
    seen = dict(mounts.plan(False, hidden=[str(link / "secrets")]).entries)
    assert seen[str(link)] == "link"
    assert seen[str(real)] == "bind"
    assert seen[str(real / "secrets")] == "hide"
    assert not [path for path in seen if path.startswith(f"{link}/")]


def test_scratch_is_bounded(zygote):
    filler = zygote.spawn(file_bytes=8 << 20)
    needs(filler, "files")
    found = filler("""
answer = 0
try:
    for n in range(20):
        with open(f'/tmp/{n}', 'wb', buffering=0) as file:
            answer += file.write(bytes(1 << 20))
except OSError:
    pass
""")
    assert found <= 8 << 20
    filler.kill()


def test_cpu_time_is_bounded(zygote):
    spinner = zygote.spawn(cpu_seconds=1)
    spinner.start("while True: pass")
    exited = spinner.exited()
    assert (exited["reason"], exited["signal"]) == ("signal", 24)


@pytest.mark.parametrize(
    ("source", "ending"),
    [("os._exit(0)", {"reason": "exit", "code": 0}), ("os._exit(7)", {"reason": "exit", "code": 7}),
     ("raise SystemExit(3)", {"reason": "exit", "code": 3}),
     ("import ctypes; ctypes.string_at(0)", {"reason": "signal", "signal": 11}),
     ("os.kill(os.getpid(), 9)", {"reason": "signal", "signal": 9})],
)  # fmt: skip
def test_endings_are_reported(zygote, source, ending):
    runner = zygote.spawn()
    runner.start("import os; " + source)
    exited = runner.exited()
    assert ending.items() <= exited.items()
    assert exited["peak_bytes"] > 1 << 20


def test_output_is_kept(zygote):
    runner = zygote.spawn()
    runner('import os; print("a" * 20000)')
    runner('import os; print("\\u00e9\\u2192\\U0001f600 \\"q\\"", flush=True); os.write(2, b"\\xff\\n")')
    output = runner.kill()["output"]
    assert output.endswith('aaa\né→😀 "q"\n\ufffd\n')
    assert len(output.encode()) <= (8 << 10) + 8


def test_double_forked_daemon_is_gone(zygote):
    name = harness.marker()
    runner = zygote.spawn()
    runner(DAEMON.format(name=name))
    assert harness.named(name)
    runner.kill()
    assert harness.named(name) == []


def test_daemon_does_not_outlive_a_clean_exit(zygote):
    name = harness.marker()
    runner = zygote.spawn()
    runner(DAEMON.format(name=name))
    runner.start("import os; os._exit(0)")
    assert runner.exited()["reason"] == "exit"
    assert harness.named(name) == []


DAEMON = """
import os, signal, time
r, w = os.pipe()
if os.fork() == 0:
    os.setsid()
    for s in (1, 2, 15): signal.signal(s, signal.SIG_IGN)
    if os.fork() == 0:
        open('/proc/self/comm', 'w').write('{name}')
        os.write(w, b'x')
        while True: time.sleep(60)
    os._exit(0)
os.read(r, 1)
"""


def test_fork_bomb_is_bounded_and_gone(zygote):
    name = harness.marker()
    bomb = zygote.spawn(processes=40)
    bomb(f"""
import os, time
open('/proc/self/comm', 'w').write('{name}')
pid = 0
for _ in range(100):
    try:
        pid = os.fork()
    except OSError:
        break
    if pid == 0:
        while True:
            try: os.fork()
            except OSError: time.sleep(0.05)
""")
    assert len(harness.named(name)) <= 41
    other = zygote.spawn(processes=40)
    if other.protections["processes"]:  # else the limit is that user's, over all of its runners
        forked = "import os\npid = os.fork()\nos._exit(0) if pid == 0 else None\nanswer = os.waitpid(pid, 0)[1]"
        assert other(forked) == 0
    other.kill()
    bomb.kill()
    assert harness.named(name) == []


SCAN = """
import re
pattern = re.compile(b'RESIDU[E]-[0-9a-f]{16}')
answer = set()
for line in open('/proc/self/maps'):
    span, rights, _, _, _, *file = line.split()
    # A library's text, three quarters of all memory, is as its file says: nothing can be left there.
    if rights[0] == 'r' and (rights[1] == 'w' or not file) and '[v' not in line:
        low, high = (int(n, 16) for n in span.split('-'))
        with open('/proc/self/mem', 'rb', buffering=0) as memory:
            try:
                memory.seek(low)
                answer |= {m.decode() for m in pattern.findall(memory.read(high - low))}
            except (OSError, OverflowError, ValueError):
                pass
answer = sorted(answer)
"""


def test_candidate_leaves_no_state_for_the_next(zygote):
    token = f"RESIDUE-{harness.random.getrandbits(64):016x}"
    first = zygote.spawn()
    assert token in first(f"# {token}\nprint('{token}', flush=True)\nanswer = '{token}'\n")
    assert token in first(SCAN)
    assert token in first.kill()["output"]
    second = zygote.spawn()
    assert token not in second(SCAN)
    second.kill()
