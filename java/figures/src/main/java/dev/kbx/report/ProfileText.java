package dev.kbx.report;

import dev.kbx.document.Text;
import dev.kbx.verdict.Profile;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Profiles for a terminal: a line for each kernel. */
final class ProfileText {
  private ProfileText() {}

  /** Empty without figures: the reason is given once for the whole run. */
  static List<String> lines(@Nullable Profile profile) {
    if (profile == null || profile.kernels() == null) return List.of();
    return profile.kernels().stream().map(ProfileText::line).toList();
  }

  private static String line(Profile.Kernel kernel) {
    List<String> parts = new ArrayList<>();
    parts.add(
        Text.clean(kernel.kernel()) + (kernel.launches() > 1 ? " ×" + kernel.launches() : ""));
    parts.add(String.format(Locale.ROOT, "%.3g ms", kernel.durationMs()));
    percent(parts, "occupancy", kernel.achievedOccupancyPct(), kernel.theoreticalOccupancyPct());
    percent(parts, "DRAM", kernel.dramPct(), null);
    percent(parts, "SM", kernel.smPct(), null);
    if (kernel.registers() != null) parts.add(kernel.registers() + " registers");
    if (kernel.stall() != null) percent(parts, "waits: " + kernel.stall(), kernel.stallPct(), null);
    return String.join(" · ", parts);
  }

  private static void percent(
      List<String> parts, String name, @Nullable Double value, @Nullable Double most) {
    if (value == null) return;
    String of = most == null ? "" : String.format(Locale.ROOT, " of %.0f", most);
    parts.add(String.format(Locale.ROOT, "%s %.0f%s %%", name, value, of));
  }
}
