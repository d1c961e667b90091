package dev.kbx.llm;

import static java.util.Objects.requireNonNullElse;

import dev.kbx.llm.ChatReply.Usage;
import dev.kbx.llm.ProviderLimits.Time;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/** A model behind a provider's HTTP interface. */
final class HttpModel implements ChatModel {
  /** A rough guess of a prompt's length before the provider has counted. */
  private static final int CHARACTERS_PER_TOKEN = 4;

  private final ModelSettings settings;
  private final ProviderLimits limits;
  private final Secrets secrets;
  private final Exchange exchange;
  private final Time time;
  private final DoubleSupplier random;
  private volatile boolean closed;

  HttpModel(
      ModelSettings settings,
      @Nullable String key,
      ProviderLimits limits,
      Secrets secrets,
      Proxies proxies,
      Time time,
      DoubleSupplier random) {
    this.settings = settings;
    this.limits = limits;
    this.secrets = secrets;
    this.exchange = new Exchange(settings, key, proxies, time);
    this.time = time;
    this.random = random;
  }

  /** What the attempts at one reply have cost so far. */
  private static final class Expense {
    private int attempts;
    private int metered;
    private long nanos;
    private @Nullable Usage usage;

    /**
     * Adds what an attempt cost.
     *
     * @param whole whether that is all, and not only what was told before it failed
     */
    void charge(@Nullable Usage reported, boolean whole) {
      usage = Usage.sum(usage, reported);
      if (whole && Usage.unmetered(reported) == 0) metered++;
    }

    double seconds() {
      return nanos / 1e9;
    }
  }

  @Override
  public ChatReply ask(ChatRequest request, BooleanSupplier again)
      throws ModelFailure, InterruptedException {
    String body = JsonText.write(settings.provider().wire().body(settings, request));
    long estimate = request.characters() / CHARACTERS_PER_TOKEN;
    Expense expense = new Expense();
    while (true) {
      try {
        return reply(attempt(body, estimate, expense), expense);
      } catch (AttemptFailure failure) {
        expense.charge(failure.usage, !failure.partial);
        if (failure.retryAfter != null)
          limits.closeFor(ModelSettings.RetryPolicy.capped(failure.retryAfter));
        Optional<Duration> pause = settings.retries().pause(failure, expense.attempts, random);
        if (pause.isEmpty() || closed || !again.getAsBoolean()) throw failed(failure, expense);
        time.sleep(pause.get());
      }
    }
  }

  private Wire.Answer attempt(String body, long estimate, Expense expense)
      throws AttemptFailure, InterruptedException {
    try (ProviderLimits.Slot slot = limits.enter(estimate)) {
      long begun = time.nanos();
      try {
        Wire.Answer answer = exchange.send(body);
        slot.used(answer.usage());
        return answer;
      } finally {
        expense.attempts++;
        expense.nanos += time.nanos() - begun;
      }
    }
  }

  private ChatReply reply(Wire.Answer answer, Expense expense) {
    expense.charge(answer.usage(), true);
    return secrets.redact(
        new ChatReply(
            answer.text(),
            answer.thinking(),
            answer.finish(),
            expense.usage,
            expense.seconds(),
            requireNonNullElse(answer.model(), settings.model()),
            expense.attempts,
            expense.attempts - expense.metered,
            false));
  }

  private ModelFailure failed(AttemptFailure failure, Expense expense) {
    String times = expense.attempts == 1 ? "" : " (%d attempts)".formatted(expense.attempts);
    return new ModelFailure(
        failure.kind,
        "%s: %s%s%s"
            .formatted(
                settings.name(),
                secrets.redactedLine(String.valueOf(failure.getMessage())),
                times,
                advice(failure.kind)),
        expense.usage,
        expense.seconds(),
        expense.attempts,
        expense.attempts - expense.metered);
  }

  private String advice(ModelFailure.Kind kind) {
    return switch (kind) {
      case AUTHENTICATION ->
          settings.key().place().isEmpty()
              ? "; name a key with key_env or key_file"
              : "; check the key in " + settings.key().place();
      case UNKNOWN_MODEL ->
          "; check the model (%s) and the address (%s)"
              .formatted(settings.model(), settings.address());
      case INVALID_REQUEST -> "; list a parameter that the model does not accept under 'without'";
      case UNREACHABLE -> "; is a server running there?";
      case UNTRUSTED ->
          "; check base_url; a certificate authority of your own is trusted with"
              + " JAVA_TOOL_OPTIONS=-Djavax.net.ssl.trustStore=FILE";
      case RATE_LIMITED -> "; set requests_per_minute or tokens_per_minute";
      default -> "";
    };
  }

  @Override
  public String name() {
    return settings.name();
  }

  @Override
  public int parallel() {
    return limits.parallel();
  }

  @Override
  public void close() {
    closed = true;
    exchange.close();
  }

  @Override
  public String toString() {
    return settings.name();
  }
}
