package dev.kbx.cli;

import dev.kbx.app.Observer;
import dev.kbx.verdict.Spent;
import java.util.List;
import java.util.function.Supplier;

/** Shows on stderr what a use case says. */
final class TerminalObserver implements Observer {
  @Override
  public void note(String line) {
    Terminal.say(line);
  }

  @Override
  public void problems(List<String> problems) {
    Problems.print(problems);
  }

  @Override
  public dev.kbx.python.Progress installing() {
    return Terminal.installing();
  }

  @Override
  public Judging judging(int candidates, int judged, Supplier<String> where) {
    return new Progress(
        System.err, Terminal.interactive(), Terminal.columns(), candidates, judged, where);
  }

  @Override
  public Writing writing(int trajectories, Supplier<Spent> spent) {
    return new GenerationProgress(
        System.err, Terminal.interactive(), Terminal.columns(), trajectories, spent);
  }
}
