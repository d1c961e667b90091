package dev.kbx.section;

import static java.util.Objects.requireNonNullElse;
import static java.util.stream.Collectors.joining;

import dev.kbx.analysis.VerdictRow;
import dev.kbx.document.Block.Source;
import dev.kbx.document.Block.Tile;
import dev.kbx.document.Block.Tiles;
import dev.kbx.document.Cell;
import dev.kbx.document.Column;
import dev.kbx.document.Counted;
import dev.kbx.document.Document;
import dev.kbx.document.Section;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Provenance;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.Baseline;
import dev.kbx.verdict.Verdict.Break;
import dev.kbx.verdict.Verdict.Device;
import dev.kbx.verdict.Verdict.Mismatch;
import dev.kbx.verdict.Verdict.SizeTiming;
import dev.kbx.verdict.Verdict.Unknown;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a reviewer needs of one kernel: what came of it, where it fails, for what it holds, how fast
 * it is. Conditions and the complete source are folded.
 */
public final class KernelDocument {
  private static final double TEN = 10;

  private final RunInfo run;
  private final Provenance provenance;
  private final Judgement judgement;
  private final String name;
  private final String source;

  private KernelDocument(RunInfo run, Verdict verdict, String source) {
    this.run = run;
    this.provenance = verdict.provenance();
    this.judgement = verdict.judgement();
    this.name = VerdictRow.of(verdict).name();
    this.source = source;
  }

  /**
   * The document of a verdict.
   *
   * @param source of the candidate; empty if it is not known
   */
  public static Document of(RunInfo run, Verdict verdict, String source) {
    KernelDocument kernel = new KernelDocument(run, verdict, source);
    return new Document(
        "%s: %s".formatted(kernel.name, verdict.judgement().status().label()),
        Stream.of(
                kernel.result(),
                kernel.place(),
                kernel.wrongElements(),
                kernel.breaks(),
                kernel.timings(),
                kernel.conditions(),
                kernel.complete())
            .filter(section -> !section.blocks().isEmpty())
            .toList());
  }

  // ---------------------------------------------------------------- what came of it

  private Section result() {
    Blocks blocks = new Blocks();
    if (run.published() != null) {
      blocks.note("As published (%s): kbx has not judged it.", run.published().format());
    }
    if (judgement.message() != null) blocks.prose("%s", judgement.message());
    if (judgement.rule() != null) blocks.prose("Static rule: %s.", judgement.rule());
    if (judgement.evidence() != null) blocks.prose("Evidence: %s", judgement.evidence());
    String advice = AdvisedErrors.ofStatus(judgement.status());
    if (advice != null) blocks.prose("%s", advice);
    blocks.add(new Tiles(tiles()));
    return blocks.section("result", "Result");
  }

  private List<Tile> tiles() {
    List<Tile> tiles = new ArrayList<>();
    if (judgement.status().blame() == Status.Blame.CANDIDATE) {
      tiles.add(tile("Failed in stage", judgement.stage().label(), ""));
    }
    if (judgement.publishedOk() != null) {
      tiles.add(grade("Published grade", judgement.publishedOk(), "The suite's own calls"));
    }
    if (judgement.generalOk() != null) {
      tiles.add(grade("General grade", judgement.generalOk(), "Calls beyond these, too"));
    }
    if (judgement.speedup() != null) tiles.add(speedup(judgement.speedup()));
    else if (judgement.status() == Status.CORRECT) tiles.add(tile("Speed", "not measured", why()));
    return tiles;
  }

  private Tile grade(String title, boolean right, String calls) {
    String whoever = judgement.withoutPolicy() == null ? "" : ", whoever computed the results";
    return tile(title, right ? "right" : "wrong", calls + whoever + ".");
  }

  private static Tile tile(String title, String figure, String remark) {
    return new Tile(title, Cell.text(figure), remark);
  }

