// The calls of a secret service over D-Bus, with GLib, some of whose functions Swift cannot call because they are
// macros or variadic. They are defined only with the trait SecretService.
//
// No function waits for a prompt. Each blocks until the service answers or the call is cancelled, and may be called
// from any thread.
#ifndef EMPORIUM_SECRET_SERVICE_H
#define EMPORIUM_SECRET_SERVICE_H

#include <stddef.h>

/// What ends the calls of a connection. Its functions may be called from several threads.
typedef struct emporium_cancellation emporium_cancellation;

emporium_cancellation *emporium_cancellation_create(void);
void emporium_cancellation_cancel(emporium_cancellation *cancellation);
void emporium_cancellation_release(emporium_cancellation *cancellation);

/// A connection to a message bus, with a session of its secret service.
typedef struct emporium_secrets emporium_secrets;

/// The reason for which a call failed.
enum emporium_secrets_reason {
    /// The call was cancelled.
    emporium_secrets_cancelled = 1,
    /// The bus could not be reached, or closed the connection. `text` is GLib's message.
    emporium_secrets_disconnected = 2,
    /// The bus or the service answered with an error. `text` is the error's name, such as
    /// `org.freedesktop.Secret.Error.IsLocked`.
    emporium_secrets_refused = 3,
    /// The service answered in another form than the specification requires. `text` is null.
    emporium_secrets_garbled = 4,
};

/// A failure. It contains nothing that the service has said apart from the name of the error.
typedef struct {
    int reason;
    /// To be freed by `emporium_secrets_free`.
    char *text;
} emporium_secrets_failure;

/// Frees a text or bytes that a function of this file has returned.
void emporium_secrets_free(void *memory);

/// Connects to a bus, and opens a session of its service, which the bus starts if it can.
///
/// Returns null after a failure.
emporium_secrets *emporium_secrets_open(
    const char *address, emporium_cancellation *cancellation, emporium_secrets_failure *failure);

/// Closes a connection.
void emporium_secrets_close(emporium_secrets *secrets);

/// Returns the path of the default collection, "/" if there is none; null after a failure.
char *emporium_secrets_default_collection(emporium_secrets *secrets, emporium_secrets_failure *failure);

/// Returns whether a collection is locked; -1 after a failure.
int emporium_secrets_is_locked(
    emporium_secrets *secrets, const char *collection, emporium_secrets_failure *failure);

/// Returns the paths of the items of a collection with at least the given attributes, as an array that ends with null;
/// null after a failure. Free it with `emporium_secrets_free_paths`.
///
/// `attributes` contains names and values alternately, and ends with null.
char **emporium_secrets_search(
    emporium_secrets *secrets, const char *collection, const char *const *attributes,
    emporium_secrets_failure *failure);

void emporium_secrets_free_paths(char **paths);

/// Reads the secret of an item. Free the bytes with `emporium_secrets_free`.
///
/// Returns null after a failure.
void *emporium_secrets_read(
    emporium_secrets *secrets, const char *item, size_t *length, emporium_secrets_failure *failure);

/// Creates an item in a collection, or replaces the secret of the item with these attributes.
///
/// Returns "/", or the path of a prompt if the item is not written until the user has answered it; null after a
/// failure.
char *emporium_secrets_write(
    emporium_secrets *secrets, const char *collection, const char *label, const char *const *attributes,
    const void *bytes, size_t length, emporium_secrets_failure *failure);

/// Removes an item.
///
/// Returns "/", or the path of a prompt if the item is not removed until the user has answered it; null after a
/// failure.
char *emporium_secrets_remove(emporium_secrets *secrets, const char *item, emporium_secrets_failure *failure);

/// Dismisses a prompt.
///
/// Returns whether it was dismissed.
int emporium_secrets_dismiss(emporium_secrets *secrets, const char *prompt, emporium_secrets_failure *failure);
#endif
