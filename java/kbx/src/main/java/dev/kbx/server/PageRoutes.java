package dev.kbx.server;

import dev.kbx.dashboard.Assets;
import dev.kbx.dashboard.Dashboard;
import dev.kbx.dashboard.RunView;
import dev.kbx.dashboard.SubmissionForm;
import dev.kbx.dashboard.Viewer;
import dev.kbx.verdict.RunLabel;
import io.helidon.common.media.type.MediaType;
import io.helidon.common.media.type.MediaTypes;
import io.helidon.common.parameters.Parameters;
import io.helidon.http.Header;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.SetCookie;
import io.helidon.http.Status;
import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Optional;

/** The pages at {@code /}: addresses to {@link Dashboard}. */
final class PageRoutes implements HttpService {
  /** Only our own files run and style; no other page may frame ours or take its forms. */
  private static final Header POLICY =
      HeaderValues.create(
          "Content-Security-Policy",
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';"
              + " connect-src 'self'; form-action 'self'; base-uri 'none';"
              + " frame-ancestors 'none'");

  private static final Header SNIFF = HeaderValues.create("X-Content-Type-Options", "nosniff");
  private static final Header REFERRER = HeaderValues.create("Referrer-Policy", "same-origin");
  private static final Header FRESH = HeaderValues.create("Cache-Control", "no-store");
  private static final Header CACHED = HeaderValues.create("Cache-Control", "max-age=300");

  /** A page more than anybody turns to, and a place in a table that an int can hold. */
  private static final int LAST_PAGE = 1_000_000;

  /** Maximum bytes of a form with a source, of which 1 MiB may take three times as much. */
  private static final int MOST_FORM = 4 << 20;

  /**
   * Maximum bytes of a form without a source, which anybody may send: all of them together must
   * leave room for others.
   */
  private static final int MOST_FIELDS = 4 << 10;

  /** Maximum bytes of a form with a name and a note, of which a character may take nine. */
  private static final int MOST_LABEL = 32 << 10;

  private static final MediaType FORM = MediaTypes.APPLICATION_FORM_URLENCODED;

  private final Dashboard dashboard;
  private final PageBackend desk;
  private final Bodies bodies;

  PageRoutes(Dashboard dashboard, PageBackend desk, Bodies bodies) {
    this.dashboard = dashboard;
    this.desk = desk;
    this.bodies = bodies;
  }

  @Override
  public void routing(HttpRules rules) {
    rules
        .get(
            "/", page((viewer, _) -> Optional.of(dashboard.home(viewer, desk.state(), desk::open))))
        .get(
            "/runs",
            page((viewer, request) ->
                Optional.of(dashboard.runs(viewer, number(request, "page").orElse(0), desk::open))))
        .get(
            "/runs/{id}",
            page((viewer, request) ->
                dashboard.run(viewer, segment(request, "id"), view(request), desk::open)))
        .post("/runs/{id}", this::label)
        .get(
            "/leaderboard",
            page((viewer, request) ->
                Optional.of(
                    dashboard.leaderboard(
                        viewer,
                        query(request, "suite"),
                        query(request, "grade"),
                        query(request, "device")))))
        .get("/tasks", page((viewer, request) -> dashboard.tasks(viewer, query(request, "suite"))))
        .get(
            "/tasks/{suite}/{category}/{name}",
            page((viewer, request) ->
                dashboard.task(
                    viewer,
                    segment(request, "suite"),
                    segment(request, "category"),
                    segment(request, "name"))))
        .get("/candidates/{hash}", page(this::candidate))
        .get(
            "/compare",
            page((viewer, request) ->
                dashboard.compare(viewer, query(request, "a"), query(request, "b"))))
        .get(
            "/submit",
            page((viewer, request) -> Optional.of(dashboard.submit(viewer, asked(request), null))))
        .post("/submit", this::submit)
        .get("/system", page((viewer, _) -> Optional.of(dashboard.system(viewer, desk.state()))))
        .get("/docs", (_, response) -> html(response, Dashboard.contract(KbxServer.contract())))
        .get("/login", (request, response) -> html(response, Dashboard.login(null, next(request))))
        .post("/login", this::login)
        .post("/logout", this::logout)
        .get("/assets/{name}", PageRoutes::asset);
  }

