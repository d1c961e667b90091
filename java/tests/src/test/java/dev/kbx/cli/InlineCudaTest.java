package dev.kbx.cli;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * Candidates that bring CUDA C++, on a machine without a GPU. nvcc is a stand-in that compiles host
 * code, so that nothing of PyTorch's headers is needed.
 */
@Tag("soak-only")
class InlineCudaTest {
  private static final Map<String, String> WITH_NVCC =
      Map.of("CUDA_HOME", Kbx.home().resolve("worker/tests/fake_cuda").toString());
  private static final Map<String, String> WITHOUT_NVCC = Map.of("CUDA_HOME", "/nowhere");

  private static final String SOURCE =
      """
      # %s
      import torch
      from torch import nn
      from torch.utils.cpp_extension import load_inline

      CPP = r\"""
      #include <Python.h>
      PyObject* relu(PyObject*, PyObject*);
      static PyMethodDef methods[] = {{"relu", relu, METH_O, ""}, {0, 0, 0, 0}};
      static PyModuleDef module = {PyModuleDef_HEAD_INIT, "m", 0, -1, methods};
      PyMODINIT_FUNC PyInit_kbx_inline_relu() { return PyModule_Create(&module); }
      \"""
      CUDA = \"""
      #include <Python.h>
      PyObject* relu(PyObject*, PyObject* x) {
          return x;
      }
      \"""
      extension = load_inline("kbx_inline_relu", CPP, CUDA, no_implicit_headers=True)


      class ModelNew(nn.Module):
          def forward(self, x):
              return extension.relu(x)
      """
          .formatted(UUID.randomUUID());

  @TempDir private static Path folder;

  /** Verdicts of a right and of a wrong source, where there is nvcc. */
  private static Map<String, JsonNode> compiled;

  @BeforeAll
  static void judgeBoth() throws Exception {
    write("right", SOURCE);
    write("wrong", SOURCE.replace("return x;", "return undeclared_here;"));
    compiled = verdicts(WITH_NVCC, "first", "right", "wrong");
  }

  private static void write(String name, String source) throws IOException {
    Path file = folder.resolve(name).resolve("level1/19_ReLU.py");
    Files.createDirectories(file.getParent());
    Files.writeString(file, source);
  }

  private static Map<String, JsonNode> verdicts(
      Map<String, String> environment, String out, String... sources) throws Exception {
    List<Object> arguments = new ArrayList<>(List.of("eval"));
    arguments.addAll(List.of(sources));
    arguments.addAll(List.of("--suite", "kernelbench", "--device", "cpu", "--out", out, "--json"));
    arguments.addAll(List.of("--jobs", sources.length));
    Kbx.Result result = Kbx.run(folder, environment, arguments.toArray());
    Map<String, JsonNode> verdicts = new HashMap<>();
    for (JsonNode verdict : result.json().get("verdicts")) {
      verdicts.put(Path.of(verdict.get("source").asString()).getName(0).toString(), verdict);
    }
    assertThat(verdicts).as(result.err()).containsOnlyKeys(sources);
    return verdicts;
  }

  private static JsonNode verdict(Map<String, String> environment, String out) throws Exception {
    return requireNonNull(verdicts(environment, out, "right").get("right"));
  }

  private static String message(JsonNode verdict) {
    return verdict.get("status").asString() + ": " + verdict.get("message").asString();
  }

  @Test
  void inlineCudaIsCompiledOnceAndReportedAsNotRun() throws Exception {
    JsonNode first = requireNonNull(compiled.get("right"));
    JsonNode second = verdict(onlyItsVersion(), "second");
    for (JsonNode each : new JsonNode[] {first, second}) {
      assertThat(message(each))
          .startsWith(
              "runtime_error: compiled for sm_90 and not run: inline CUDA C++ runs only on a"
                  + " GPU");
      assertThat(each.get("versions").get("nvcc").asString()).isEqualTo("13.0.0");
    }
  }

  /** Where the same nvcc says its version and can compile nothing. */
  private Map<String, String> onlyItsVersion() throws IOException {
    Path home = folder.resolve("cuda");
    Path nvcc = Files.createDirectories(home.resolve("bin")).resolve("nvcc");
    Files.writeString(nvcc, "#!/bin/sh\necho 'Cuda compilation tools, release 13.0, V13.0.0'\n");
    Files.setPosixFilePermissions(nvcc, PosixFilePermissions.fromString("rwxr-xr-x"));
    return Map.of("CUDA_HOME", home.toString());
  }

  @Test
  void compileErrorHasTheLineOfTheCandidate() throws Exception {
    JsonNode verdict = requireNonNull(compiled.get("wrong"));
    assertThat(message(verdict))
        .startsWith("compile_error: CompilationError (line 16): candidate.py:16: error:")
        .contains("identifier \"undeclared_here\" is undefined");
    assertThat(verdict.get("stage").asString()).isEqualTo("compile");
  }

  @Test
  void missingNvccIsNamed() throws Exception {
    assertThat(message(verdict(WITHOUT_NVCC, "third")))
        .startsWith("import_error: inline CUDA C++ needs nvcc, which this machine lacks");
  }
}
