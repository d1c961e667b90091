package dev.kbx.timing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ExpertRoundsTest {
  /** With the places of two rounds those of the next two were known: first, first, last, last. */
  @Test
  void placesAreDrawnAndEvenInEachOrder() {
    var random = new Random(20_261_130);
    Set<String> seen = new HashSet<>();
    for (int i = 0; i < 300; i++) {
      ExpertRounds.Places expert = new ExpertRounds.Places();
      StringBuilder places = new StringBuilder();
      int[] first = new int[2];
      for (int number = 0; number < 8; number++) {
        boolean before = expert.first(number, random);
        places.append(before ? 'E' : '-');
        if (before) first[number % 2]++;
      }
      assertThat(first).as("of four rounds in each order").containsExactly(2, 2);
      seen.add(places.toString());
    }
    assertThat(seen).as("two drawn of four, twice").hasSize(16);
  }
}
