package dev.kbx.program;

import static dev.kbx.program.Programs.check;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a name, an attribute, an element or a call stands for. */
class NamesTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "import torch\nif (f := torch.mm):\n  f(1) => torch.mm",
        "import torch\nf = None or torch.mm\nf(1) => torch.mm",
        "import torch\nwith torch.cuda.Event() as e:\n  e.record() => torch.cuda.Event().record",
        "try:\n"
            + "  pass\n"
            + "except Exception as e:\n"
            + "  e.__traceback__.tb_frame => READ builtins.Exception().__traceback__.tb_frame",
        "try:\n"
            + "  pass\n"
            + "except Exception as e:\n"
            + "  e.__traceback__ => READ builtins.Exception().__traceback__",
        "from torch import *\nmm(a) => torch.mm, unreadable",
        "import functools, torch\nfunctools.reduce(torch.mm, xs) => READ torch.mm",
        "import torch\nx = torch.randn(3)\nx.softmax(0) => torch.randn().softmax",
        "import torch\n(  # c\n torch\n).mm = 1 => WRITE torch.mm",
        "import torch\nm = torch if 1 \\\n else 0\nm.mm(x) => torch.mm",
        "import torch\nm = lambda: torch \\\n\nm().mm(x) => torch.mm",
        "import torch\ndef f(): return \\\n torch\nf().mm(x) => torch.mm",
        "import torch\nsetattr(torch, \\\n # c\n 'mm', 1) => WRITE torch.mm",
        "import torch as t\n(t if x else None).mm(1) => torch.mm",
        "import torch\nmatch x:\n  case 1:\n    torch.mm(1) => torch.mm",
        "import torch\n"
            + "def f(x):\n"
            + "  match x:\n"
            + "    case torch.a | torch(torch=y) | type.b: pass\n"
            + "  torch.mm = y => WRITE torch.mm",
        "import torch\ndef f(x):\n  type X[torch] = int\n  torch.mm = x => WRITE torch.mm",
        "import torch\n"
            + "X = torch\n"
            + "def f(x):\n"
            + "  type X = int\n"
            + "  X.mm(1) => ?.mm, !torch.mm",
        "import torch\ntype(torch.cuda.Event).__call__(1) => builtins.type().__call__",
        "import torch\nx: int = torch.mm\nx(1) => torch.mm",
        "from torch.nn import functional\nfunctional.gelu(x) => torch.nn.functional.gelu",
      })
  void followsBindings(String example) {
    check(example);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "import torch\nfs = [torch.mm, torch.bmm]\nfs[1](x) => torch.bmm, !torch.mm",
        "import torch\nfs = []\nfs.append(torch.mm)\nfs[0](1) => torch.mm",
        "import torch\nd = {}\nd[\"a\"] = torch.mm\nd[\"a\"](1) => torch.mm",
        "import torch\nd = dict(a=torch.mm)\nd[\"a\"](1) => torch.mm",
        "import torch\n[g(1) for g in (torch.mm, torch.bmm)] => torch.mm, torch.bmm",
        "import torch\nfor n, g in {\"a\": torch.mm}.items():\n  g(1) => torch.mm",
        "import torch\nfor n, g in zip(\"ab\", [torch.mm, 1]):\n  g(1) => torch.mm",
        "import torch\nfor n, g in enumerate([torch.mm]):\n  g(1) => torch.mm",
        "import torch\na, *b = torch.mm, torch.bmm\nb[0](1) => torch.bmm",
        "import torch\nnext(iter([torch.mm]))(1) => torch.mm",
        "import torch\nprint(f\"{torch.mm(1)}\") => torch.mm",
      })
  void followsContainers(String example) {
    check(example);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "import torch\nclass A:\n  f = torch.mm\nA.f(x) => torch.mm",
        "import torch\n"
            + "class A:\n"
            + "  def __init__(self):\n"
            + "    self.f = torch.mm\n"
            + "  def go(self):\n"
            + "    self.f(1)\n"
            + "A().go() => torch.mm, @A.go",
        "import torch\n"
            + "class A(torch.nn.Module):\n"
            + "  def forward(self, x):\n"
            + "    return self.lin(x) => torch.nn.Module().lin",
        "import torch\n"
            + "class B:\n"
            + "  def go(self, x):\n"
            + "    return torch.mm(x)\n"
            + "class A(B):\n"
            + "  pass\n"
            + "A().go(1) => @B.go",
        "import torch\n"
            + "class A:\n"
            + "  @staticmethod\n"
            + "  def go(x): return torch.mm\n"
            + "A.go(1)(2) => torch.mm",
        "import torch\n"
            + "class A:\n"
            + "  @property\n"
            + "  def go(self): return torch.mm\n"
            + "A().go(2) => torch.mm",
        "import torch\ndef f(x, op=torch.mm):\n  return op(x) => torch.mm",
        "import torch\n"
            + "def outer():\n"
            + "  op = torch.mm\n"
            + "  def inner(x):\n"
            + "    return op(x)\n"
            + "  return inner\n"
            + "outer()(1) => torch.mm, @outer.inner",
        "import torch\ndef run(f, x):\n  return f(x)\nrun(torch.mm, 1) => torch.mm",
        "import torch\ndef run(*fs):\n  return fs[0](1)\nrun(torch.mm) => torch.mm",
        "import torch\ndef run(**fs):\n  return fs[\"a\"](1)\nrun(a=torch.mm) => torch.mm",
        "import torch\ndef run(f):\n  return f(1)\nrun(**{\"f\": torch.mm}) => torch.mm",
        "import torch\nf = (lambda: torch.mm)()\nf(1) => torch.mm",
        "def deco(f):\n"
            + "  def w(*a): return f(*a)\n"
            + "  return w\n"
            + "@deco\n"
            + "def g(x): return x.abs()\n"
            + "g(1) => @deco, @deco.w, @g",
        "from functools import reduce\n"
            + "def f(a, b): return a @ b\n"
            + "reduce(f, xs) => READ functools.reduce",
        "import torch\ndef g(): yield torch.mm\nfor f in g():\n  f(1) => torch.mm",
        "import torch\nasync def f():\n  await torch.mm(1) => torch.mm",
        "import torch\n@torch.compile\ndef f(x): return x\nf(1) => torch.compile, @f",
        "import triton\ndef k(x): pass\nkk = triton.jit(k)\nkk[(1,)](x) => @k[]",
        "import triton\nfrom torch.library import wrap_triton\ndef k(x): pass\n"
            + "wrap_triton(triton.jit(k))[(1,)](x) => @k[]",
        "import torch\nclass F(torch.autograd.Function):\n  @staticmethod\n"
            + "  def forward(ctx, f): return f(1)\n"
            + "F.apply(torch.mm) => @F.forward, torch.mm",
        "import torch\nclass F(torch.autograd.Function):\n"
            + "  def forward(f): return f(1)\n  def setup_context(ctx, inputs, output): pass\n"
            + "F.apply(torch.mm) => @F.forward, torch.mm",
      })
  void followsFunctionsAndClasses(String example) {
    check(example);
  }
}
