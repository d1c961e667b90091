package dev.kbx.paper;

import static com.jerolba.carpet.model.FieldTypes.BOOLEAN;
import static com.jerolba.carpet.model.FieldTypes.DOUBLE;
import static com.jerolba.carpet.model.FieldTypes.INTEGER;
import static com.jerolba.carpet.model.FieldTypes.LIST;
import static com.jerolba.carpet.model.FieldTypes.LONG;
import static com.jerolba.carpet.model.FieldTypes.STRING;
import static com.jerolba.carpet.model.FieldTypes.writeRecordModel;

import com.jerolba.carpet.CarpetWriter;
import com.jerolba.carpet.model.FieldType;
import com.jerolba.carpet.model.WriteRecordModelType;
import dev.kbx.verdict.Field;
import dev.kbx.verdict.Field.Message;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.compression.CompressionCodecFactory;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;

/** Rows as Parquet. For use only if {@link DataFiles#hasParquet}. */
public final class ParquetRows<T> implements AutoCloseable {
  /** Bytes of a row group, which is collected in memory. */
  private static final long ROW_GROUP = 16L << 20;

  private final CarpetWriter<T> writer;

  /**
   * @param columns of texts, lists of texts, numbers, truth values and messages
   * @param schema version of the columns, for the file's metadata
   */
  public ParquetRows(Class<T> rows, List<Field<T>> columns, int schema, OutputStream out)
      throws IOException {
    WriteRecordModelType<T> model = writeRecordModel(rows);
    for (Field<T> each : columns) model.withField(each.name(), type(each.type()), each.value()::of);
    writer =
        new CarpetWriter.Builder<>(out, rows)
            // Without Hadoop, which is slow to start, and of which the JVM warns.
            .withConf(new PlainParquetConfiguration())
            .withCodecFactory(new GzipPages())
            .withCompressionCodec(CompressionCodecName.GZIP)
            .withRowGroupSize(ROW_GROUP)
            .withExtraMetaData("kbx.schema", Integer.toString(schema))
            .withWriteRecordModel(model)
            .build();
  }

  private static FieldType type(Field.Type type) {
    return switch (type) {
      case TEXT -> STRING;
      case INTEGER -> INTEGER;
      case LONG -> LONG;
      case NUMBER -> DOUBLE;
      case BOOLEAN -> BOOLEAN;
      case TEXTS -> LIST.ofType(STRING);
      case MESSAGES ->
          LIST.ofType(
              writeRecordModel(Message.class)
                  .withField("role", STRING, Message::role)
                  .withField("content", STRING, Message::content));
      case TIME, INTEGERS, NUMBERS, TEXTS_BY_NAME, NUMBERS_BY_NAME, OBJECT ->
          throw new IllegalArgumentException("no column has values of the type " + type);
    };
  }

  /** Writes a row. */
  public void write(T row) {
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

  /** Compresses pages of Parquet with Java's own gzip: the library's compressors need Hadoop. */
  private static final class GzipPages implements CompressionCodecFactory {
    @Override
    public BytesInputCompressor getCompressor(CompressionCodecName codec) {
      return new Compressor();
    }

    @Override
    public BytesInputDecompressor getDecompressor(CompressionCodecName codec) {
      throw new UnsupportedOperationException("nothing is read");
    }

    @Override
    public void release() {}

    private static final class Compressor implements BytesInputCompressor {
      @Override
      public BytesInput compress(BytesInput bytes) throws IOException {
        ByteArrayOutputStream compressed = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(compressed)) {
          bytes.writeAllTo(gzip);
        }
        return BytesInput.from(compressed);
      }

      @Override
      public CompressionCodecName getCodecName() {
        return CompressionCodecName.GZIP;
      }

      @Override
      public void release() {}
    }
  }
}
