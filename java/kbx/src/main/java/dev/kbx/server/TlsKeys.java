package dev.kbx.server;

import io.helidon.common.configurable.Resource;
import io.helidon.common.pki.Keys;
import io.helidon.common.pki.PemKeys;
import io.helidon.common.pki.PkiException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.util.function.Consumer;

/** A certificate chain and its private key, read and found to belong together. */
public final class TlsKeys {
  private final Keys keys;

  private TlsKeys(Keys keys) {
    this.keys = keys;
  }

  /**
   * Reads two PEM files.
   *
   * @param certificates the server's certificate first, then those that vouch for it
   * @param key of the first certificate: PKCS#8, not encrypted
   * @throws IllegalArgumentException a file holds something else; its message names the file
   */
  public static TlsKeys read(Path certificates, Path key) {
    PublicKey certified =
        read(
                certificates + ": no certificate in PEM",
                pem -> pem.certChain(Resource.create(certificates)))
            .certChain()
            .getFirst()
            .getPublicKey();
    Keys both =
        read(
            key
                + ": no private key in PEM (PKCS#8, not encrypted; openssl pkcs8 -topk8 -nocrypt"
                + " makes one)",
            pem -> pem.key(Resource.create(key)).certChain(Resource.create(certificates)));
    if (!belongs(both.privateKey().orElseThrow(), certified)) {
      throw new IllegalArgumentException(
          "%s: not the key of the certificate in %s".formatted(key, certificates));
    }
    return new TlsKeys(both);
  }

  private static Keys read(String problem, Consumer<PemKeys.Builder> files) {
    try {
      return Keys.builder().pem(files).build();
    } catch (PkiException | UnsupportedOperationException e) { // the latter for PKCS#1
      throw new IllegalArgumentException(problem, e);
    }
  }

  /** Whether the public key verifies what the private one signs. */
  private static boolean belongs(PrivateKey key, PublicKey certified) {
    if (!key.getAlgorithm().equals(certified.getAlgorithm())) return false;
    try {
      Signature signature = Signature.getInstance(algorithm(key));
      byte[] text = {1};
      signature.initSign(key);
      signature.update(text);
      byte[] signed = signature.sign();
      signature.initVerify(certified);
      signature.update(text);
      return signature.verify(signed);
    } catch (GeneralSecurityException e) {
      return false; // Such as a point on another curve.
    }
  }

  private static String algorithm(PrivateKey key) {
    return switch (key.getAlgorithm()) {
      case "RSA" -> "SHA256withRSA";
      case "EC" -> "SHA256withECDSA";
      default -> key.getAlgorithm();
    };
  }

  Keys keys() {
    return keys;
  }
}
