package dev.kbx.server;

import io.helidon.http.HeaderNames;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;

/** {@code /health/live}: whether the process answers. */
final class Health implements HttpService {
  @Override
  public void routing(HttpRules rules) {
    rules.get("/live", Health::live);
  }

  private static void live(ServerRequest request, ServerResponse response) {
    response.header(HeaderNames.CONTENT_TYPE, "application/json").send("{\"status\":\"up\"}");
  }
}
