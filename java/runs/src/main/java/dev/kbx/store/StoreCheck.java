package dev.kbx.store;

import dev.kbx.verdict.BriefVerdict;
import dev.kbx.verdict.Verdict;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

/** Compares what derives from other data in a store with that data, and makes it anew. */
final class StoreCheck {
  private static final int FETCHED = 500;

  /** NULL in rows of versions before these columns. */
  private static final Set<String> LATER =
      Set.of("conditions", "structure", "complexity", "techniques", "brief", "grade");

  /** Rows of the first schema have their position in its place. */
  private static final String FIRST_IDENTITY = "position ";

  private static final String MISPLACED =
      """
      state = 'done' AND NOT EXISTS (SELECT 1 FROM verdict v WHERE v.run = submission.run
        AND v.identity = submission.identity AND v.position = submission.position)
        AND NOT EXISTS (SELECT 1 FROM turn t WHERE t.submission = submission.id)
      """;

  private static final String UNUSED = JdbcStore.unused("source");

  private static final String WITHOUT_SOURCE =
      "NOT EXISTS (SELECT 1 FROM source s WHERE s.candidate = verdict.candidate)";

  private final Database database;

  StoreCheck(Database database) {
    this.database = database;
  }

  private record Place(String run, int position) {}

  /** Verdicts that are not as they should be. */
  private record Verdicts(List<Place> differing, int unreadable) {}

  List<StoreFlaw> flaws(Handle h) {
    Verdicts verdicts = verdicts(h);
    List<StoreFlaw> flaws = new ArrayList<>();
    add(flaws, "verdicts that cannot be read", verdicts.unreadable(), false);
    add(flaws, "verdicts whose columns differ from their body", verdicts.differing().size(), true);
    add(flaws, "verdicts without a source", count(h, "verdict", WITHOUT_SOURCE), false);
    add(flaws, "submissions done without a verdict", count(h, "submission", MISPLACED), true);
    add(flaws, "sources that nothing uses", count(h, "source", UNUSED), true);
    return List.copyOf(flaws);
  }

  private static void add(List<StoreFlaw> flaws, String what, int rows, boolean mendable) {
    if (rows > 0) flaws.add(new StoreFlaw(what, rows, mendable));
  }

  private static int count(Handle h, String table, String where) {
    return h.createQuery("SELECT count(*) FROM %s WHERE %s".formatted(table, where))
        .mapTo(Integer.class)
        .one();
  }

  void mend(Handle h) {
    for (Place place : verdicts(h).differing()) mend(h, place);
    h.execute(
        """
        UPDATE submission SET position = (SELECT v.position FROM verdict v
          WHERE v.run = submission.run AND v.identity = submission.identity)
        WHERE %s
        """
            .formatted(MISPLACED));
    // Whoever starts kbx serve next judges them.
    h.execute("UPDATE submission SET state = 'queued' WHERE position IS NULL AND " + MISPLACED);
    h.execute("DELETE FROM source WHERE " + UNUSED);
  }

  private Verdicts verdicts(Handle h) {
    List<Place> differing = new ArrayList<>();
    int[] unreadable = {0};
    h.createQuery("SELECT %s FROM verdict".formatted(String.join(", ", VerdictColumns.NAMES)))
        .setFetchSize(FETCHED)
        .map((row, _) -> {
          try {
            if (differs(row)) differing.add(new Place(row.getString(1), row.getInt(2)));
          } catch (JacksonException _) {
            unreadable[0]++;
          }
          return 0;
        })
        .forEach(_ -> {});
    return new Verdicts(differing, unreadable[0]);
  }

  private boolean differs(ResultSet row) throws SQLException {
    int position = row.getInt("position");
    Verdict verdict = new Stored(position, row.getString("body")).verdict();
    for (Map.Entry<String, @Nullable Object> column :
        VerdictColumns.of(database, position, verdict).entrySet()) {
      String name = column.getKey();
      if (name.equals("body")) continue; // An earlier version may have written it otherwise.
      if (!agrees(name, row.getObject(name), column.getValue())) return true;
    }
    return false;
  }

  private static boolean agrees(String name, @Nullable Object found, @Nullable Object right) {
    if (found == null && LATER.contains(name)) return true;
    if (found instanceof Number one && right instanceof Number other) {
      return one.doubleValue() == other.doubleValue();
    }
    if (Objects.equals(found, right)) return true;
    if (!(found instanceof String text) || right == null) return false;
    return switch (name) {
      case "identity" -> text.startsWith(FIRST_IDENTITY);
      // The same values may be written in several ways.
      case "brief" -> BriefVerdict.read(text).equals(BriefVerdict.read(right.toString()));
      default -> false;
    };
  }

  private void mend(Handle h, Place place) {
    Verdict verdict =
        h.createQuery("SELECT body FROM verdict WHERE run = ? AND position = ?")
            .bind(0, place.run())
            .bind(1, place.position())
            .map((row, _) -> new Stored(place.position(), row.getString(1)).verdict())
            .one();
    Map<String, @Nullable Object> row = VerdictColumns.of(database, place.position(), verdict);
    List<String> derived =
        VerdictColumns.NAMES.stream()
            .filter(name -> !Set.of("run", "position", "body", "candidate").contains(name))
            .toList();
    List<@Nullable Object> values = new ArrayList<>();
    for (String name : derived) values.add(row.get(name));
    values.add(place.run());
    values.add(place.position());
    h.execute(
        "UPDATE verdict SET %s = ? WHERE run = ? AND position = ?"
            .formatted(String.join(" = ?, ", derived)),
        values.toArray());
  }
}
