package dev.kbx.worker;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.EnumNamingStrategies;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * Frames on a pair of streams: {@code u32 length, u32 channel, payload}, big endian, the payload
 * one JSON message.
 *
 * <p>Writing is safe from several threads; only one thread may read.
 */
public final class Frames {
  /** Longest payload accepted from a trusted process, bytes. */
  private static final int MAX_FRAME = 64 << 20;

  private static final JsonMapper MAPPER =
      JsonMapper.builder()
          .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
          .enumNamingStrategy(EnumNamingStrategies.SNAKE_CASE)
          .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .enable(EnumFeature.FAIL_ON_NUMBERS_FOR_ENUMS)
          .enable(EnumFeature.READ_UNKNOWN_ENUM_VALUES_USING_DEFAULT_VALUE)
          .build();

  private static final ObjectWriter WRITER = MAPPER.writerFor(Message.class);
  private static final ObjectReader READER = MAPPER.readerFor(Message.class);

  private final DataInputStream in;
  private final DataOutputStream out;
  private final LongSupplier clock;

  /**
   * @param clock says when a frame has come, in nanoseconds
   */
  public Frames(InputStream in, OutputStream out, LongSupplier clock) {
    this.in = new DataInputStream(new BufferedInputStream(in, 1 << 16));
    this.out = new DataOutputStream(new BufferedOutputStream(out, 1 << 16));
    this.clock = clock;
  }

  /**
   * A frame as received. {@link #parse} parses the payload, which from a runner may be anything.
   */
  public static final class Frame {
    private final int channel;
    private final byte[] payload;
    private final long came;

    Frame(int channel, byte[] payload, long came) {
      this.channel = channel;
      this.payload = payload;
      this.came = came;
    }

    public int channel() {
      return channel;
    }

    public byte[] payload() {
      return payload;
    }

    /** Time at which it was complete, by the clock of the process. */
    long came() {
      return came;
    }
  }

  /** The payload is not a message. */
  static final class Unreadable extends Exception {
    private static final long serialVersionUID = 1;

    Unreadable(String message, Throwable cause) {
      super(message, cause);
    }
  }

  /** The next frame, or null when the peer has closed its end. */
  public @Nullable Frame read() throws IOException {
    int length;
    try {
      length = in.readInt();
    } catch (EOFException e) {
      return null;
    }
    int channel = in.readInt();
    if (length < 0 || length > MAX_FRAME) throw new IOException("frame of " + length + " bytes");
    byte[] payload = new byte[length];
    in.readFully(payload);
    return new Frame(channel, payload, clock.getAsLong());
  }

  void write(int channel, Message message) throws IOException {
    write(channel, WRITER.writeValueAsBytes(message));
  }

  /** Writes a frame whose payload is a message of another protocol. */
  public void write(int channel, byte[] payload) throws IOException {
    synchronized (out) {
      out.writeInt(payload.length);
      out.writeInt(channel);
      out.write(payload);
      out.flush();
    }
  }

  static Message parse(byte[] payload) throws Unreadable {
    try {
      return READER.readValue(payload);
    } catch (JacksonException | StackOverflowError e) {
      throw new Unreadable("not a message of this protocol", e);
    }
  }
}
