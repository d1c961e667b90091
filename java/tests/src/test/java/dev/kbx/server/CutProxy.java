package dev.kbx.server;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Passes connections on to a port of this machine, until they are cut. */
final class CutProxy implements AutoCloseable {
  private final ServerSocket listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final int to;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private volatile boolean cut;

  CutProxy(int to) throws IOException {
    this.to = to;
    var _ = Thread.ofVirtual().start(this::accept);
  }

  int port() {
    return listening.getLocalPort();
  }

  /** Ends all connections, and lets none through. */
  void cut() throws IOException {
    cut = true;
    for (Socket each : open) each.close();
  }

  void heal() {
    cut = false;
  }

  private void accept() {
    while (!listening.isClosed()) {
      try {
        Socket client = listening.accept();
        if (cut) client.close();
        else pass(client);
      } catch (IOException e) {
        // It is closed.
      }
    }
  }

  private void pass(Socket client) throws IOException {
    try {
      Socket server = new Socket(InetAddress.getLoopbackAddress(), to);
      open.add(client);
      open.add(server);
      var _ = Thread.ofVirtual().start(() -> pass(client, server));
      var _ = Thread.ofVirtual().start(() -> pass(server, client));
      if (cut) cut();
    } catch (IOException e) {
      client.close(); // The server is away.
    }
  }

  private void pass(Socket from, Socket into) {
    try (from;
        into;
        InputStream in = from.getInputStream()) {
      long _ = in.transferTo(into.getOutputStream());
    } catch (IOException e) {
      // The other end, or a cut.
    } finally {
      open.remove(from);
      open.remove(into);
    }
  }

  @Override
  public void close() throws IOException {
    listening.close();
    cut();
  }
}
