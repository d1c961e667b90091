package dev.kbx.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.program.Program;
import dev.kbx.syntax.PythonSource;
import dev.kbx.task.Policy;
import dev.kbx.task.Task;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rules about answers that are kept, hidden from the clock, or given to some calls only. */
class TimingRulesTest {
  private static final String LAUNCH =
      """
      import functools, itertools, sys, threading, time
      import torch
      import triton
      import triton.language as tl

      @triton.jit
      def kernel(x, out, n, BLOCK: tl.constexpr):
          i = tl.arange(0, BLOCK)
          tl.store(out + i, tl.load(x + i, mask=i < n), mask=i < n)

      def launch(x):
          out = torch.empty_like(x)
          kernel[(1,)](x, out, x.numel(), BLOCK=64)
          return out

      store = {}
      calls = 0
      """;

  private static final List<Rule> RULES =
      List.of(
          new BackgroundWork(),
          new CpuOffload(),
          new GraphReplay(),
          new LazyTensor(),
          new PhaseDetection(),
          new ReplayedResult(),
          new SecondDevice(),
          new SideStream(),
          new Sleeping());

  private static List<String> found(String source, String entry) {
    Task task =
        new Task(
            "s",
            "c",
            entry,
            entry,
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
    RuleContext context =
        new RuleContext(Program.of(PythonSource.parse(source)), task, Policy.KERNEL);
    List<String> ids = new ArrayList<>();
    for (Rule rule : RULES) rule.check(context, (_, _) -> ids.add(rule.info().id()));
    return ids;
  }

  private static List<String> found(String source) {
    return found(LAUNCH + source, "entry");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "def entry(x):\n  if x.shape not in store:\n    store[x.shape] = launch(x)\n"
            + "  return store[x.shape]",
        "def entry(x):\n"
            + "  key = (x.data_ptr(), x.shape)\n"
            + "  out = store.get(key)\n"
            + "  if out is None:\n"
            + "    out = launch(x)\n"
            + "    store[key] = out\n"
            + "  return out",
        "def entry(x):\n  try:\n    return store[id(x)]\n  except KeyError:\n"
            + "    store[id(x)] = launch(x)\n    return store[id(x)]",
        "def entry(x):\n  if x.shape in store:\n    return store[x.shape]\n"
            + "  result = store[x.shape] = launch(x)\n  return result",
        "def entry(x):\n  if not hasattr(entry, 'store'):\n    entry.store = {}\n"
            + "  if x.shape not in entry.store:\n    entry.store[x.shape] = launch(x)\n"
            + "  return entry.store[x.shape]",
        "class Cache:\n  def __init__(self):\n    self.known = {}\n  def __call__(self, x):\n"
            + "    if x.shape in self.known:\n      return self.known[x.shape]\n"
            + "    self.known[x.shape] = launch(x)\n    return self.known[x.shape]\n"
            + "cache = Cache()\ndef entry(x):\n  return cache(x)",
        "def remembering(f):\n  kept = []\n  def call(x):\n    for r in kept:\n"
            + "      if r.shape == x.shape:\n        return r\n    kept.append(f(x))\n"
            + "    return kept[-1]\n  return call\nentry = remembering(launch)",
        "def entry(x):\n  if x.shape not in store:\n    out = torch.empty_like(x)\n"
            + "    kernel[(1,)](x, out, 4, BLOCK=64)\n    store[x.shape] = out\n"
            + "  return store[x.shape]",
        "def entry(x, memory={}):\n  if x.shape not in memory:\n    memory[x.shape] = launch(x)\n"
            + "  return memory[x.shape].clone()",
        "@functools.lru_cache(maxsize=None)\ndef entry(x):\n  return launch(x)",
        "@functools.cache\ndef run(x):\n  return launch(x.contiguous())\ndef entry(x):\n"
            + "  return run(x)",
        "def entry(x):\n  if x.shape not in store:\n    store[x.shape] = launch(x), 3\n"
            + "  out, n = store[x.shape]\n  return out",
        "def entry(x):\n  if (out := store.get(x.shape)) is None:\n    out = launch(x)\n"
            + "    store[x.shape] = out\n  return out",
        "def same(x):\n  return x.clone()\ndef entry(x):\n  if x.shape not in store:\n"
            + "    store[x.shape] = launch(x)\n  return same(torch.clone(store[x.shape]))",
      })
  void findsReplayedResults(String source) {
    assertThat(found(source)).contains("replayed-result");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "def entry(x):\n  return launch(x)",
        // a buffer kept by shape
        "def entry(x):\n  key = (x.shape, x.dtype, x.device)\n  if key not in store:\n"
            + "    store[key] = torch.empty_like(x)\n  kernel[(1,)](x, store[key], 4, BLOCK=64)\n"
            + "  return store[key]",
        // the same, with nothing to do for an empty tensor
        "def entry(x):\n  if x.shape not in store:\n    store[x.shape] = torch.empty_like(x)\n"
            + "  out = store[x.shape]\n  if x.numel():\n    kernel[(1,)](x, out, 4, BLOCK=64)\n"
            + "  return out",
        // prepared weights
        "def packed(w):\n  if w.data_ptr() not in store:\n    store[w.data_ptr()] = launch(w)\n"
            + "  return store[w.data_ptr()]\ndef entry(x, w):\n  return launch(packed(w))",
        // a configuration chosen once
        "@functools.lru_cache\ndef block(n):\n  return triton.next_power_of_2(n)\n"
            + "def entry(x):\n  b = block(x.numel())\n  return launch(x)",
        "def tune(x):\n  launch(x)\n  return 64\ndef best(x):\n  if x.shape not in store:\n"
            + "    store[x.shape] = tune(x)\n  return store[x.shape]\ndef entry(x):\n"
            + "  b = best(x)\n  out = torch.empty_like(x)\n  kernel[(1,)](x, out, 4, BLOCK=b)\n"
            + "  return out",
        "def entry(x, out=None):\n  if out is None:\n    out = launch(x)\n  else:\n"
            + "    kernel[(1,)](x, out, 4, BLOCK=64)\n  return out",
        "def entry(x):\n  results = {}\n  for i in range(2):\n    if i not in results:\n"
            + "      results[i] = launch(x)\n  return results[0]",
        // the same, bound in other ways
        "def entry(x):\n  results, n = {}, 2\n  for i in range(n):\n    if i not in results:\n"
            + "      results[i] = launch(x)\n  return results[0]",
        "class Kept(dict):\n  def __enter__(self): return self\n  def __exit__(self, *e): pass\n"
            + "def entry(x):\n  with Kept() as results:\n    if 0 not in results:\n"
            + "      results[0] = launch(x)\n    return results[0]",
        // prepared weights, given to a class
        "class Linear(torch.autograd.Function):\n  @staticmethod\n  def forward(ctx, x, w):\n"
            + "    return launch(x)\ndef entry(x, w):\n  if w.shape not in store:\n"
            + "    store[w.shape] = launch(w)\n  return Linear.apply(x, store[w.shape])",
        "class Linear(torch.nn.Module):\n  def forward(self, x, w):\n    return launch(x)\n"
            + "linear = Linear()\ndef entry(x, w):\n  if w.shape not in store:\n"
            + "    store[w.shape] = launch(w)\n  return linear(x, store[w.shape])",
        "class Base(torch.nn.Module):\n  def forward(self, x, w):\n    return launch(x)\n"
            + "class Linear(Base): pass\nlinear = Linear()\ndef entry(x, w):\n"
            + "  if w.shape not in store:\n    store[w.shape] = launch(w)\n"
            + "  y = linear(x, store[w.shape])\n  return y",
        "@torch.library.custom_op('mine::f', mutates_args=())\ndef f(x, w):\n"
            + "  return launch(x)\ndef entry(x, w):\n  if w.shape not in store:\n"
            + "    store[w.shape] = launch(w)\n"
            + "  return torch.ops.mine.f(x, w=store[w.shape])",
        // a return that the parser refuses
        "def entry(x):\n  if x.shape not in store:\n    store[x.shape] = launch(x)\n"
            + "  if x.dim():\n    return store[x.shape]\n  return launch(x), *[None] * 3",
      })
  void honestCachesAreAccepted(String source) {
    assertThat(found(source)).isEmpty();
  }

  @Test
  void aGraphCapturedOnceIsReplayedInEveryCall() {
    String source =
        """
        def entry(x):
          if x.shape not in store:
            kept = x.clone()
            out = torch.empty_like(x)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
              kernel[(1,)](kept, out, 4, BLOCK=64)
            store[x.shape] = (graph, kept, out)
          captured = store[x.shape]
          captured[1].copy_(x)
          captured[0].replay()
          return captured[2].clone()
        """;
    assertThat(found(source)).containsOnly("graph-replay");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "def entry(x):\n  global calls\n  calls += 1\n  if calls == 1:\n    print('first')\n"
            + "  return launch(x)",
        "def entry(x):\n  global calls\n  calls += 1\n  kernel[(1,)](x, x, calls, BLOCK=64)\n"
            + "  return x",
        // one of two launches in every call
        "def entry(x):\n  global calls\n  calls += 1\n  if calls % 2:\n    return launch(x)\n"
            + "  elif calls % 3:\n    y = launch(x)\n  else:\n    y = launch(x)\n  return y",
        "def entry(x):\n  global calls\n  calls += 1\n"
            + "  return launch(x) if calls % 2 else launch(x)",
        // a counter of one call's own
        "class Plan:\n  stages = 1\ndef entry(x):\n  plan = Plan()\n  if x.dim():\n"
            + "    plan.stages += 1\n  if plan.stages > 1:\n    launch(x)\n  return x",
        "def entry(x):\n  n = 0\n  def more():\n    nonlocal n\n    n += 1\n  more()\n"
            + "  if n:\n    launch(x)\n  return x",
        // counts what did not parse
        "def entry(x):\n  global calls\n  calls += 1\n  if calls < 3:\n    launch(x)\n"
            + "  return launch(x), *[None] * 3",
      })
  void honestCountersAreAccepted(String source) {
    assertThat(found(source)).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("others")
  void timingCheatIsFound(String rule, String source) {
    assertThat(found(source)).containsOnly(rule);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "def entry(x):\n  if not x.is_cuda:\n    return torch.from_numpy(x.numpy() * 2)\n"
            + "  return launch(x)",
        "def host(x):\n  return torch.from_numpy(x.cpu().numpy() * 2)\n"
            + "def entry(x):\n  return host(x) if x.dim() > 9 else launch(x)",
        "def entry(x):\n  try:\n    return launch(x)\n  except RuntimeError:\n"
            + "    return torch.tensor(x.cpu().numpy() * 2)",
      })
  void branchOnTheCpuIsANote(String source) {
    assertThat(severities(source)).containsExactly(Severity.NOTE);
    String always = source + "\ndef other(x):\n  return torch.tensor(x.numpy() * 2)";
    assertThat(severities(always)).containsExactly(Severity.NOTE, Severity.REJECT);
  }

  private static List<Severity> severities(String source) {
    return new StaticCheck(Rules.of(new CpuOffload()))
        .check(LAUNCH + source, null).findings().stream().map(Finding::severity).toList();
  }

  static Stream<Arguments> others() {
    return Stream.of(
            new String[] {"sleeping", "def entry(x):\n  time.sleep(1)\n  return launch(x)"},
            new String[] {
              "background-work",
              "def entry(x):\n  threading.Thread(target=launch, args=(x,)).start()\n  return x"
            },
            new String[] {
              "background-work",
              "from concurrent.futures import ThreadPoolExecutor as Pool\npool = Pool(2)\n"
                  + "def entry(x):\n  pool.submit(launch, x)\n  return x"
            },
            new String[] {
              "graph-replay", "g = torch.cuda.CUDAGraph()\ndef entry(x):\n  g.replay()"
            },
            new String[] {
              "side-stream", "s = torch.cuda.Stream()\ndef entry(x):\n  return launch(x)"
            },
            new String[] {
              "phase-detection", "def entry(x):\n  return launch(x) if 'test' in sys.argv[0] else x"
            },
            new String[] {
              "phase-detection",
              "def entry(x):\n"
                  + "  if torch.autograd._profiler_enabled():\n"
                  + "    return launch(x)\n"
                  + "  return x"
            },
            new String[] {
              "lazy-tensor", "class Lazy(torch.Tensor):\n  pass\ndef entry(x):\n  return launch(x)"
            },
            new String[] {
              "lazy-tensor",
              "from torch.overrides import TorchFunctionMode as M\nclass L(M):\n  pass\n"
                  + "def entry(x):\n  return launch(x)"
            },
            new String[] {
              "second-device", "def entry(x):\n  return launch(x.to('cuda:1')).to(x.device)"
            },
            new String[] {
              "second-device", "torch.cuda.set_device(1)\ndef entry(x):\n  return launch(x)"
            },
            new String[] {
              "cpu-offload",
              "def entry(x):\n  return torch.from_numpy(x.cpu().numpy() * 2).to(x.device)"
            },
            new String[] {
              "cpu-offload",
              "def host(x):\n  return x.cpu().numpy() * 2\n"
                  + "def entry(x):\n  return torch.tensor(host(x), device='cuda')"
            })
        .map(pair -> Arguments.of(pair[0], pair[1]));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "lock = threading.Lock()\ndef entry(x):\n  with lock:\n    return launch(x)",
        "def entry(x):\n  torch.cuda.set_device(0)\n  return launch(x.to('cuda:0'))",
        "def entry(x):\n  n = x.cpu().tolist()\n  return launch(x)",
        "ONE = torch.tensor(1.0)\ndef entry(x, k):\n  n = int(k.cpu().numpy())\n"
            + "  return launch(x * torch.tensor([0.5, 2.0]) + n * ONE)",
        "def entry(x, seed):\n  torch.manual_seed(seed)\n  return launch(x)",
        "def entry(x):\n  return launch(x)\ndef selftest():\n  for n in (1, 2):\n"
            + "    torch.manual_seed(3407)\n    print(torch.equal(entry(n), n))\nselftest()",
        "def entry(x):\n  return launch(x)\nif __name__ == '__main__':\n  time.sleep(1)\n"
            + "  torch.manual_seed(0)\n  print(sys.argv, torch.equal(entry(1), 1))",
        "class Gelu(torch.autograd.Function):\n  pass\nclass M(torch.nn.Module):\n  pass\n"
            + "def entry(x):\n  return launch(x)",
      })
  void honestSourceIsAccepted(String source) {
    assertThat(found(source)).isEmpty();
  }

  @Test
  void kernelsOfTheSuiteHaveNoFindings() throws Exception {
    List<String> wrong = new ArrayList<>();
    int seen = 0;
    for (Path root : List.of(Path.of("tasks/kernelbenchx"), Path.of("corpus/honest"))) {
      try (Stream<Path> files = Files.walk(root)) {
        for (Path file : files.filter(TimingRulesTest::honest).toList()) {
          String name = file.getFileName().toString();
          List<String> ids = found(Files.readString(file), name.substring(0, name.length() - 3));
          ids.removeIf("side-stream"::equals);
          if (!ids.isEmpty()) wrong.add(file + " " + ids);
          seen++;
        }
      }
    }
    assertThat(wrong).isEmpty();
    assertThat(seen).isGreaterThan(100);
  }

  private static boolean honest(Path file) {
    return file.toString().endsWith(".py")
        && (file.startsWith("corpus") || file.toString().contains("/kernels/"));
  }

  @Test
  void eachRuleFindsItsExample() {
    for (Rule rule : RULES) {
      RuleInfo info = rule.info();
      if (info.id().equals("replayed-result")) continue; // its example leaves the kernel out
      assertThat(found(info.example(), "kernel_function")).contains(info.id());
    }
  }
}
