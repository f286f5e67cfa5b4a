#include "CCurlLibrary.h"

#if defined(__linux__)
#include <dlfcn.h>

// The head of curl_easy messages, of which only these members are read.
struct message {
    int kind;
    void *easy;
    union {
        void *pointer;
        int result;
    } data;
};

static int (*global_init)(long);
static void *(*easy_init)(void);
static void (*easy_cleanup)(void *);
static int (*easy_setopt)(void *, int, ...);
static int (*easy_pause)(void *, int);
static const char *(*easy_strerror)(int);
static void *(*slist_append)(void *, const char *);
static void (*slist_free_all)(void *);
static void *(*multi_init)(void);
static int (*multi_cleanup)(void *);
static int (*multi_setopt)(void *, int, ...);
static int (*multi_add_handle)(void *, void *);
static int (*multi_remove_handle)(void *, void *);
static int (*multi_perform)(void *, int *);
static struct message *(*multi_info_read)(void *, int *);
static int (*multi_poll)(void *, void *, unsigned int, int, int *);
static int (*multi_wakeup)(void *);

static bool find(void *library, const char *name, void **function) {
    *function = dlsym(library, name);
    return *function != NULL;
}

bool emporium_curl_load(void) {
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return false;
    bool found = find(library, "curl_global_init", (void **)&global_init)
        && find(library, "curl_easy_init", (void **)&easy_init)
        && find(library, "curl_easy_cleanup", (void **)&easy_cleanup)
        && find(library, "curl_easy_setopt", (void **)&easy_setopt)
        && find(library, "curl_easy_pause", (void **)&easy_pause)
        && find(library, "curl_easy_strerror", (void **)&easy_strerror)
        && find(library, "curl_slist_append", (void **)&slist_append)
        && find(library, "curl_slist_free_all", (void **)&slist_free_all)
        && find(library, "curl_multi_init", (void **)&multi_init)
        && find(library, "curl_multi_cleanup", (void **)&multi_cleanup)
        && find(library, "curl_multi_setopt", (void **)&multi_setopt)
        && find(library, "curl_multi_add_handle", (void **)&multi_add_handle)
        && find(library, "curl_multi_remove_handle", (void **)&multi_remove_handle)
        && find(library, "curl_multi_perform", (void **)&multi_perform)
        && find(library, "curl_multi_info_read", (void **)&multi_info_read)
        && find(library, "curl_multi_poll", (void **)&multi_poll)
        && find(library, "curl_multi_wakeup", (void **)&multi_wakeup);
    const long everything = 3;
    return found && global_init(everything) == 0;
}

void *emporium_curl_easy_init(void) { return easy_init(); }
void emporium_curl_easy_cleanup(void *easy) { easy_cleanup(easy); }
int emporium_curl_set_number(void *easy, int option, long value) { return easy_setopt(easy, option, value); }
int emporium_curl_set_size(void *easy, int option, int64_t value) { return easy_setopt(easy, option, value); }
int emporium_curl_set_pointer(void *easy, int option, const void *value) { return easy_setopt(easy, option, value); }
int emporium_curl_set_sink(void *easy, int option, emporium_curl_sink sink) { return easy_setopt(easy, option, sink); }

int emporium_curl_set_meter(void *easy, int option, emporium_curl_meter meter) {
    return easy_setopt(easy, option, meter);
}

int emporium_curl_easy_resume(void *easy) {
    const int nothing = 0;
    return easy_pause(easy, nothing);
}

const char *emporium_curl_description(int result) { return easy_strerror(result); }

void *emporium_curl_list_append(void *list, const char *text) { return slist_append(list, text); }
void emporium_curl_list_free(void *list) { slist_free_all(list); }

void *emporium_curl_multi_init(long connections_per_host) {
    void *multi = multi_init();
    const int max_host_connections = 7;
    if (multi != NULL) multi_setopt(multi, max_host_connections, connections_per_host);
    return multi;
}

void emporium_curl_multi_cleanup(void *multi) { multi_cleanup(multi); }
int emporium_curl_multi_add(void *multi, void *easy) { return multi_add_handle(multi, easy); }
int emporium_curl_multi_remove(void *multi, void *easy) { return multi_remove_handle(multi, easy); }

int emporium_curl_multi_perform(void *multi) {
    int running = 0;
    return multi_perform(multi, &running);
}

void *emporium_curl_multi_next_finished(void *multi, int *result) {
    int remaining = 0;
    const int done = 1;
    for (;;) {
        struct message *message = multi_info_read(multi, &remaining);
        if (message == NULL) return NULL;
        if (message->kind != done) continue;
        *result = message->data.result;
        return message->easy;
    }
}

int emporium_curl_multi_poll(void *multi, int milliseconds) {
    return multi_poll(multi, NULL, 0, milliseconds, NULL);
}

int emporium_curl_multi_wakeup(void *multi) { return multi_wakeup(multi); }
#endif
