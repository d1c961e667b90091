package dev.kbx.cluster;

import dev.kbx.task.Task;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.apache.commons.codec.digest.DigestUtils;

/**
 * What every node gets: kbx itself, and the suites that are not part of it, each an archive named
 * by its content. Places of files are relative to the folder that nodes unpack archives in.
 */
public final class Shipment {
  /** Stands for the folder that a suite is unpacked in, in its files; the bridge replaces it. */
  private static final String PLACE = "@kbx-shipped@";

  private static final String ORIGINALS = "originals";
  private static final int DIGITS = 16;

  private final Path home;
  private final String bundle;
  private final Map<Path, String> roots = new LinkedHashMap<>();
  private final Map<String, Path> archives = new LinkedHashMap<>();

  /**
   * @param home kbx's folder, whose files are in the bundle
   * @param bundle archive of the folder {@code folder}, with the launcher {@code kbx}
   */
  public Shipment(Path home, Path bundle, String folder) throws IOException {
    this.home = home;
    this.bundle = add(bundle) + "/" + folder;
  }

  private Shipment(Path home) {
    this.home = home;
    this.bundle = "";
  }

  /**
   * For nodes that run something else than kbx's bundle, and find kbx's own files by themselves.
   */
  public static Shipment ofSuites(Path home) {
    return new Shipment(home);
  }

  private String add(Path archive) throws IOException {
    try (var in = Files.newInputStream(archive)) {
      String name = DigestUtils.sha256Hex(in).substring(0, DIGITS);
      archives.put(name, archive);
      return name;
    }
  }

  /**
   * Adds a suite, unless it is one of kbx's own.
   *
   * @param root its folder
   * @param kept folder for the archive, which is read again when the cluster starts anew
   */
  public void add(Path root, List<Task> tasks, Path kept) throws IOException {
    Path from = root.toAbsolutePath().normalize();
    if (from.startsWith(home)
        && Files.exists(home.resolve("tasks"))
        && from.startsWith(home.resolve("tasks"))) return;
    Path draft = Files.createTempFile(kept, "suite", ".zip");
    pack(from, tasks, draft);
    String name = add(draft);
    Path archive = kept.resolve(name + ".zip");
    Files.move(draft, archive, StandardCopyOption.REPLACE_EXISTING);
    archives.put(name, archive);
    roots.put(from, name);
  }

  private static void pack(Path root, List<Task> tasks, Path archive) throws IOException {
    Map<Path, Path> originals = new LinkedHashMap<>();
    for (Task task : tasks) {
      Optional<Path> original = task.original();
      if (original.isPresent()) originals.put(task.file().toAbsolutePath(), original.get());
    }
    Map<Path, String> names = new LinkedHashMap<>();
    try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(archive));
        Stream<Path> files = Files.walk(root)) {
      for (Path file : files.filter(Shipment::belongs).sorted().toList()) {
        byte[] bytes = Files.readAllBytes(file);
        Path original = originals.get(file);
        if (original != null) {
          String name =
              names.computeIfAbsent(
                  original, each -> ORIGINALS + "/" + names.size() + "/" + each.getFileName());
          bytes = naming(bytes, original, PLACE + "/" + name);
        }
        put(zip, root.relativize(file).toString(), bytes);
      }
      for (Map.Entry<Path, String> each : names.entrySet()) {
        put(zip, each.getValue(), Files.readAllBytes(each.getKey()));
      }
    }
  }

  private static boolean belongs(Path file) {
    return Files.isRegularFile(file) && !file.toString().contains("__pycache__");
  }

  /** A task's file that names another place for its original. */
  private static byte[] naming(byte[] task, Path original, String place) {
    String text = new String(task, StandardCharsets.UTF_8);
    return text.replace("\"" + original + "\"", "\"" + place + "\"")
        .getBytes(StandardCharsets.UTF_8);
  }

  /** Entries have no times, so that equal files give equal archives. */
  private static void put(ZipOutputStream zip, String name, byte[] bytes) throws IOException {
    ZipEntry entry = new ZipEntry(name);
    entry.setTime(0);
    zip.putNextEntry(entry);
    zip.write(bytes);
  }

  /** The launcher's place. */
  String launcher() {
    return bundle + "/kbx";
  }

  /** Arguments for the bridge. */
  List<String> arguments() {
    List<String> arguments = new ArrayList<>();
    archives.forEach((name, file) -> arguments.addAll(List.of("--ship", name + "=" + file)));
    return arguments;
  }

  /** A task with its place on every node. */
  TaskMessage sent(Task task) {
    Path file = task.file().toAbsolutePath().normalize();
    for (Map.Entry<Path, String> root : roots.entrySet()) {
      if (file.startsWith(root.getKey())) {
        return TaskMessage.of(task, root.getValue() + "/" + root.getKey().relativize(file));
      }
    }
    if (!file.startsWith(home)) {
      throw new IllegalArgumentException(file + " is in no suite that was shipped");
    }
    return TaskMessage.of(
        task, bundle.isEmpty() ? file.toString() : bundle + "/" + home.relativize(file));
  }

  /** Finds files on a node, in the folder that archives were unpacked in. */
  static Function<String, Path> on(Path folder) {
    return folder::resolve;
  }
}
