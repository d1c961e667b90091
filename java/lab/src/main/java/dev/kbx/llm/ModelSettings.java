package dev.kbx.llm;

import dev.kbx.error.InputException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.DoubleSupplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A model behind a provider.
 *
 * @param name as {@code --model} says it
 * @param address of the provider; paths are appended
 * @param model as the provider calls it
 * @param silence how long nothing may arrive
 * @param price as the configuration states it; null: not stated
 */
record ModelSettings(
    String name,
    Provider provider,
    URI address,
    String model,
    Key key,
    Limits limits,
    RetryPolicy retries,
    Duration silence,
    Dialect dialect,
    @Nullable Price price) {
  static final Duration SILENCE = Duration.ofMinutes(10);

  /** A model of a provider that needs no configuration. */
  static ModelSettings plain(String name, Provider provider, String model) {
    return new ModelSettings(
        name,
        provider,
        provider.address,
        model,
        provider.key(),
        Limits.NONE,
        RetryPolicy.DEFAULT,
        SILENCE,
        Dialect.DEFAULT,
        null);
  }

  ModelSettings with(RetryPolicy other) {
    return new ModelSettings(
        name, provider, address, model, key, limits, other, silence, dialect, price);
  }

  /** Models with equal ones share limits. */
  record Account(URI address, Key key) {}

  Account account() {
    return new Account(address, key);
  }

  URI endpoint() {
    return URI.create(address + provider.wire().path());
  }

  /** What decides the reply beside the request: part of the key of the reply cache. */
  String identity() {
    return "%s %s %s".formatted(endpoint(), model, dialect);
  }

  /** Whose wire format is spoken, and where, unless the configuration says another address. */
  enum Provider {
    OPENAI("https://api.openai.com/v1", "OPENAI_API_KEY"),
    ANTHROPIC("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
    GEMINI("https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY");

    private final URI address;
    private final String variable;

    Provider(String address, String variable) {
      this.address = URI.create(address);
      this.variable = variable;
    }

    Wire wire() {
      return this == ANTHROPIC ? new AnthropicWire() : new OpenAiWire();
    }

    URI address() {
      return address;
    }

    Key key() {
      return new Key(variable, null);
    }

    /** The name in configurations, and before the colon of a model's name. */
    String label() {
      return name().toLowerCase(Locale.ROOT);
    }

    static Optional<Provider> of(String label) {
      return Stream.of(values()).filter(provider -> provider.label().equals(label)).findFirst();
    }
  }

  /**
   * What a provider allows for one key.
   *
   * @param parallel requests in flight; null: {@value #PARALLEL}
   * @param requestsPerMinute null: no limit
   * @param tokensPerMinute input and output; null: no limit
   */
  record Limits(
      @Nullable Integer parallel,
      @Nullable Integer requestsPerMinute,
      @Nullable Integer tokensPerMinute) {
    static final Limits NONE = new Limits(null, null, null);
    private static final int PARALLEL = 16;

    int inFlight() {
      return parallel == null ? PARALLEL : parallel;
    }

    /** The stricter of each. */
    Limits and(Limits other) {
      return new Limits(
          smaller(parallel, other.parallel),
          smaller(requestsPerMinute, other.requestsPerMinute),
          smaller(tokensPerMinute, other.tokensPerMinute));
    }

    private static @Nullable Integer smaller(@Nullable Integer one, @Nullable Integer other) {
      if (one == null) return other;
      return other == null ? one : Integer.valueOf(Math.min(one, other));
    }
  }

  /** How Anthropic's models are told the reasoning effort. */
  enum Thinking {
    /** Adaptive thinking with an effort: models since 4.6. */
    EFFORT,
    /** A number of tokens: models until 4.6. */
    BUDGET
  }

  /**
   * How one model is asked.
   *
   * @param stream whether the reply is asked for piece by piece
   * @param maxTokens limit of a reply where the request names none; null: the provider's
   * @param maxTokensField the limit's name in OpenAI's format; null: by the address
   * @param promptCache whether Anthropic's format asks to keep what requests have in common
   * @param without members of the request that the model does not accept: they are not sent
   * @param extra members that are sent with every request
   */
  record Dialect(
      boolean stream,
      @Nullable Integer maxTokens,
      @Nullable String maxTokensField,
      Thinking thinking,
      boolean promptCache,
      Set<String> without,
      Map<String, JsonNode> extra) {
    static final Dialect DEFAULT =
        new Dialect(true, null, null, Thinking.EFFORT, true, Set.of(), Map.of());

    Dialect {
      without = new TreeSet<>(without);
      extra = new TreeMap<>(extra);
    }

    /** The limit to send; null: none. */
    @Nullable Integer maxTokens(ChatRequest.Parameters parameters) {
      return parameters.maxTokens() == null ? maxTokens : parameters.maxTokens();
    }

    /** Adds what is always sent and removes what is never. */
    void finish(ObjectNode body) {
      extra.forEach(body::set);
      without.forEach(body::remove);
    }
  }

  /**
   * Where a key is: in a variable of the environment, in a file, or nowhere, for servers that need
   * none.
   */
  record Key(@Nullable String variable, @Nullable Path file) {
    static final Key NONE = new Key(null, null);

    private static final Set<PosixFilePermission> OWNERS =
        EnumSet.of(
            PosixFilePermission.OWNER_READ,
            PosixFilePermission.OWNER_WRITE,
            PosixFilePermission.OWNER_EXECUTE);

    /** What an HTTP header may hold. */
    private static final Pattern USABLE = Pattern.compile("[\\x21-\\x7e]+");

    /** Where, for people; empty if no key is needed. */
    String place() {
      if (variable != null) return variable;
      return file == null ? "" : file.toString();
    }

    /**
     * The key; empty if none is needed.
     *
     * @throws InputException if it is missing, unusable, or in a file that others may read
     */
    Optional<String> read(Map<String, String> environment) {
      if (variable == null && file == null) return Optional.empty();
      String found = file != null ? content(file) : environment.getOrDefault(place(), "");
      String key = found.strip();
      if (key.isEmpty()) {
        throw new InputException(
            variable != null
                ? "%s is not set; put the key there: export %s=…".formatted(variable, variable)
                : file + ": is empty; put the key there");
      }
      if (!USABLE.matcher(key).matches()) {
        throw new InputException(
            place() + ": holds something else than one key; give the key alone");
      }
      return Optional.of(key);
    }

    /** What is wrong with the key; null if nothing is. */
    @Nullable String problem(Map<String, String> environment) {
      try {
        var _ = read(environment);
        return null;
      } catch (InputException e) {
        return e.getMessage();
      }
    }

    private static String content(Path file) {
      try {
        Set<PosixFilePermission> modes = Files.getPosixFilePermissions(file);
        if (!OWNERS.containsAll(modes)) {
          throw new InputException(
              "%s: others may use this key (%s); run: chmod 600 %s"
                  .formatted(file, PosixFilePermissions.toString(modes), file));
        }
        return Files.readString(file);
      } catch (IOException e) {
        throw new InputException(
            file
                + ": the key cannot be read; make the file, with mode 600 and the key alone in it");
      }
    }
  }

  /**
   * How often and when a failed request is sent again.
   *
   * @param attempts at most, the first included
   * @param firstPause doubles with each attempt
   */
  record RetryPolicy(int attempts, Duration firstPause) {
    /**
     * Limits are by the minute: the pauses of 8 attempts together outlast one, even if jitter
     * halves them all.
     */
    static final RetryPolicy DEFAULT = new RetryPolicy(8, Duration.ofSeconds(1));

    static final RetryPolicy ONCE = new RetryPolicy(1, Duration.ofSeconds(1));

    /** A silence lasts minutes: not all attempts are worth it. */
    private static final int SILENCES = 3;

    private static final Duration LONGEST = Duration.ofMinutes(1);

    /** Some providers ask to wait until tomorrow. */
    private static final Duration LONGEST_ASKED = Duration.ofMinutes(10);

    /**
     * How long to wait before the next attempt; empty if there is none.
     *
     * @param sent attempts so far
     * @param random from 0 to 1
     */
    Optional<Duration> pause(AttemptFailure failure, int sent, DoubleSupplier random) {
      int most = failure.kind == ModelFailure.Kind.SILENT ? Math.min(SILENCES, attempts) : attempts;
      if (!failure.kind.passing() || sent >= most) return Optional.empty();
      double chance = random.getAsDouble();
      if (failure.retryAfter != null) {
        // Longer by up to a tenth, so that requests refused together do not return together.
        return Optional.of(times(capped(failure.retryAfter), 1 + 0.1 * chance));
      }
      Duration longer = times(firstPause, Math.pow(2, sent - 1));
      Duration pause = longer.compareTo(LONGEST) > 0 ? LONGEST : longer;
      return Optional.of(times(pause, 0.5 + 0.5 * chance));
    }

    private static Duration times(Duration duration, double factor) {
      return Duration.ofNanos((long) Math.ceil(duration.toNanos() * factor));
    }

    /** What the provider asks for, up to the limit. */
    static Duration capped(Duration asked) {
      return asked.compareTo(LONGEST_ASKED) > 0 ? LONGEST_ASKED : asked;
    }

    /**
     * How long the value of a {@code Retry-After} header asks to wait, 0 or more; null if it is
     * neither seconds nor a date of HTTP.
     */
    static @Nullable Duration retryAfter(String value, Instant now) {
      String text = value.strip();
      if (text.matches("\\d{1,9}(\\.\\d{1,9})?")) {
        return Duration.ofNanos((long) (Double.parseDouble(text) * 1e9));
      }
      try {
        ZonedDateTime date = ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME);
        Duration wait = Duration.between(now, date.toInstant());
        return wait.isNegative() ? Duration.ZERO : wait;
      } catch (DateTimeParseException e) {
        return null;
      }
    }
  }
}
