package dev.kbx.candidate;

import dev.kbx.syntax.ByteOrderMark;
import dev.kbx.verdict.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * Session folders of KernelAgent: {@code problem.txt}, {@code final_kernel.py}, and the kernels of
 * its workers in {@code workers/worker_0/round_1.json}. Seeds and tests in them are passed over.
 */
public final class Sessions {
  private static final String PROBLEM = "problem.txt";
  private static final String FINAL = "final_kernel.py";
  private static final int DEPTH = 6;
  private static final long LONGEST_PROBLEM = 1 << 20;
  private static final Pattern ROUND = Pattern.compile("worker_(\\d{1,6})/round_(\\d{1,6})\\.json");

  /**
   * A kernel of a session.
   *
   * @param sample its worker; 0 for the last kernel of all
   * @param round null for the last kernel of all
   */
  public record Kernel(Path file, String code, int sample, @Nullable Integer round) {}

  private Sessions() {}

  /** Whether a folder is one. */
  static boolean is(Path folder) {
    return Files.isRegularFile(folder.resolve(PROBLEM))
        && (Files.isRegularFile(folder.resolve(FINAL))
            || Files.isDirectory(folder.resolve("workers")));
  }

  /** The sessions at a path, sorted: itself, or those in it. */
  public static List<Path> in(Path source) {
    if (!Files.isDirectory(source)) return List.of();
    try (Stream<Path> all = Files.find(source, DEPTH, (_, what) -> what.isDirectory())) {
      return all.filter(Sessions::is).sorted(Comparator.comparing(Path::toString)).toList();
    } catch (IOException | UncheckedIOException e) {
      return List.of(); // What cannot be read is reported with the other files.
    }
  }

  /** What the session was asked for; empty if that cannot be read. */
  public static String problem(Path session) {
    Path file = session.resolve(PROBLEM);
    try {
      return Files.size(file) > LONGEST_PROBLEM
          ? ""
          : new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    } catch (IOException e) {
      return "";
    }
  }

  /** The kernels: those of the workers by worker and round, then the last one. */
  public static List<Kernel> kernels(Path session, Consumer<Problem> problems) {
    List<Kernel> kernels = new ArrayList<>();
    for (Path file : rounds(session)) {
      Matcher name = ROUND.matcher(name(session, file));
      if (!name.find()) continue;
      String code = code(file, problems);
      if (code == null || code.isBlank()) continue;
      kernels.add(
          new Kernel(file, code, Integer.parseInt(name.group(1)), Integer.parseInt(name.group(2))));
    }
    Path last = session.resolve(FINAL);
    if (Files.isRegularFile(last)) {
      String code = SourceFiles.code(last, problems);
      if (code != null) kernels.add(new Kernel(last, code, 0, null));
    }
    return kernels;
  }

  private static String name(Path session, Path file) {
    return session.relativize(file).toString().replace('\\', '/');
  }

  private static List<Path> rounds(Path session) {
    Path workers = session.resolve("workers");
    if (!Files.isDirectory(workers)) return List.of();
    try (Stream<Path> all = Files.walk(workers, 2)) {
      return all.filter(file -> ROUND.matcher(name(session, file)).find())
          .sorted(Comparator.comparing(Path::toString))
          .toList();
    } catch (IOException | UncheckedIOException e) {
      return List.of();
    }
  }

  /** The kernel in a round's file; null after reporting a problem. */
  private static @Nullable String code(Path file, Consumer<Problem> problems) {
    try {
      if (Files.size(file) > 8L * CandidateSources.MAX_CODE) {
        problems.accept(new Problem(file.toString(), null, "is larger than a kernel may be"));
        return null;
      }
      JsonNode code =
          Json.mapper()
              .readTree(
                  ByteOrderMark.without(
                      new String(Files.readAllBytes(file), StandardCharsets.UTF_8)))
              .path("kernel_code");
      if (code.isString() && code.asString().length() <= CandidateSources.MAX_CODE) {
        return code.asString();
      }
      String message = "has no \"kernel_code\" of at most 1 MiB; is it a round of KernelAgent?";
      problems.accept(new Problem(file.toString(), null, message));
    } catch (JacksonException e) {
      problems.accept(new Problem(file.toString(), null, "is no JSON; is the file cut off?"));
    } catch (IOException e) {
      problems.accept(SourceFiles.unreadable(file, SourceFiles.reason(e)));
    }
    return null;
  }
}
