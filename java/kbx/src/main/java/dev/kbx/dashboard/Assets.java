package dev.kbx.dashboard;

import dev.kbx.files.Resources;
import dev.kbx.report.Components;
import java.util.Map;
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
    return Resources.text(Assets.class, "/web/" + name);
  }
}
