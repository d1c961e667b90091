package dev.kbx.timing;

import static dev.kbx.timing.Defaults.NORMAL_QUANTILE;
import static dev.kbx.timing.Defaults.SCATTER;
import static dev.kbx.timing.Defaults.SHORT_SCATTER;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.stats.Ratio;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Intervals against the references that were timed against themselves on a GPU. */
class RecordedNoiseTest {
  private static final Pattern ROW =
      Pattern.compile(
          "(< 10 us|10-50 us|50-500 us|> 500 us) +(\\d+) +\\d+ +([\\d.]+) +([\\d.]+) +([\\d.]+)"
              + " +([\\d.]+) +[\\d.]+ % \\[[^]]*] +([\\d.]+) % (\\[[^]]*]).*");

  /** Sizes of similar duration; percentiles of |log speedup| in percent. */
  private record SizeClass(
      String name,
      String sizes,
      double p50,
      double p90,
      double p95,
      double largest,
      String cover,
      String interval) {
    boolean isShort() {
      return name.endsWith("10 us") || name.equals("10-50 us");
    }

    /** A |log speedup| with these percentiles. */
    double draw(SplittableRandom random) {
      double[] shares = {0, 0.5, 0.9, 0.95, 1};
      double[] percent = {0, p50, p90, p95, largest};
      double share = random.nextDouble();
      int i = 1;
      while (share > shares[i]) i++;
      double part = (share - shares[i - 1]) / (shares[i] - shares[i - 1]);
      return (percent[i - 1] + part * (percent[i] - percent[i - 1])) / 100;
    }
  }

  /** Of all sizes once, then of a few repeatedly. */
  private static List<SizeClass> recorded() throws IOException {
    List<SizeClass> all = new ArrayList<>();
    for (String line : Files.readAllLines(Path.of("bench/noise-h200.txt"))) {
      Matcher row = ROW.matcher(line);
      if (!row.matches()) continue;
      all.add(
          new SizeClass(
              row.group(1),
              row.group(2),
              Double.parseDouble(row.group(3)),
              Double.parseDouble(row.group(4)),
              Double.parseDouble(row.group(5)),
              Double.parseDouble(row.group(6)),
              row.group(7),
              row.group(8)));
    }
    return all;
  }

  @Test
  void shortIntervalsAreAsWideAsWhatWasMeasured() throws IOException {
    List<SizeClass> classes = recorded();
    assertThat(classes).extracting(SizeClass::name).contains("< 10 us", "10-50 us");
    for (SizeClass each : classes) {
      if (!each.isShort()) continue;
      assertThat(100 * NORMAL_QUANTILE * SHORT_SCATTER)
          .as("half an interval, %s", each)
          .isGreaterThanOrEqualTo(each.p95());
    }
  }

  /** Rounds of a process that differs from the next as measured, and hardly from each other. */
  private static PairedSamples process(double ms, double log, SplittableRandom random) {
    PairedSamples rounds = new PairedSamples(4);
    for (int i = 0; i < 8; i++) {
      double candidateMs = ms * Math.exp(log + 0.003 * random.nextGaussian());
      rounds.add(new Round(candidateMs, 0, 0, ms, i % 2 == 0, 1e-6, false));
    }
    return rounds;
  }

  @Test
  void shortIntervalsHoldOneForEveryRecordedClass() throws IOException {
    for (SizeClass each : recorded()) {
      if (!each.isShort()) continue;
      SplittableRandom random = new SplittableRandom(20261129);
      int covered = 0;
      int processes = 4000;
      for (int i = 0; i < processes; i++) {
        double log = each.draw(random) * (random.nextBoolean() ? 1 : -1);
        Ratio ratio = process(0.02, log, random).ratio();
        if (ratio.covers(1)) covered++;
      }
      assertThat((double) covered / processes).as(each.toString()).isGreaterThan(0.94);
    }
  }

  /** The table of the page has what was recorded, of all sizes once. */
  @Test
  void pageHasTheRecordedCoverage() throws IOException {
    String page = Files.readString(Path.of("docs/timing.md"));
    for (SizeClass each : recorded().subList(0, 4)) {
      double least = 100 * NORMAL_QUANTILE * (each.isShort() ? SHORT_SCATTER : SCATTER);
      assertThat(page)
          .contains(
              String.format(
                  Locale.ROOT,
                  "| %s | %s | %.2f %% | %s %% %s | %.1f %% |",
                  each.name(),
                  each.sizes(),
                  each.p95(),
                  each.cover(),
                  each.interval(),
                  least));
    }
    assertThat(page)
        .contains("%s %% and %s %%".formatted(recorded().get(4).p95(), recorded().get(5).p95()))
        .contains("±%.1f %%".formatted(100 * NORMAL_QUANTILE * SHORT_SCATTER))
        .contains("%.2f %%, and %.2f %% where".formatted(100 * SCATTER, 100 * SHORT_SCATTER))
        .contains("%.1f %% or 8 rounds suffice".formatted(100 * Defaults.TIGHT_SHORT));
  }
}
