package dev.kbx.store;

import dev.kbx.store.VerdictQueries.Placed;
import dev.kbx.verdict.BriefReader;
import dev.kbx.verdict.BriefVerdict;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Verdict;
import java.sql.ResultSet;
import java.sql.SQLException;
import tools.jackson.databind.ObjectReader;

/** Reads what analyses need of verdicts from rows with the columns {@link #COLUMNS}, one by one. */
final class PlacedReader {
  /** Verdicts that earlier versions have stored have no brief. */
  static final String COLUMNS = "position, coalesce(brief, body)";

  private static final ObjectReader WHOLE = Json.mapper().readerFor(Verdict.class);

  private final BriefReader briefs = new BriefReader();

  /** Throws a {@link tools.jackson.core.JacksonException} if the verdict cannot be read. */
  Placed placed(ResultSet row) throws SQLException {
    byte[] text = row.getBytes(2);
    return new Placed(row.getInt(1), text[0] == '{' ? ofWhole(text) : briefs.read(text));
  }

  private static BriefVerdict ofWhole(byte[] text) {
    Verdict verdict = WHOLE.readValue(text);
    return BriefVerdict.of(verdict);
  }
}
