package dev.kbx.generate;

import dev.kbx.generate.ProgramPipes.Said;
import dev.kbx.method.Next.Consultation;
import dev.kbx.method.ProgramAnswer;
import dev.kbx.method.ProgramAnswers;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The program of an external method in one trajectory. It is started when its first new answer is
 * needed, and told what happened in earlier sessions; its answers must then be those of before.
 */
final class Program implements AutoCloseable {
  private static final String NEXT = "{\"event\":\"next\"}";

  /** Characters of a wrong line that a message shows. */
  private static final int SHOWN = 60;

  private final ProgramCommand command;
  private final String assignment;
  private @Nullable ProgramPipes pipes;
  private int answers;

  /**
   * @param assignment the first line for it
   */
  Program(ProgramCommand command, String assignment) {
    this.command = command;
    this.assignment = assignment;
  }

  /** Its next answer. Not for several threads at once. */
  ProgramAnswer answer(Consultation consultation) throws ProgramFailure, InterruptedException {
    List<Consultation.Turn> past = consultation.past();
    while (answers < past.size()) {
      int number = answers;
      Consultation.Turn turn = past.get(number);
      if (!isSame(asked(turn.news(), Set.of(), Set.of()), turn.answer())) {
        throw new ProgramFailure(
            "answer %d differs from that before the run was interrupted; the same events must lead to the same answers (no clock, no random numbers without a seed)"
                .formatted(number));
      }
    }
    return asked(consultation.news(), consultation.used(), consultation.kernels());
  }

  /** Costs may differ: what a program asks again may be cached. */
  private static boolean isSame(ProgramAnswer now, ProgramAnswer before) {
    return now.ask().equals(before.ask()) && now.judge().equals(before.judge());
  }

  private ProgramAnswer asked(List<String> news, Set<String> used, Set<String> kernels)
      throws ProgramFailure, InterruptedException {
    ProgramPipes to = pipes == null ? start() : pipes;
    if (to.hasSaid() && answers > 0) throw said(to, "printed a line that nobody asked for");
    if (answers == 0) to.send(assignment);
    news.forEach(to::send);
    to.send(NEXT);
    int number = answers++;
    String line = line(to, number);
    try {
      return new ProgramAnswers(used, kernels).read(line);
    } catch (ProgramAnswers.Invalid e) {
      throw failure("answer %d %s: %s".formatted(number, e.getMessage(), line));
    }
  }

  /** An end that came after the last answer says more than a line. */
  private ProgramFailure said(ProgramPipes from, String what) throws InterruptedException {
    Said said = from.receive(command.timeout());
    return failure(said instanceof Said.Line(String text) ? what + ": " + text : from.ending());
  }

  private ProgramPipes start() throws ProgramFailure {
    try {
      pipes = new ProgramPipes(command);
      return pipes;
    } catch (IOException e) {
      throw failure("cannot be started: " + e.getMessage());
    }
  }

  private String line(ProgramPipes from, int number) throws ProgramFailure, InterruptedException {
    Said said = from.receive(command.timeout());
    return switch (said) {
      case null ->
          throw failure(
              "said nothing for %d s after answer %d was asked for"
                  .formatted(command.timeout().toSeconds(), number));
      case Said.Line(String text) -> command.redact().apply(text);
      case Said.TooLong _ -> throw failure("answer %d is longer than 16 MiB".formatted(number));
      case Said.End _ -> throw failure(from.ending());
    };
  }

  private ProgramFailure failure(String what) {
    String clean = command.redact().apply(what).replaceAll("\\p{Cntrl}+", " ");
    int most = 200 + SHOWN;
    return new ProgramFailure(clean.length() <= most ? clean : clean.substring(0, most) + "…");
  }

  @Override
  public void close() {
    if (pipes != null) pipes.close();
  }
}
