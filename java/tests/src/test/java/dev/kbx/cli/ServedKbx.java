package dev.kbx.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;

/** {@code kbx serve} as a user runs it, on a free port, until it is closed. */
final class ServedKbx implements AutoCloseable {
  private static final Pattern SERVING = Pattern.compile("kbx: serving (http://\\S+)");

  private final Process process;
  private final String url;

  private ServedKbx(Process process, String url) {
    this.process = process;
    this.url = url;
  }

  /**
   * @param folder gets the results and the output of the server
   */
  static ServedKbx start(Path folder) throws IOException {
    return start(folder, Map.of());
  }

  /**
   * The same in another environment.
   *
   * @param options beside those that every server here has
   */
  static ServedKbx start(Path folder, Map<String, String> environment, Object... options)
      throws IOException {
    Path err = folder.resolve("serve.err");
    List<Object> arguments =
        new ArrayList<>(List.of("serve", "--port", "0", "--out", folder.resolve("out")));
    arguments.addAll(List.of(options));
    Process process =
        Kbx.start(folder, environment, folder.resolve("serve.out"), err, arguments.toArray());
    String url =
        Awaitility.await()
            .atMost(2, TimeUnit.MINUTES)
            .until(() -> said(process, err), address -> !address.isEmpty());
    return new ServedKbx(process, url);
  }

  private static String said(Process process, Path err) throws IOException {
    String text = Files.readString(err);
    if (!process.isAlive()) throw new AssertionError("kbx serve ended: " + text);
    Matcher matcher = SERVING.matcher(text);
    return matcher.find() ? matcher.group(1) : "";
  }

  String url() {
    return url;
  }

  /** SIGTERM. */
  void stop() {
    process.destroy();
  }

  /** Its exit status. */
  int awaitEnd() throws InterruptedException {
    return process.waitFor();
  }

  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(1, TimeUnit.MINUTES)) process.destroyForcibly();
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
