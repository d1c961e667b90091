package dev.kbx.verdict;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Numbers are those of {@link Double#parseDouble}, bit by bit. */
class DecimalsTest {
  private static final int DRAWN = 200_000;

  private static double parsed(String text) {
    return Decimals.parse(text.getBytes(US_ASCII), 0, text.length());
  }

  private static void check(String text) {
    assertThat(Double.doubleToRawLongBits(parsed(text)))
        .as(text)
        .isEqualTo(Double.doubleToRawLongBits(Double.parseDouble(text)));
  }

  @Test
  void everyKindOfNumberIsRead() {
    for (String text :
        new String[] {
          "0",
          "-0.0",
          "1",
          "-12.5",
          "0.1",
          "1.0E-5",
          "2.5e+10",
          "4.9E-324",
          "1.7976931348623157E308",
          "0.00000000000000000001",
          "123456789012345678",
          "1234567890123456789",
          "9007199254740993",
          "9007199254740993.0",
          "0.3333333333333333",
          "17.999999999999996"
        }) {
      check(text);
    }
  }

  @Test
  void whatDoublesAreWrittenAsIsReadAsThem() {
    var random = new SplittableRandom(1);
    for (int i = 0; i < DRAWN; i++) {
      check(Double.toString(Math.exp(random.nextDouble(-12, 25))));
      check(Double.toString(-random.nextDouble()));
    }
  }

  /** The middle of two neighbours, and what is next to it in the last digits that are read. */
  @Test
  void middlesOfTwoDoublesAreRoundedToEven() {
    var random = new SplittableRandom(2);
    for (int i = 0; i < DRAWN; i++) {
      double one = 1 + random.nextInt(1 << 20) + random.nextInt(1 << 20) * 0x1p-32;
      double low = random.nextLong(1L << 52, 1L << 53);
      check(new BigDecimal(low).add(new BigDecimal("0.5")).toPlainString());
      check(new BigDecimal(low / 2).add(new BigDecimal("0.25")).toPlainString());
      BigDecimal middle =
          new BigDecimal(one).add(new BigDecimal(Math.nextUp(one))).divide(BigDecimal.valueOf(2));
      String text = middle.toPlainString();
      check(text.substring(0, Math.min(text.length(), 19)));
    }
  }

  @Test
  void whatIsNoNumberIsRefused() {
    for (String text : new String[] {"", "-", ".", "--1", "1-", "1.2.3", "x", "1e", "[1"}) {
      assertThatThrownBy(() -> parsed(text)).as(text).isInstanceOf(NumberFormatException.class);
    }
  }
}
