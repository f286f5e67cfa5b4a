#include "CSQLiteConfiguration.h"

#include <sqlite3.h>

int emporium_sqlite_run_triggers(struct sqlite3 *connection, int isEnabled) {
    int current = -1;
    int code = sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_TRIGGER, isEnabled, &current);
    return code == SQLITE_OK ? current : -1;
}

void emporium_sqlite_keep_log(struct sqlite3 *connection) {
    sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

int emporium_sqlite_defend(struct sqlite3 *connection, int isEnabled) {
#ifdef SQLITE_DBCONFIG_DEFENSIVE
    int previous = -1;
    if (sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, -1, &previous) != SQLITE_OK) return -1;
    sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, isEnabled, (int *)0);
    return previous;
#else
    return 0;
#endif
}
