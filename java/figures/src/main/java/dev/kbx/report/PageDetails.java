package dev.kbx.report;

import java.io.IOException;
import java.io.Writer;
import java.util.List;

/**
 * The details of a page's candidates, packed.
 *
 * @param without number of candidates whose sources and prompts are left out, as the page would be
 *     too large
 */
record PageDetails(List<String> chunks, int without) {
  /** Writes each chunk as a script element of data. */
  void write(Writer writer) throws IOException {
    for (int i = 0; i < chunks.size(); i++) {
      writer.write("<script type=\"text/plain\" id=\"chunk-%d\">".formatted(i));
      writer.write(chunks.get(i));
      writer.write("</script>\n");
    }
  }
}
