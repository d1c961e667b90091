package dev.kbx.section;

import static java.util.stream.Collectors.joining;

import dev.kbx.analysis.DeviceUse;
import dev.kbx.analysis.DeviceUse.Figure;
import dev.kbx.analysis.DeviceUse.Group;
import dev.kbx.analysis.DeviceUse.MemoryRatio;
import dev.kbx.document.Cell;
import dev.kbx.document.Column;
import dev.kbx.document.Counted;
import dev.kbx.document.Section;
import dev.kbx.verdict.Verdict.Bound;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** {@link DeviceUse}: how well correct kernels use the device. */
public final class EfficiencySection {
  private EfficiencySection() {}

  public static Section of(DeviceUse use) {
    Blocks blocks = new Blocks();
    if (use.kernels().isEmpty()) {
      blocks.note(
          "No figures of the device: %s.",
          Objects.requireNonNullElse(use.unmeasured(), "no correct candidate was timed"));
    } else {
      table(blocks, use, MethodNames.of(use.entered()));
      if (use.untimed() > 0) {
        blocks.note(
            "Without such figures: %d of %s.",
            use.untimed(), Counted.of(use.correct(), "correct candidate"));
      }
    }
    return blocks.section("efficiency", "Use of the device");
  }

  private static void table(Blocks blocks, DeviceUse use, MethodNames names) {
    blocks.table(
        "efficiency",
        "Correct, timed kernels at the size that takes the reference longest. mem/comp/launch: by"
            + " what limits them on the roofline. Share of peak: of bandwidth or arithmetic, the"
            + " larger, median and quartiles. Score: 1 at the speed of light, 0.5 at the"
            + " reference's time; median. Memory: peak ÷ the reference's, geometric mean over tasks"
            + " with its 95 % interval.",
        List.of(
            Column.text("kernels of", each -> name(each, names)),
            Column.number("kernels", each -> Cell.count(each.kernels())),
            Column.number("mem/comp/launch", each -> Cell.text(bounds(each))),
            Column.number("share of peak", each -> share(each.utilisation())),
            Column.<Group>number("score", each -> score(each.solScore())),
            Column.<Group>number("memory", each -> memory(each.memory()))),
        use.groups());
  }

  private static String name(Group group, MethodNames names) {
    if (group.category() != null) return group.category();
    return group.maker() == null ? "all" : names.of(group.maker());
  }

  /** {@code 12/3/1}. */
  private static String bounds(Group group) {
    return Stream.of(Bound.MEMORY, Bound.COMPUTE, Bound.LAUNCH)
        .map(bound -> Integer.toString(group.bounds().getOrDefault(bound, 0)))
        .collect(joining("/"));
  }

  private static Cell share(@Nullable Figure figure) {
    return figure == null
        ? Cell.missing()
        : Cell.share(figure.median(), figure.lower(), figure.upper());
  }

  private static Cell score(@Nullable Figure figure) {
    return figure == null ? Cell.missing() : Cell.statistic(figure.median());
  }

  private static Cell memory(@Nullable MemoryRatio memory) {
    return memory == null ? Cell.missing() : Cell.ratio(memory.mean(), memory.low(), memory.high());
  }
}
