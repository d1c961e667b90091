package dev.kbx.syntax;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.kbx.Patience;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class PythonSourceTest {
  private static final String KERNEL =
      """
      import torch
      import triton
      import triton.language as tl

      @triton.jit
      def _kernel(x, y, n, BLOCK: tl.constexpr):
          offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
          mask = offsets < n
          tl.store(y + offsets, tl.load(x + offsets, mask=mask), mask=mask)

      def copy(x: torch.Tensor) -> torch.Tensor:
          '''Copies "x".'''
          y = torch.empty_like(x)
          _kernel[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), BLOCK=128)
          return y
      """;

  /**
   * Valid in some Python from 3.10 on. What the grammar refuses of it, such as {@code return a,
   * *b}, only Python decides.
   */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "f'{a['b']}' f\"{x!r:>{w}}\"\n"
            + "f'''{\n"
            + " x  # why\n"
            + "}'''\n"
            + "f\"{'\\n'.join(a)}\"\n"
            + "f'{f\"{f'{1}'}\"}'",
        "t'{x}'",
        "match x, y:\n"
            + "  case (1 | -2.5) as z, *_ if z: pass\n"
            + "  case {'a': b.c, **kw}: pass\n"
            + "  case _: 0",
        "match = 1\n"
            + "case = match[0]\n"
            + "type(match).x = case\n"
            + "print = type\n"
            + "print (match), 2\n"
            + "exec = 1",
        "if (n := 1) > 2: pass\n[y := 1, y**2]\nx[y:=1]",
        "type X[T: int, *Ts, **P] = list[T]\ndef f[T](x: T) -> T: return x\nclass A[T]: pass",
        "with (open(a) as b, open(c) as d,):\n  pass\nwith (a, b): pass\nwith (a) as b, c: pass",
        "try:\n  pass\nexcept* (A, B) as e:\n  pass",
        "try:\n  pass\nexcept A, B:\n  pass",
        "f\"{a[\"b\"]}{\na}{x!r:\">{w}}\" f'{x:\"<{f'{1}'}}{{\"' rf'\\{x}\\''\n"
            + "f'\\N{DASH}{a if'}'in{'b':{}}else\"'\"}' f'''{\nx # don't }\n}'''",
        "def f(a, /, b, *, c=(1,), **k): ...\nlambda *a, **k: (a, k)",
        "@a[0].b(c)\n# why\n\n@(lambda f: f)\ndef f(): pass",
        "a[*b]\ndef f(*args: *Ts) -> a[*b]: pass\nfor x in *a, b: pass",
        "async def f():\n  async with a as b, c: await x\n  return [i async for i in x if await i]",
        "x = 1if y else 2\n"
            + "z = 1or 2\n"
            + "w = 0x1f, 0o7, 0b1, 1_000, 1.e5, .5j, 1.0.hex(), 1..real, 1e9.__abs__()",
        "x = 'a' \"b\" f'{c}' rb'' Rb'\\'' u'' 'a\\\nb'\ny = 1 if'a'in'b'else 2",
        "x = 1 + \\\n  2\nassert x, \\\n  y",
        "if x:\n\ty = 1\n\tif z:\n\t\tw = 2\nelse:\n\tpass",
        "x = 1\n\f\ndef f(): pass",
        "x = 'a\\\r\nb'\r\nif x:\r\n  y = '''\r\n'''\r\n",
        "x = 1\rif x:\r  y = 2\r",
        "\ufeffx = 1",
        "x = 1; y = 2;\nif x: y; z\nelse: x = 1; y = 2",
        "def f():\n# c\n    x = 1\n  # d\n    y = 2\n        # e",
        "é = 1\nπ = é\n变量 = π\nx·y = 1\n℘ = ª = 1",
        "x: int\n(y): 'z' = 1, 2\na.b: int = 3",
        "# -*- coding: utf-8 -*-\nx = 1",
        "#!python\n# vim: set fileencoding=latin-1 :\nx = 1",
        "# coding=gbk\nx = 1",
        "x = 1\n# coding: utf-7\ny = 2",
        "'''\n# coding: utf-7'''",
        "x = 1 \\\n      + 2\nif x: \\\n  y = 1\nz = {\n 1:\n2}",
        "if x:  # why\n\n      # because\n\t\n  y = 1\n  z = '''\n:\n'''\nelse:\n    y = 2",
        "class A:\n  async def f(self): return (yield)\n  g = lambda self: (yield)",
        "def f():\n  def g():\n    nonlocal x\n    return x\n  for x in y:\n    if x: break\n"
            + "    else: continue\n  else: return g",
        "def f(a, b=1, /, c=2, *d, e, f=3, g, **h): pass\ndef g(*, a=1, b): pass",
        "f(*a, b, *c, d=1, *e, **f, g=2, **h)\nclass A(B, metaclass=C): pass",
        "lambda a, b=1, *c, d, **e: (a, b)\nf(x for x in y)\nf(a=1, *b)",
        "print (x), y\nprint\nprint >>f, x\nprint not in x\nprint is x",
        "a.b, c[0], (d, *e), [g] = f()\n(h) = 1\nfor (i), j.k in l: pass\n*m, = n",
        "x = [\n1,\n        2,\n   ]; y = (a # one\n  and b)",
        "from . import a\nfrom ...b.c import (d as e, f,)\nimport g.h as i, j.k",
        "global x\ndel (a), b[0], c.d\nraise X from Y",
        "f(type=1, match=2, case=3, _=6)\ndef match(case, type): return case",
        "x = yield_ = *a, *b,\nprint(*a, **b, sep='')\ny = not a in b is not c",
        "asm = '''\n{ .reg .b8 a<4>; ``` ? $ }\n'''  # a ? b : c `d` 'e",
      })
  void validPythonIsRead(String code) {
    assertThat(PythonSource.parse(code).error()).isEmpty();
    assertThat(PythonSource.parse(code + "\n").error()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "x = 1\\n```\\n | 2 | 1",
        "def f():\\n  x = g(1,\\n | 2 | 3",
        "x = 1\\nHere comes more\\n | 2 | 1",
        "# -*- coding: utf-7 -*-\\nx = 1 | 1 | 15",
        "#!python\\n# vim: set fileencoding=utf-16 : | 2 | 25",
      },
      quoteCharacter = '\u0001')
  void errorsHaveLineAndColumn(String code, int line, int column) {
    assertThat(PythonSource.parse(code.replace("\\n", "\n")).error())
        .hasValueSatisfying(error -> {
          assertThat(error.line()).isEqualTo(line);
          assertThat(error.column()).isEqualTo(column);
        });
  }

  @Test
  void aNullByteIsAnError() {
    assertThat(PythonSource.parse("x = 1\0\ny = 2\n").error()).isPresent();
  }

  @Test
  void readsFunctions() {
    PythonSource source =
        PythonSource.parse(
            """
            @triton.autotune(configs=[], key=["n"])
            @triton.jit
            def kernel(x): pass

            async def other(): pass

            def gelu(
                input: torch.Tensor,   # why
                approximate: str = "n , one",
                *, sizes=(1,), **k,
            ) -> Tuple[
                torch.Tensor, int
            ]:
                def inner(): pass
            """);
    assertThat(source.functions())
        .containsExactly(
            new PythonSource.Function(
                "kernel",
                3,
                "kernel(x)",
                List.of("triton.autotune(configs=[], key=[\"n\"])", "triton.jit")),
            new PythonSource.Function("other", 5, "other()", List.of()),
            new PythonSource.Function(
                "gelu",
                7,
                "gelu(input: torch.Tensor, approximate: str = \"n , one\", *, sizes=(1,), **k)"
                    + " -> Tuple[torch.Tensor, int]",
                List.of()));
  }

  @Test
  void readsConstants() {
    PythonSource source =
        PythonSource.parse(
            """
            A = "x\\n\\x41\\u00e9\\N{BULLET}\\101\\q" 'y'
            B = -1_000
            C = ("a", [0x10, 1.5, True], ())
            D = f"{x}"
            E = None
            F = 1
            F = g()
            G = H = 3
            """);
    assertThat(source.constants().values())
        .extracting(PythonSource.Constant::value)
        .containsExactly("x\nAé•A\\qy", -1000L, List.of("a", List.of(16L, 1.5, true), List.of()));
    assertThat(source.constants()).containsOnlyKeys("A", "B", "C");
  }

  @Test
  void readsTheDocstring() {
    String code =
        """
        # licence
        r\"\"\"  First \\n line.

            indented
              more
        \"\"\"
        x = 1
        """;
    assertThat(PythonSource.parse(code).docstring())
        .hasValue("First \\n line.\n\nindented\n  more");
    assertThat(PythonSource.parse("x = 1\n'no'").docstring()).isEmpty();
    assertThat(PythonSource.parse("f'{x}'").docstring()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "def f(p): q = 1 | f",
        "class A: b = 1 | A",
        "a = b.c = d[e] = g | a",
        "(a, [b, *c]) = d | a,b,c",
        "import a.b, c.d as e | a,e",
        "from a.b import c, d as e | c,e",
        "a: int | ",
        "a: int = 1 | a",
        "for a, b in c: d = 1 | a,b,d",
        "with a as b, c() as (d, e): pass | b,d,e",
        "if x: a = 1 | a",
        "def f(): global a; a = 1 | f,a",
        "x[(a := 1)] | a",
        "[a for b in c if (d := b)] | d",
        "lambda a: (b, a) | ",
        "def f(a=(b := 1)): pass | f,b",
        "type a = int | a",
        "a += 1 | a",
      })
  void readsNames(String code, String names) {
    assertThat(PythonSource.parse(code).names())
        .containsExactlyInAnyOrder(names == null ? new String[0] : names.split(",", -1));
  }

  @Test
  void readsNamesInsideStatements() {
    String code =
        """
        try:
            from fast import kernel
        except ImportError as e:
            def kernel(x): return x
        finally:
            done = True
        match x:
            case [first, B(y=second), mod.value] if third: pass
        """;
    assertThat(PythonSource.parse(code).names())
        .contains("kernel", "e", "done", "first", "second")
        .doesNotContain("mod", "value", "third", "y");
  }

  @Test
  void freeNamesAreUnboundNames() {
    assertThat(PythonSource.parse(KERNEL).freeNames()).isEmpty();
    assertThat(
            PythonSource.parse("def f(a, *b, c: int = d, **e): return g(a.h, i=b, j=e)")
                .freeNames())
        .containsExactlyInAnyOrder("int", "d", "g");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "from kernels import *",
        "exec(s)",
        "globals()['gelu'] = f",
        "setattr(m, 'gelu', f)",
        "sys.modules[__name__].gelu = f",
        "def __getattr__(name): return f",
        "f.__globals__['gelu'] = f",
      })
  void noticesDynamicBinding(String code) {
    assertThat(PythonSource.parse(code).bindsDynamically()).isTrue();
  }

  @Test
  void anHonestKernelBindsNothingDynamically() {
    PythonSource source = PythonSource.parse(KERNEL);
    assertThat(source.bindsDynamically()).isFalse();
    assertThat(source.understood()).isTrue();
    assertThat(source.hasCode()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "  \n",
        "# only\n# comments",
        "I cannot do that, sorry.",
        "Sorry",
        "'''x'''",
        "..."
      })
  void proseIsNotCode(String text) {
    assertThat(PythonSource.parse(text).hasCode()).isFalse();
  }

  /** Depth and size that overflow a recursive walk's stack or a machine's memory. */
  @Test
  void acceptsAnyText() {
    for (String code :
        List.of(
            "x = " + "(".repeat(20_000),
            "x = " + "(".repeat(20_000) + ")".repeat(20_000),
            "x = " + "[".repeat(20_000) + "1" + "]".repeat(20_000),
            "x = " + "-".repeat(20_000) + "1",
            "x = 1" + " + 1".repeat(20_000),
            "if x:".repeat(10_000),
            "\ud800 = '\udfff'",
            "\0".repeat(1000),
            "'".repeat(19_999))) {
      assertThat(PythonSource.parse(code).functions()).isEmpty();
    }
    PythonSource huge = PythonSource.parse("x = 1\n".repeat(50_000_000 / 6));
    assertThat(huge.understood()).isFalse();
    assertThat(huge.error()).isEmpty();
  }

  /** Recovering from this takes the parser many minutes. */
  @Test
  void givesUpOnSlowSources() {
    PythonSource source =
        assertTimeoutPreemptively(
            Patience.LIMIT, () -> PythonSource.parse("x=f\"{".repeat(50_000)));
    assertThat(source.understood()).isFalse();
    assertThat(source.tree()).isEmpty();
  }

  /** The parser's time grows with the square of the length: this text is not given to it. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "Let me think about tiles. ",
        "Okay, so: the tile's edge. ",
        "I'll load it once. ",
        "**Plan** (in short): load x, store y. ",
        "`tl.load` reads, `tl.store` writes. ",
        "# Plan\nFirst we load, and then it's stored. "
      })
  void longLineOfProseIsNotParsed(String unit) {
    String sentence = unit.substring(unit.indexOf('\n') + 1);
    for (int length : new int[] {3_000, 30_000, 300_000, 2_000_000}) {
      String prose = unit + sentence.repeat(length / sentence.length());
      PythonSource source = PythonSource.parse(prose);
      assertThat(source.tree()).as(unit).isEmpty();
      assertThat(source.understood()).isFalse();
      assertThat(source.hasCode()).isFalse();
      PythonSource.SyntaxError error = source.error().orElseThrow();
      assertThat(error.certain()).isFalse();
      assertThat(prose.lines().toList().get(error.line() - 1).substring(error.column() - 1))
          .containsPattern("^(?:Let me|the tile|I'|in short|load x|`tl|First we)");
      assertThat(PythonSource.parse(prose + "\ndef relu(x): ...").hasCode()).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "x = 'two words here'",
        "'''two words here'''",
        "# two words here, `quoted`\nx = 1",
        "x = rb'two words'",
        "x = F'two words'",
        "return'two words'",
        "print 'two words'",
        "print x",
        "match x:\n  case Point(y): pass",
        "type X = int",
        "x = a if b is not None else c in d",
        "from a import b as c",
        "async def f(): await g",
        "x = lambda y: not y"
      })
  void longLineOfPythonIsParsed(String code) {
    String comment = "\n# " + "so it is ".repeat(1_000);
    assertThat(PythonSource.parse(code + comment).tree()).isPresent();
    assertThat(PythonSource.parse(comment + "\n" + code).tree()).isPresent();
  }

  /** Of no file that the parser understands it is said that no Python begins so. */
  @Test
  void longLinesInAFileLeaveItParsed() throws IOException {
    List<Path> files = new ArrayList<>();
    for (String folder : List.of("corpus", "worker/kbx", "worker/tests", "tasks", "examples")) {
      try (Stream<Path> all = Files.walk(Path.of(folder))) {
        all.filter(file -> file.toString().endsWith(".py")).forEach(files::add);
      }
    }
    assertThat(files).hasSizeGreaterThan(1_000);
    for (Path file : files) {
      String code = Files.readString(file, StandardCharsets.ISO_8859_1).replace("\r", "");
      if (LongProse.in(code + "\n#" + "x".repeat(3_000)) >= 0) {
        assertThat(PythonSource.parse(code).understood()).as(file.toString()).isFalse();
      }
    }
  }

  static IntStream seeds() {
    return IntStream.range(0, 40);
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void acceptsMutatedSources(int seed) {
    Random random = new Random(seed);
    for (int round = 0; round < 20; round++) {
      byte[] bytes = KERNEL.getBytes(StandardCharsets.UTF_8);
      for (int flips = 1 + random.nextInt(4); flips > 0; flips--) {
        bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
      }
      int length = random.nextInt(4) == 0 ? random.nextInt(bytes.length) : bytes.length;
      String code = new String(bytes, 0, length, StandardCharsets.ISO_8859_1);
      PythonSource source = PythonSource.parse(code);
      source
          .error()
          .ifPresent(e -> assertThat(e.line()).isBetween(1, (int) code.lines().count() + 1));
      assertThat(source.names()).doesNotContain("");
    }
  }

  @Test
  void concurrentParsesAgree() throws Exception {
    PythonSource expected = PythonSource.parse(KERNEL);
    List<PythonSource> all =
        IntStream.range(0, 200).parallel().mapToObj(_ -> PythonSource.parse(KERNEL)).toList();
    assertThat(all).allMatch(source -> source.functions().equals(expected.functions()));
    assertThat(all).allMatch(source -> source.names().equals(expected.names()));
  }

  @Test
  void excerptHasAFunctionAndItsDependencies() {
    PythonSource source =
        PythonSource.parse(
            """
            \"\"\"Doc.\"\"\"
            import torch, math
            import torch.nn.functional as F
            from torch import Tensor
            from other import unused
            SCALE = 2
            OTHER = 3

            def helper(x: Tensor):  # a comment
                return F.relu(x) * SCALE

            @torch.no_grad()
            def f(OTHER, key=math.sqrt(2)):
                return helper(OTHER.sum(unused=1)) + torch.special.i0(OTHER)

            def g(x):
                return f(x)
            """);
    Excerpt excerpt = source.excerpt("f");
    assertThat(excerpt.text())
        .isEqualTo(
            """
            import torch, math
            import torch.nn.functional as F
            from torch import Tensor

            SCALE = 2


            def helper(x: Tensor):  # a comment
                return F.relu(x) * SCALE


            @torch.no_grad()
            def f(OTHER, key=math.sqrt(2)):
                return helper(OTHER.sum(unused=1)) + torch.special.i0(OTHER)
            """);
    assertThat(excerpt.calls())
        .containsExactlyInAnyOrder(
            "torch.nn.functional.relu", "torch.no_grad", "math.sqrt", "torch.special.i0");
    assertThat(excerpt.methods()).containsExactly("sum");
    assertThat(source.excerpt("nothing").text()).isEmpty();
    assertThat(PythonSource.parse("def f(:").excerpt("f").calls()).isEmpty();
  }
}
