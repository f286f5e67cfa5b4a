// Wrappers of sqlite3_db_config, which Swift cannot call because it is variadic.
#ifndef EMPORIUM_SQLITE_CONFIGURATION_H
#define EMPORIUM_SQLITE_CONFIGURATION_H

struct sqlite3;

/// Enables or disables triggers on a connection. They are enabled by default.
///
/// Returns whether they are enabled now, or -1 if SQLite reports an error.
int emporium_sqlite_run_triggers(struct sqlite3 *connection, int isEnabled);

/// Disables the checkpoint when a connection closes, so that the write-ahead log remains unchanged.
void emporium_sqlite_keep_log(struct sqlite3 *connection);

/// Refuses or allows changes of the schema's table on a connection. Some systems refuse them by default.
///
/// Returns whether they were refused before, or -1 if SQLite reports an error.
int emporium_sqlite_defend(struct sqlite3 *connection, int isEnabled);

#endif
