package dev.kbx.certify;

import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.interfaces.EdECPrivateKey;
import java.security.spec.NamedParameterSpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.Base64;
import java.util.regex.Pattern;
import org.apache.commons.codec.digest.DigestUtils;

/** An Ed25519 key that signs certificates; as text a PEM file as OpenSSL writes it. */
public final class SigningKey {
  static final String ALGORITHM = "Ed25519";

  private static final String BEGIN = "-----BEGIN PRIVATE KEY-----";
  private static final String END = "-----END PRIVATE KEY-----";

  /** Hexadecimal digits of a signer's name. */
  private static final int DIGITS = 32;

  private static final Pattern SIGNER = Pattern.compile("ed25519:[0-9a-f]{%d}".formatted(DIGITS));

  private final PrivateKey secret;
  private final PublicKey known;

  private SigningKey(PrivateKey secret, PublicKey known) {
    this.secret = secret;
    this.known = known;
  }

  /** A new key as text. */
  public static String generate() {
    try {
      byte[] key =
          KeyPairGenerator.getInstance(ALGORITHM).generateKeyPair().getPrivate().getEncoded();
      return "%s%n%s%n%s%n".formatted(BEGIN, Base64.getEncoder().encodeToString(key), END);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK has Ed25519", e);
    }
  }

  /**
   * The key of a PEM file's text.
   *
   * @throws IllegalArgumentException if it is none
   */
  public static SigningKey of(String pem) {
    int begin = pem.indexOf(BEGIN);
    int end = pem.indexOf(END);
    if (begin < 0 || end < begin) throw new IllegalArgumentException("no private key in PEM");
    byte[] bytes = Base64.getMimeDecoder().decode(pem.substring(begin + BEGIN.length(), end));
    try {
      PrivateKey secret =
          KeyFactory.getInstance(ALGORITHM).generatePrivate(new PKCS8EncodedKeySpec(bytes));
      return new SigningKey(secret, publicKey(secret));
    } catch (GeneralSecurityException e) {
      throw new IllegalArgumentException("no Ed25519 key", e);
    }
  }

  /** The public half: the generator makes both of the 32 bytes that it draws. */
  private static PublicKey publicKey(PrivateKey secret) throws GeneralSecurityException {
    byte[] seed = ((EdECPrivateKey) secret).getBytes().orElseThrow();
    KeyPairGenerator generator = KeyPairGenerator.getInstance(ALGORITHM);
    generator.initialize(NamedParameterSpec.ED25519, new Fixed(seed));
    KeyPair pair = generator.generateKeyPair();
    return pair.getPublic();
  }

  /** Draws given bytes. */
  private static final class Fixed extends SecureRandom {
    private static final long serialVersionUID = 1;

    private final byte[] bytes;

    Fixed(byte[] bytes) {
      this.bytes = bytes;
    }

    @Override
    public void nextBytes(byte[] target) {
      System.arraycopy(bytes, 0, target, 0, target.length);
    }
  }

  /** The public key, base64. */
  String publicKey() {
    return Base64.getEncoder().encodeToString(known.getEncoded());
  }

  /** The signer's name: {@code ed25519:} and the beginning of the public key's hash. */
  public String signer() {
    return signer(publicKey());
  }

  /** Whether this can be the name of a signer. */
  public static boolean isSigner(String text) {
    return SIGNER.matcher(text).matches();
  }

  static String signer(String publicKey) {
    byte[] key = Base64.getDecoder().decode(publicKey);
    return "ed25519:" + DigestUtils.sha256Hex(key).substring(0, DIGITS);
  }

  String sign(byte[] message) {
    try {
      Signature signature = Signature.getInstance(ALGORITHM);
      signature.initSign(secret);
      signature.update(message);
      return Base64.getEncoder().encodeToString(signature.sign());
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Whether a signature is of that key and message; false, too, for what is not a key. */
  static boolean verifies(String publicKey, byte[] message, String signature) {
    try {
      Signature check = Signature.getInstance(ALGORITHM);
      byte[] key = Base64.getDecoder().decode(publicKey);
      check.initVerify(
          KeyFactory.getInstance(ALGORITHM).generatePublic(new X509EncodedKeySpec(key)));
      check.update(message);
      return check.verify(Base64.getDecoder().decode(signature));
    } catch (GeneralSecurityException | IllegalArgumentException e) {
      return false;
    }
  }
}
