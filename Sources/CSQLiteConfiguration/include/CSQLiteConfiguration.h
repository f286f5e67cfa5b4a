// What Swift cannot call of SQLite, because it takes any number of arguments.
#ifndef EMPORIUM_SQLITE_CONFIGURATION_H
#define EMPORIUM_SQLITE_CONFIGURATION_H

struct sqlite3;

/// Says whether a connection runs the triggers of its files, which all do at first.
///
/// Returns whether it does now, or -1 if SQLite doesn't tell.
int emporium_sqlite_run_triggers(struct sqlite3 *connection, int isWanted);

/// Lets a connection leave the write-ahead log as it is when it closes.
void emporium_sqlite_keep_log(struct sqlite3 *connection);

/// Says whether a connection refuses to change definitions of tables directly.
///
/// Returns 1 or 0 for what was so before, or -1 if SQLite doesn't tell.
int emporium_sqlite_defend(struct sqlite3 *connection, int isWanted);

#endif
