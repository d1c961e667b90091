package dev.kbx;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;

/** A real PostgreSQL server, started once for all tests of a JVM. */
public final class TestPostgres {
  private static final AtomicInteger DATABASES = new AtomicInteger();

  private TestPostgres() {}

  private static final class Holder {
    static final EmbeddedPostgres SERVER = start();

    private static EmbeddedPostgres start() {
      try {
        EmbeddedPostgres server = EmbeddedPostgres.builder().start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> close(server)));
        return server;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static void close(EmbeddedPostgres server) {
      try {
        server.close();
      } catch (IOException e) {
        System.err.println("PostgreSQL did not stop: " + e);
      }
    }
  }

  /** The address of a new, empty database. */
  public static String newDatabase() {
    String name = "kbx_" + DATABASES.incrementAndGet();
    try (Connection connection = Holder.SERVER.getPostgresDatabase().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE DATABASE " + name);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
    return Holder.SERVER.getJdbcUrl("postgres", name);
  }
}
