package dev.kbx.dashboard;

import dev.kbx.document.Block.Tile;
import dev.kbx.document.Cell;
import dev.kbx.document.Cell.Tone;
import dev.kbx.document.Column;
import java.util.List;
import java.util.Map;

/** Devices and queue. */
record SystemPage(ServiceState state) {
  Markup body() {
    return atAGlance()
        .and(Parts.section("devices", "Devices", devices()))
        .and(Parts.section("queue", "Queue by client", clients()));
  }

  /** Tiles for the first page, too. */
  Markup atAGlance() {
    long healthy = state.devices().stream().filter(ServiceState.Device::healthy).count();
    return Parts.tiles(
        "now",
        "Now",
        List.of(
            new Tile("Being judged", Cell.count(state.judging()), "candidates on a device now"),
            new Tile(
                "Waiting",
                Cell.count(state.queued()),
                state.oldest() == null
                    ? "the queue is empty"
                    : "the oldest for " + Parts.lasted(state.oldest())),
            new Tile(
                "Devices",
                Cell.part((int) healthy, state.devices().size()),
                healthy == state.devices().size() ? "all judge" : "some do not judge")));
  }

  private Markup devices() {
    return Parts.table(
        "devices",
        "",
        List.of(
            Column.text("device", ServiceState.Device::name),
            new Column.Of<>(
                Column.text("state"),
                each -> Cell.label(each.state(), each.healthy() ? Tone.GOOD : Tone.BAD)),
            Column.text("architecture", ServiceState.Device::arch),
            Column.text("driver", ServiceState.Device::driver),
            Column.text("UUID", ServiceState.Device::uuid)),
        state.devices());
  }

  private Markup clients() {
    if (state.clients().isEmpty()) return Parts.none("Nothing waits.");
    return Parts.table(
        "clients",
        "",
        List.of(
            Column.text("client", Map.Entry<String, Integer>::getKey),
            Column.<Map.Entry<String, Integer>>number(
                "waiting", each -> Cell.count(each.getValue()))),
        List.copyOf(state.clients().entrySet()));
  }
}