  private Tile speedup(Verdict.Speedup speedup) {
    return new Tile(
        "Speedup",
        RatesSection.speedup(speedup),
        "Against %s%s.".formatted(speedup.baseline(), over(speedup)));
  }

  private String over(Verdict.Speedup speedup) {
    List<SizeTiming> sizes = requireNonNullElse(judgement.sizes(), List.of());
    if (sizes.isEmpty()) return "";
    String all = Counted.of(sizes.size(), "size");
    if (SizeTiming.weights(sizes) == null) return ", geometric mean of " + all;
    return ", of the total time of " + all + unweighted(speedup);
  }

  private String unweighted(Verdict.Speedup speedup) {
    return requireNonNullElse(judgement.baselines(), List.<Baseline>of()).stream()
        .filter(each -> Objects.equals(each.speedup(), speedup.value()))
        .map(Baseline::geometric)
        .filter(Objects::nonNull)
        .map(mean -> Cell.ratio(mean.value(), mean.low(), mean.high()).text())
        .map("; their geometric mean is %s"::formatted)
        .findFirst()
        .orElse("");
  }

  private String why() {
    return judgement.device().onGpu() ? "It was not timed." : "It ran on no GPU.";
  }

  // ---------------------------------------------------------------- where it fails

  private Section place() {
    Blocks blocks = new Blocks();
    int line = SourceExcerpt.failing(judgement).orElse(0);
    String excerpt = SourceExcerpt.around(source, line);
    if (!excerpt.isEmpty()) blocks.add(new Source(excerpt, ""));
    return blocks.section("line", "Line " + line);
  }

  private Section wrongElements() {
    Blocks blocks = new Blocks();
    blocks.stacked(
        "wrong-elements",
        error(),
        List.of(
            Column.text("output", Mismatch::output),
            Column.text("index", each -> each.index().toString()),
            Column.number("expected", each -> Cell.text(each.expected())),
            Column.number("got", each -> Cell.text(each.got()))),
        requireNonNullElse(judgement.mismatches(), List.of()));
    return blocks.section("wrong-elements", "First wrong elements");
  }

  private String error() {
    Map<String, Double> metrics = requireNonNullElse(judgement.errorMetrics(), Map.of());
    Double ratio = metrics.get("error_ratio");
    if (ratio == null || ratio <= 1) return "";
    Cell times = ratio < TEN ? Cell.statistic(ratio) : Cell.count(Math.round(ratio));
    return "The largest error is %s times the tolerance.".formatted(times.text());
  }

  private Section breaks() {
    Blocks blocks = new Blocks();
    List<String> holds = requireNonNullElse(judgement.holds(), List.of());
    if (!holds.isEmpty()) blocks.prose("Holds for %s.", String.join(", ", holds));
    blocks.stacked(
        "breaks",
        "",
        List.of(
            Column.text("breaks on", Break::property),
            Column.text("as", each -> each.status().label()),
            Column.<Break>text("why", KernelDocument::why).wrapped()),
        requireNonNullElse(judgement.breaks(), List.of()));
    blocks.stacked(
        "unknown",
        "",
        List.of(
            Column.text("unknown", Unknown::property),
            Column.<Unknown>text("why", Unknown::message).wrapped()),
        requireNonNullElse(judgement.unknown(), List.of()));
    return blocks.section("beyond", "Beyond the published calls");
  }

  /** Messages begin with the call. */
  private static String why(Break each) {
    String message = requireNonNullElse(each.message(), "");
    return message.startsWith(each.call()) ? message : "%s: %s".formatted(each.call(), message);
  }

  // ---------------------------------------------------------------- how fast it is

