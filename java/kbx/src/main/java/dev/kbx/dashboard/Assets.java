package dev.kbx.dashboard;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.kbx.report.Components;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** Files that pages load: styles and scripts, all our own. */
public final class Assets {
  private static final Map<String, Asset> FILES =
      Map.of(
          "report.css", new Asset("text/css; charset=utf-8", Components.style()),
          "dashboard.css", new Asset("text/css; charset=utf-8", web("dashboard.css")),
          "live.js", script(web("live.js")),
          "submit.js", script(web("submit.js")),
          "waiting.js", script(web("waiting.js")),
          "candidate.js", script(Components.detailsScript()),
          "icon.svg", new Asset("image/svg+xml", web("icon.svg")));

  private Assets() {}

  /** A file. */
  public record Asset(String contentType, String text) {}

  /** The file of that name, if there is one. */
  public static Optional<Asset> of(String name) {
    return Optional.ofNullable(FILES.get(name));
  }

  private static Asset script(String text) {
    return new Asset("text/javascript; charset=utf-8", text);
  }

  private static String web(String name) {
    try (InputStream in = Assets.class.getResourceAsStream("/web/" + name)) {
      return new String(Objects.requireNonNull(in, name).readAllBytes(), UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
