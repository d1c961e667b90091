package dev.kbx.app;

import dev.kbx.FieldDocs;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The fields of training files are those of the page about them. */
class TrainingFieldsTest {
  @Test
  void fieldsAreDescribed() throws Exception {
    FieldDocs.table(Path.of("docs/training-data.md"), "## Fields", TrainingExport.COLUMNS);
  }
}
