package dev.kbx.dashboard;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** What is around every page: head, navigation, title. */
final class Frame {
  private static final List<Place> PLACES =
      List.of(
          new Place("/runs", "Runs"),
          new Place("/leaderboard", "Leaderboard"),
          new Place("/tasks", "Tasks"),
          new Place("/submit", "Submit"),
          new Place("/system", "System"));

  private record Place(String path, String title) {}

  private Frame() {}

  /**
   * A page.
   *
   * @param at path of the entry of the navigation that it belongs to
   * @param eyebrow what kind of page it is; links above the title
   * @param scripts names of files under {@code /assets}
   */
  static String page(
      @Nullable Viewer viewer,
      String at,
      Markup eyebrow,
      String title,
      Markup body,
      String... scripts) {
    Markup navigation = viewer == null ? Markup.NONE : navigation(viewer, at);
    return Markup.of(
            """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>%s · kbx</title>
            <link rel="icon" href="/assets/icon.svg">
            <link rel="stylesheet" href="/assets/report.css">
            <link rel="stylesheet" href="/assets/dashboard.css">
            %s
            </head>
            <body class="dashboard">
            <a class="skip" href="#main">To the content</a>
            %s
            <header>
            <p class="eyebrow">%s</p>
            <h1>%s</h1>
            </header>
            <main id="main">
            %s
            </main>
            </body>
            </html>
            """,
            title,
            Markup.each(
                List.of(scripts),
                name -> Markup.of("<script src=\"/assets/%s\" defer></script>", name)),
            navigation,
            eyebrow,
            title,
            body)
        .html();
  }

  private static Markup navigation(Viewer viewer, String at) {
    return Markup.of(
        """
        <nav class="rooms" aria-label="Pages">
        <a class="home" href="/"%s>kbx</a>
        %s
        %s</nav>
        """,
        current(at.equals("/")),
        Markup.each(
            PLACES,
            place ->
                Markup.of(
                    "<a href=\"%s\"%s>%s</a>",
                    place.path(), current(place.path().equals(at)), place.title())),
        viewer.signedIn()
            ? Markup.of(
                """
                <form method="post" action="/logout"><input type="hidden" name="csrf" value="%s">\
                <button>Sign out %s</button></form>
                """,
                viewer.csrf(), viewer.client())
            : Markup.NONE);
  }

  private static Markup current(boolean here) {
    return here ? new Markup(" aria-current=\"page\"") : Markup.NONE;
  }
}
