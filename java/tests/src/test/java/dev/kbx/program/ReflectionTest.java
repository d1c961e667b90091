package dev.kbx.program;

import static dev.kbx.program.Programs.check;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Things named by text, and what is done to them. */
class ReflectionTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "import torch\ngetattr(torch.nn, 'fun' 'ctional').gelu(x) => torch.nn.functional.gelu",
        "import torch\ngetattr(torch, n)(a) => torch.?",
        "import torch\nfor n in [\"mm\", \"bmm\"]:\n  getattr(torch, n)(a) => torch.mm, torch.bmm",
        "import importlib\nimportlib.import_module(\"torch\").mm(a) => torch.mm",
        "__import__(\"torch\").mm(a) => torch.mm",
        "__import__(\"torch.cuda\").mm(a) => torch.mm",
        "import sys\nsys.modules[\"torch\"].mm(a) => torch.mm",
        "import sys\nsys.modules.get(\"torch\").mm(a) => torch.mm",
        "import torch\nvars(torch)[\"mm\"](a) => torch.mm",
        "import torch\ntorch.__dict__[\"mm\"](a) => torch.mm, READ torch.mm",
        "import torch\ntorch.__dict__.get(\"mm\")(a) => torch.mm",
        "import functools, torch\nfunctools.partial(torch.mm, a)(b) => torch.mm",
        "import functools, torch\nf = functools.partial(torch.mm, a)\nf(b) => torch.mm",
        "import functools, torch\n"
            + "functools.partial(functools.partial(getattr, torch), 'mm')(b) => READ torch.mm",
        "import torch\nglobals()[\"torch\"].mm(a) => torch.mm",
        "import torch\ntorch.__getattribute__(\"mm\")(a) => torch.mm",
        "getattr(__builtins__, \"ex\" + \"ec\")('1') => builtins.exec",
        "import importlib\nimportlib.import_module(name='torch').mm(a) => torch.mm",
        "import torch\ndef go(m, n): getattr(m, n)(1)\ngo(*(torch,), 'mm') => torch.mm",
        "import torch\nargs = torch, 'mm'\ngetattr(*args)(a) => torch.mm",
        "import torch\ntorch.nn.Module.__getattribute__(torch, 'mm')(a) => torch.mm",
        "import sys\nm = sys.modules[__name__]\ndef f(): return m\nm.f() => @f",
        "import torch\n"
            + "getattr(getattr(torch, \"nn\"), \"functional\").gelu(x) => torch.nn.functional.gelu",
      })
  void readsNamesFromText(String example) {
    check(example);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "import torch\ngetattr(torch, \"mat\" + \"mul\")(a, b) => torch.matmul, READ torch.matmul",
        "import torch\nn = \"_\".join([\"x\", \"y\"])\ngetattr(torch, n)(a) => torch.x_y",
        "import torch\ngetattr(torch, f\"mat{'mul'}\")(a) => torch.matmul",
        "import torch\ngetattr(torch, \"%s%s\" % (\"m\", \"m\"))(a) => torch.mm",
        "import torch\ngetattr(torch, \"{}{}\".format(\"m\", \"m\"))(a) => torch.mm",
        "import torch\ngetattr(torch, '{1}{0}%'.format('m', 'b'))(a) => torch.bm%",
        "import torch\ngetattr(torch, 'm%s%%' % 'm')(a) => torch.mm%",
        "import torch\ngetattr(torch, '{:>3}'.format('m'))(a) => torch.?, !torch.{:>3}",
        "import torch\ngetattr(torch, '-'.join(['', 'm']))(a) => torch.-m",
        "import torch\ngetattr(torch, 'm' * 2)(a) => torch.mm",
        "import torch\nn = 'mm'\ngetattr(torch, f'{n!r}')(a) => torch.?, !torch.mm",
        "import torch\nop = \"m\"\nop += \"m\"\ngetattr(torch, op)(1) => torch.mm",
      })
  void computesText(String example) {
    check(example);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "import torch\nsetattr(torch.cuda, \"Event\", X) => WRITE torch.cuda.Event",
        "import torch\ntorch.cuda.Event = X => WRITE torch.cuda.Event",
        "import torch\nc = torch.cuda\nc.Event = X => WRITE torch.cuda.Event",
        "import torch\nvars(torch)[\"mm\"] = X => WRITE torch.mm",
        "import torch\ntorch.__dict__.update(mm=X) => WRITE torch.mm",
        "import torch\nvars(torch).update({'mm': X}) => WRITE torch.mm",
        "import torch\nvars(torch).update(patches) => WRITE torch.?",
        "import torch\ntorch.__dict__[\"mm\"] = X => WRITE torch.mm",
        "import torch\nnames = vars(torch)\nnames |= {'mm': X} => WRITE torch.mm",
        "import torch\ntorch.__dict__ |= {'mm': X} => WRITE torch.__dict__, WRITE torch.mm",
        "import torch\ntorch.__dict__.pop('mm') => DELETE torch.mm",
        "import torch\nvars(torch).clear() => DELETE torch.?",
        "import torch\ndel torch.mm => DELETE torch.mm",
        "import torch\ndelattr(torch, \"mm\") => DELETE torch.mm",
        "import torch\ntorch.cuda.Event, x = 1, 2 => WRITE torch.cuda.Event",
        "import torch\nobject.__setattr__(torch, \"mm\", X) => WRITE torch.mm",
        "from unittest import mock\nmock.patch(\"torch.mm\").start() => WRITE torch.mm",
        "import os\nos.environ[\"X\"] = \"y\" => WRITE os.environ[]",
        "import sys\nsys.modules[\"triton\"] = X => WRITE triton, WRITE sys.modules[]",
        "def f(x):\n  x.data = 1 => WRITE ?.data",
        "import torch\ntorch.mm = torch.mm => WRITE torch.mm",
        "import sys\nsys._getframe(1).f_globals[\"x\"] = 1 => WRITE sys._getframe().f_globals[]",
        "from unittest import mock\nmock.patch(target='torch.mm', new=f) => WRITE torch.mm",
        "import torch\n"
            + "from unittest import mock\n"
            + "mock.patch.object(target=torch, attribute='mm', new=f) => WRITE torch.mm",
        "import torch\nsetattr(*(torch, 'mm', f)) => WRITE torch.mm",
        "import torch\nsetattr(torch, *('mm', f)) => WRITE torch.mm",
        "import torch\nsetattr(*(torch, 'mm'), f) => WRITE torch.mm",
        "import torch\ntorch.nn.Module.__setattr__(torch, 'mm', f) => WRITE torch.mm",
        "import torch\ntorch.nn.Module.__delattr__(torch, 'mm') => DELETE torch.mm",
        "import torch\n"
            + "class A(torch.nn.Module):\n"
            + "  def __init__(self, v):\n"
            + "    torch.nn.Module.__setattr__(self, 'w', v) => !WRITE torch.nn.Module.?",
      })
  void noticesWrites(String example) {
    check(example);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "eval('1 + 2')\nexec('x = 3') => builtins.eval, builtins.exec, readable",
        "exec('import os\\nos._exit(0)') => builtins.exec, unreadable, !os._exit",
        "import torch\neval('torch.mm')(a) => unreadable, ?, !torch.mm",
        "exec(open('x').read()) => unreadable",
        "exec(compile('1', 'x', 'exec')) => unreadable",
        "__builtins__['eval']('1') => builtins.eval",
        "import builtins\nbuiltins.exec('1') => builtins.exec",
      })
  void leavesExecutedTextUnread(String example) {
    check(example);
  }
}
