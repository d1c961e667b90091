package dev.kbx.cli;

import dev.kbx.app.Home;
import dev.kbx.app.Reason;
import dev.kbx.app.UserError;
import dev.kbx.certify.CertificateHeader;
import dev.kbx.document.Text;
import dev.kbx.task.InvalidSuite;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.task.UnknownTask;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The tasks that candidates of a certificate are judged by again. A certificate is anybody's file,
 * and task files are programs: so they are kbx's own, or lie in a folder that the user names. In
 * the latter case their code runs in a sandbox.
 *
 * @param tasks by path
 * @param confinedTo the named folder, by its real path; null if the tasks are kbx's own
 */
record ReplayedSuite(Map<String, Task> tasks, @Nullable Path confinedTo) {

  /**
   * The tasks of a certificate's run.
   *
   * @param named the folder that the user names, if any
   * @throws UserError if the run's suite is not kbx's own and no folder is named, or that cannot be
   *     used
   */
  static ReplayedSuite of(CertificateHeader header, @Nullable Path named) {
    if (named == null) {
      Suite bundled =
          Home.here()
              .bundledSuite(header.run().suite())
              .orElseThrow(() -> new UserError(foreign(header.run().suite())));
      return new ReplayedSuite(tasks(bundled, header), null);
    }
    Path folder = real(named);
    return new ReplayedSuite(tasks(Home.here().suite(folder.toString()), header), folder);
  }

  private static String foreign(String suite) {
    return "--replay: '%s' is not a suite of this kbx, and task files are programs; --suite DIR names the folder with a copy, whose code then runs in the sandbox"
        .formatted(Text.clean(suite));
  }

  private static Path real(Path named) {
    Path folder;
    try {
      folder = named.toRealPath();
    } catch (IOException e) {
      throw new UserError("--suite %s: cannot be read: %s".formatted(named, Reason.of(e)));
    }
    // All that lies in it can be read by its code.
    if (ofThisUser().anyMatch(own -> own.startsWith(folder))) {
      throw new UserError(
          "--suite %s: kbx's own files or your home lie in it; name the folder of the suite alone"
              .formatted(named));
    }
    return folder;
  }

  private static Stream<Path> ofThisUser() {
    Stream<Path> home =
        Optional.ofNullable(System.getenv("HOME")).filter(text -> !text.isBlank()).stream()
            .map(Path::of);
    return Stream.of(Home.here().stateFolders().stream(), Stream.of(Home.here().folder()), home)
        .flatMap(paths -> paths)
        .map(ReplayedSuite::resolved);
  }

  private static Path resolved(Path path) {
    try {
      return path.toRealPath();
    } catch (IOException e) {
      return path.toAbsolutePath().normalize();
    }
  }

  private static Map<String, Task> tasks(Suite suite, CertificateHeader header) {
    Map<String, Task> found = new HashMap<>();
    try {
      List<Task> selected = suite.find(header.run().tasks());
      for (Task task : selected) found.put(task.path(), task);
    } catch (InvalidSuite | UnknownTask _) {
      // None of its tasks is here: each candidate says so.
    }
    return found;
  }
}
