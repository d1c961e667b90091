package dev.kbx.cli;

import dev.kbx.document.Text;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.Charset;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A stream to a terminal that only kbx can control. Text may come from a candidate, a file, a store
 * or a model: control characters in it, and those that reorder text, are shown as {@code \u001b}.
 * What is piped is written in the same way, as it may be shown later; in JSON the escapes mean the
 * same characters.
 *
 * <p>Two methods write sequences of kbx's own: {@link #style} and {@link #erase}.
 */
final class TerminalStream extends PrintStream {
  private static final String MESSAGE = "kbx: ";
  private static final String ERASE = "\r\033[K";

  /** A colour or weight. */
  private static final Pattern STYLE = Pattern.compile("\033\\[[0-9;]*m");

  private final PrintStream terminal;
  private final Escaping escaping;

  /** Columns of messages. */
  private final int columns;

  /** A terminal, made safe. */
  static TerminalStream of(PrintStream terminal) {
    return of(terminal, Integer.MAX_VALUE);
  }

  /** The same; messages of kbx that are wider are broken between words, which terminals do not. */
  static TerminalStream of(PrintStream terminal, int columns) {
    return terminal instanceof TerminalStream known
        ? known
        : new TerminalStream(terminal, new Escaping(terminal, terminal.charset()), columns);
  }

  private TerminalStream(PrintStream terminal, Escaping escaping, int columns) {
    super(escaping, true, terminal.charset());
    this.terminal = terminal;
    this.escaping = escaping;
    this.columns = columns;
  }

  @Override
  public void println(@Nullable String line) {
    super.println(line != null && line.startsWith(MESSAGE) ? broken(line) : line);
  }

  /** The lines of a message, the later ones indented. */
  private String broken(String message) {
    StringBuilder lines = new StringBuilder();
    String rest = message;
    for (int end; (end = Terminal.lineEnd(rest.stripLeading(), columns - MESSAGE.length())) > 0; ) {
      int indent = rest.length() - rest.stripLeading().length();
      lines.append(rest, 0, indent + end).append('\n');
      rest = " ".repeat(MESSAGE.length()) + rest.substring(indent + end + 1);
    }
    return lines.append(rest).toString();
  }

  /** Prints a text that kbx has coloured, whose other parts it has cleaned. */
  static void style(PrintStream out, String text) {
    if (!(out instanceof TerminalStream safe)) {
      out.print(text);
      return;
    }
    synchronized (safe) {
      int from = 0;
      for (Matcher style = STYLE.matcher(text); style.find(); from = style.end()) {
        safe.print(text.substring(from, style.start()));
        safe.raw(style.group());
      }
      safe.print(text.substring(from));
    }
  }

  /** A writer of texts that kbx has styled: picocli's help. */
  static PrintWriter styling(PrintStream out) {
    Writer styled =
        new Writer() {
          @Override
          public void write(char[] text, int offset, int length) {
            style(out, new String(text, offset, length));
          }

          @Override
          public void flush() {
            out.flush();
          }

          @Override
          public void close() {
            out.flush();
          }
        };
    return new PrintWriter(styled, true);
  }

  /** Empties the line that the cursor is in. */
  static void erase(PrintStream out) {
    if (out instanceof TerminalStream safe) safe.raw(ERASE);
    else out.print(ERASE);
  }

  private synchronized void raw(String sequence) {
    terminal.print(sequence);
  }

  @Override
  public void flush() {
    super.flush();
    terminal.flush();
  }

  @Override
  public boolean checkError() {
    return super.checkError() || terminal.checkError();
  }

  /** Does not end the terminal. */
  @Override
  public void close() {
    escaping.end();
    flush();
  }

  /** Escapes what is written, in whatever parts it comes. */
  private static final class Escaping extends FilterOutputStream {
    private final Charset charset;
    private final CharsetDecoder decoder;
    private ByteBuffer undecoded = ByteBuffer.allocate(0);

    /** A carriage return is as good as none before the end of a line. */
    private boolean returned;

    Escaping(OutputStream to, Charset charset) {
      super(to);
      this.charset = charset;
      this.decoder =
          charset
              .newDecoder()
              .onMalformedInput(CodingErrorAction.REPLACE)
              .onUnmappableCharacter(CodingErrorAction.REPLACE);
    }

    @Override
    public void write(int b) throws IOException {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      if (isPlain(bytes, offset, length)) {
        out.write(bytes, offset, length);
        return;
      }
      ByteBuffer all = ByteBuffer.allocate(undecoded.remaining() + length);
      all.put(undecoded).put(bytes, offset, length).flip();
      CharBuffer text =
          CharBuffer.allocate((int) (all.remaining() * (double) decoder.maxCharsPerByte()) + 2);
      var _ = decoder.decode(all, text, false);
      undecoded = all;
      byte[] safe = escaped(text.flip().toString()).getBytes(charset);
      out.write(safe, 0, safe.length);
    }

    /** Whether it is ASCII without anything to escape, as nearly all is. */
    private boolean isPlain(byte[] bytes, int offset, int length) {
      if (returned || undecoded.hasRemaining()) return false;
      for (int i = offset; i < offset + length; i++) {
        int c = bytes[i];
        if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7f) return false;
      }
      return true;
    }

    private String escaped(String text) {
      String all = (returned ? "\r" : "") + text;
      returned = all.endsWith("\r");
      return Text.visible(returned ? all.substring(0, all.length() - 1) : all);
    }

    void end() {
      if (!returned) return;
      returned = false;
      try {
        out.write(Text.visible("\r").getBytes(charset));
      } catch (IOException e) {
        // A PrintStream keeps its own errors.
      }
    }
  }
}
