package dev.kbx.cli;

import com.jerolba.carpet.CarpetWriter;
import com.jerolba.carpet.ColumnNamingStrategy;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;

/**
 * Examples as Parquet, a column for each field. Its library is not in the bundle for GPU nodes:
 * there the use of this class ends in a {@link NoClassDefFoundError}.
 */
final class TrainingParquet {
  private TrainingParquet() {}

  static void write(Path file, List<TrainingRow> rows) throws IOException {
    try (OutputStream out = Files.newOutputStream(file);
        CarpetWriter<TrainingRow> writer =
            new CarpetWriter.Builder<>(out, TrainingRow.class)
                // Without Hadoop, which is slow to start, and of which the JVM warns.
                .withConf(new PlainParquetConfiguration())
                .withColumnNamingStrategy(ColumnNamingStrategy.SNAKE_CASE)
                .withCompressionCodec(CompressionCodecName.UNCOMPRESSED)
                .withExtraMetaData("kbx.schema", Integer.toString(TrainingRow.SCHEMA))
                .build()) {
      for (TrainingRow row : rows) writer.write(row);
    }
  }
}
