#include "CSQLiteConfiguration.h"

#include <sqlite3.h>
#include <string.h>

enum { maximumColumns = 64 };

// The number of places of the first phrase in each column of the current row, then the length of the row's texts.
static void countPlaces(
    const Fts5ExtensionApi *api, Fts5Context *row, sqlite3_context *result, int count, sqlite3_value **values
) {
    (void)count;
    (void)values;
    unsigned int numbers[maximumColumns + 1];
    int columns = api->xColumnCount(row);
    if (columns > maximumColumns) {
        sqlite3_result_error_toobig(result);
        return;
    }
    memset(numbers, 0, sizeof(numbers));
    Fts5PhraseIter iterator;
    int column, offset;
    int code = api->xPhraseFirst(row, 0, &iterator, &column, &offset);
    while (code == SQLITE_OK && column >= 0) {
        if (column < columns) numbers[column] += 1;
        api->xPhraseNext(row, &iterator, &column, &offset);
    }
    int length = 0;
    if (code == SQLITE_OK) code = api->xColumnSize(row, -1, &length);
    if (code != SQLITE_OK) {
        sqlite3_result_error_code(result, code);
        return;
    }
    numbers[columns] = (unsigned int)length;
    sqlite3_result_blob(result, numbers, (int)sizeof(unsigned int) * (columns + 1), SQLITE_TRANSIENT);
}

int emporium_sqlite_add_search_function(struct sqlite3 *connection) {
    fts5_api *api = 0;
    sqlite3_stmt *statement = 0;
    int code = sqlite3_prepare_v2(connection, "SELECT fts5(?1)", -1, &statement, 0);
    if (code != SQLITE_OK) return code;
    code = sqlite3_bind_pointer(statement, 1, (void *)&api, "fts5_api_ptr", 0);
    if (code == SQLITE_OK) sqlite3_step(statement);
    code = sqlite3_finalize(statement);
    if (code != SQLITE_OK) return code;
    if (!api) return SQLITE_ERROR;
    return api->xCreateFunction(api, "emporium_places", 0, countPlaces, 0);
}
