package dev.kbx.judge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.Patience;
import dev.kbx.candidate.Candidate;
import dev.kbx.device.Workers;
import dev.kbx.outcome.Outcome;
import dev.kbx.plan.ModulePrecision;
import dev.kbx.plan.Plan;
import dev.kbx.syntax.SyntaxCheck;
import dev.kbx.task.Policy;
import dev.kbx.verdict.Status;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What of a candidate is compiled ahead, what of that is kept, and when there is no more to be. */
@Timeout(Patience.SECONDS)
class PrecompilerTest {
  private static final Map<String, String> VERSIONS = Map.of("worker", "abc");
  private static final String LIBRARY = "libraries/d.so";
  private static final String AT_IMPORT = "triton/a/kernel.cubin";
  private static final String IN_FORWARD = "triton/b/kernel.cubin";

  @TempDir private Path folder;
  private final Workers workers = FakeWorkers.start();

  @AfterEach
  void close() {
    workers.close();
  }

  private static String made(boolean whole, String... files) {
    StringBuilder list = new StringBuilder();
    for (String file : files) {
      if (!list.isEmpty()) list.append(',');
      list.append('"').append(file).append("\":\"\"");
    }
    return "{\"type\":\"precompiled\",\"id\":$id,\"files\":{%s},\"kernels\":0,\"whole\":%s,"
            .formatted(list, whole)
        + "\"seconds\":0,\"left_out\":[],\"requests\":[]}";
  }

  /** A source that brings C++: what it has compiled before the calls, and with them. */
  private static Map<String, Object> source(String before, String withCalls) {
    Map<String, Object> script = new HashMap<>();
    script.put("cpp_extension", true);
    script.put("triton", true);
    script.put("precompile", List.of(before));
    script.put("precompile_calls", List.of(withCalls));
    return script;
  }

  private Precompiler.Compiled compile(Candidate candidate) throws Exception {
    Plan plan = FakeWorkers.plan(Duration.ofSeconds(10), Duration.ofSeconds(60));
    JudgingSlot judgingSlot =
        new JudgingSlot(
            FakeWorkers.slot(workers, 0),
            BinaryCache.in(folder, _ -> {}),
            null,
            SyntaxCheck.PARSER);
    return new Precompiler(judgingSlot, plan, new JudgementBuilder(Policy.KERNEL, null), VERSIONS)
        .compile(candidate);
  }

  /** A machine that compiles for a GPU that it has not, or receives what is compiled for one. */
  private Precompiler elsewhere(String cache, String arch, Map<String, String> versions) {
    JudgingSlot judgingSlot =
        new JudgingSlot(
            FakeWorkers.slot(workers, 0),
            BinaryCache.in(folder.resolve(cache), _ -> {}),
            null,
            SyntaxCheck.PARSER);
    JudgementBuilder draft = new JudgementBuilder(Policy.KERNEL, null);
    return new Precompiler(judgingSlot, arch, FakeWorkers.plan("sm_80"), draft, versions);
  }

  @Test
  void binariesOfAnotherMachineNeedEqualCompilersAndGpu() throws Exception {
    var script = source(made(true, LIBRARY), made(true, LIBRARY, IN_FORWARD));
    Candidate candidate = FakeWorkers.candidate("task", script);
    Map<String, String> versions = Map.of("worker", "abc", "nvcc", "13.0", "cupti", "130000");
    Map<String, String> theirs = Map.of("worker", "abc", "nvcc", "13.0", "witness", "native");
    Binaries made = elsewhere("theirs", "sm_90", theirs).binaries(candidate).orElseThrow();
    assertThat(made.compiled().files()).containsOnlyKeys(LIBRARY, IN_FORWARD);

    script.put("precompile", List.of("signal 9"));
    Precompiler same = elsewhere("same", "sm_90", versions);
    same.keep(made, candidate);
    assertThat(same.compile(candidate).ahead().files()).isEqualTo(made.compiled().files());
    for (Precompiler other :
        List.of(
            elsewhere("gpu", "sm_100", versions),
            elsewhere("nvcc", "sm_90", Map.of("worker", "abc", "nvcc", "12.8")))) {
      other.keep(made, candidate);
      assertThat(other.binaries(FakeWorkers.candidate("task", script))).isEmpty();
    }
  }

  @Test
  void incompleteBinariesAreNotSent() throws Exception {
    var script = source(made(true, IN_FORWARD), made(false, IN_FORWARD));
    Candidate candidate = FakeWorkers.candidate("task", script);
    assertThat(elsewhere("theirs", "sm_90", VERSIONS).binaries(candidate)).isEmpty();
  }

  @Test
  void kernelsAreCompiledOnceMoreByARunnerWithoutTheCandidate() throws Exception {
    String told = made(true, IN_FORWARD).replace("\"requests\":[]", "\"requests\":[\"{}\"]");
    Map<String, Object> script = new HashMap<>(Map.of("precompile", List.of(told)));
    Candidate candidate = FakeWorkers.candidate("task", script);
    Precompiler compiler = elsewhere("kernels", "sm_90", VERSIONS);
    assertThat(compiler.compile(candidate).ahead().kernels()).containsOnlyKeys("key");
    assertThat(compiler.binaries(candidate).orElseThrow().compiled().kernels())
        .containsOnlyKeys("key");
  }

