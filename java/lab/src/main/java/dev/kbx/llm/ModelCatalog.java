package dev.kbx.llm;

import static java.util.stream.Collectors.joining;

import dev.kbx.error.InputException;
import dev.kbx.files.AtomicFile;
import dev.kbx.llm.ModelSettings.Account;
import dev.kbx.llm.ModelSettings.Limits;
import dev.kbx.llm.ProviderLimits.Time;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.DoubleSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.commons.codec.digest.DigestUtils;
import org.jspecify.annotations.Nullable;

/**
 * Opens models by what {@code --model} says: the name of a configured model, {@code openai:MODEL},
 * {@code anthropic:MODEL}, {@code gemini:MODEL}, {@code replay:LEDGER} or {@code command:PROGRAM
 * ARGUMENTS}. Models that one catalog opened for one address and key share limits.
 */
public final class ModelCatalog {
  /** The model of runs that ask none. */
  public static final String NONE = "none";

  private static final String REPLAY = "replay:";
  private static final String COMMAND = "command:";

  private final Path configuration;
  private final Map<String, String> environment;
  private final Map<String, ModelSettings> models = new LinkedHashMap<>();
  private final Map<Account, Limits> limits = new HashMap<>();
  private final Map<Account, ProviderLimits> shared = new ConcurrentHashMap<>();
  private final Map<String, Price> prices = Price.bundled();
  private final Secrets secrets = new Secrets();
  private final Supplier<Path> temporary;
  private final Time time;
  private final DoubleSupplier random;

  private ModelCatalog(
      Path configuration,
      Map<String, String> environment,
      Supplier<Path> temporary,
      Time time,
      DoubleSupplier random) {
    this.configuration = configuration;
    this.environment = Map.copyOf(environment);
    this.temporary = temporary;
    this.time = time;
    this.random = random;
    for (ModelSettings model : ModelsFile.read(configuration, environment)) {
      models.put(model.name(), model);
      limits.merge(model.account(), model.limits(), Limits::and);
    }
    Stream.concat(
            models.values().stream().map(ModelSettings::key),
            Stream.of(ModelSettings.Provider.values()).map(ModelSettings.Provider::key))
        .flatMap(key -> Stream.ofNullable(environment.get(key.place())))
        .forEach(value -> secrets.add(value.strip()));
  }

  /**
   * Reads the configuration.
   *
   * @param configuration may not exist; then only the names with a colon are known
   * @param environment where keys are looked up
   * @param temporary the folder for files of requests, asked for with the first
   * @throws InputException if it cannot be used
   */
  public static ModelCatalog read(
      Path configuration, Map<String, String> environment, Supplier<Path> temporary) {
    return read(configuration, environment, temporary, Time.SYSTEM, Math::random);
  }

  /** With another time and other pauses than usual. */
  static ModelCatalog read(
      Path configuration,
      Map<String, String> environment,
      Supplier<Path> temporary,
      Time time,
      DoubleSupplier random) {
    return new ModelCatalog(configuration, environment, temporary, time, random);
  }

  /**
   * Opens a model; nothing is sent yet.
   *
   * @throws InputException if there is none of this name, or its key is missing
   */
  public ChatModel open(String model) {
    return open(model, null);
  }

  /** Opens a model that sends each request once only: to see whether it answers. */
  public ChatModel openOnce(String model) {
    return open(model, ModelSettings.RetryPolicy.ONCE);
  }

  /**
   * Opens a model whose replies are kept in a folder, and read from there if the same was asked
   * before. A ledger's replies are not kept again.
   */
  public ChatModel openCached(String model, Path folder) {
    ChatModel opened = open(model);
    if (model.startsWith(REPLAY) || model.equals(NONE)) return opened;
    return new CachedModel(
        opened, folder, settings(model).map(ModelSettings::identity).orElse(model));
  }

  /** The ledger that a model replays; empty for all other models. */
  public static Optional<Path> ledger(String model) {
    return model.startsWith(REPLAY)
        ? Optional.of(Path.of(model.substring(REPLAY.length())))
        : Optional.empty();
  }

  /** The model, with the ledger that it may replay taken from a folder if its path is relative. */
  public static String in(@Nullable Path folder, String model) {
    return folder == null
        ? model
        : ledger(model).map(ledger -> REPLAY + folder.resolve(ledger)).orElse(model);
  }

  private ChatModel open(String model, ModelSettings.@Nullable RetryPolicy retries) {
    if (model.equals(NONE)) return new NoModel();
    Optional<Path> ledger = ledger(model);
    if (ledger.isPresent()) return new ReplayModel(model, ledger.get());
    if (model.startsWith(COMMAND)) {
      List<String> words = CommandModel.words(COMMAND, model.substring(COMMAND.length()));
      return new CommandModel(model, words, ModelSettings.SILENCE, secrets, temporary);
    }
    ModelSettings settings = settings(model).orElseThrow(() -> unknown(model));
    return http(retries == null ? settings : settings.with(retries));
  }

