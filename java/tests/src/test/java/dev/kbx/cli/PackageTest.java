package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ./kbx package}: its bundle runs where there is no Java. */
class PackageTest {
  private static final long LARGEST_BYTES = 60_000_000;

  @TempDir Path folder;

  @Test
  @Tag("soak-only")
  void theBundleRunsWithoutJava() throws Exception {
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.put("XZ_OPT", "-0"); // A tenth of the time, and half as many bytes more.
    // Not by the launcher, which might build what this build is about to test.
    List<String> packaging =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Dkbx.home=" + Path.of("").toAbsolutePath(),
            "-cp",
            Path.of("target/kbx.jar").toAbsolutePath().toString(),
            "dev.kbx.cli.Main",
            "package",
            "--output",
            folder.toString());

    Launched made = Launched.run(folder, environment, packaging);

    assertThat(made.exit()).as(made.err()).isZero();
    Path archive = Path.of(made.out().lines().toList().getLast());
    assertThat(archive).isAbsolute().isRegularFile();
    assertThat(Files.size(archive)).isBetween(LARGEST_BYTES / 10, LARGEST_BYTES);

    Path elsewhere = Files.createDirectory(folder.resolve("an other place"));
    Launched unpacked =
        Launched.run(elsewhere, environment, List.of("tar", "-xf", archive.toString()));
    assertThat(unpacked.exit()).as(unpacked.err()).isZero();
    assertRuns(elsewhere);
  }

  private void assertRuns(Path elsewhere) throws Exception {
    Path bundle;
    try (Stream<Path> entries = Files.list(elsewhere)) {
      bundle = entries.filter(Files::isDirectory).findFirst().orElseThrow();
    }
    assertThat(bundle.resolve("app/kbx.aot")).isRegularFile();
    Path tools = Files.createDirectory(folder.resolve("tools"));
    Files.createSymbolicLink(tools.resolve("sh"), Path.of("/bin/sh").toRealPath());
    String kbx = bundle.resolve("kbx").toString();
    // AOTMode=on makes a cache that does not fit an error: unpacked elsewhere it must still fit.
    Map<String, String> bare =
        Map.of("PATH", tools.toString(), "JDK_JAVA_OPTIONS", "-XX:AOTMode=on");

    Launched version = Launched.run(folder, bare, List.of(kbx, "--version"));
    assertThat(version.exit()).as(version.out() + version.err()).isZero();
    assertThat(version.out()).matches("kbx \\d+\\.\\d+\\.\\d+\n");

    Launched benchmarks = Launched.run(folder, bare, List.of(kbx, "bench", "--help"));
    assertThat(benchmarks.exit()).as(benchmarks.out() + benchmarks.err()).isZero();
    assertThat(benchmarks.out())
        .contains("cheats ", "noise ", "redteam ", "referee ", "throughput ");

    String corpus = bundle.resolve("corpus").toString();
    String out = folder.resolve("results").toString();
    Launched judged =
        Launched.run(
            folder, bare, List.of(kbx, "eval", corpus, "--stages", "static", "--out", out));
    assertThat(judged.exit()).as(judged.err()).isZero();
    assertThat(folder.resolve("results/report.html")).isRegularFile();
    assertReports(bundle, bare, out);
    assertStartsFromCache(bundle.resolve("kbx"), bare);
  }

  /** As what a command needs of a daemon does: the training has one. */
  private void assertStartsFromCache(Path kbx, Map<String, String> bare) throws Exception {
    String script = Files.readString(kbx);
    Files.writeString(kbx, script.replace("-Xlog:disable", "-Xlog:class+load"));
    Launched told =
        Launched.run(folder, bare, List.of(kbx.toString(), "tasks", "--no-such-option"));
    assertThat(told.out().lines())
        .filteredOn(line -> line.contains(" dev.kbx.cli.DaemonClient "))
        .hasSize(1)
        .allSatisfy(line -> assertThat(line).contains("source: shared objects file"));
  }

  /** All but Parquet, whose library is too large for a GPU node. */
  private void assertReports(Path bundle, Map<String, String> bare, String results)
      throws Exception {
    try (Stream<Path> jars = Files.list(bundle.resolve("app/lib"))) {
      assertThat(jars.map(jar -> jar.getFileName().toString()))
          .noneMatch(name -> name.contains("parquet") || name.contains("hadoop"));
    }
    String data = folder.resolve("data").toString();
    List<String> report =
        List.of(bundle.resolve("kbx").toString(), "report", results, "--output", data, "--format");
    Launched csv = Launched.run(folder, bare, with(report, "csv"));
    assertThat(csv.exit()).as(csv.err()).isZero();
    assertThat(folder.resolve("data/verdicts.csv")).isRegularFile();
    Launched parquet = Launched.run(folder, bare, with(report, "parquet"));
    assertThat(parquet.exit()).isEqualTo(ExitCode.USAGE);
    assertThat(parquet.err())
        .contains("kbx: --format parquet: this bundle has no Parquet; use csv");
    assertThat(folder.resolve("data").toFile().list()).hasSize(2);
  }

  private static List<String> with(List<String> command, String last) {
    return Stream.concat(command.stream(), Stream.of(last)).toList();
  }
}
