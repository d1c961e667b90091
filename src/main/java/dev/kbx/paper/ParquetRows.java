package dev.kbx.paper;

import com.jerolba.carpet.CarpetWriter;
import com.jerolba.carpet.ColumnNamingStrategy;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;

/**
 * Records as Parquet, a column for each component. For use only if {@link DataFiles#hasParquet}.
 */
final class ParquetRows<R extends Record> implements AutoCloseable {
  /** Bytes of a row group, which is collected in memory. */
  private static final long ROW_GROUP = 16L << 20;

  private final CarpetWriter<R> writer;

  ParquetRows(Class<R> type, OutputStream out) throws IOException {
    writer =
        new CarpetWriter.Builder<>(out, type)
            // Without Hadoop, which is slow to start, and of which the JVM warns.
            .withConf(new PlainParquetConfiguration())
            .withCodecFactory(new GzipPages())
            .withColumnNamingStrategy(ColumnNamingStrategy.SNAKE_CASE)
            .withCompressionCodec(CompressionCodecName.GZIP)
            .withRowGroupSize(ROW_GROUP)
            .withExtraMetaData("kbx.schema", Integer.toString(DataFiles.SCHEMA))
            .build();
  }

  void write(R row) {
    try {
      writer.write(row);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() throws IOException {
    writer.close();
  }
}
