package dev.kbx.cli;

import dev.kbx.app.ResultsFolder;
import dev.kbx.error.InputException;
import dev.kbx.server.Tokens;
import dev.kbx.store.RunStore;
import dev.kbx.store.ServiceStore.Token;
import dev.kbx.verdict.Json;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kbx tokens create|list|revoke}: who may ask a server. */
@Command(
    name = "tokens",
    description = "Tokens of clients of kbx serve.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      TokensCommand.Create.class,
      TokensCommand.Listing.class,
      TokensCommand.Revoke.class
    })
final class TokensCommand {
  private static final Pattern TIME = Pattern.compile("([1-9]\\d{0,3})([hdw])");
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._@-]{1,100}");

  /** Where the tokens are. */
  static final class Place {
    @Mixin private Options.Results results = new Options.Results();

    RunStore open() {
      ResultsFolder folder = results.folder();
      if (folder.store().isFile()) folder.writable();
      return RunStore.open(folder.store());
    }

    RunStore existing() {
      if (!results.folder().store().exists()) throw results.folder().withoutRuns();
      return open();
    }
  }

  @Command(
      name = "create",
      description = "Make a token and print it, this once.",
      mixinStandardHelpOptions = true)
  static final class Create implements Callable<Integer> {
    @Mixin private Place place = new Place();

    @Parameters(paramLabel = "NAME", description = "Name of the client.")
    private String name = "";

    @Option(
        names = "--scope",
        paramLabel = "LIST",
        split = ",",
        defaultValue = "submit,read",
        description = "submit, read, admin. Default: ${DEFAULT-VALUE}.")
    private List<String> scopes = List.of();

    @Option(
        names = "--expires",
        paramLabel = "TIME",
        defaultValue = "365d",
        description =
            "Refuse it after so many hours (12h), days (90d) or weeks (8w), or never."
                + " Default: ${DEFAULT-VALUE}.")
    private String expires = "365d";

    /** To the second, as it is printed; null for never. */
    private @Nullable Instant end() {
      if (expires.equals("never")) return null;
      Matcher given = TIME.matcher(expires);
      if (!given.matches()) {
        throw new InputException(
            "--expires '%s': give hours, days or weeks such as 12h, 90d or 8w, or never"
                .formatted(expires));
      }
      Duration unit =
          switch (given.group(2)) {
            case "h" -> Duration.ofHours(1);
            case "d" -> Duration.ofDays(1);
            default -> Duration.ofDays(7);
          };
      Duration time = unit.multipliedBy(Integer.parseInt(given.group(1)));
      return Instant.now().plus(time).truncatedTo(ChronoUnit.SECONDS);
    }

    @Override
    public Integer call() {
      if (!NAME.matcher(name).matches() || name.equals("local")) {
        throw new InputException(
            "'%s': a name has 1 to 100 of the characters A-Z a-z 0-9 . _ @ -".formatted(name)
                + ", and is not 'local'");
      }
      for (String scope : scopes) {
        if (!Tokens.SCOPES.contains(scope)) {
          throw new InputException(
              "--scope: '%s' is not one of %s".formatted(scope, String.join(", ", Tokens.SCOPES)));
        }
      }
      Instant end = end();
      try (RunStore store = place.open()) {
        String token =
            new Tokens(store.service())
                .create(name, scopes, end)
                .orElseThrow(() ->
                    new InputException(
                        "there is a valid token '%s': revoke it first, or give another name"
                            .formatted(name)));
        System.out.println(token);
        if (end != null) System.err.println("kbx: it expires at " + end);
        return ExitCode.OK;
      }
    }
  }

  @Command(name = "list", description = "All tokens.", mixinStandardHelpOptions = true)
  static final class Listing implements Callable<Integer> {
    @Mixin private Place place = new Place();

    @Mixin private Options.JsonFlag json = new Options.JsonFlag();

    @Override
    public Integer call() {
      try (RunStore store = place.existing()) {
        List<Map<String, Object>> rows =
            store.service().tokens().stream().map(Listing::row).toList();
        if (rows.isEmpty()) System.err.println("kbx: there are no tokens");
        if (json.isAsked()) System.out.println(Json.mapper().writeValueAsString(rows));
        else rows.forEach(row -> System.out.println(String.join("  ", text(row))));
        return ExitCode.OK;
      }
    }

    private static Map<String, Object> row(Token token) {
      Map<String, Object> row = new LinkedHashMap<>();
      row.put("name", token.name());
      row.put("scopes", token.scopes());
      row.put("created", token.created().toString());
      if (token.expires() != null) row.put("expires", token.expires().toString());
      if (token.revoked() != null) row.put("revoked", token.revoked().toString());
      return row;
    }

    private static List<String> text(Map<String, Object> row) {
      return row.entrySet().stream()
          .map(entry ->
              switch (entry.getKey()) {
                case "expires" -> expiry(String.valueOf(entry.getValue()));
                case "revoked" -> "revoked " + entry.getValue();
                default -> "" + entry.getValue();
              })
          .toList();
    }

    private static String expiry(String at) {
      return (Instant.parse(at).isAfter(Instant.now()) ? "expires " : "expired ") + at;
    }
  }

  @Command(
      name = "revoke",
      description = "End a token; a running server refuses it within a second.",
      mixinStandardHelpOptions = true)
  static final class Revoke implements Callable<Integer> {
    @Mixin private Place place = new Place();

    @Parameters(paramLabel = "NAME", description = "Name of the client.")
    private String name = "";

    @Override
    public Integer call() {
      try (RunStore store = place.existing()) {
        if (!new Tokens(store.service()).revoke(name)) {
          throw new InputException(
              "there is no valid token '%s'; kbx tokens list shows all".formatted(name));
        }
        System.err.println("kbx: revoked at " + Instant.now());
        return ExitCode.OK;
      }
    }
  }
}
