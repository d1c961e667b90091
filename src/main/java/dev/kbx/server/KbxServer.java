package dev.kbx.server;

import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.HttpRouting;

/** The HTTP server of kbx. Listens from {@link #start} until it is closed. */
public final class KbxServer implements AutoCloseable {
  private final WebServer web;
  private final String host;

  private KbxServer(WebServer web, String host) {
    this.web = web;
    this.host = host;
  }

  /** Starts to listen. Throws {@link java.io.UncheckedIOException} if the address cannot be had. */
  public static KbxServer start(Listening where) {
    WebServer web =
        WebServer.builder()
            .host(where.host())
            .port(where.port())
            .shutdownHook(false) // The command ends the server before what it judges with.
            .routing(KbxServer::routing)
            .build()
            .start();
    return new KbxServer(web, where.host());
  }

  private static void routing(HttpRouting.Builder routing) {
    routing.register("/health", new Health());
  }

  /** {@code http://127.0.0.1:8470}, with the port that was found. */
  public String url() {
    return "http://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + web.port();
  }

  @Override
  public void close() {
    web.stop();
  }
}
