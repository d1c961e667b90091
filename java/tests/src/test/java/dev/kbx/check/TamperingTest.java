package dev.kbx.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.task.Task;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Attempts on the verdict: what the rules find in them, and honest code that looks alike. */
class TamperingTest {
  private static final List<Rule> RULES =
      List.of(
          new DescriptorWrites(),
          new EnvironmentWrites(),
          new FileWrites(),
          new HarnessInspection(),
          new HiddenCode(),
          new ImportHooks(),
          new MemoryAccess(),
          new NativeCode(),
          new Network(),
          new PatchedBuiltins(),
          new PatchedLibrary(),
          new PatchedTimer(),
          new PickledPayload(),
          new ProcessControl());

  private static List<String> found(String code, @Nullable Task task) {
    return new StaticCheck(Rules.of(RULES.toArray(Rule[]::new)))
        .check(code.replace("\\n", "\n"), task).findings().stream()
            .map(Finding::rule)
            .distinct()
            .toList();
  }

  static List<Rule> rules() {
    return RULES;
  }

  @ParameterizedTest
  @MethodSource("rules")
  void eachRuleFindsItsExample(Rule rule) {
    assertThat(found(rule.info().example(), null)).contains(rule.info().id());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "patched-timer | import torch\\ntorch.cuda.Event.elapsed_time = lambda a, b: 1",
        "patched-timer | import torch as t\\nc = t.cuda\\nc.synchronize = print",
        "patched-timer | import torch\\nsetattr(torch.cuda, 'Ev' + 'ent', None)",
        "patched-timer | import time\\ntime.perf_counter = lambda: 0",
        "patched-timer | from triton import testing\\ntesting.do_bench = None",
        "patched-timer | import torch\\ndel torch.cuda.Event",
        "patched-library | import torch\\ntorch.Tensor.__eq__ = None",
        "patched-library | import numpy as np\\nvars(np)['allclose'] = None",
        "patched-library | import torch\\ntorch.testing.assert_close.__code__ = f.__code__",
        "patched-library | from unittest import mock\\nmock.patch('torch.allclose').start()",
        "patched-library | import torch\\nlib = torch.library.Library('aten', 'IMPL')",
        "patched-library | import json\\ndef f():\\n  json.dumps = None",
        "patched-library | import torch\\ntorch.__dict__.setdefault('allclose', f)",
        "patched-library | import torch\\ntorch.__dict__.__setitem__('allclose', f)",
        "patched-library | import torch\\ndict.update(torch.__dict__, allclose=f)",
        "patched-library | import torch\\nfor more in xs: vars(torch).update(more)",
        "patched-library | import torch\\nput = setattr\\nput(torch, 'allclose', f)",
        "patched-library | import torch\\nobject.__setattr__(torch, 'allclose', f)",
        "patched-library | import torch\\na = (torch, 'allclose', f) if f else (m, 'x', f)\\n"
            + "setattr(*a)",
        "patched-library | import torch\\nfrom functools import partial\\n"
            + "put = partial(setattr, torch)\\npartial(put, 'allclose')(f)",
        "patched-library | import torch\\nclass A:\\n  @property\\n  def m(self): return torch\\n"
            + "setattr(A().m, 'allclose', f)",
        "patched-library | import torch\\ndef g(): yield torch\\nfor m in g(): m.allclose = f",
        "hidden-code | TEXTS = ['1 + 1']\\nTEXTS.insert(0, 'import os')\\nexec(TEXTS[0])",
        "hidden-code | TEXTS = ['import os', '1']\\nTEXTS.reverse()\\nexec(TEXTS[1])",
        "hidden-code | TEXTS = ['1', '2', 'import os']\\ndel TEXTS[0]\\nexec(TEXTS[1])",
        "hidden-code | TEXTS = ['1', 'import os']\\nexec(TEXTS[1:][0])",
        "hidden-code | for text in {'import os': '1'}: exec(text)",
        "hidden-code | c = compile('1', 'x', 'exec') if f else input()\\nexec(c)",
        "hidden-code | TEXT = '1'\\nglobals()['TEXT'] = 'import os'\\nexec(TEXT)",
        "hidden-code | TEXT = '1'\\nglobals()[input()] = 'import os'\\nexec(TEXT)",
        "patched-builtins | import builtins\\nsetattr(builtins, 'abs', None)",
        "harness-inspection | import sys\\nf = sys._getframe(1)",
        "harness-inspection | def f(e): return e.__traceback__.tb_frame.f_back.f_locals",
        "harness-inspection | import __main__",
        "harness-inspection | from kbx.runner import bench",
        "harness-inspection | import sys\\nx = sys.modules['kbx.protocol']",
        "harness-inspection | import threading\\nthreading.settrace(f)",
        "descriptor-writes | import os\\nos.write(3, b'x')",
        "descriptor-writes | import socket\\ns = socket.socket(fileno=3)",
        "process-control | import subprocess as s\\ns.run(['ls'])",
        "process-control | import os\\nos.system('nvidia-smi; sleep 9')",
        "process-control | from os import fork\\nfork()",
        "process-control | import atexit\\n@atexit.register\\ndef f(): pass",
        "harness-inspection | import sys\\nfor m in sys.modules.values(): setattr(m, 'x', 1)",
        "process-control | import multiprocessing as m\\nm.get_context('fork').Process(target=f)",
        "process-control | import sys\\nsys.excepthook = print",
        "native-code | from ctypes import CDLL\\nCDLL(None)",
        "native-code | import ctypes\\nctypes.pythonapi.PyType_Modified(x)",
        "native-code | import mmap\\nmmap.mmap(-1, 4096, prot=7)",
        "network | import urllib.request as r\\nr.urlopen('http://x')",
        "network | import requests\\nrequests.get('http://x')",
        "pickled-payload | class P:\\n  def __reduce__(self): return eval, ('1',)",
        "hidden-code | import codecs\\nexec(codecs.decode('cevag(1)', 'rot13'))",
        "hidden-code | def f(text): eval(text)",
        "hidden-code | import base64\\nexec(base64.b64decode('aW1wb3J0IG9zCm9zLl9leGl0KDAp'))",
        "hidden-code | import zlib\\nc = zlib.decompress(b'x')\\nexec(c.decode())",
        "hidden-code | import marshal\\nexec(marshal.loads(b''))",
        "hidden-code | exec('import os\\\\nos._exit(0)')",
        "hidden-code | exec('exec(\"import os\")')",
        "hidden-code | import torch\\nf = eval('torch.mm')",
        "hidden-code | f = eval('matmul')",
        "hidden-code | import triton\\nversion = triton.__version__\\nf = eval(version)",
        "hidden-code | import mine\\nf = eval(mine.__version__[0])",
        "hidden-code | import torch\\nv = torch.__version__ if f else TEXT\\nf = eval(v[0])",
        "hidden-code | \uff45xec(input())",
        "hidden-code | import builtins\\nbuiltins.e\uff56al(input())",
        "patched-library | import triton\\ntriton.__version__ ="
            + " '(f,)'\\neval(triton.__version__[0])",
        "patched-timer | import torch\\ntorch.cuda.\uff25vent = None",
        "hidden-code | c = compile('import os', 'x', 'exec')\\nexec(c)",
        "hidden-code | TEXT = ['import ']\\nTEXT += ['os']\\nexec(''.join(TEXT))",
        "hidden-code | getattr(__builtins__, 'ex' + 'ec')('import os')",
        "hidden-code | import builtins\\ngetattr(builtins, ''.join(reversed('cexe')))('x = 1')",
        "hidden-code | import torch, base64\\n"
            + "getattr(torch, base64.b64decode('bW0=').decode())(a)",
        "hidden-code | import torch\\ngetattr(torch, bytes.fromhex('6d6d').decode())(a)",
        "hidden-code | import torch, codecs\\ngetattr(torch, codecs.decode('zz', 'rot13'))(a)",
        "hidden-code | import torch\\ngetattr(torch, 'lumtam'[::-1])(a)",
        "hidden-code | import torch\\ngetattr(torch, ''.join(chr(c) for c in [109, 109]))(a)",
        "hidden-code | import torch\\ngetattr(torch, ''.join(map(chr, [109, 109])))(a)",
        "hidden-code | import torch\\ngetattr(torch, ''.join(chr(c ^ 1) for c in [108, 108]))(a)",
        "hidden-code | import operator\\nf = operator.methodcaller('lumtam'[::-1])",
        "hidden-code | import types\\ng = types.FunctionType(c, {})",
        "environment-writes | import os\\nos.environ.update(PYTHONPATH='/tmp')",
        "memory-access | for p in range(9): open(f'/proc/{p}/mem')",
        "memory-access | open('/'.join(['', 'proc', 'self', 'mem']))",
        "memory-access | open('/dev/shm/../../proc/self/mem')",
        "memory-access | from pathlib import Path\\nPath('/proc').glob('*')",
        "import-hooks | import sys\\nsys.path_hooks.clear()",
        "import-hooks | import sys\\nsys.modules['json'] = f",
        "import-hooks | import sys\\nsys.modules['math'] = f",
        "import-hooks | import sys\\nsys.modules[input()] = f",
        "patched-library | import sys\\nsys.modules['torch.nn'] = f",
        "file-writes | from pathlib import Path\\nPath('x').write_text('y')",
      })
  void tamperingIsFound(String rule, String code) {
    assertThat(found(code, null)).contains(rule);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "import torch\\nstart = torch.cuda.Event(enable_timing=True)\\nstart.record()",
        "import torch\\ntorch.backends.cuda.matmul.allow_tf32 = False",
        "import triton.language as tl\\nif not hasattr(tl, 'tanh'):\\n  tl.tanh = tl.sigmoid",
        "import torch\\nx = torch.empty(3)\\nx.grad = None\\nx[0] = 1",
        "import torch\\nEvent = None\\nmax = 3\\nabs = print\\ndef sum(x): return x",
        "import torch.nn as nn\\nclass M(nn.Module):\\n  def __init__(self):\\n    self.time = 1",
        "import torch\\n@torch.library.custom_op('mine::f', mutates_args=())\\ndef f(x): return x",
        "import torch\\nlib = torch.library.Library('mine', 'DEF')",
        "import torch\\nclass M:\\n"
            + "  def f(self, a):\\n"
            + "    self.act = torch.relu\\n"
            + "    self.act = a",
        "import torch\\nact = {'a': torch.relu}\\nact['a'] = print",
        "import torch\\nfor act in (torch.relu, torch.abs):\\n  act = print",
        "class M:\\n  def __setstate__(self, state): pass",
        "class E(Exception):\\n  def __reduce__(self): return (type(self), (self.a,))",
        "import subprocess\\ntext = subprocess.check_output(['nvidia-smi', '-L'])",
        "path = '/procedures/x'",
        "import inspect\\nn = inspect.signature(print)\\nimport gc\\ngc.collect()",
        "import os\\nos.environ['TRITON_PRINT_AUTOTUNING'] = '1'\\nos.environ.setdefault('A', 'b')",
        "import os, sys\\nos.makedirs('x', exist_ok=True)\\nsys.path.append('x')",
        "import sys\\nprint('x', file=sys.stderr)\\nv = sys.modules.get('triton')",
        "import re, torch\\np = re.compile('x')\\nf = torch.compile(print)\\nm.eval()",
        "x = eval('1 + 2')\\nexec('y = 3')",
        "import triton\\nversion = triton.__version__.split('.')\\nnew = eval(version[0]) >= 3",
        "import torch, triton\\nnew = eval(torch.__version__[0]) > 1",
        "import torch\\nf = getattr(torch, 'mat' + 'mul')\\ng = getattr(torch, f'{n}64')",
        "import torch\\nimport triton.language as tl\\nt = getattr(tl, str(torch.float32)[6:])",
        "import base64, gzip\\nw = gzip.decompress(base64.b64decode('x'))\\nn = eval('2 ** 4')",
        "import os\\nos.write(1, b'x')\\nfd = os.open('x', 0)\\nos.write(fd, b'x')",
        "'''Reads /proc/self/mem? No: os._exit(0), ctypes and exec(x) are not used.'''",
        "# import ctypes; torch.cuda.Event = None\\nHELP = 'exec(', 'import ctypes'",
        "with open('notes.txt') as f: text = f.read()",
        "import ctypes\\nn = ctypes.sizeof(ctypes.c_float)",
        "import pickle, weakref, signal\\ndef f(x): return x.kill(), x.fork(), x.load()",
        "import subprocess\\nif __name__ == '__main__':\\n  subprocess.run(['pip', 'list'])",
        "import os\\nos.environ['PATH'] = '/usr/local/cuda/bin:' + os.environ['PATH']",
        "import os\\nos.environ['TRITON_CACHE_DIR'] = '/dev/shm/t'",
        "import sys, types\\nsys.modules['flash_attn'] = types.ModuleType('flash_attn')",
        "import sys, types\\nfor name in ('apex', 'xformers.ops'):\\n  sys.modules[name] = None",
      })
  void honestSourceIsAccepted(String code) {
    assertThat(found(code, null)).isEmpty();
  }

  @Test
  void functionsCalledOnlyInMainBlockAreIgnored() {
    String benchmark =
        """
        import subprocess

        def kernel_function(x):
            return x

        def main():
            subprocess.run(["pip", "list"])

        if __name__ == "__main__":
            main()
        """;
    assertThat(found(benchmark, task())).isEmpty();
    assertThat(found(benchmark + "\nmain()\n", task())).containsExactly("process-control");
    assertThat(found(benchmark.replace("return x", "main()"), task()))
        .containsExactly("process-control");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "def patch(_): torch.allclose = f\\nsorted([0], key=patch)",
        "class M(type):\\n  def mro(cls):\\n    torch.allclose = f\\n    return [cls]\\n"
            + "class X(metaclass=M): pass",
        "def patch(*a): torch.allclose = f\\nclass X(metaclass=patch): pass",
        "class B:\\n  def __init_subclass__(cls): torch.allclose = f\\nclass X(B): pass",
        "class X:\\n  def __class_getitem__(cls, i): torch.allclose = f\\nX[0]",
      })
  void implicitlyCalledMethodsCountAtImport(String code) {
    String entry = "import torch\ndef kernel_function(x): return x\n";
    assertThat(found(entry + code, task())).containsExactly("patched-library");
    String unused = "class B:\n  def __init__(self): torch.allclose = f\nclass X(B): pass";
    assertThat(found(entry + unused, task())).isEmpty();
  }

  @Test
  void compiledExtensionIsNativeCodeNotTriton() {
    String code =
        "from torch.utils.cpp_extension import load_inline\nkernel_function = load_inline('x', [])";
    assertThat(found(code, task())).containsExactly("native-code");
    assertThat(found(code, null)).isEmpty();
  }

  private static Task task() {
    return new Task(
        "s",
        "c",
        "t",
        "t",
        "",
        null,
        null,
        List.of(),
        false,
        "",
        "",
        List.of(),
        null,
        Path.of("f"),
        null);
  }
}
