package dev.kbx.cli;

import dev.kbx.certify.CertificateEntry;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;

/** Random candidates of a certificate, each with the same chance; only these are in memory. */
final class CertificateSample {
  private final int wanted;
  private final SecureRandom random = new SecureRandom();
  private final List<CertificateEntry> chosen = new ArrayList<>();
  private int seen;

  CertificateSample(int wanted) {
    this.wanted = wanted;
  }

  void add(CertificateEntry entry) {
    seen++;
    if (chosen.size() < wanted) {
      chosen.add(entry);
    } else if (wanted > 0) {
      int place = random.nextInt(seen);
      if (place < wanted) chosen.set(place, entry);
    }
  }

  List<CertificateEntry> chosen() {
    return List.copyOf(chosen);
  }
}
