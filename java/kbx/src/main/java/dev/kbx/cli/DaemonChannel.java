package dev.kbx.cli;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import jdk.net.ExtendedSocketOptions;

/**
 * A connection between a command and the daemon that runs it, both of one user. First the command
 * sends its terms, and the daemon answers whether it {@link #ACCEPTS}; then the command sends its
 * arguments and the daemon frames, of which {@link #EXIT} is the last.
 */
final class DaemonChannel implements Closeable {
  static final int ACCEPTS = 'a';

  /** Runs another command. */
  static final int IS_BUSY = 'b';

  /** Has other terms, and ends. */
  static final int DIFFERS = 'd';

  static final int OUT = 'o';
  static final int ERR = 'e';
  static final int EXIT = 'x';

  private final SocketChannel channel;
  private final DataInputStream in;
  private final DataOutputStream out;

  /** Throws unless the process at the other end has this process's user. */
  DaemonChannel(SocketChannel channel) throws IOException {
    this.channel = channel;
    this.in = new DataInputStream(new BufferedInputStream(Channels.newInputStream(channel)));
    this.out = new DataOutputStream(new BufferedOutputStream(Channels.newOutputStream(channel)));
    if (!channel
        .getOption(ExtendedSocketOptions.SO_PEERCRED)
        .user()
        .equals(Files.getOwner(Path.of("/proc/self")))) {
      channel.close();
      throw new IOException("another user's process");
    }
  }

  /** Connects to the daemon that listens there. */
  static DaemonChannel connect(Path socket) throws IOException {
    SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      boolean _ = channel.connect(UnixDomainSocketAddress.of(socket));
      return new DaemonChannel(channel);
    } catch (IOException e) {
      channel.close();
      throw e;
    }
  }

  /** One byte of what the other side says; -1 at its end. */
  int read() throws IOException {
    return in.read();
  }

  int readNumber() throws IOException {
    return in.readInt();
  }

  byte[] readBytes() throws IOException {
    return in.readNBytes(in.readInt());
  }

  List<String> readTexts() throws IOException {
    int count = in.readInt();
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < count; i++) texts.add(new String(readBytes(), StandardCharsets.UTF_8));
    return texts;
  }

  synchronized void write(int word) throws IOException {
    out.write(word);
    out.flush();
  }

  synchronized void write(List<String> texts) throws IOException {
    out.writeInt(texts.size());
    for (String text : texts) {
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      out.writeInt(bytes.length);
      out.write(bytes);
    }
    out.flush();
  }

  synchronized void writeExit(int code) throws IOException {
    out.write(EXIT);
    out.writeInt(code);
    out.flush();
  }

  private synchronized void write(int kind, byte[] bytes, int offset, int length)
      throws IOException {
    out.write(kind);
    out.writeInt(length);
    out.write(bytes, offset, length);
    out.flush();
  }

  /** What is written to it arrives as frames of this kind. */
  OutputStream stream(int kind) {
    return new OutputStream() {
      @Override
      public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
      }

      @Override
      public void write(byte[] bytes, int offset, int length) throws IOException {
        DaemonChannel.this.write(kind, bytes, offset, length);
      }
    };
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
