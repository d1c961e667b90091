package dev.kbx.cli;

import dev.kbx.candidate.Candidate;
import dev.kbx.candidate.CandidateSources;
import dev.kbx.candidate.Problem;
import dev.kbx.candidate.Reading;
import dev.kbx.candidate.SourceFiles;
import dev.kbx.facts.Facts;
import dev.kbx.program.Program;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Facts about the sources of {@code kbx check --facts}. */
final class DescribedSources {
  /**
   * One source.
   *
   * @param file its path, with the line of a prediction
   */
  record Described(String file, Facts facts) {}

  private final SuiteOption suite;
  private final Consumer<Problem> problems;

  DescribedSources(SuiteOption suite, Consumer<Problem> problems) {
    this.suite = suite;
    this.problems = problems;
  }

  List<Described> describe(List<Path> sources) throws IOException {
    List<Described> found = new ArrayList<>();
    for (Path source : sources) {
      for (Path file : SourceFiles.in(source, problems)) {
        if (SourceFiles.isPython(file)) {
          String code = SourceFiles.code(file, problems);
          if (code != null) found.add(described(file.toString(), code));
        } else {
          found.addAll(predictions(file));
        }
      }
    }
    return found;
  }

  private List<Described> predictions(Path file) {
    Reading reading = CandidateSources.read(List.of(file), suite.open());
    reading.problems().forEach(problems);
    return reading.candidates().stream().map(DescribedSources::described).toList();
  }

  private static Described described(Candidate candidate) {
    return described(candidate.origin(), candidate.code());
  }

  private static Described described(String file, String code) {
    return new Described(file, Facts.of(Program.of(code)));
  }
}
