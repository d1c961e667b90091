package dev.kbx.bench;

import dev.kbx.app.Home;
import dev.kbx.app.Reason;
import dev.kbx.candidate.Candidate;
import dev.kbx.candidate.CandidateSources;
import dev.kbx.candidate.Reading;
import dev.kbx.candidate.SuiteMark;
import dev.kbx.error.InputException;
import dev.kbx.task.Policy;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The corpus of a suite on disk: cheats, honest kernels, and kernels of the suite itself. */
final class CorpusFiles {
  /** A candidate with its expected result. */
  record Entry(Specimen specimen, Candidate candidate) {
    /** The policy that its header asks for; empty for its suite's own. */
    Optional<Policy> policy() {
      return Optional.ofNullable(specimen.policy()).flatMap(Policy::of);
    }
  }

  private final Suite suite;

  CorpusFiles(Suite suite) {
    this.suite = suite;
  }

  /** The bundled corpus, and every n-th of the suite's kernels. */
  List<Entry> bundled(int every) {
    Path corpus = Home.here().folder().resolve("corpus");
    // Only those of the default suite are at the top.
    if (SuiteMark.near(corpus.resolve(suite.name())).isPresent()) {
      corpus = corpus.resolve(suite.name());
    }
    List<Entry> entries =
        new ArrayList<>(read(List.of(corpus.resolve("cheats"), corpus.resolve("honest"))));
    List<Task> tasks = suite.tasks().stream().filter(task -> Files.exists(task.kernel())).toList();
    for (int i = 0; i < tasks.size(); i += every) entries.add(kernel(tasks.get(i)));
    return entries;
  }

  /** Files and folders with headers. Throws InputException for what cannot be used. */
  List<Entry> read(List<Path> sources) {
    Reading reading = CandidateSources.read(sources, suite);
    if (!reading.problems().isEmpty()) {
      throw new InputException(reading.problems().getFirst().toString());
    }
    return reading.candidates().stream().map(CorpusFiles::example).toList();
  }

  private static Entry example(Candidate candidate) {
    try {
      return new Entry(
          Specimen.example(shown(Path.of(candidate.origin())), candidate.code()), candidate);
    } catch (Header.Malformed e) {
      throw new InputException(candidate.origin() + ": " + e.getMessage());
    }
  }

  private static Entry kernel(Task task) {
    Path file = task.kernel();
    try {
      String code = Files.readString(file);
      return new Entry(
          Specimen.kernel(shown(file), task.category(), task.name()),
          new Candidate(task, code, file.toString(), 0, null, null, null));
    } catch (IOException e) {
      throw new InputException("%s: cannot be read (%s)".formatted(file, Reason.of(e)), e);
    }
  }

  /** Paths are relative to kbx's folder. */
  private static String shown(Path file) {
    Path whole = file.toAbsolutePath().normalize();
    return whole.startsWith(Home.here().folder())
        ? Home.here().folder().relativize(whole).toString()
        : file.toString();
  }
}
