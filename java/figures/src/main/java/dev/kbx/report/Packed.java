package dev.kbx.report;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;

/** Text for a page, as gzip in base64: the page's script unpacks it when it is needed. */
final class Packed {
  private Packed() {}

  static String of(String text) {
    var bytes = new ByteArrayOutputStream();
    try (var gzip = new Best(bytes)) {
      // A lone surrogate becomes a question mark, as in the rest of the page.
      gzip.write(text.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return Base64.getEncoder().encodeToString(bytes.toByteArray());
  }

  private static final class Best extends GZIPOutputStream {
    Best(ByteArrayOutputStream out) throws IOException {
      super(out);
      def.setLevel(Deflater.BEST_COMPRESSION);
    }
  }
}
