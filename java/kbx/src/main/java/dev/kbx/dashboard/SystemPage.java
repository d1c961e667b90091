package dev.kbx.dashboard;

import java.util.List;

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
        "Queue and devices",
        Parts.tile("Being judged", state.judging(), "candidates on a device now"),
        Parts.tile(
            "Waiting",
            state.queued(),
            state.oldest() == null
                ? "the queue is empty"
                : "the oldest for " + Parts.lasted(state.oldest())),
        Parts.tile(
            "Devices",
            "%d of %d".formatted(healthy, state.devices().size()),
            healthy == state.devices().size() ? "all judge" : "some do not judge"));
  }

  private Markup devices() {
    return Markup.of(
        """
        <table class="listed">
        <thead><tr><th scope="col">Device</th><th scope="col">State</th><th scope="col">Architecture</th><th scope="col">Driver</th><th scope="col">UUID</th></tr></thead>
        <tbody>%s</tbody>
        </table>
        """,
        Markup.each(state.devices(), SystemPage::row));
  }

  private static Markup row(ServiceState.Device device) {
    return Markup.of(
        """
        <tr><th scope="row">%s</th><td><span class="status %s">%s</span></td><td data-name="Architecture">%s</td>\
        <td data-name="Driver">%s</td><td data-name="UUID" class="reason">%s</td></tr>
        """,
        device.name(),
        device.healthy() ? "good" : "bad",
        device.state(),
        device.arch(),
        device.driver(),
        device.uuid());
  }

  private Markup clients() {
    if (state.clients().isEmpty()) return Parts.none("Nothing waits.");
    return Markup.of(
        """
        <table class="series"><thead><tr><th scope="col">Client</th><th scope="col" class="number">Waiting</th></tr></thead>
        <tbody>%s</tbody></table>
        """,
        Markup.each(
            List.copyOf(state.clients().entrySet()),
            each ->
                Markup.of(
                    "<tr><th scope=\"row\">%s</th><td class=\"number\">%,d</td></tr>",
                    each.getKey(), each.getValue())));
  }
}
