package dev.kbx.judge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.plan.ModulePrecision;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BinaryCacheTest {
  private static final Map<String, String> VERSIONS =
      Map.of("torch", "2.13", "worker", "abc", "nvcc", "13.0.88");
  private static final Ahead COMPILED =
      new Ahead(Map.of("libraries/d.so", "x".repeat(1000)), Map.of("abc", "{}"));

  @TempDir private Path folder;
  private final List<String> problems = new ArrayList<>();
  private Instant now = Instant.parse("2026-11-22T03:00:00Z");
  private BinaryCache kept = BinaryCache.nowhere();

  @BeforeEach
  void newRun() {
    newRun(1 << 20);
  }

  private void newRun(long mostBytes) {
    kept = new BinaryCache(folder.resolve("compiled"), () -> now, mostBytes, problems::add);
  }

  private static BinaryCache.Key key(String candidate) {
    return new BinaryCache.Key(candidate, "task", ModulePrecision.FP32, "sm_90", true, VERSIONS);
  }

  private List<Path> files() throws IOException {
    try (var paths = Files.walk(folder)) {
      return paths.filter(Files::isRegularFile).toList();
    }
  }

  @Test
  void cachedBinariesAreReadInAnotherRun() {
    kept.write(key("a"), COMPILED);
    newRun();
    assertThat(kept.read(key("a"))).isEqualTo(COMPILED);
    assertThat(problems).isEmpty();
  }

  @Test
  void cacheKeyHasSourceTaskArchitectureAndToolchain() {
    kept.write(key("a"), COMPILED);
    Map<String, String> newer = new HashMap<>(VERSIONS);
    newer.put("nvcc", "13.1.0");
    for (BinaryCache.Key other :
        List.of(
            key("b"),
            new BinaryCache.Key("a", "other", ModulePrecision.FP32, "sm_90", true, VERSIONS),
            new BinaryCache.Key("a", "task", ModulePrecision.FP16, "sm_90", true, VERSIONS),
            new BinaryCache.Key("a", "task", ModulePrecision.FP32, "sm_80", true, VERSIONS),
            new BinaryCache.Key("a", "task", ModulePrecision.FP32, "sm_90", false, VERSIONS),
            new BinaryCache.Key("a", "task", ModulePrecision.FP32, "sm_90", true, newer))) {
      assertThat(kept.read(other)).as("%s", other).isEqualTo(Ahead.NOTHING);
    }
  }

  /** A file that was moved there says itself what it is of. */
  @Test
  void renamedCacheFileIsIgnored() throws Exception {
    kept.write(key("a"), COMPILED);
    Path file = files().getFirst();
    String name = key("b").name();
    Path other = folder.resolve("compiled").resolve(name.substring(0, 2)).resolve(name + ".json");
    Files.createDirectories(other.getParent());
    Files.move(file, other);
    assertThat(kept.read(key("b"))).isEqualTo(Ahead.NOTHING);
  }

  @Test
  void errorsAndEmptyResultsAreNotCached() throws Exception {
    kept.write(
        key("a"), new Ahead(Map.of("libraries/d.json", "x", "triton/k.cubin", "y"), Map.of()));
    kept.write(key("b"), Ahead.NOTHING);
    assertThat(files()).isEmpty();
    kept.write(key("c"), new Ahead(Map.of("triton/k.json", "x"), Map.of()));
    assertThat(kept.read(key("c")).files()).hasSize(1);
  }

  @Test
  void keyWithoutWorkerFingerprintIsNotCached() throws Exception {
    BinaryCache.Key unknown =
        new BinaryCache.Key("a", "task", ModulePrecision.FP32, "sm_90", true, Map.of());
    kept.write(unknown, COMPILED);
    assertThat(kept.read(unknown)).isEqualTo(Ahead.NOTHING);
    assertThat(files()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "{", "null", "[]", "{}", "{\"key\":{},\"files\":null}"})
  void aFileThatCannotBeReadIsReplaced(String content) throws Exception {
    kept.write(key("a"), COMPILED);
    Files.writeString(files().getFirst(), content);
    assertThat(kept.read(key("a"))).isEqualTo(Ahead.NOTHING);
    kept.write(key("a"), COMPILED);
    assertThat(kept.read(key("a"))).isEqualTo(COMPILED);
  }

  @Test
  void leastRecentlyUsedFilesAreEvictedFirst() throws Exception {
    for (String each : List.of("a", "b", "c")) {
      kept.write(key(each), COMPILED);
      kept.read(key(each)); // Sets the time to the clock's.
      now = now.plusSeconds(1);
    }
    kept.read(key("a"));
    newRun(2 * Files.size(files().getFirst()));
    kept.write(key("d"), COMPILED);
    assertThat(kept.read(key("b"))).isEqualTo(Ahead.NOTHING);
    for (String each : List.of("a", "c", "d")) {
      assertThat(kept.read(key(each))).as(each).isEqualTo(COMPILED);
    }
  }

  @Test
  void aFolderThatCannotBeWrittenIsNamedOnce() throws Exception {
    Files.writeString(folder.resolve("compiled"), "a file where the folder should be");
    kept.write(key("a"), COMPILED);
    kept.write(key("b"), COMPILED);
    assertThat(kept.read(key("a"))).isEqualTo(Ahead.NOTHING);
    assertThat(problems).singleElement().asString().contains("cannot be kept in");
  }
}
