import mysql from 'mysql2';

/**
 * The driver whose sessions are strict, whatever the server's mode: without, the server cuts a text
 * that is too long, and answers that it is stored.
 */
export const strictMysql: { createPool(options: mysql.PoolOptions): mysql.Pool } = {
  ...mysql,
  createPool(options: mysql.PoolOptions): mysql.Pool {
    const pool = mysql.createPool(options);
    pool.on('connection', (connection) => {
      connection.query(
        "SET SESSION sql_mode = CONCAT_WS(',', NULLIF(@@sql_mode, ''), 'STRICT_TRANS_TABLES')",
        // Without it an error would end the process. No statement runs in a session that is not strict.
        (error) => error && connection.destroy(),
      );
    });
    return pool;
  },
};
