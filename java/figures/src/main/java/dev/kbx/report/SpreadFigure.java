package dev.kbx.report;

import dev.kbx.analysis.Portability.Kernel;
import dev.kbx.analysis.Portability.Timed;
import dev.kbx.document.Cell;
import dev.kbx.document.Grid;
import dev.kbx.document.Text;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Each kernel's speedups on a common logarithmic scale: the letter of a device where its speedup
 * lies, {@code *} where those of several do, {@code |} at 1×.
 *
 * @param width columns of the terminal
 */
public record SpreadFigure(int width) {
  /** Kernels that are drawn: those that differ most. */
  private static final int DRAWN = 20;

  private static final int NAME = 28;
  private static final int LEAST = 16;

  /** The lines; none where all speedups are equal. */
  public List<String> lines(List<Kernel> kernels) {
    double[] all =
        kernels.stream()
            .flatMap(kernel -> kernel.speedups().stream())
            .mapToDouble(Timed::value)
            .sorted()
            .toArray();
    if (all.length == 0 || all[0] == all[all.length - 1]) return List.of();
    Scale scale = new Scale(all[0], all[all.length - 1], Math.max(LEAST, width - NAME - 12));
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("spread", "general", scale.ends()));
    kernels.stream()
        .sorted(Comparator.comparingDouble((Kernel k) -> k.maxOverMin().value()).reversed())
        .limit(DRAWN)
        .forEach(kernel ->
            rows.add(
                List.of(
                    Text.cut(Text.clean(kernel.category() + "/" + kernel.task()), NAME),
                    general(kernel),
                    scale.line(kernel.speedups()))));
    return new Grid("lll", rows).lines(width);
  }

  /** Whether it is correct at the general grade on all devices. */
  private static String general(Kernel kernel) {
    if (kernel.general() == null) return Cell.missing().text();
    return kernel.general() ? "yes" : "no";
  }

  private record Scale(double low, double high, int columns) {
    String ends() {
      String from = Cell.ratio(low).text();
      String to = Cell.ratio(high).text();
      return from + " ".repeat(Math.max(1, columns - from.length() - to.length())) + to;
    }

    String line(List<Timed> speedups) {
      char[] line = new char[columns];
      Arrays.fill(line, '·');
      if (low <= 1 && high >= 1) line[place(1)] = '|';
      boolean[] taken = new boolean[columns];
      for (Timed each : speedups) {
        int at = place(each.value());
        line[at] = taken[at] ? '*' : each.device().charAt(0);
        taken[at] = true;
      }
      return new String(line);
    }

    private int place(double speedup) {
      double part = Math.log(speedup / low) / Math.log(high / low);
      return (int) Math.round(part * (columns - 1));
    }
  }
}
