package dev.kbx.task;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.syntax.PythonSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OpenCodeTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "W = torch.load('w.pt')",
        "W = torch.load('w.pt', mmap=True)",
        "W = torch.from_file('w.bin', size=4)",
        "W = torch.UntypedStorage.from_file('w.bin', False, 4)",
        "W = torch.jit.load('w.pt')",
        "W = torch.export.load('w.pt2')",
        "torch.ops.load_library('w.so')",
        "W = torch.hub.load_state_dict_from_url('x')",
        "from torch import load as get",
        "from torch.utils.cpp_extension import load_inline",
        "W = np.fromfile('w.bin')",
        "W = np.memmap('w.bin')",
        "W = np.loadtxt('w.txt')",
        "W = open('w.txt').read()",
        "W = eval(text)",
        "exec(text)",
        "W = f\"{open('w.txt').read()}\"",
        "def f(x):\n    if len(x) > 99: return x * torch.load('w.pt')\n    return x",
        "import os",
        "import safetensors.torch",
        "from pathlib import Path",
        "import pandas as pd",
        "W = __import__('os')",
        "HERE = __file__",
        "W = getattr(torch, 'load')('w.pt')",
        "import torch\nW = getattr(torch.jit, 'lo' + 'ad')('w.pt')",
        "get = getattr",
        "W = operator.attrgetter('load')(torch)('w.pt')",
        "W = np.fromregex('w.txt', '.', np.int8)",
        "W = warnings.linecache.getline('w.txt', 1)",
        "W = random._os.environ",
        "W = torch.utils.data.datapipes.iter.FileOpener(['w.txt'])",
        "W = typing.io.open_code",
        "W = torch._C._get_file('w')",
        "def f(:",
      })
  void codeThatMayReadExternalStateIsOpen(String code) {
    assertThat(OpenCode.in(PythonSource.parse(code), _ -> false)).isPresent();
  }

  @Test
  void aKernelsLoadsReadMemory() {
    String kernel = "import triton\n\n@triton.jit\ndef k(x):\n    tl.load(x)\n";
    assertThat(OpenCode.in(PythonSource.parse(kernel), _ -> false)).isEmpty();
    String host = kernel.replace("@triton.jit\n", "");
    assertThat(OpenCode.in(PythonSource.parse(host), _ -> false)).contains("4: load");
  }

  @Test
  void pureCodeIsClosed() {
    String code =
        """
        from __future__ import annotations
        import math
        import torch, torch.nn as nn
        import torch.nn.functional as F
        from kbx.suite import Close

        class Model(nn.Module):
            def forward(self, x):
                self.eval().load_state_dict(self.state_dict())
                return F.gelu(torch.stack([x]).open_ended()) * math.pi  # open('x')

        TEXT = "open('w.txt')"
        """;
    assertThat(OpenCode.in(PythonSource.parse(code), _ -> false)).isEmpty();
    assertThat(OpenCode.in(PythonSource.parse("import helper"), "helper"::equals)).isEmpty();
    assertThat(OpenCode.in(PythonSource.parse("x = 1\nimport helper"), _ -> false))
        .hasValue("2: import helper");
  }

  @Test
  void theBundledTasksAreClosed() throws IOException {
    try (Stream<Path> files = Files.walk(Path.of("tasks"))) {
      List<Path> tasks =
          files
              .filter(
                  file -> file.toString().endsWith(".py") && !file.toString().contains("kernels"))
              .toList();
      assertThat(tasks).hasSizeGreaterThan(400);
      assertThat(tasks.parallelStream().flatMap(file -> open(file).stream())).isEmpty();
    }
  }

  private static Optional<String> open(Path file) {
    try {
      return OpenCode.in(PythonSource.parse(Files.readString(file)), _ -> false)
          .map(place -> file + ":" + place);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
