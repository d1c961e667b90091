package dev.kbx.task;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.Bundled;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The bundled suite against the published one: {@code suites/kernelbenchx.tsv} holds category,
 * name, whether it is in the paper's set, and signature of every task.
 */
class KernelBenchXTest {
  private static final Map<String, Long> PUBLISHED =
      Map.ofEntries(
          Map.entry("Fusion", 60L),
          Map.entry("Math", 36L),
          Map.entry("LinearAlgebra", 17L),
          Map.entry("Activation", 10L),
          Map.entry("MatrixMultiply", 10L),
          Map.entry("Reduce", 6L),
          Map.entry("Index", 6L),
          Map.entry("Loss", 6L),
          Map.entry("Quantization", 6L),
          Map.entry("Normalization", 5L),
          Map.entry("Optimizer", 5L),
          Map.entry("SpatialOps", 3L),
          Map.entry("Convolution", 2L),
          Map.entry("Random", 2L),
          Map.entry("Pooling", 2L));

  private static final Suite SUITE = Bundled.suite("kernelbenchx");
  private static final Pattern NUMBER = Pattern.compile("(?<![\\w.])\\d[\\w.]*(?:-\\d+)?");

  /** A line of the list. */
  record Published(String category, String name, boolean extra, String signature) {
    String path() {
      return category + "/" + name;
    }
  }

  static List<Published> published() throws IOException {
    try (InputStream in =
        Objects.requireNonNull(
            KernelBenchXTest.class.getResourceAsStream("/suites/kernelbenchx.tsv"))) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .map(line -> line.split("\t", -1))
          .map(f -> new Published(f[0], f[1], f[2].equals("extra"), f[3]))
          .toList();
    }
  }

  @Test
  void eachFileIsATaskAndCountsAreAsPublished() {
    assertThat(SUITE.broken()).isEmpty();
    Map<String, Long> counts =
        SUITE.tasks().stream()
            .filter(task -> !task.extra())
            .collect(Collectors.groupingBy(Task::category, TreeMap::new, Collectors.counting()));
    assertThat(counts).isEqualTo(new TreeMap<>(PUBLISHED));
    assertThat(SUITE.tasks()).filteredOn(Task::extra).hasSize(8);
  }

  @ParameterizedTest
  @MethodSource("published")
  void kernelForTheOriginalIsAcceptedUnchanged(Published published) {
    List<Task> found = SUITE.find(published.path());
    assertThat(found).hasSize(1);
    assertThat(found.getFirst().extra()).isEqualTo(published.extra);
    assertThat(plain(found.getFirst().signature())).isEqualTo(plain(published.signature));
  }

  /** Without what formatters choose: spaces, quotes, how a number is written. */
  private static String plain(String signature) {
    String text = signature.replaceAll("\\s", "").replace('"', '\'');
    return NUMBER
        .matcher(text)
        .replaceAll(match ->
            match.group().matches("\\d+")
                ? match.group()
                : String.valueOf(Double.parseDouble(match.group())));
  }

  @Test
  void eachTaskIsDescribed() {
    assertThat(SUITE.tasks())
        .allSatisfy(task -> {
          assertThat(task.statement()).as(task.path()).contains(task.entry());
          assertThat(task.difficulty()).as(task.path()).isBetween(1, 5);
          assertThat(task.dtype()).as(task.path()).isNotNull();
          assertThat(task.tags()).as(task.path()).isNotEmpty();
          assertThat(task.operations()).as(task.path()).isNotEmpty();
        });
  }

  @Test
  void kernelsBelongToTasksAndCoverTheSuite() throws IOException {
    Set<Path> kernels = new HashSet<>();
    try (Stream<Path> files = Files.walk(SUITE.root())) {
      files
          .filter(file -> file.toString().endsWith(".py"))
          .filter(file -> file.toString().contains("/kernels/"))
          .forEach(kernels::add);
    }
    Map<Path, Task> tasks =
        SUITE.tasks().stream().collect(Collectors.toMap(Task::kernel, Function.identity()));
    assertThat(tasks.keySet()).containsAll(kernels);
    Map<String, Long> covered =
        kernels.stream()
            .map(kernel -> Objects.requireNonNull(tasks.get(kernel)).category())
            .collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
    assertThat(kernels).hasSizeGreaterThanOrEqualTo(60);
    assertThat(covered).hasSizeGreaterThanOrEqualTo(12);
    assertThat(covered).containsEntry("Quantization", 6L);
    assertThat(covered.get("Fusion")).isGreaterThanOrEqualTo(20);
  }
}
