package dev.kbx.server;

import dev.kbx.dashboard.Dashboard;
import dev.kbx.store.VerdictQueries;
import dev.kbx.store.VerdictQueries.Filter;
import io.helidon.http.Header;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Semaphore;

/** {@code /v1/runs/{id}/report}: the whole report of a run, one at a time. */
final class ReportRoute implements HttpService {
  /**
   * The report is a file that works without a server, so that its scripts are in it. In a sandbox
   * they are of no site: whatever ran there could read and send nothing.
   */
  private static final Header POLICY =
      HeaderValues.create(
          "Content-Security-Policy",
          "sandbox allow-scripts allow-popups; default-src 'none'; script-src 'unsafe-inline';"
              + " style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'");

  private final Access access;
  private final VerdictQueries queries;
  private final Dashboard dashboard;
  private final Semaphore free = new Semaphore(1);

  ReportRoute(Access access, VerdictQueries queries, Dashboard dashboard) {
    this.access = access;
    this.queries = queries;
    this.dashboard = dashboard;
  }

  @Override
  public void routing(HttpRules rules) {
    rules.get("/v1/runs/{id}/report", this::report);
  }

  private void report(ServerRequest request, ServerResponse response) {
    Client _ = access.require(request, Client.Scope.READ);
    String id = request.path().pathParameters().get("id");
    if (queries.count(Filter.ofRun(id)) > Dashboard.REPORTED) {
      throw Refusal.of(
          422,
          "the run has more than %,d verdicts; make the report with kbx report %s"
              .formatted(Dashboard.REPORTED, Plans.cut(id)));
    }
    if (!free.tryAcquire()) {
      throw Refusal.later(503, "another report is being made; try again", 5);
    }
    try {
      Dashboard.Report report =
          dashboard
              .report(id)
              .orElseThrow(() -> Refusal.of(404, "no run '%s'".formatted(Plans.cut(id))));
      send(report, response);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      free.release();
    }
  }

  private static void send(Dashboard.Report report, ServerResponse response) throws IOException {
    response.header(HeaderNames.CONTENT_TYPE, "text/html; charset=utf-8").header(POLICY);
    if (Heads.sent(response)) return;
    // An encoder made this way replaces lone surrogates, which a candidate's text may hold.
    try (Writer writer =
        new BufferedWriter(
            new OutputStreamWriter(response.outputStream(), StandardCharsets.UTF_8))) {
      report.write(writer);
    }
  }
}
