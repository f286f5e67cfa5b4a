// The functions of libcurl that the engine for HTTP calls, found when the program runs.
//
// Foundation's URLSession is built on libcurl on Linux, so a program that links FoundationNetworking has loaded it. The
// declarations are here because its headers are often not installed. The numbers are part of libcurl's ABI 4, which
// never changes. Empty on other platforms.
#ifndef EMPORIUM_CURL_LIBRARY_H
#define EMPORIUM_CURL_LIBRARY_H

#ifdef __linux__
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Finds the functions. Returns whether all exist, which needs libcurl 7.68 or later. Call it once, before the others.
bool emporium_curl_load(void);

/// A function that receives bytes. It returns their number, EMPORIUM_CURL_PAUSE to receive them again when the transfer
/// is resumed, or another number to end the transfer.
typedef size_t (*emporium_curl_sink)(char *bytes, size_t size, size_t count, void *user);

/// The result of a function that pauses the transfer.
static const long EMPORIUM_CURL_PAUSE = 0x10000001;

/// A function that receives the numbers of bytes of the bodies so far. It returns 0, or another number to end the
/// transfer.
typedef int (*emporium_curl_meter)(
    void *user, int64_t expected, int64_t received, int64_t expected_to_send, int64_t sent);

/// Options of a transfer.
static const int EMPORIUM_CURL_URL = 10002;
static const int EMPORIUM_CURL_SINK_DATA = 10001;
static const int EMPORIUM_CURL_SINK = 20011;
static const int EMPORIUM_CURL_HEADER_SINK_DATA = 10029;
static const int EMPORIUM_CURL_HEADER_SINK = 20079;
static const int EMPORIUM_CURL_METER_DATA = 10057;
static const int EMPORIUM_CURL_METER = 20219;
static const int EMPORIUM_CURL_HAS_NO_METER = 43;
static const int EMPORIUM_CURL_HEADERS = 10023;
static const int EMPORIUM_CURL_METHOD = 10036;
static const int EMPORIUM_CURL_BODY = 10015;
static const int EMPORIUM_CURL_BODY_SIZE = 30120;
static const int EMPORIUM_CURL_ENCODINGS = 10102;
static const int EMPORIUM_CURL_NO_SIGNALS = 99;
static const int EMPORIUM_CURL_BUFFER_SIZE = 98;
static const int EMPORIUM_CURL_HIDES_PROXY_HEADERS = 265;
static const int EMPORIUM_CURL_PROTOCOLS = 181;
static const int EMPORIUM_CURL_NO_BODY = 44;
static const int EMPORIUM_CURL_FRESH_CONNECTION = 74;
static const int EMPORIUM_CURL_HTTP_VERSION = 84;

/// Protocols of `EMPORIUM_CURL_PROTOCOLS`: HTTP and HTTPS.
static const int EMPORIUM_CURL_HTTP_AND_HTTPS = 3;

/// A version of `EMPORIUM_CURL_HTTP_VERSION`.
static const int EMPORIUM_CURL_HTTP_1_1 = 2;

/// Results.
static const int EMPORIUM_CURL_TIMED_OUT = 28;

void *emporium_curl_easy_init(void);
void emporium_curl_easy_cleanup(void *easy);
int emporium_curl_set_number(void *easy, int option, long value);
int emporium_curl_set_size(void *easy, int option, int64_t value);
int emporium_curl_set_pointer(void *easy, int option, const void *value);
int emporium_curl_set_sink(void *easy, int option, emporium_curl_sink sink);
int emporium_curl_set_meter(void *easy, int option, emporium_curl_meter meter);
/// Resumes a paused transfer. It passes on the bytes that the transfer has kept.
int emporium_curl_easy_resume(void *easy);
const char *emporium_curl_description(int result);

void *emporium_curl_list_append(void *list, const char *text);
void emporium_curl_list_free(void *list);

/// The number of connections is 0 if it has no limit.
void *emporium_curl_multi_init(long connections_per_host);
void emporium_curl_multi_cleanup(void *multi);
int emporium_curl_multi_add(void *multi, void *easy);
int emporium_curl_multi_remove(void *multi, void *easy);
int emporium_curl_multi_perform(void *multi);
/// Returns a finished transfer and its result; NULL if there is no other.
void *emporium_curl_multi_next_finished(void *multi, int *result);
/// Waits for activity, a wakeup or the end of the time.
int emporium_curl_multi_poll(void *multi, int milliseconds);
/// Ends a wait. Any thread may call it.
int emporium_curl_multi_wakeup(void *multi);
#endif

#endif
