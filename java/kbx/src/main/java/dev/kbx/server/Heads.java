package dev.kbx.server;

import io.helidon.http.HeaderNames;
import io.helidon.http.Headers;
import io.helidon.http.Method;
import io.helidon.http.WritableHeaders;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import io.helidon.webserver.http.ServerResponse;
import io.helidon.webserver.http1.Http1ConnectionListener;
import java.nio.charset.StandardCharsets;

/**
 * Answers to HEAD: those to GET without their bodies (RFC 9110, 9.3.2). The web server would send
 * the body, which the client would take for the next answer. So bodies are sent by this class
 * alone.
 */
final class Heads {
  /** A request for a head, while it is answered by its thread. */
  private static final class Head {
    boolean knowsLength = true;
  }

  private static final ScopedValue<Head> HEAD = ScopedValue.newInstance();
  private static final byte[] NOTHING = {};

  /** Takes out the length of a body that is not known: the web server would tell that of none. */
  static final Http1ConnectionListener LISTENER =
      new Http1ConnectionListener() {
        @Override
        public void headers(ConnectionContext context, Headers headers) {
          if (isAsked()
              && !HEAD.get().knowsLength
              && headers instanceof WritableHeaders<?> written) {
            WritableHeaders<?> _ = written.remove(HeaderNames.CONTENT_LENGTH);
          }
        }
      };

  private Heads() {}

  /** What answers requests inside of it may ask for a head. */
  static void filter(FilterChain chain, RoutingRequest request, RoutingResponse response) {
    if (request.prologue().method().equals(Method.HEAD)) {
      ScopedValue.where(HEAD, new Head()).run(chain::proceed);
    } else {
      chain.proceed();
    }
  }

  private static boolean isAsked() {
    return HEAD.isBound();
  }

  static void send(ServerResponse response, String text) {
    send(response, text.getBytes(StandardCharsets.UTF_8));
  }

  static void send(ServerResponse response, byte[] body) {
    if (isAsked()) {
      response.headers().contentLength(body.length);
      response.send(NOTHING);
    } else {
      response.send(body);
    }
  }

  /** Answers if a head is asked for, whose body would come in parts; else its body is due. */
  static boolean sent(ServerResponse response) {
    if (!isAsked()) return false;
    HEAD.get().knowsLength = false;
    response.send(NOTHING);
    return true;
  }
}
