// What Swift cannot call: sqlite3_db_config, which is variadic, and the extensions of FTS5, which are functions in C.
#ifndef EMPORIUM_SQLITE_CONFIGURATION_H
#define EMPORIUM_SQLITE_CONFIGURATION_H

struct sqlite3;

/// Enables or disables triggers on a connection. They are enabled by default.
///
/// Returns whether they are enabled now, or -1 if SQLite reports an error.
int emporium_sqlite_run_triggers(struct sqlite3 *connection, int isEnabled);

/// Disables the checkpoint when a connection closes, so that the write-ahead log remains unchanged.
void emporium_sqlite_keep_log(struct sqlite3 *connection);

/// Adds the function `emporium_places` to FTS5 on a connection. It returns a blob of unsigned integers: for each phrase
/// of the query, the number of its places in each column, and then the number of tokens of the row.
///
/// Returns an error of SQLite, among others if it has no FTS5.
int emporium_sqlite_add_search_function(struct sqlite3 *connection);

/// Refuses or allows changes of the schema's table on a connection. Some systems refuse them by default.
///
/// Returns whether they were refused before, or -1 if SQLite reports an error.
int emporium_sqlite_defend(struct sqlite3 *connection, int isEnabled);

#endif
