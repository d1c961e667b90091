package dev.kbx;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPInputStream;
import org.apache.parquet.ParquetReadOptions;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.compression.CompressionCodecFactory;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.convert.GroupRecordConverter;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.io.ColumnIOFactory;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.io.RecordReader;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.Type;

/** Reads Parquet files as text, as the library's own readers need Hadoop. */
public final class PlainParquet {
  private PlainParquet() {}

  /** The names of columns, then the rows; empty for null. */
  public static List<List<String>> read(Path file) throws IOException {
    ParquetReadOptions options =
        ParquetReadOptions.builder(new PlainParquetConfiguration())
            .withCodecFactory(new Gunzip())
            .build();
    List<List<String>> rows = new ArrayList<>();
    try (ParquetFileReader reader = ParquetFileReader.open(new LocalInputFile(file), options)) {
      MessageType schema = reader.getFileMetaData().getSchema();
      rows.add(schema.getFields().stream().map(Type::getName).toList());
      for (PageReadStore pages = reader.readNextRowGroup();
          pages != null;
          pages = reader.readNextRowGroup()) {
        RecordReader<Group> records =
            new ColumnIOFactory()
                .getColumnIO(schema)
                .getRecordReader(pages, new GroupRecordConverter(schema));
        for (long i = 0; i < pages.getRowCount(); i++) rows.add(row(records.read(), schema));
      }
    }
    return rows;
  }

  private static List<String> row(Group group, MessageType schema) {
    List<String> row = new ArrayList<>();
    for (int i = 0; i < schema.getFieldCount(); i++) {
      row.add(group.getFieldRepetitionCount(i) == 0 ? "" : group.getValueToString(i, 0));
    }
    return row;
  }

  private static final class Gunzip implements CompressionCodecFactory {
    @Override
    public BytesInputCompressor getCompressor(CompressionCodecName codec) {
      throw new UnsupportedOperationException();
    }

    @Override
    public BytesInputDecompressor getDecompressor(CompressionCodecName codec) {
      return new BytesInputDecompressor() {
        @Override
        public BytesInput decompress(BytesInput bytes, int size) throws IOException {
          return BytesInput.from(new GZIPInputStream(bytes.toInputStream()).readAllBytes());
        }

        @Override
        public void decompress(ByteBuffer in, int inSize, ByteBuffer out, int outSize) {
          throw new UnsupportedOperationException();
        }

        @Override
        public void release() {}
      };
    }

    @Override
    public void release() {}
  }
}