  /**
   * Opens the way to a model for programs that speak its provider's format; nothing is sent yet.
   *
   * @throws InputException if the model is not behind a provider, or its key is missing
   */
  public ModelGateway gateway(String model) {
    boolean provider = !model.startsWith(REPLAY) && !model.startsWith(COMMAND);
    if (!provider) {
      throw new InputException(
          model + ": an agent needs a model of a provider; name one as openai:MODEL");
    }
    ModelSettings settings = settings(model).orElseThrow(() -> unknown(model));
    Access access = access(settings);
    return new ModelGateway(
        settings, access.key(), access.limits(), secrets, access.proxies(), time);
  }

  private ChatModel http(ModelSettings settings) {
    Access access = access(settings);
    return new HttpModel(
        settings, access.key(), access.limits(), secrets, access.proxies(), time, random);
  }

  /** What leads to a provider. */
  private record Access(@Nullable String key, ProviderLimits limits, Proxies proxies) {}

  private Access access(ModelSettings settings) {
    String key;
    try {
      key = settings.key().read(environment).orElse(null);
    } catch (InputException e) {
      throw new InputException(settings.name() + ": " + e.getMessage());
    }
    if (key != null) secrets.add(key);
    Proxies proxies = Proxies.of(environment);
    proxies.secrets().forEach(secrets::add);
    ProviderLimits allowed =
        shared.computeIfAbsent(
            settings.account(), account -> new ProviderLimits(limits(account), time));
    return new Access(key, allowed, proxies);
  }

  private Limits limits(Account account) {
    return limits.getOrDefault(account, Limits.NONE);
  }

  /** Stands where a run has no model, as its method asks models itself. */
  private static final class NoModel implements ChatModel {
    private static final int PARALLEL = 4;

    @Override
    public ChatReply ask(ChatRequest request, BooleanSupplier again) throws ModelFailure {
      String what = "there is no model to ask; name one with --model";
      throw new ModelFailure(ModelFailure.Kind.NO_ANSWER, what, null, 0, 0, 0);
    }

    @Override
    public String name() {
      return NONE;
    }

    @Override
    public int parallel() {
      return PARALLEL;
    }
  }

  /** A configured model, or one of a provider that needs no configuration. */
  private Optional<ModelSettings> settings(String model) {
    ModelSettings configured = models.get(model);
    if (configured != null) return Optional.of(configured);
    int colon = model.indexOf(':');
    if (colon < 0 || colon == model.length() - 1) return Optional.empty();
    return ModelSettings.Provider.of(model.substring(0, colon))
        .map(provider -> ModelSettings.plain(model, provider, model.substring(colon + 1)));
  }

  private InputException unknown(String model) {
    String known =
        models.isEmpty()
            ? "there is no model in " + configuration
            : configuration + " has " + String.join(", ", models.keySet());
    String prefixes =
        Stream.of(ModelSettings.Provider.values())
            .map(p -> p.label() + ":MODEL")
            .collect(joining(", "));
    return new InputException(
        "%s: no model of this name; %s; or say %s, %sLEDGER or %sPROGRAM"
            .formatted(model, known, prefixes, REPLAY, COMMAND));
  }

  /**
   * A model that can be named, as people see it.
   *
   * @param name what {@code --model} says; {@code openai:MODEL} stands for all of a provider's
   * @param address of the provider
   * @param model as the provider calls it; null: what follows the colon
   * @param parallel requests in flight, of all models with this address and key
   * @param requestsPerMinute of all models with this address and key; null: not limited by kbx
   * @param tokensPerMinute the same, input and output
   * @param maxTokens of a reply where a method asks for no limit; null: the provider's
   * @param timeoutSeconds how long nothing may arrive
   * @param without parameters that are not sent
   * @param price null: unknown
   */
  public record Configured(
      String name,
      String provider,
      String address,
      @Nullable String model,
      Key key,
      int parallel,
      @Nullable Integer requestsPerMinute,
      @Nullable Integer tokensPerMinute,
      @Nullable Integer maxTokens,
      double timeoutSeconds,
      boolean stream,
      List<String> without,
      @Nullable Price price) {
    /**
     * Where the key is, never what it is.
     *
     * @param from the variable or the file; null: no key is needed
     * @param problem null: the key can be used, or none is needed
     */
    public record Key(@Nullable String from, boolean present, @Nullable String problem) {}
  }

