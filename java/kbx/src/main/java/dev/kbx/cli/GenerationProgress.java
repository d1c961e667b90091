package dev.kbx.cli;

import dev.kbx.app.Observer;
import dev.kbx.document.Text;
import dev.kbx.generate.Generation;
import dev.kbx.generate.Unit;
import dev.kbx.method.Next;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Spent;
import dev.kbx.verdict.Status;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * Progress of methods on stderr: on a terminal one live line with what was reached and spent; else
 * a line for each answer. Safe for several threads.
 */
final class GenerationProgress implements Observer.Writing {
  private static final long REDRAW_NANOS = 100_000_000;

  private final PrintStream out;
  private final boolean live;
  private final LiveLine line;
  private final int total;
  private final Supplier<Spent> spending;
  private final long start = System.nanoTime();
  private int done;
  private int earlier;
  private int correct;
  private double fastest;
  private long drawn;

  GenerationProgress(
      PrintStream out, boolean live, int columns, int total, Supplier<Spent> spending) {
    this.out = out;
    this.live = live;
    this.line = new LiveLine(out, columns);
    this.total = total;
    this.spending = spending;
  }

  @Override
  public synchronized void answered(Unit unit, Generation.Answered answered, boolean recorded) {
    done++;
    if (recorded) earlier++;
    Judgement found = answered.development();
    if (found != null && found.status() == Status.CORRECT) correct++;
    if (found != null && found.speedup() != null) {
      fastest = Math.max(fastest, found.speedup().value());
    }
    if (recorded) return;
    if (!live) {
      out.print(line(unit, answered));
    } else if (done == total || System.nanoTime() - drawn >= REDRAW_NANOS) {
      draw();
    }
  }

  private String line(Unit unit, Generation.Answered answered) {
    Judgement found = answered.development();
    String status = "no kernel";
    if (answered.answer().code() != null) {
      status = found == null ? "kernel written" : found.status().label();
    }
    return "[%d/%d] %s  %s  %s, sample %d%s%n"
        .formatted(
            done,
            total,
            status,
            Text.clean(unit.task()),
            Text.clean(unit.method()),
            unit.sample(),
            why(answered.answer()));
  }

  /** Which of several kernels is the answer; a method's last one needs no word. */
  private static String why(Next.Answer answer) {
    if (answer.why().equals("last")) return "";
    String form = answer.code() == null ? "  (%s)" : "  (answer: %s)";
    return form.formatted(Text.clean(answer.why()));
  }

  @Override
  public synchronized void finish() {
    if (live) line.erase();
    out.flush();
  }

  private void draw() {
    drawn = System.nanoTime();
    double seconds = (drawn - start) / 1e9;
    int now = done - earlier;
    String left =
        now == 0 ? "" : ", %s left".formatted(LiveLine.clock((total - done) * seconds / now));
    String best = fastest == 0 ? "" : ", up to %.2fx".formatted(fastest);
    String text =
        "%d/%d answers%s  %d correct%s  %s"
            .formatted(done, total, left, correct, best, SpendingText.of(spending.get()));
    line.draw(text);
  }

  /** What was spent, in words. */
  private static final class SpendingText {
    private SpendingText() {}

    static String of(Spent spent) {
      List<String> parts = new ArrayList<>();
      parts.add(spent.calls() + (spent.calls() == 1 ? " call" : " calls"));
      if (spent.reported() > 0) parts.add(spent.reported() + " of them by the program's word");
      if (spent.requests() != spent.calls()) parts.add(spent.requests() + " requests");
      if (spent.lost() > 0) parts.add(spent.lost() + " lost");
      if (spent.tokens() > 0) {
        String least = spent.uncounted() > 0 ? "at least " : "";
        parts.add("%s%,d tokens".formatted(least, spent.tokens()));
      }
      if (spent.usd() > 0) parts.add(usd(spent));
      if (spent.uncounted() > 0) parts.add(spent.uncounted() + " without usage: not priced");
      if (spent.deviceSeconds() > 0) parts.add("%.0f s judging".formatted(spent.deviceSeconds()));
      return String.join(", ", parts);
    }

    /** USD, or at least so much where prices are unknown. */
    static String usd(Spent spent) {
      return "%s%.2f USD".formatted(spent.unpriced() > 0 ? "at least " : "", spent.usd());
    }
  }
}
