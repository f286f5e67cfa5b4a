#include "CSQLiteConfiguration.h"

#include <sqlite3.h>

int emporium_sqlite_run_triggers(struct sqlite3 *connection, int isWanted) {
    int isSo = -1;
    int code = sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_TRIGGER, isWanted, &isSo);
    return code == SQLITE_OK ? isSo : -1;
}

void emporium_sqlite_keep_log(struct sqlite3 *connection) {
    sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

int emporium_sqlite_defend(struct sqlite3 *connection, int isWanted) {
    int wasSo = -1;
    int isSo = -1;
    if (sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, -1, &wasSo) != SQLITE_OK) return -1;
    int code = sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, isWanted, &isSo);
    return code == SQLITE_OK && isSo == isWanted ? wasSo : -1;
}
