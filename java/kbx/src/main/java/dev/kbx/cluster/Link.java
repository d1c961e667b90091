package dev.kbx.cluster;

import java.io.IOException;

/** The way to the bridge. */
interface Link extends AutoCloseable {
  /** Sends a frame to the bridge itself, on channel 0, or to a slot. */
  void send(int channel, byte[] payload) throws IOException;

  @Override
  void close();

  /** Receives frames, from one thread. */
  interface Listener {
    void frame(int channel, byte[] payload);

    /** The bridge has ended; the last call. */
    void ended(String why);
  }

  /** Opens a way to a bridge. */
  interface Opener {
    Link open(Listener listener) throws InterruptedException;
  }
}
