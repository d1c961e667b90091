package dev.kbx.files;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Objects;

/** Files of kbx's own that are in its jar files. */
public final class Resources {
  private Resources() {}

  /**
   * The text of a file, which must be there.
   *
   * @param near a class of the same jar file, in whose package the file is if its name is relative
   */
  public static String text(Class<?> near, String name) {
    try (InputStream in = Objects.requireNonNull(near.getResourceAsStream(name), name)) {
      return new String(in.readAllBytes(), UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
