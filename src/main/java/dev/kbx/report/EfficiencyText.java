package dev.kbx.report;

import dev.kbx.analysis.DeviceUse;
import dev.kbx.analysis.DeviceUse.Figure;
import dev.kbx.analysis.DeviceUse.Group;
import dev.kbx.analysis.DeviceUse.MemoryRatio;
import dev.kbx.document.Grid;
import dev.kbx.document.Text;
import dev.kbx.verdict.Verdict.Bound;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * {@link DeviceUse} for a terminal.
 *
 * @param width columns of the terminal
 */
public record EfficiencyText(int width) {
  private static final String UNKNOWN = "–";
  private static final int NAME = 28;

  /** The text, ending in a line break. */
  public String render(DeviceUse use) {
    PoolText text = new PoolText(width);
    List<String> lines = new ArrayList<>(text.head(use.entered()));
    lines.add("");
    if (use.kernels().isEmpty()) {
      lines.addAll(
          text.wrap(
              "No figures of the device: %s."
                  .formatted(
                      Objects.requireNonNullElse(
                          use.unmeasured(), "no correct candidate was timed"))));
      return String.join("\n", lines) + "\n";
    }
    lines.addAll(table(use));
    lines.addAll(
        text.wrap(
            "Correct, timed kernels at the size that takes the reference longest. mem/comp/launch:"
                + " by what limits them on the roofline. Share of peak: of bandwidth or arithmetic,"
                + " the larger, median and quartiles. Score: 1 at the speed of light, 0.5 at the"
                + " reference's time; median. Memory: peak ÷ the reference's, geometric mean over"
                + " tasks with its 95 % interval."));
    if (use.untimed() > 0) {
      lines.addAll(
          text.wrap(
              "Without such figures: %d of %s."
                  .formatted(use.untimed(), Counted.of(use.correct(), "correct candidate"))));
    }
    return String.join("\n", lines) + "\n";
  }

  private List<String> table(DeviceUse use) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("", "kernels", "mem/comp/launch", "share of peak", "score", "memory"));
    for (Group group : use.groups()) {
      rows.add(
          List.of(
              name(group),
              Integer.toString(group.kernels()),
              bounds(group),
              percent(group.utilisation()),
              group.solScore() == null
                  ? UNKNOWN
                  : String.format(Locale.ROOT, "%.2f", group.solScore().median()),
              memory(group.memory())));
    }
    return new Grid("lrrrrr", rows).lines(width);
  }

  private static String name(Group group) {
    if (group.category() != null) return Text.cut(Text.clean(group.category()), NAME);
    if (group.maker() == null) return "all";
    return Text.cut(IterationsText.name(group.maker().method(), group.maker().model()), NAME);
  }

  /** {@code 12/3/1}. */
  private static String bounds(Group group) {
    return Stream.of(Bound.MEMORY, Bound.COMPUTE, Bound.LAUNCH)
        .map(bound -> Integer.toString(group.bounds().getOrDefault(bound, 0)))
        .collect(Collectors.joining("/"));
  }

  /** {@code 62 % [40–71]}. */
  private static String percent(@Nullable Figure figure) {
    if (figure == null) return UNKNOWN;
    return String.format(
        Locale.ROOT,
        "%.0f %% [%.0f–%.0f]",
        figure.median() * 100,
        figure.lower() * 100,
        figure.upper() * 100);
  }

  private static String memory(@Nullable MemoryRatio memory) {
    if (memory == null) return UNKNOWN;
    return memory.low() == null || memory.high() == null
        ? RateText.ratio(memory.mean())
        : RateText.ratio(memory.mean(), memory.low(), memory.high());
  }
}