  private interface Page {
    Optional<String> of(Viewer viewer, ServerRequest request);
  }

  /** A page for who may read; others are asked for a token first. */
  private Handler page(Page page) {
    return (request, response) -> {
      Optional<Viewer> viewer = desk.viewer(request);
      if (viewer.isEmpty()) {
        toLogin(request, response);
        return;
      }
      Optional<String> html = page.of(viewer.get(), request);
      if (html.isPresent()) {
        html(response, html.get());
      } else {
        response.status(Status.NOT_FOUND_404);
        html(
            response,
            Dashboard.problem(viewer.get(), "Not found", "There is nothing at this address."));
      }
    };
  }

  private static void toLogin(ServerRequest request, ServerResponse response) {
    String here = request.prologue().uriPath().path();
    see(response, "/login?next=" + URLEncoder.encode(here, StandardCharsets.UTF_8));
  }

  private static void see(ServerResponse response, String address) {
    response.status(Status.SEE_OTHER_303).header(HeaderNames.LOCATION, address).send();
  }

  /** Keeps a token in a cookie that no script reads and no other site sends. */
  private void login(ServerRequest request, ServerResponse response) {
    Access.needOwnPage(request); // Else another site could sign a browser in as somebody else.
    Parameters form = form(request, MOST_FIELDS);
    String token = field(form, "token").strip();
    if (!desk.isToken(token)) {
      response.status(Status.UNAUTHORIZED_401);
      html(response, Dashboard.login("this token is not valid", own(field(form, "next"))));
      return;
    }
    response.headers().addCookie(cookie(request, token).build());
    see(response, own(field(form, "next")));
  }

  private void logout(ServerRequest request, ServerResponse response) {
    Optional<Viewer> viewer = desk.viewer(request);
    if (viewer.isPresent() && isOwn(viewer.get(), form(request, MOST_FIELDS))) {
      response.headers().addCookie(cookie(request, "").maxAge(Duration.ZERO).build());
    }
    see(response, "/");
  }

  private static SetCookie.Builder cookie(ServerRequest request, String token) {
    return SetCookie.builder(Access.COOKIE, token)
        .path("/")
        .httpOnly(true)
        .secure(request.isSecure())
        .sameSite(SetCookie.SameSite.STRICT);
  }

  private Parameters form(ServerRequest request, int most) {
    if (!request
        .headers()
        .contentType()
        .filter(type -> type.mediaType().equals(FORM))
        .isPresent()) {
      throw Refusal.of(415, "send application/x-www-form-urlencoded, as the form does");
    }
    return bodies.inMemory(request, most, PageRoutes::fields);
  }

  private static Parameters fields(byte[] body) {
    Parameters.Builder fields = Parameters.builder("form");
    try {
      for (String each : new String(body, StandardCharsets.UTF_8).split("&", -1)) {
        int end = each.indexOf('=');
        if (end > 0) fields.add(decoded(each.substring(0, end)), decoded(each.substring(end + 1)));
      }
    } catch (IllegalArgumentException e) {
      throw Refusal.of(400, "the form is not encoded as forms are");
    }
    return fields.build();
  }

  private static String decoded(String text) {
    return URLDecoder.decode(text, StandardCharsets.UTF_8);
  }

  private Optional<String> candidate(Viewer viewer, ServerRequest request) {
    String hash = segment(request, "hash");
    return dashboard.candidate(
        viewer,
        hash,
        query(request, "run"),
        number(request, "position").orElse(null),
        desk.pending(hash, query(request, "judgement")));
  }

