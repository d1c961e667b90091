package dev.kbx.cli;

import dev.kbx.app.CertificateReplay;
import dev.kbx.app.Home;
import dev.kbx.certify.CertificateCheck;
import dev.kbx.certify.CertificateHeader;
import dev.kbx.certify.CheckedFigures;
import dev.kbx.document.Counted;
import dev.kbx.document.Text;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The check of a certificate for a terminal.
 *
 * @param wanted who has to have signed it; null for anybody
 */
record CertificateText(CertificateCheck checked, @Nullable String wanted) {
  /** Problems that are printed; --json has all. */
  private static final int SHOWN = 20;

  /** Whether it holds and is signed by whom it has to be. */
  boolean holds() {
    return checked.holds() && (wanted == null || wanted.equals(checked.signer()));
  }

  List<String> lines(Path file) {
    List<String> lines = new ArrayList<>();
    CertificateHeader header = checked.header();
    if (header != null) {
      lines.add(
          "run %s on %s: %s, %d correct, certified %s"
              .formatted(
                  header.run().id(),
                  header.run().device().name(),
                  Counted.of(header.verdicts(), "verdict"),
                  header.correct(),
                  header.certified()));
    }
    lines.add("signature: " + signature());
    lines.add(
        "sources: %d of %d compared"
            .formatted(checked.figures().sources(), checked.figures().entries()));
    figures(lines, checked.figures());
    checked.problems().stream().limit(SHOWN).forEach(problem -> lines.add("wrong: " + problem));
    int more = checked.problems().size() - SHOWN;
    if (more > 0) lines.add("wrong: %d more, in --json".formatted(more));
    lines.add(holds() ? "the certificate holds" : "DO NOT TRUST " + file);
    lines.replaceAll(Text::clean); // Its names are anybody's text.
    return lines;
  }

  private static void figures(List<String> lines, CheckedFigures figures) {
    lines.add(
        "figures: %s of %s computed again from their rounds"
            .formatted(
                Counted.of(figures.sizes(), "size"), Counted.of(figures.verdicts(), "verdict")));
    if (figures.compiled() > 0) {
      lines.add(
          "figures: %s against compiled references computed again from the rounds of these"
              .formatted(Counted.of(figures.compiled(), "speedup")));
    }
    if (figures.withoutRounds() > 0) {
      lines.add(
          "not checked: %s without rounds, and the speedups of %s with such sizes"
              .formatted(
                  Counted.of(figures.sizesWithoutRounds(), "size"),
                  Counted.of(figures.withoutRounds(), "verdict")));
    }
    if (figures.otherBaselines() > 0) {
      lines.add(
          "not checked: %s against compiled references without rounds of these"
              .formatted(Counted.of(figures.otherBaselines(), "speedup")));
    }
    if (figures.launched() > 0) {
      lines.add(
          "not checked: times launched from Python, beside those of CUDA graphs, of %s"
              .formatted(Counted.of(figures.launched(), "size")));
    }
    if (figures.deviceUse() > 0) {
      lines.add(
          "not checked: use of the device (rates, limits, clocks, memory) of %s"
              .formatted(Counted.of(figures.deviceUse(), "size")));
    }
  }

  private String signature() {
    String by = checked.signer();
    if (by == null) return "NOT VALID";
    if (wanted != null)
      return wanted.equals(by) ? "valid, by " + by : "by " + by + ", NOT by " + wanted;
    boolean own =
        Home.here().knownSigningKey().map(known -> known.signer().equals(by)).orElse(false);
    return own
        ? "valid, by %s, this installation".formatted(by)
        : "valid, by %s; whose key that is, its owner has to say (--signer)".formatted(by);
  }

  /** What came of judging some candidates again. */
  static List<String> replayed(CertificateReplay.Result result) {
    List<CertificateReplay.Row> rows = result.rows();
    List<String> lines = new ArrayList<>();
    long comparable = rows.stream().filter(row -> row.incomparable() == null).count();
    lines.add(
        "replayed on %s%s: %d of %d verdicts agree, %d cannot be compared"
            .formatted(
                result.device(),
                result.otherJudge() ? ", by another version of the judge" : "",
                rows.stream().filter(CertificateReplay.Row::agrees).count(),
                comparable,
                rows.size() - comparable));
    long timed = rows.stream().filter(row -> row.speed() != null).count();
    long within = rows.stream().filter(row -> Objects.equals(row.speed(), true)).count();
    long apart = rows.stream().filter(row -> row.speedIncomparable() != null).count();
    lines.add(
        "speedups: %d of %d within both intervals, %d cannot be compared"
            .formatted(within, timed, apart));
    lines.replaceAll(Text::clean); // Names in a certificate are anybody's text.
    for (CertificateReplay.Row row : rows)
      line(row).ifPresent(line -> lines.add("  " + Text.clean(line)));
    return lines;
  }

  private static Optional<String> line(CertificateReplay.Row row) {
    if (row.incomparable() != null) {
      return Optional.of("%s: not compared: %s".formatted(row.candidate(), row.incomparable()));
    }
    if (row.now() != null && row.disagrees()) {
      return Optional.of(
          "%s: %s then, %s here".formatted(row.candidate(), row.then().label(), row.now().label()));
    }
    if (Objects.equals(row.speed(), false)) {
      return Optional.of("%s: the intervals of its speedups are apart".formatted(row.candidate()));
    }
    return row.speedIncomparable() == null
        ? Optional.empty()
        : Optional.of(
            "%s: speedup not compared: %s".formatted(row.candidate(), row.speedIncomparable()));
  }
}
