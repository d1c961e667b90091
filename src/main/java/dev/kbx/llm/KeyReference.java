package dev.kbx.llm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Where a key is: in a variable of the environment, in a file, or nowhere, for servers that need
 * none.
 */
record KeyReference(@Nullable String variable, @Nullable Path file) {
  private static final Set<PosixFilePermission> OWNERS =
      EnumSet.of(
          PosixFilePermission.OWNER_READ,
          PosixFilePermission.OWNER_WRITE,
          PosixFilePermission.OWNER_EXECUTE);

  /** What an HTTP header may hold. */
  private static final Pattern USABLE = Pattern.compile("[\\x21-\\x7e]+");

  static KeyReference none() {
    return new KeyReference(null, null);
  }

  static KeyReference inVariable(String name) {
    return new KeyReference(name, null);
  }

  static KeyReference inFile(Path file) {
    return new KeyReference(null, file);
  }

  /** Where, for people; empty if no key is needed. */
  String place() {
    if (variable != null) return variable;
    return file == null ? "" : file.toString();
  }

  /**
   * The key; empty if none is needed.
   *
   * @throws InvalidModels if it is missing, unusable, or in a file that others may read
   */
  Optional<String> read(Map<String, String> environment) {
    if (variable == null && file == null) return Optional.empty();
    String found = file != null ? content(file) : environment.getOrDefault(place(), "");
    String key = found.strip();
    if (key.isEmpty()) throw new InvalidModels(missing());
    if (!USABLE.matcher(key).matches()) {
      throw new InvalidModels(place() + ": holds something else than one key; give the key alone");
    }
    return Optional.of(key);
  }

  /** What is wrong with the key; null if nothing is. */
  @Nullable String problem(Map<String, String> environment) {
    try {
      var _ = read(environment);
      return null;
    } catch (InvalidModels e) {
      return e.getMessage();
    }
  }

  private String missing() {
    return variable != null
        ? "%s is not set; put the key there: export %s=…".formatted(variable, variable)
        : file + ": is empty; put the key there";
  }

  private static String content(Path file) {
    try {
      Set<PosixFilePermission> modes = Files.getPosixFilePermissions(file);
      if (!OWNERS.containsAll(modes)) {
        throw new InvalidModels(
            "%s: others may use this key (%s); run: chmod 600 %s"
                .formatted(file, PosixFilePermissions.toString(modes), file));
      }
      return Files.readString(file);
    } catch (IOException e) {
      throw new InvalidModels(
          file + ": the key cannot be read; make the file, with mode 600 and the key alone in it");
    }
  }
}
