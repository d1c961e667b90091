package dev.kbx.server;

import dev.kbx.FreePort;
import dev.kbx.TestProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** An {@link InstantServer} at one port, which may be killed and started again. */
final class ServerProcess implements AutoCloseable {
  /** The variable with the folder for temporary files. */
  static final String TEMPORARY = "TMPDIR";

  private static final Pattern PEAK = Pattern.compile("VmHWM:\\s+(\\d+) kB");

  private final String store;
  private final Path folder;
  private final boolean tokens;
  private final int limit;
  private final int port;
  private final Map<String, String> environment = new HashMap<>();
  private Process process;
  private long peak;
  private double processorSeconds;

  /**
   * @param store path of a file, or address of a database
   * @param folder for files of the server
   */
  static ServerProcess start(String store, Path folder, boolean tokens, int limit)
      throws IOException {
    return start(store, folder, tokens, limit, Map.of());
  }

  /**
   * @param environment variables beside those of this process
   */
  static ServerProcess start(
      String store, Path folder, boolean tokens, int limit, Map<String, String> environment)
      throws IOException {
    return new ServerProcess(store, folder, tokens, limit, environment);
  }

  private ServerProcess(
      String store, Path folder, boolean tokens, int limit, Map<String, String> environment)
      throws IOException {
    Path usual = Files.createDirectories(folder.resolve("temporary"));
    this.environment.put(TEMPORARY, usual.toString());
    this.environment.putAll(environment);
    this.store = store;
    this.folder = folder;
    this.tokens = tokens;
    this.limit = limit;
    this.port = FreePort.find();
    this.process = begin();
  }

  /** With the options of the launcher. */
  private Process begin() throws IOException {
    List<String> command =
        new ArrayList<>(TestProgram.command("320m", InstantServer.class.getName()));
    command.addAll(
        List.of(store, Integer.toString(port), Boolean.toString(tokens), Integer.toString(limit)));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().putAll(environment);
    Process begun =
        builder.redirectError(ProcessBuilder.Redirect.appendTo(errors().toFile())).start();
    String line = begun.inputReader().readLine();
    if (line == null) throw new AssertionError(Files.readString(errors()));
    return begun;
  }

  String url() {
    return "http://127.0.0.1:" + port;
  }

  int port() {
    return port;
  }

  /** What it wrote to stderr. */
  Path errors() {
    return folder.resolve("server.err");
  }

  /** SIGKILL, and the next start. */
  void killAndStart() throws IOException, InterruptedException {
    kill();
    startAgain();
  }

  void kill() throws IOException, InterruptedException {
    peak = peakBytes();
    processorSeconds = processorSeconds();
    int _ = process.destroyForcibly().waitFor();
  }

  void startAgain() throws IOException {
    process = begin();
  }

  /** SIGTERM, and the next start. */
  void stopAndStart() throws IOException, InterruptedException {
    process.destroy();
    process.waitFor();
    process = begin();
  }

  /** The same on a device of this name. */
  void stopAndStart(String device) throws IOException, InterruptedException {
    environment.put(InstantServer.DEVICE, device);
    stopAndStart();
  }

  /** SIGSTOP: it neither answers nor ends. */
  void suspend() throws IOException, InterruptedException {
    signal("STOP");
  }

  void resume() throws IOException, InterruptedException {
    signal("CONT");
  }

  private void signal(String name) throws IOException, InterruptedException {
    new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor();
  }

  /** The largest resident memory of any of its processes. */
  long peakBytes() throws IOException {
    String status = Files.readString(Path.of("/proc", Long.toString(process.pid()), "status"));
    Matcher found = PEAK.matcher(status);
    return Math.max(peak, found.find() ? 1024 * Long.parseLong(found.group(1)) : 0);
  }

  /** Time of processors that all of its processes took. */
  double processorSeconds() {
    return processorSeconds
        + process.info().totalCpuDuration().orElse(Duration.ZERO).toMillis() / 1e3;
  }

  @Override
  public void close() {
    process.destroy();
    process.onExit().join();
  }
}
