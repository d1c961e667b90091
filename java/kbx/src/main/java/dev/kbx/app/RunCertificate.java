package dev.kbx.app;

import dev.kbx.certify.CertificateHeader;
import dev.kbx.certify.CertificateWriter;
import dev.kbx.certify.SigningKey;
import dev.kbx.error.InputException;
import dev.kbx.files.AtomicFile;
import dev.kbx.store.RunStore;
import dev.kbx.task.InvalidSuite;
import dev.kbx.task.Task;
import dev.kbx.task.UnknownTask;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Certificates of runs: signed files of their verdicts, with sources and rounds. */
public final class RunCertificate {
  private RunCertificate() {}

  /**
   * The run, which is finished and was judged by kbx.
   *
   * @param id null for the newest
   */
  public static RunInfo certifiable(ResultsFolder results, RunStore store, @Nullable String id) {
    RunInfo chosen =
        id == null
            ? NamedRun.newest(store.runs(), results.place())
            : store.run(id).orElseThrow(() -> results.unknown(id, store));
    if (chosen.published() != null) {
      throw new InputException(
          "run %s is as published: kbx can vouch for none of it; 'kbx eval' judges its kernels"
              .formatted(chosen.id()));
    }
    if (chosen.neverEnds()) {
      throw new InputException(
          "run %s is one of kbx serve or kbx mcp, which has no end: certify one of kbx eval"
              .formatted(chosen.id()));
    }
    if (chosen.finished() == null) {
      throw new InputException(
          "run %s is not finished: if no kbx is at it, 'kbx eval --resume' completes it"
              .formatted(chosen.id()));
    }
    return chosen;
  }

  /**
   * Writes a run's certificate.
   *
   * @param sources whether it has the candidates' sources
   */
  public static CertificateHeader write(
      Home home, RunStore store, RunInfo run, Path file, SigningKey signing, boolean sources) {
    CertificateHeader header = header(home, store, run, sources);
    AtomicFile.replace(file, writer -> write(writer, store, header, signing, sources));
    return header;
  }

  private static CertificateHeader header(
      Home home, RunStore store, RunInfo chosen, boolean sources) {
    TreeSet<String> paths = new TreeSet<>();
    CertificateHeader.Counts[] counts = {CertificateHeader.Counts.NONE};
    store.forEach(
        chosen.id(),
        stored -> {
          Verdict verdict = stored.verdict();
          paths.add(verdict.provenance().category() + "/" + verdict.provenance().task());
          counts[0] = counts[0].and(verdict);
        });
    Map<String, String> tasks = digests(home, chosen);
    tasks.keySet().retainAll(paths);
    return CertificateHeader.of(Home.version(), chosen, tasks, counts[0], sources);
  }

  /** Fingerprints of the run's tasks; none if its suite is not here. */
  static Map<String, String> digests(Home home, RunInfo run) {
    Map<String, String> digests = new TreeMap<>();
    try {
      for (Task task : home.suite(run.suite()).find(run.tasks())) {
        digests.put(task.path(), task.digest());
      }
    } catch (InvalidSuite | UnknownTask _) {
      // A suite of another machine: then nothing is said of its tasks.
    }
    return digests;
  }

  private static void write(
      Writer writer, RunStore store, CertificateHeader header, SigningKey signing, boolean sources)
      throws IOException {
    CertificateWriter certificate = new CertificateWriter(writer, header);
    store.forEach(
        header.run().id(),
        stored -> {
          String code =
              !sources
                  ? null
                  : store.source(stored.verdict().provenance().candidate()).orElse(null);
          try {
            certificate.add(stored.json(), code);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
    certificate.seal(signing);
  }
}