  private void submit(ServerRequest request, ServerResponse response) {
    Optional<Viewer> viewer = desk.viewer(request);
    if (viewer.isEmpty()) {
      toLogin(request, response);
      return;
    }
    Parameters form = form(request, MOST_FORM);
    SubmissionForm given =
        new SubmissionForm(
            field(form, "suite"),
            field(form, "task"),
            field(form, "grade"),
            field(form, "policy"),
            field(form, "run"),
            field(form, "code").replace("\r\n", "\n"));
    if (!isOwn(viewer.get(), form)) {
      response.status(Status.FORBIDDEN_403);
      html(
          response,
          dashboard.submit(
              viewer.get(), given, "this form is of an earlier session; send it again"));
      return;
    }
    try {
      PageBackend.Accepted accepted = desk.submit(viewer.get(), given);
      see(
          response,
          "/candidates/%s?judgement=%s".formatted(accepted.candidate(), accepted.judgement()));
    } catch (Refusal e) {
      Answers.head(response, e);
      html(response, dashboard.submit(viewer.get(), given, e.getMessage()));
    }
  }

  private void label(ServerRequest request, ServerResponse response) {
    Optional<Viewer> viewer = desk.viewer(request);
    if (viewer.isEmpty()) {
      toLogin(request, response);
      return;
    }
    Parameters form = form(request, MOST_LABEL);
    if (!isOwn(viewer.get(), form)) {
      throw Refusal.of(403, "this form is of an earlier session; load the page again");
    }
    String run = segment(request, "id");
    String note = field(form, "note").replace("\r\n", "\n");
    try {
      if (!desk.label(viewer.get(), run, new RunLabel(field(form, "name"), note))) {
        throw Refusal.of(404, "no such run");
      }
    } catch (IllegalArgumentException e) {
      throw Refusal.of(422, "the name or note " + e.getMessage());
    }
    see(response, "/runs/" + URLEncoder.encode(run, StandardCharsets.UTF_8));
  }

  /** Whether the form is one that this viewer was shown. */
  private static boolean isOwn(Viewer viewer, Parameters form) {
    String expected = viewer.csrf();
    return expected == null
        || MessageDigest.isEqual(
            expected.getBytes(StandardCharsets.UTF_8),
            field(form, "csrf").getBytes(StandardCharsets.UTF_8));
  }

  private static void asset(ServerRequest request, ServerResponse response) {
    Optional<Assets.Asset> asset = Assets.of(segment(request, "name"));
    if (asset.isEmpty()) {
      response.status(Status.NOT_FOUND_404).send();
      return;
    }
    response
        .header(HeaderNames.CONTENT_TYPE, asset.get().contentType())
        .header(SNIFF)
        .header(CACHED);
    Heads.send(response, asset.get().text());
  }

  private static void html(ServerResponse response, String html) {
    response
        .header(HeaderNames.CONTENT_TYPE, "text/html; charset=utf-8")
        .header(POLICY)
        .header(SNIFF)
        .header(REFERRER)
        .header(FRESH);
    Heads.send(response, html);
  }

  private static RunView view(ServerRequest request) {
    return new RunView(
        query(request, "status"),
        query(request, "task"),
        query(request, "method"),
        query(request, "model"),
        number(request, "page").orElse(0));
  }

  private static SubmissionForm asked(ServerRequest request) {
    return new SubmissionForm(query(request, "suite"), query(request, "task"), "", "", "", "");
  }

  /** Where to go after signing in: a path of this server, whatever was asked for. */
  private static String next(ServerRequest request) {
    return own(query(request, "next"));
  }

  private static String own(String next) {
    boolean own = next.startsWith("/") && !next.startsWith("//") && !next.contains("\\");
    return own ? next : "/";
  }

  private static String segment(ServerRequest request, String name) {
    return request.path().pathParameters().first(name).orElse("");
  }

  private static String query(ServerRequest request, String name) {
    return request.query().first(name).orElse("");
  }

  private static String field(Parameters form, String name) {
    return form.first(name).orElse("");
  }

  private static Optional<Integer> number(ServerRequest request, String name) {
    try {
      int number = Integer.parseInt(query(request, name));
      return number < 0 || number > LAST_PAGE ? Optional.empty() : Optional.of(number);
    } catch (NumberFormatException _) {
      return Optional.empty();
    }
  }
}