  private Section timings() {
    List<SizeTiming> sizes = requireNonNullElse(judgement.sizes(), List.of());
    List<Column.Of<SizeTiming>> columns = new ArrayList<>();
    columns.add(Column.text("size", KernelDocument::shape));
    if (SizeTiming.weights(sizes) != null) {
      columns.add(Column.number("weight", each -> Cell.share(each.weight())));
    }
    columns.add(Column.number("kernel", each -> Cell.seconds(each.candidateMs() / 1_000)));
    columns.add(Column.number("eager", each -> Cell.seconds(each.referenceMs() / 1_000)));
    columns.add(
        Column.number("speedup", each -> Cell.ratio(each.speedup(), each.low(), each.high())));
    Baseline expert = judgement.expert();
    List<Double> ms = expert == null ? null : expert.sizesMs();
    if (ms != null && ms.size() == sizes.size()) {
      columns.add(
          Column.number("expert", each -> Cell.seconds(ms.get(sizes.indexOf(each)) / 1_000)));
    }
    if (sizes.stream().anyMatch(each -> each.bound() != null)) {
      columns.add(
          Column.<SizeTiming>text(
                  "bound by", each -> each.bound() == null ? null : each.bound().label())
              .optional());
      columns.add(Column.<SizeTiming>number("of peak", KernelDocument::ofPeak).optional());
    }
    Blocks blocks = new Blocks();
    blocks.stacked("timings", "", columns, sizes);
    if (expert != null) {
      blocks.prose(
          "%s of the speed of the expert's kernel, timed in the same rounds.",
          RatesSection.ofExpert(judgement).text());
    }
    return blocks.section("timings", "Timings");
  }

  private static String shape(SizeTiming size) {
    return Boolean.TRUE.equals(size.hostBound())
        ? size.shape() + ", waits for the host"
        : size.shape();
  }

  /** The share of the bandwidth or arithmetic rate, whichever limits the size. */
  private static Cell ofPeak(SizeTiming size) {
    if (size.bound() == null) return Cell.missing();
    return switch (size.bound()) {
      case MEMORY -> Cell.share(size.iou());
      case COMPUTE -> Cell.share(size.mfu());
      case LAUNCH -> Cell.missing();
    };
  }

  // ---------------------------------------------------------------- conditions

  private Section conditions() {
    List<Fact> facts = new ArrayList<>();
    facts.add(new Fact("file", provenance.source()));
    facts.add(new Fact("SHA-256", provenance.candidate()));
    facts.add(new Fact("made by", maker()));
    facts.add(new Fact("run", run.title()));
    facts.add(new Fact("begun", Cell.time(run.started()).text()));
    facts.add(new Fact("suite", run.suite()));
    facts.add(new Fact("grade that decides", judgement.grade()));
    facts.add(new Fact("tolerance", run.tolerance()));
    facts.add(new Fact("policy", judgement.policy()));
    facts.add(new Fact("flags", String.join(", ", judgement.flags())));
    facts.add(new Fact("device", device(judgement.device())));
    new TreeMap<>(judgement.versions()).forEach((what, value) -> facts.add(new Fact(what, value)));
    Blocks blocks = new Blocks();
    blocks.table(
        "conditions",
        "",
        List.of(Column.text("condition", Fact::what), Column.text("value", Fact::value)),
        facts.stream().filter(Fact::isKnown).toList());
    return blocks.section("conditions", "Conditions").fold();
  }

  private String maker() {
    return Stream.of(provenance.method(), provenance.model())
        .filter(Objects::nonNull)
        .collect(joining(" · "));
  }

  private static String device(Device device) {
    return Stream.of(
            device.name(),
            device.arch(),
            device.driver() == null ? null : "driver " + device.driver())
        .filter(Objects::nonNull)
        .collect(joining(", "));
  }

  /** A condition; empty or null where it is not known. */
  private record Fact(String what, @Nullable String value) {
    boolean isKnown() {
      return value != null && !value.isEmpty();
    }
  }

  private Section complete() {
    Blocks blocks = new Blocks();
    if (!source.isBlank()) blocks.add(new Source(source.stripTrailing(), "python"));
    return blocks.section("source", "Source").fold();
  }
}
