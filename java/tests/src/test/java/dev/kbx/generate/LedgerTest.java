package dev.kbx.generate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.method.Event;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LedgerTest {
  @TempDir private Path folder;

  @Test
  void interruptedThreadClosesItForNobody() {
    Path file = folder.resolve(Ledger.NAME);
    Header header =
        new Header("run", Instant.EPOCH, "suite", "*", List.of(), null, Map.of(), Map.of());
    Unit unit = new Unit("m", "task", 0);
    List<Event> events =
        List.of(
            new Event.Selection("one", "why"),
            new Event.Selection("two", "why"),
            new Event.Selection("three", "why"));
    try (Ledger ledger = Ledger.create(file, header, Instant::now)) {
      Thread.currentThread().interrupt();
      ledger.append(unit, events.get(0));
      ledger.appendDurably(unit, events.get(1));
      assertThat(Thread.interrupted()).isTrue();
      ledger.appendDurably(unit, events.get(2));
    }
    List<Event> read = new ArrayList<>();
    Ledger.replay(file, (_, event) -> read.add(event));
    assertThat(read).isEqualTo(events);
  }
}