  /** The configured models, in the file's order, then the providers that need no configuration. */
  public List<Configured> list() {
    List<Configured> list = new ArrayList<>();
    models.values().forEach(model -> list.add(shown(model, model.model())));
    for (ModelSettings.Provider provider : ModelSettings.Provider.values()) {
      list.add(shown(ModelSettings.plain(provider.label() + ":MODEL", provider, "MODEL"), null));
    }
    return list;
  }

  private Configured shown(ModelSettings settings, @Nullable String model) {
    String from = settings.key().place();
    String problem = settings.key().problem(environment);
    Limits allowed = limits(settings.account());
    return new Configured(
        settings.name(),
        settings.provider().label(),
        settings.address().toString(),
        model,
        new Configured.Key(
            from.isEmpty() ? null : from, !from.isEmpty() && problem == null, problem),
        allowed.inFlight(),
        allowed.requestsPerMinute(),
        allowed.tokensPerMinute(),
        settings.dialect().maxTokens(),
        settings.silence().toMillis() / 1e3,
        settings.dialect().stream(),
        List.copyOf(settings.dialect().without()),
        price(settings).orElse(null));
  }

  /**
   * What a model's tokens cost; empty if that is unknown. The configuration's price counts before
   * the bundled one, which is for the provider's own address only.
   */
  public Optional<Price> price(String model) {
    return settings(model).flatMap(this::price);
  }

  private Optional<Price> price(ModelSettings settings) {
    if (settings.price() != null) return Optional.of(settings.price());
    ModelSettings.Provider provider = settings.provider();
    if (!settings.address().equals(provider.address())) return Optional.empty();
    return Optional.ofNullable(prices.get(provider.label() + ":" + settings.model()));
  }

  /** The text with keys replaced that models were opened with. */
  public String redact(String text) {
    return secrets.redact(text);
  }

  /** The bundled list prices, by names as {@code openai:gpt-5}. */
  public Map<String, Price> prices() {
    return prices;
  }

  /**
   * A model whose replies are kept in a folder, a file for each key, written so that a reader sees
   * all of a file or none. A file that cannot be read counts as absent.
   *
   * <p>Repeated requests have samples of their own, which are part of the key, so this is sound at
   * any temperature. The key also covers address and settings of the model: a name that comes to
   * mean another model does not get the old one's replies.
   */
  static final class CachedModel implements ChatModel {
    private static final System.Logger LOG = System.getLogger(CachedModel.class.getName());

    private final ChatModel model;
    private final Path folder;
    private final String identity;
    private final AtomicBoolean warned = new AtomicBoolean();

    /**
     * Opens the folder, which is made if necessary.
     *
     * @param identity what decides the reply beside the request
     * @throws InputException if the folder cannot be written
     */
    CachedModel(ChatModel model, Path folder, String identity) {
      this.model = model;
      this.folder = folder;
      this.identity = identity;
      try {
        Files.createDirectories(folder);
        if (!Files.isWritable(folder)) throw new IOException("not writable");
      } catch (IOException e) {
        throw new InputException(
            "%s: replies cannot be kept here (%s); name a folder of yours".formatted(folder, e));
      }
    }

    @Override
    public ChatReply ask(ChatRequest request, BooleanSupplier again)
        throws ModelFailure, InterruptedException {
      String key = DigestUtils.sha256Hex(request.key() + "\n" + identity);
      Path file = folder.resolve(key.substring(0, 2)).resolve(key + ".json");
      Optional<ChatReply> kept = kept(file);
      if (kept.isPresent()) return kept.get();
      ChatReply reply = model.ask(request, again);
      keep(file, key, reply);
      return reply;
    }

    private Optional<ChatReply> kept(Path file) {
      try {
        return JsonText.parse(Files.readString(file))
            .flatMap(node -> ChatReply.of(node, model.name()))
            .map(ChatReply::asCached);
      } catch (IOException e) {
        return Optional.empty();
      }
    }

    /**
     * Keeps a reply. If that fails it is still the reply that was paid for: a warning is logged.
     */
    private void keep(Path file, String key, ChatReply reply) {
      try {
        // Lone surrogates become "?".
        String text = JsonText.write(reply.json().put("key", key));
        AtomicFile.secret(file, text.getBytes(StandardCharsets.UTF_8));
      } catch (IOException e) {
        if (!warned.getAndSet(true)) {
          LOG.log(System.Logger.Level.WARNING, folder + ": replies are no longer kept: " + e);
        }
      }
    }

    @Override
    public String name() {
      return model.name();
    }

    @Override
    public int parallel() {
      return model.parallel();
    }

    @Override
    public void close() {
      model.close();
    }
  }
}
