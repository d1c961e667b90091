package dev.kbx.server;

import dev.kbx.dashboard.Boards;
import dev.kbx.dashboard.Dashboard;
import dev.kbx.files.Resources;
import dev.kbx.store.ClaimLost;
import dev.kbx.store.RunStore;
import dev.kbx.store.StoreProblem;
import dev.kbx.task.Suite;
import io.helidon.common.uri.UriPath;
import io.helidon.http.DirectHandler;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.HttpException;
import io.helidon.http.HttpPrologue;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.WebServerConfig;
import io.helidon.webserver.http.DirectHandlers;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.helidon.webserver.http1.Http1Config;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The HTTP server of kbx. Listens and judges from {@link #start} until it is closed. */
public final class KbxServer implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger("dev.kbx.server");

  private static final int MOST_CONNECTIONS = 4_000;
  private static final int MOST_HEADER_BYTES = 16 << 10;

  /**
   * Maximum bytes of the first line of a request: room for the most {@code ids=} that may be asked
   * for.
   */
  private static final int MOST_LINE_BYTES = 64 << 10;

  private static final Duration BODY_PATIENCE = Duration.ofSeconds(30);

  /** U+0000 in an address. */
  private static final String ZERO = "%00";

  private final WebServer web;
  private final Listening where;
  private final JudgingService judging;
  private final Health health;
  private final Routes routes;
  private final Interrupts interrupts;
  private final Connections connections;

  private KbxServer(
      WebServer web,
      Listening where,
      JudgingService judging,
      Health health,
      Routes routes,
      Interrupts interrupts,
      Connections connections) {
    this.connections = connections;
    this.web = web;
    this.where = where;
    this.judging = judging;
    this.health = health;
    this.routes = routes;
    this.interrupts = interrupts;
  }

  /** All that it answers to. */
  Routes routes() {
    return routes;
  }

  /**
   * Starts to judge what is queued, and to listen.
   *
   * @param store for all that is written
   * @param reads the same store over another connection, so that reading waits for no writer
   * @param limit candidates that may wait
   * @param scratch folder for files of requests
   */
  public static KbxServer start(
      Listening where, RunStore store, RunStore reads, Machine machine, int limit, Path scratch) {
    Feeds feeds = new Feeds();
    ServiceMetrics figures = new ServiceMetrics();
    boolean open = isLoopback(where.host()) && !where.requireTokens();
    Access access = new Access(new Tokens(reads.service()), open);
    Scratch files = new Scratch(scratch);
    JudgingService judging =
        new JudgingService(store, machine, limit, files::missing, feeds, figures);
    List<Suite> suites = List.copyOf(machine.suites().values());
    Boards boards = new Boards(reads.queries(), suites);
    Interrupts interrupts = new Interrupts();
    Connections connections = new Connections(MOST_CONNECTIONS);
    Bodies bodies = new Bodies(BODY_PATIENCE, connections::read);
    Dashboard dashboard = new Dashboard(reads, suites, boards, machine.statement());
    Health health =
        new Health(
            List.of(judging::notAlive),
            List.of(judging::notAccepting, judging.store()::missing, files::missing));
    HttpRouting.Builder routing = HttpRouting.builder();
    Routes routes =
        routes(
            routing,
            health,
            new JudgementsApi(access, judging, reads.service(), machine, files, bodies),
            new SessionsApi(access, judging, store, reads, machine, bodies),
            new RunsApi(access, reads, judging, feeds, boards, interrupts, bodies),
            new ReportRoute(access, reads.queries(), dashboard),
            new TasksApi(access, machine),
            new ServiceApi(access, machine, judging, figures),
            new McpApi(access, judging, reads, machine, bodies),
            new PageRoutes(
                dashboard, new ServerPageBackend(access, judging, reads, machine), bodies));
    answers(routing, routes, figures, interrupts, judging.store(), connections);
    WebServerConfig.Builder config =
        WebServer.builder()
            .host(where.host())
            .port(where.port())
            .shutdownHook(false) // The command ends the server before what it judges with.
            .maxTcpConnections(MOST_CONNECTIONS)
            .maxPayloadSize(Bodies.MOST_FILE)
            .connectionOptions(connections.options())
            // Of several protocols the first bytes would have to tell which, and nothing limits the
            // wait for them.
            .protocolsDiscoverServices(false)
            .addProtocol(http1(connections))
            .directHandlers(directHandlers())
            .routing(routing);
    where
        .tls()
        .map(TlsKeys::keys)
        .ifPresent(keys -> config.tls(tls -> tls.privateKey(keys).privateKeyCertChain(keys)));
    try {
      WebServer web = config.build().start();
      if (web.port() < 0) { // It logs why, and throws nothing.
        throw new UncheckedIOException(new BindException("the address is in use"));
      }
      return new KbxServer(web, where, judging, health, routes, interrupts, connections);
    } catch (RuntimeException e) {
      judging.close();
      interrupts.close();
      connections.close();
      throw e;
    }
  }

  static Http1Config http1(Connections connections) {
    return Http1Config.builder()
        .maxPrologueLength(MOST_LINE_BYTES)
        .maxHeadersSize(MOST_HEADER_BYTES)
        .addReceiveListener(connections)
        .addSendListener(Heads.LISTENER)
        .build();
  }

  private static Routes routes(HttpRouting.Builder routing, HttpService... services) {
    Routes routes = new Routes(routing);
    HttpRules _ = routes.register(services).get("/openapi.yaml", KbxServer::sendContract);
    return routes;
  }

  private static void answers(
      HttpRouting.Builder routing,
      Routes routes,
      ServiceMetrics figures,
      Interrupts interrupts,
      StoreHealth store,
      Connections connections) {
    HttpRouting.Builder _ =
        routing
            .addFilter((chain, request, response) -> {
              long start = System.nanoTime();
              response.header(HeaderNames.X_CONTENT_TYPE_OPTIONS_NAME, "nosniff");
              response.header("Cross-Origin-Resource-Policy", "same-origin");
              response.whenSent(() -> {
                figures.response(response.status().code());
                sent(request, response, System.nanoTime() - start);
              });
              chain.proceed();
            })
            .addFilter(KbxServer::closeAsAnnounced)
            .addFilter(Heads::filter)
            .addFilter((chain, request, response) -> {
              chain.proceed();
              connections.answered(request);
              if (isClosing(response) || request.content().consumed()) return;
              drop(request, interrupts); // The next request comes after it.
            })
            .addFilter(KbxServer::needText)
            .any((request, _) -> {
              throw unknown(request.path(), routes.methods(request.path()));
            })
            .error(Refusal.class, (_, response, refusal) -> Answers.problem(response, refusal))
            .error(StoreProblem.class, (_, response, e) -> storeFailed(response, e, store))
            .error(
                HttpException.class,
                (_, response, e) ->
                    Answers.problem(
                        response, Refusal.of(e.status().code(), String.valueOf(e.getMessage()))))
            .error(InterruptedException.class, (_, response, _) -> stopping(response))
            .error(Exception.class, KbxServer::failed);
  }

  /** An answer may say that the connection ends; the web server leaves that to the client. */
  static void closeAsAnnounced(
      FilterChain chain, RoutingRequest request, RoutingResponse response) {
    chain.proceed();
    if (isClosing(response)) throw new CloseConnectionException("announced in the answer");
  }

  /** No name has U+0000, and not every store can be asked for it. */
  private static void needText(
      FilterChain chain, RoutingRequest request, RoutingResponse response) {
    HttpPrologue asked = request.prologue();
    if (asked.uriPath().rawPath().contains(ZERO) || asked.query().rawValue().contains(ZERO)) {
      throw Refusal.of(400, "the address has the character U+0000 (%00), which no name has");
    }
    chain.proceed();
  }

  private static void drop(RoutingRequest request, Interrupts interrupts) {
    try {
      interrupts.within(request.content()::consume);
    } catch (RuntimeException e) { // Where the next request begins is not known.
      throw new CloseConnectionException("the body does not end where it says", e);
    }
  }

  private static boolean isClosing(RoutingResponse response) {
    return response.headers().containsToken(HeaderValues.CONNECTION_CLOSE);
  }

  private static Refusal unknown(UriPath path, List<String> methods) {
    String text = Plans.cut(path.path());
    return methods.isEmpty()
        ? Refusal.of(404, "nothing is at %s; /openapi.yaml has what is".formatted(text))
        : Refusal.method(
            "%s: answers to %s alone".formatted(text, String.join(", ", methods)), methods);
  }

  private static void sent(ServerRequest request, ServerResponse response, long nanos) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("connection", request.socketId());
    fields.put("from", request.remotePeer().host());
    request.context().get(Client.class).ifPresent(client -> fields.put("client", client.name()));
    fields.put("method", request.prologue().method().text());
    fields.put("path", Plans.cut(request.path().path()));
    fields.put("status", response.status().code());
    fields.put("ms", nanos / 1e6);
    ServerLog.event("request", fields);
  }

  /** The contract, in YAML. */
  static String contract() {
    return Resources.text(KbxServer.class, "openapi.yaml");
  }

  private static void sendContract(ServerRequest request, ServerResponse response) {
    response.header(HeaderNames.CONTENT_TYPE, "application/yaml");
    Heads.send(response, contract());
  }

  private static void storeFailed(
      ServerResponse response, StoreProblem problem, StoreHealth store) {
    if (problem instanceof ClaimLost) { // Logged when it was noticed.
      Answers.problem(response, Refusal.claimLost());
      return;
    }
    if (problem.refused() && store.missing().isEmpty()) {
      LOG.log(System.Logger.Level.DEBUG, problem.getMessage());
      Answers.problem(
          response, Refusal.of(400, "the request has what the store can neither keep nor find"));
      return;
    }
    // It may have gone: whoever is judged waits then.
    var _ = Thread.startVirtualThread(store::missing);
    LOG.log(System.Logger.Level.WARNING, problem.getMessage());
    Answers.problem(response, Refusal.later(503, "the store does not answer; try again", 5));
  }

  /** Whoever interrupts a request ends the server, or a connection that nobody is answered on. */
  private static void stopping(ServerResponse response) {
    if (!response.isSent()) {
      Answers.problem(response, Refusal.later(503, "the server is being stopped; try again", 5));
    }
  }

  private static void failed(ServerRequest request, ServerResponse response, Exception e) {
    LOG.log(System.Logger.Level.ERROR, request.path().path(), e);
    if (!response.isSent()) {
      Answers.problem(response, Refusal.of(500, "a fault of kbx; its log has more"));
    }
  }

  /** Answers to what is not HTTP, or is refused before it is routed. */
  private static DirectHandlers directHandlers() {
    DirectHandlers.Builder handlers = DirectHandlers.builder();
    DirectHandler handler =
        (_, _, status, headers, message) ->
            DirectHandler.TransportResponse.builder()
                .status(status)
                .headers(headers)
                .header(HeaderNames.CONTENT_TYPE, "application/problem+json")
                .entity(
                    "{\"type\":\"about:blank\",\"title\":\"%s\",\"status\":%d,\"detail\":\"%s\"}"
                        .formatted(status.reasonPhrase(), status.code(), status.reasonPhrase())
                        .getBytes(StandardCharsets.UTF_8))
                .build();
    for (DirectHandler.EventType type : DirectHandler.EventType.values()) {
      handlers.addHandler(type, handler);
    }
    return handlers.build();
  }

  private static boolean isLoopback(String host) {
    try {
      return InetAddress.getByName(host).isLoopbackAddress();
    } catch (UnknownHostException e) {
      return false;
    }
  }

  /** {@code http://127.0.0.1:8470}, with the port that was found. */
  public String url() {
    String host = where.host().contains(":") ? "[" + where.host() + "]" : where.host();
    return (where.tls().isPresent() ? "https://" : "http://") + host + ":" + web.port();
  }

  /** Whether it works; if not, only a new start helps. */
  public boolean isAlive() {
    return web.isRunning() && health.isAlive();
  }

  /** Accepts nothing more and waits for what is being judged, for a limited time. */
  public void drain(Duration most) throws InterruptedException {
    judging.drain(most);
  }

  @Override
  public void close() {
    judging.endWaits();
    web.stop();
    judging.close();
    interrupts.close();
    connections.close();
  }
}
