package dev.kbx.store;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;
import org.jdbi.v3.core.Jdbi;
import org.jspecify.annotations.Nullable;

/**
 * Connections for queries beside the one that writes. They are opened when they are needed and kept
 * for a while. Safe for several threads.
 */
final class QueryPool implements AutoCloseable {
  private static final int CONNECTIONS = 4;

  /** For one of them: a query waits for those before it, and for a database that is away. */
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private static final Duration KEPT = Duration.ofMinutes(1);

  private final Database database;
  private @Nullable HikariDataSource connections;
  private @Nullable Jdbi jdbi;

  QueryPool(Database database) {
    this.database = database;
  }

  /** Most commands ask nothing, and so have no pool. */
  synchronized Jdbi jdbi() {
    Jdbi made = jdbi;
    if (made != null) return made;
    HikariConfig config = new HikariConfig();
    config.setPoolName("kbx");
    config.setJdbcUrl(database.url());
    config.setDataSourceProperties(database.properties());
    config.setMaximumPoolSize(CONNECTIONS);
    config.setMinimumIdle(0);
    config.setIdleTimeout(KEPT.toMillis());
    config.setConnectionTimeout(PATIENCE.toMillis());
    config.setInitializationFailTimeout(-1); // A database that is away is told by the query.
    HikariDataSource opened = new HikariDataSource(config);
    made = Jdbi.create(opened);
    connections = opened;
    jdbi = made;
    return made;
  }

  @Override
  public synchronized void close() {
    if (connections != null) connections.close();
  }
}
