package dev.kbx.certify;

import dev.kbx.verdict.Json;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import org.apache.commons.codec.digest.DigestUtils;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * Checks a certificate: its signature, and that its figures follow from its rounds.
 *
 * @param signer who signed it; null if there is no valid signature
 * @param header null if it cannot be read
 * @param figures what was computed again
 * @param problems all that is wrong, a sentence each; empty if it holds
 */
public record CertificateCheck(
    @Nullable String signer,
    @Nullable CertificateHeader header,
    CheckedFigures figures,
    List<String> problems) {
  public CertificateCheck {
    problems = List.copyOf(problems);
  }

  /** Receives the line of each verdict. */
  public interface Entries {
    void entry(CertificateEntry entry);
  }

  /** Whether it is signed and nothing in it is wrong. */
  public boolean holds() {
    return signer != null && problems.isEmpty();
  }

  /**
   * Reads and checks a file.
   *
   * @throws NoCertificate if its first line is none of a certificate
   */
  public static CertificateCheck of(Path file, Entries entries) throws IOException {
    Reading reading = new Reading(entries);
    try (InputStream in = new BufferedInputStream(Files.newInputStream(file))) {
      byte[] next = line(in);
      if (!isHeader(next)) throw new NoCertificate();
      while (next.length > 0) {
        byte[] line = next;
        next = line(in);
        reading.line(line, next.length == 0);
      }
    }
    return reading.check();
  }

  /** A file of something else. */
  public static final class NoCertificate extends IOException {
    private static final long serialVersionUID = 1;

    private NoCertificate() {}
  }

  private static boolean isHeader(byte[] line) {
    try {
      return json(line).path("certificate").isInt();
    } catch (JacksonException e) {
      return false;
    }
  }

  private static JsonNode json(byte[] line) {
    return Json.mapper().readTree(new String(line, StandardCharsets.UTF_8));
  }

  /** The next line with its line break; empty at the end. */
  private static byte[] line(InputStream in) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int next = in.read(); next >= 0; next = in.read()) {
      line.write(next);
      if (next == '\n') break;
    }
    return line.toByteArray();
  }

  /** A certificate that is being read. */
  private static final class Reading {
    private static final String UNSEALED = "it has no signature: its last line is cut off";

    private final Entries entries;
    private final MessageDigest digest = DigestUtils.getSha256Digest();
    private final List<String> problems = new ArrayList<>();
    private final RecomputedFigures figures = new RecomputedFigures(problems::add);
    private @Nullable CertificateHeader header;
    private @Nullable String signer;
    private CertificateHeader.Counts counts = CertificateHeader.Counts.NONE;
    private int number;

    Reading(Entries entries) {
      this.entries = entries;
    }

    void line(byte[] bytes, boolean last) {
      number++;
      try {
        JsonNode json = json(bytes);
        if (last && number > 1) {
          seal(json);
          return;
        }
        digest.update(bytes);
        if (number == 1) header = header(json);
        else entry(json);
      } catch (JacksonException | IllegalArgumentException | NullPointerException e) {
        problems.add("line %d is not a line of a certificate".formatted(number));
      }
    }

    private @Nullable CertificateHeader header(JsonNode json) {
      CertificateHeader read = Json.mapper().treeToValue(json, CertificateHeader.class);
      if (read.certificate() == CertificateHeader.VERSION) return read;
      problems.add(
          "it is of version %d, and this kbx knows version %d"
              .formatted(read.certificate(), CertificateHeader.VERSION));
      return null;
    }

    private void seal(JsonNode json) {
      JsonNode node = json.get(CertificateWriter.SEAL);
      String hash = HexFormat.of().formatHex(digest.digest());
      Seal seal = node == null ? null : Json.mapper().treeToValue(node, Seal.class);
      if (seal == null) {
        problems.add(UNSEALED);
      } else if (!seal.holds(hash)) {
        problems.add("the signature is not valid: something was changed after it was signed");
      } else {
        signer = SigningKey.signer(seal.publicKey());
      }
    }

    private void entry(JsonNode json) {
      CertificateEntry entry = CertificateEntry.of(json);
      counts = counts.and(entry.verdict(), entry.hasRounds());
      figures.check(entry);
      entries.entry(entry);
    }

    CertificateCheck check() {
      if (number < 2) problems.add(UNSEALED);
      CertificateHeader read = header;
      if (read != null) {
        CertificateHeader.Counts stated =
            new CertificateHeader.Counts(
                read.verdicts(), read.correct(), read.timed(), read.withRounds());
        if (!Objects.equals(stated, counts)) {
          problems.add(
              "its first line says %s; it has %s"
                  .formatted(stated.described(), counts.described()));
        }
      }
      return new CertificateCheck(signer, header, figures.counts(), problems);
    }
  }
}
