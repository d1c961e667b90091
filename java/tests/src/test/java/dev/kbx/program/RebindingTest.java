package dev.kbx.program;

import static dev.kbx.program.Programs.check;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A name that something else may bind stands for that as well, or is unknown. */
class RebindingTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "f = torch.mm\nglobals()['f'] = torch.bmm\nf(1) => torch.mm, torch.bmm",
        "f = torch.mm\ndef g(): vars()['f'] = torch.bmm\nf(1) => torch.mm",
        "f = torch.mm\nlocals()['f'] = torch.bmm\nf(1) => torch.mm, torch.bmm",
        "f = torch.mm\nglobals()[n] = torch.bmm\nf(1) => torch.mm, ?",
        "def g(): return new(1)\nglobals()[n] = torch.bmm\ng() => ?",
        "f = torch.mm\nglobals().update(f=torch.bmm)\nf(1) => torch.mm, torch.bmm",
        "f = torch.mm\nglobals().update({'f': torch.bmm})\nf(1) => torch.mm, torch.bmm",
        "f = torch.mm\nglobals().update(more)\nf(1) => torch.mm, ?",
        "f = torch.mm\nnames = globals()\nnames |= {'f': torch.bmm}\nf(1) => torch.bmm",
        "f = torch.mm\nglobals().__setitem__('f', torch.bmm)\nf(1) => torch.mm, torch.bmm",
        "f = torch.mm\nglobals().setdefault('f', torch.bmm)\nf(1) => torch.mm, torch.bmm",
        "f = torch.mm\nm = sys.modules[__name__]\nsetattr(m, 'f', torch.bmm)\nf(1) => torch.bmm",
        "f = torch.mm\nm = sys.modules[__name__]\nsetattr(m, n, torch.bmm)\nf(1) => torch.mm, ?",
        "f = torch.mm\nm = __import__(__name__)\nm.f = torch.bmm\nf(1) => torch.mm, torch.bmm",
        "f = torch.mm\nexec('f = torch.bmm')\nf(1) => torch.mm, unreadable",
      })
  void ofTheFile(String example) {
    check("import torch, sys\n" + example);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "A().__dict__['go'] = torch.bmm\nA().go(1) => torch.mm, torch.bmm",
        "vars(A())['go'] = torch.bmm\nA().go(1) => torch.mm, torch.bmm",
        "A().__dict__[n] = torch.bmm\nA().go(1) => torch.mm, ?",
        "A().__dict__.update(go=torch.bmm)\nA().go(1) => torch.mm, torch.bmm",
        "A().__dict__.update(more)\nA().go(1) => torch.mm, ?",
        "setattr(A, n, torch.bmm)\nA().go(1) => torch.mm, ?",
        "setattr(A, 'go', torch.bmm)\nA().go(1) => torch.mm, torch.bmm",
        "A().__setattr__('go', torch.bmm)\nA().go(1) => torch.mm, torch.bmm",
        "object.__setattr__(A(), 'go', torch.bmm)\nA().go(1) => torch.mm, torch.bmm",
        "class B(A): pass\nsetattr(A, n, torch.bmm)\nB().go(1) => torch.mm, ?",
        "class B(A):\n  def __new__(cls): return torch\nB().mm(1) => ?.mm",
      })
  void ofAClass(String example) {
    check("import torch\nclass A:\n  go = torch.mm\n" + example);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "fs += [torch.abs]\nfs[0](1) => torch.mm, torch.abs",
        "fs.insert(0, torch.abs)\nfs[0](1) => torch.mm, torch.abs",
        "fs.append(torch.abs)\nfs[-1](1) => torch.bmm, torch.abs",
        "fs.pop(0)\nfs[0](1) => torch.mm, torch.bmm",
        "fs.reverse()\nfs[0](1) => torch.mm, torch.bmm",
        "fs.remove(torch.mm)\nfs[0](1) => torch.mm, torch.bmm",
        "del fs[0]\nfs[0](1) => torch.mm, torch.bmm",
        "fs[0:1] = [torch.abs]\nfs[1](1) => torch.bmm, torch.abs",
        "fs[1:][0](1) => torch.bmm",
        "sorted(fs)[0](1) => torch.mm, torch.bmm",
        "list(reversed(fs))[0](1) => torch.mm, torch.bmm",
        "d = {'a': fs[0]}\nd |= {'a': torch.abs}\nd['a'](1) => torch.mm, torch.abs",
        "d = {'a': fs[0]}\nd.setdefault('b', torch.abs)\nd['b'](1) => torch.abs",
        "class A:\n  ops = fs\n  def more(self): self.ops.insert(0, torch.abs)\n"
            + "  def go(self): self.ops[0](1) => torch.mm, torch.abs",
        "import functools\ndef run(f): f(1)\n" + "functools.partial(run, fs[0])() => torch.mm",
        "def each():\n  yield from fs\nnext(each())(1) => torch.mm, torch.bmm",
        "class A:\n  @property\n  def go(self): return fs[0]\nA().go(1) => torch.mm",
        "import operator\noperator.attrgetter('mm')(torch)(1) => ?",
        "import operator\noperator.methodcaller('mm', 1)(torch) => ?",
        "import functools\nfunctools.reduce(max, fs)(1) => ?",
      })
  void ofElementsAndResults(String example) {
    check("import torch\nfs = [torch.mm, torch.bmm]\n" + example);
  }

  static Stream<String> chains() {
    List<String> aliases = new ArrayList<>(List.of("import torch\nx0 = torch.mm"));
    for (int i = 1; i < 200; i++) aliases.add("x%d = x%d".formatted(i, i - 1));
    String call = "\nx199(1) => torch.mm";
    return Stream.of(
        String.join("\n", aliases) + call, String.join("\n", aliases.reversed()) + call);
  }

  @ParameterizedTest
  @MethodSource("chains")
  void alongManyAliases(String example) {
    check(example);
  }
}
