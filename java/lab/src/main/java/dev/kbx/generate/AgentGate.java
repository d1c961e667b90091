package dev.kbx.generate;

import dev.kbx.llm.ChatReply.Usage;
import dev.kbx.llm.ModelGateway;
import dev.kbx.method.Event;
import dev.kbx.verdict.Json;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * What a sandboxed agent can reach: its model, within the budget. Everything else is refused and
 * counted. Safe for several threads.
 */
final class AgentGate {
  private static final String ADDRESS = "127.0.0.1:8080";
  private static final String JUDGE = "/kbx/judge";

  /** Stands where programs want a key. */
  private static final String NO_KEY = "kbx-has-the-key";

  /** Status of an exchange that was broken off. */
  private static final int NO_REPLY = 499;

  /** Characters of requests and replies that the ledger takes of one start of an agent. */
  private static final long MOST_RECORDED = 256L << 20;

  private static final int MOST_REASONS = 100;
  private static final int LONGEST_REASON = 120;

  private final @Nullable ModelGateway gateway;
  private final Unit unit;
  private final PreparedMethod prepared;
  private final Trajectory.Context context;
  private final Supplier<Accounts.Wall> wall;
  private long exchanges;
  private final Map<String, Integer> refused = new TreeMap<>();
  private String before = "";
  private long recorded;

  /**
   * @param gateway to the model; null if the agent has none
   */
  AgentGate(
      @Nullable ModelGateway gateway,
      Unit unit,
      PreparedMethod prepared,
      Trajectory.Context context,
      Supplier<Accounts.Wall> wall) {
    this.gateway = gateway;
    this.unit = unit;
    this.prepared = prepared;
    this.context = context;
    this.wall = wall;
    this.exchanges = context.accounts().of(unit).calls();
  }

  /** What programs of all providers read to find their model. */
  Map<String, String> environment() {
    String base = "http://" + ADDRESS;
    Map<String, String> environment = new TreeMap<>();
    environment.put("OPENAI_BASE_URL", base + "/v1");
    environment.put("OPENAI_API_BASE", base + "/v1");
    environment.put("OPENAI_API_KEY", NO_KEY);
    environment.put("ANTHROPIC_BASE_URL", base);
    environment.put("ANTHROPIC_API_KEY", NO_KEY);
    environment.put("GOOGLE_GEMINI_BASE_URL", base);
    environment.put("GEMINI_API_KEY", NO_KEY);
    if (gateway == null) return environment;
    environment.put("KBX_MODEL", gateway.model());
    environment.put("KBX_PROVIDER", gateway.provider());
    return environment;
  }

  /** Whether a request is one to judge a draft. */
  static boolean isJudgement(JsonNode request) {
    return text(request, "method").equals("POST")
        && text(request, "target").equals(JUDGE)
        && isOwn(request);
  }

  private static String text(JsonNode request, String member) {
    return request.path(member).asString("");
  }

  /** Whether the request is for this address, and not for another host by way of it. */
  private static boolean isOwn(JsonNode request) {
    String host = request.path("headers").path("host").asString("");
    return host.equals(ADDRESS) || host.equals(ADDRESS.replace("127.0.0.1", "localhost"));
  }

  /** The answer to a request; empty if this thread is interrupted before there is one. */
  Optional<ObjectNode> answer(JsonNode request) {
    try {
      ModelGateway.Passed passed = passed(request);
      ObjectNode answer = Json.mapper().createObjectNode();
      answer.set("id", request.get("id"));
      answer.put("status", passed.status()).put("body", passed.body());
      answer.set("headers", Json.mapper().valueToTree(passed.headers()));
      return Optional.of(answer);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }

  private ModelGateway.Passed passed(JsonNode request) throws InterruptedException {
    String method = text(request, "method");
    String target = text(request, "target");
    Optional<ModelGateway.Route> route =
        gateway != null && isOwn(request) ? gateway.route(method, target) : Optional.empty();
    if (gateway == null || route.isEmpty()) {
      String host = request.path("headers").path("host").asString("");
      refuse("proxy: %s %s%s".formatted(method, target, isOwn(request) ? "" : ", host " + host), 1);
      return refusal(403, "only the run's model can be reached");
    }
    if (isFull()) {
      refuse("proxy: requests when the ledger has 256 MiB of this agent", 1);
      return refusal(403, "the ledger takes no more of this agent");
    }
    prepared.requests().acquire();
    try {
      Optional<String> cap = context.accounts().reserve(unit, prepared.settings(), wall.get());
      if (cap.isPresent()) return refusal(403, "the budget is used: " + cap.get());
      return recorded(gateway, route.get(), request);
    } finally {
      prepared.requests().release();
    }
  }

  private ModelGateway.Passed recorded(ModelGateway to, ModelGateway.Route route, JsonNode request)
      throws InterruptedException {
    Map<String, String> headers = new TreeMap<>();
    JsonNode given = request.path("headers");
    for (String name : given.propertyNames()) headers.put(name, given.path(name).asString(""));
    String body = text(request, "body");
    String target = text(request, "target");
    try {
      ModelGateway.Passed passed = to.send(route, headers, body);
      passed.refused().forEach(what -> refuse("provider: " + what, 1));
      if (passed.wasSent()) record(to, target, body, passed);
      else context.accounts().giveBack(unit);
      return passed;
    } catch (InterruptedException e) {
      // It was sent, and may be charged.
      record(to, target, body, new ModelGateway.Passed(NO_REPLY, Map.of(), "", null, List.of(), 0));
      throw e;
    }
  }

  private synchronized boolean isFull() {
    return recorded > MOST_RECORDED;
  }

  /** The request's beginning that was in the one before is not kept again. */
  private synchronized void record(
      ModelGateway to, String target, String body, ModelGateway.Passed passed) {
    int shared = 0;
    int most = Math.min(body.length(), before.length());
    while (shared < most && body.charAt(shared) == before.charAt(shared)) shared++;
    before = body;
    recorded += body.length() - shared + passed.body().length();
    context.add(
        unit,
        new Event.Exchange(
            "exchange-" + exchanges++,
            to.model(),
            target,
            passed.status(),
            shared,
            body.substring(shared),
            passed.body(),
            passed.usage(),
            usd(passed.usage()),
            passed.seconds()),
        true);
  }

  private @Nullable Double usd(@Nullable Usage usage) {
    if (usage == null) return null;
    double usd = prepared.price().map(price -> price.of(usage)).orElse(Double.NaN);
    return Double.isNaN(usd) ? null : usd;
  }

  private static ModelGateway.Passed refusal(int status, String why) {
    ObjectNode body = Json.mapper().createObjectNode();
    body.putObject("error").put("type", "kbx").put("message", "kbx: " + why);
    return new ModelGateway.Passed(
        status,
        Map.of("Content-Type", "application/json"),
        Json.mapper().writeValueAsString(body),
        null,
        List.of(),
        0);
  }

  /** Counts what was tried in vain. */
  synchronized void refuse(String what, int times) {
    String clean = what.replaceAll("\\p{Cntrl}", " ");
    String label = clean.length() > LONGEST_REASON ? clean.substring(0, LONGEST_REASON) : clean;
    boolean known = refused.containsKey(label) || refused.size() < MOST_REASONS;
    refused.merge(known ? label : "others", times, Integer::sum);
  }

  /** What was refused so far, and how often. */
  synchronized Map<String, Integer> refused() {
    return Map.copyOf(refused);
  }
}
