package dev.kbx.certify;

import java.nio.charset.StandardCharsets;

/**
 * The last line of a certificate.
 *
 * @param algorithm {@code Ed25519}
 * @param publicKey X.509, base64
 * @param sha256 of all bytes before this line, hex
 * @param signature of {@link #message}, base64
 */
record Seal(String algorithm, String publicKey, String sha256, String signature) {
  static Seal of(SigningKey key, String sha256) {
    return new Seal(SigningKey.ALGORITHM, key.publicKey(), sha256, key.sign(message(sha256)));
  }

  /** What is signed. */
  private static byte[] message(String sha256) {
    return ("kbx certificate " + CertificateHeader.VERSION + " " + sha256)
        .getBytes(StandardCharsets.UTF_8);
  }

  /** Whether it seals content with that hash. */
  boolean holds(String hash) {
    return algorithm.equals(SigningKey.ALGORITHM)
        && sha256.equals(hash)
        && SigningKey.verifies(publicKey, message(sha256), signature);
  }
}
