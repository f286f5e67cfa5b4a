#include "CSQLiteConfiguration.h"

#include <sqlite3.h>
#include <string.h>

// The number of places of each phrase in each column of the current row, then the length of the row's texts.
static void countPlaces(
    const Fts5ExtensionApi *api, Fts5Context *row, sqlite3_context *result, int count, sqlite3_value **values
) {
    (void)count;
    (void)values;
    int columns = api->xColumnCount(row);
    int phrases = api->xPhraseCount(row);
    size_t size = sizeof(unsigned int) * ((size_t)columns * (size_t)phrases + 1);
    unsigned int few[64];
    unsigned int *numbers = size <= sizeof(few) ? few : sqlite3_malloc64(size);
    if (!numbers) {
        sqlite3_result_error_nomem(result);
        return;
    }
    memset(numbers, 0, size);
    int code = SQLITE_OK;
    for (int phrase = 0; phrase < phrases && code == SQLITE_OK; phrase++) {
        unsigned int *counts = numbers + (size_t)phrase * (size_t)columns;
        Fts5PhraseIter iterator;
        int column, offset;
        code = api->xPhraseFirst(row, phrase, &iterator, &column, &offset);
        while (code == SQLITE_OK && column >= 0) {
            if (column < columns) counts[column] += 1;
            api->xPhraseNext(row, &iterator, &column, &offset);
        }
    }
    int length = 0;
    if (code == SQLITE_OK) code = api->xColumnSize(row, -1, &length);
    if (code == SQLITE_OK) {
        numbers[(size_t)phrases * (size_t)columns] = (unsigned int)length;
        sqlite3_result_blob64(result, numbers, size, SQLITE_TRANSIENT);
    } else {
        sqlite3_result_error_code(result, code);
    }
    if (numbers != few) sqlite3_free(numbers);
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