  @ParameterizedTest
  @ValueSource(strings = {"signal 9", "exit 1"})
  void whatIsLostThereIsNotKeptAndTheRestIsUsed(String end) throws Exception {
    String told = made(true, IN_FORWARD).replace("\"requests\":[]", "\"requests\":[\"{}\"]");
    Map<String, Object> script = new HashMap<>();
    script.put("precompile", List.of(told));
    script.put("rebuild", List.of(end));
    Candidate candidate = FakeWorkers.candidate("task", script);
    Precompiler compiler = elsewhere("lost", "sm_90", VERSIONS);
    Ahead made = compiler.compile(candidate).ahead();
    assertThat(made.files()).containsOnlyKeys(IN_FORWARD);
    assertThat(made.kernels()).isEmpty();
    assertThat(compiler.binaries(candidate)).isEmpty();
  }

  private Precompiler.Compiled compile(Map<String, Object> script) throws Exception {
    return compile(FakeWorkers.candidate("task", script));
  }

  private Precompiler.Compiled constructed(Map<String, Object> script) throws Exception {
    return compile(FakeWorkers.module("constructed", script));
  }

  private Map<String, String> kept(Map<String, Object> script) {
    Candidate candidate = FakeWorkers.candidate("task", script);
    return BinaryCache.in(folder, _ -> {})
        .read(BinaryCache.Key.of(candidate, ModulePrecision.FP32, "sm_90", false, VERSIONS))
        .files();
  }

  @Test
  void kernelLaunchedAtImportKeepsCppOfForward() throws Exception {
    var script = source(made(true, AT_IMPORT), made(true, AT_IMPORT, LIBRARY));
    assertThat(compile(script).ahead().files()).containsOnlyKeys(AT_IMPORT, LIBRARY);
  }

  @Test
  void cppAtImportKeepsKernelsOfForward() throws Exception {
    var script = source(made(true, LIBRARY), made(true, LIBRARY, IN_FORWARD));
    assertThat(compile(script).ahead().files()).containsOnlyKeys(LIBRARY, IN_FORWARD);
    assertThat(kept(script)).containsOnlyKeys(LIBRARY, IN_FORWARD);
    assertThat(constructed(script).ahead().files()).containsOnlyKeys(LIBRARY, IN_FORWARD);
  }

  @Test
  void incompleteBinariesAreNotCached() throws Exception {
    String whole = made(true, IN_FORWARD);
    String full = whole.replace("\"left_out\":[]", "\"left_out\":[\"triton\"]");
    for (var script : List.of(source(whole, made(false, IN_FORWARD)), source(whole, full))) {
      assertThat(compile(script).ahead().files()).containsOnlyKeys(IN_FORWARD);
      assertThat(kept(script)).isEmpty();
    }
  }

  @Test
  void cppWithoutKernelsIsCompiledWithoutCalls() throws Exception {
    var script = source(made(true, LIBRARY), "signal 9");
    script.remove("triton");
    assertThat(compile(script).ahead().files()).containsOnlyKeys(LIBRARY);
    assertThat(kept(script)).containsOnlyKeys(LIBRARY);
  }

  @Test
  void cppSurvivesACrashInACall() throws Exception {
    var script = source(made(true, LIBRARY), "signal 9");
    assertThat(compile(script).ahead().files()).containsOnlyKeys(LIBRARY);
    assertThat(kept(script)).as("there may have been more").isEmpty();
  }

  @Test
  void cppSurvivesACrashInConstruct() throws Exception {
    var script = source(made(true, LIBRARY), made(true));
    script.put("construct", List.of("signal 9"));
    assertThat(constructed(script).ahead().files()).containsOnlyKeys(LIBRARY);
  }

  @Test
  void constructOutOfMemoryFailsPrecompilation() throws Exception {
    var script = source(made(true, AT_IMPORT), made(true));
    script.put("construct", List.of("memory"));
    assertThat(constructed(script).failure())
        .get()
        .extracting(Outcome::status)
        .isEqualTo(Status.OUT_OF_MEMORY);
  }

  @Test
  void oversizedLibrariesNameTheLimit() throws Exception {
    String left = made(true).replace("\"left_out\":[]", "\"left_out\":[\"libraries\"]");
    var script = source(left, left);
    assertThat(compile(script).failure())
        .get()
        .satisfies(outcome -> {
          assertThat(outcome.status()).isEqualTo(Status.COMPILE_ERROR);
          assertThat(outcome.message()).contains("more than 3 MiB").hasLineCount(1);
        });
    assertThat(kept(script)).isEmpty();
  }

  @Test
  void cppErrorsAreReportedThoughTheImportRaises() throws Exception {
    var script = source(made(true, "libraries/d.json"), made(true));
    script.put("load", List.of(raised("compile")));
    assertThat(compile(script).ahead().files()).containsOnlyKeys("libraries/d.json");
  }

  @Test
  void kernelsOfAFailedImportAreIncomplete() throws Exception {
    var script = source(made(true, AT_IMPORT), made(true));
    script.put("load", List.of(raised("memory")));
    assertThat(compile(script).ahead().files()).containsOnlyKeys(AT_IMPORT);
    assertThat(kept(script)).isEmpty();
  }

  private static String raised(String kind) {
    return "{\"type\":\"raised\",\"id\":$id,\"kind\":\"%s\",\"exception\":\"E\",\"message\":\"m\","
            .formatted(kind)
        + "\"frames\":[],\"compiled\":[]}";
  }
}
