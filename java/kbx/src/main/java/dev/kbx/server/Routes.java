package dev.kbx.server;

import io.helidon.common.uri.UriPath;
import io.helidon.http.Method;
import io.helidon.http.PathMatcher;
import io.helidon.http.PathMatchers;
import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.HttpRoute;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The routes of the server; what answers to GET answers to HEAD, too. Unlike {@link HttpRouting}
 * they can be listed: an answer to a wrong method has the methods of its path.
 */
final class Routes implements HttpRules {
  /** A method and the pattern of its paths, as {@code /v1/runs/{id}}. */
  record Route(Method method, String pattern) {}

  private final HttpRouting.Builder routing;
  private final List<Route> routes = new ArrayList<>();
  private final List<PathMatcher> matchers = new ArrayList<>();

  Routes(HttpRouting.Builder routing) {
    this.routing = routing;
  }

  List<Route> all() {
    return Collections.unmodifiableList(routes);
  }

  /** The methods that a path answers to; none where nothing is. */
  List<String> methods(UriPath path) {
    List<String> methods = new ArrayList<>();
    for (int i = 0; i < routes.size(); i++) {
      if (!matchers.get(i).match(path).accepted()) continue;
      Method method = routes.get(i).method();
      methods.add(method.text());
      if (method.equals(Method.GET)) methods.add(Method.HEAD.text());
    }
    return methods;
  }

  @Override
  public HttpRules register(HttpService... services) {
    for (HttpService each : services) each.routing(this);
    return this;
  }

  @Override
  public HttpRules register(String pathPattern, HttpService... services) {
    throw new UnsupportedOperationException("services name whole paths");
  }

  @Override
  public HttpRules route(HttpRoute route) {
    throw new UnsupportedOperationException("routes have one method and a pattern");
  }

  @Override
  public HttpRules route(Method method, String pathPattern, Handler handler) {
    routing.route(method, pathPattern, handler);
    if (method.equals(Method.GET)) routing.route(Method.HEAD, pathPattern, handler);
    routes.add(new Route(method, pathPattern));
    matchers.add(PathMatchers.create(pathPattern));
    return this;
  }
}
