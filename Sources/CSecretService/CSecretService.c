#include "CSecretService.h"

#ifdef EMPORIUM_SECRET_SERVICE
// Encoding and decoding the secrets of a session is part of libsecret's unstable interface. The functions that are not
// prompt the user, and wait for the answer without a limit.
#define SECRET_API_SUBJECT_TO_CHANGE
#include <libsecret/secret.h>
#include <string.h>

#define SERVICE_NAME "org.freedesktop.secrets"
#define SERVICE_PATH "/org/freedesktop/secrets"
#define SERVICE "org.freedesktop.Secret.Service"
#define COLLECTION "org.freedesktop.Secret.Collection"
#define ITEM "org.freedesktop.Secret.Item"
#define PROMPT "org.freedesktop.Secret.Prompt"

struct emporium_secrets {
    GDBusConnection *connection;
    SecretService *service;
    GCancellable *cancellable;
};

emporium_cancellation *emporium_cancellation_create(void) { return (emporium_cancellation *)g_cancellable_new(); }

void emporium_cancellation_cancel(emporium_cancellation *cancellation) {
    g_cancellable_cancel(G_CANCELLABLE(cancellation));
}

void emporium_cancellation_release(emporium_cancellation *cancellation) { g_object_unref(cancellation); }

void emporium_secrets_free(void *memory) { g_free(memory); }

void emporium_secrets_free_paths(char **paths) { g_strfreev(paths); }

void emporium_secrets_wipe(void *bytes, size_t length) {
    // Volatile, so that the compiler keeps the stores.
    for (volatile char *byte = bytes; length > 0; length--) *byte++ = 0;
    g_free(bytes);
}

/// Moves an error into a failure.
static void report(GError *error, emporium_secrets_failure *failure) {
    char *name = g_dbus_error_get_remote_error(error);
    if (name != NULL) {
        failure->reason = emporium_secrets_refused;
        failure->text = name;
    } else if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_DBUS_ERROR)) {
        // libsecret has removed the name.
        failure->reason = emporium_secrets_refused;
        failure->text = g_strdup("unknown error");
    } else if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED)) {
        failure->reason = emporium_secrets_cancelled;
        failure->text = NULL;
    } else {
        failure->reason = emporium_secrets_disconnected;
        failure->text = g_strdup(error->message);
    }
    g_error_free(error);
}

emporium_secrets *emporium_secrets_open(
    const char *address, emporium_cancellation *cancellation, emporium_secrets_failure *failure) {
    GError *error = NULL;
    GCancellable *cancellable = G_CANCELLABLE(cancellation);
    // A connection of its own: GLib ends the process when the bus of its shared connection goes away.
    GDBusConnection *connection = g_dbus_connection_new_for_address_sync(
        address, G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION, NULL,
        cancellable, &error);
    if (connection == NULL) {
        report(error, failure);
        return NULL;
    }
    // Neither properties nor signals, which are only up to date while a main loop runs. The limit of each call is the
    // cancellation.
    SecretService *service = g_initable_new(
        SECRET_TYPE_SERVICE, cancellable, &error, "g-connection", connection, "g-name", SERVICE_NAME,
        "g-object-path", SERVICE_PATH, "g-interface-name", SERVICE, "g-default-timeout", G_MAXINT, "g-flags",
        G_DBUS_PROXY_FLAGS_DO_NOT_LOAD_PROPERTIES | G_DBUS_PROXY_FLAGS_DO_NOT_CONNECT_SIGNALS, "flags",
        SECRET_SERVICE_OPEN_SESSION, NULL);
    if (service == NULL) {
        report(error, failure);
        g_dbus_connection_close_sync(connection, cancellable, NULL);
        g_object_unref(connection);
        return NULL;
    }
    emporium_secrets *secrets = g_new0(emporium_secrets, 1);
    secrets->connection = connection;
    secrets->service = service;
    secrets->cancellable = g_object_ref(cancellable);
    return secrets;
}

void emporium_secrets_close(emporium_secrets *secrets) {
    g_object_unref(secrets->service);
    g_dbus_connection_close_sync(secrets->connection, secrets->cancellable, NULL);
    g_object_unref(secrets->connection);
    g_object_unref(secrets->cancellable);
    g_free(secrets);
}

/// Calls a method of the service and returns its answer of a type; null after a failure.
static GVariant *call(
    emporium_secrets *secrets, const char *path, const char *interface, const char *method, GVariant *arguments,
    const char *type, emporium_secrets_failure *failure) {
    GError *error = NULL;
    GVariant *answer = g_dbus_connection_call_sync(
        secrets->connection, SERVICE_NAME, path, interface, method, arguments, G_VARIANT_TYPE(type),
        G_DBUS_CALL_FLAGS_NONE, G_MAXINT, secrets->cancellable, &error);
    if (answer == NULL) report(error, failure);
    return answer;
}

static GVariant *dictionary(const char *const *attributes) {
    GVariantBuilder builder;
    g_variant_builder_init(&builder, G_VARIANT_TYPE("a{ss}"));
    for (; *attributes != NULL; attributes += 2) {
        g_variant_builder_add(&builder, "{ss}", attributes[0], attributes[1]);
    }
    return g_variant_builder_end(&builder);
}

char *emporium_secrets_default_collection(emporium_secrets *secrets, emporium_secrets_failure *failure) {
    GVariant *answer =
        call(secrets, SERVICE_PATH, SERVICE, "ReadAlias", g_variant_new("(s)", "default"), "(o)", failure);
    if (answer == NULL) return NULL;
    char *path;
    g_variant_get(answer, "(o)", &path);
    g_variant_unref(answer);
    return path;
}

int emporium_secrets_is_locked(
    emporium_secrets *secrets, const char *collection, emporium_secrets_failure *failure) {
    GVariant *answer =
        call(secrets, collection, "org.freedesktop.DBus.Properties", "Get",
             g_variant_new("(ss)", COLLECTION, "Locked"), "(v)", failure);
    if (answer == NULL) return -1;
    GVariant *value;
    g_variant_get(answer, "(v)", &value);
    // A service that doesn't say so may be locked.
    int isLocked = !g_variant_is_of_type(value, G_VARIANT_TYPE_BOOLEAN) || g_variant_get_boolean(value);
    g_variant_unref(value);
    g_variant_unref(answer);
    return isLocked;
}

char **emporium_secrets_search(
    emporium_secrets *secrets, const char *collection, const char *const *attributes,
    emporium_secrets_failure *failure) {
    GVariant *answer =
        call(secrets, collection, COLLECTION, "SearchItems", g_variant_new("(@a{ss})", dictionary(attributes)),
             "(ao)", failure);
    if (answer == NULL) return NULL;
    char **paths;
    g_variant_get(answer, "(^ao)", &paths);
    g_variant_unref(answer);
    return paths;
}

void *emporium_secrets_read(
    emporium_secrets *secrets, const char *item, size_t *length, emporium_secrets_failure *failure) {
    const char *session = secret_service_get_session_dbus_path(secrets->service);
    GVariant *answer = call(secrets, item, ITEM, "GetSecret", g_variant_new("(o)", session), "((oayays))", failure);
    if (answer == NULL) return NULL;
    GVariant *encoded = g_variant_get_child_value(answer, 0);
    SecretValue *value = secret_service_decode_dbus_secret(secrets->service, encoded);
    g_variant_unref(encoded);
    g_variant_unref(answer);
    if (value == NULL) {
        failure->reason = emporium_secrets_garbled;
        return NULL;
    }
    gsize count = 0;
    const char *bytes = secret_value_get(value, &count);
    void *copy = g_malloc(count + 1);
    if (count > 0) memcpy(copy, bytes, count);
    *length = count;
    secret_value_unref(value);
    return copy;
}

char *emporium_secrets_write(
    emporium_secrets *secrets, const char *collection, const char *label, const char *const *attributes,
    const void *bytes, size_t length, emporium_secrets_failure *failure) {
    SecretValue *value = secret_value_new(length > 0 ? bytes : "", (gssize)length, "application/octet-stream");
    GVariant *encoded = g_variant_take_ref(secret_service_encode_dbus_secret(secrets->service, value));
    secret_value_unref(value);
    GVariantBuilder properties;
    g_variant_builder_init(&properties, G_VARIANT_TYPE("a{sv}"));
    g_variant_builder_add(&properties, "{sv}", ITEM ".Label", g_variant_new_string(label));
    g_variant_builder_add(&properties, "{sv}", ITEM ".Attributes", dictionary(attributes));
    GVariant *arguments = g_variant_new("(a{sv}@(oayays)b)", &properties, encoded, TRUE);
    GVariant *answer = call(secrets, collection, COLLECTION, "CreateItem", arguments, "(oo)", failure);
    g_variant_unref(encoded);
    if (answer == NULL) return NULL;
    char *prompt;
    g_variant_get(answer, "(oo)", NULL, &prompt);
    g_variant_unref(answer);
    return prompt;
}

char *emporium_secrets_remove(emporium_secrets *secrets, const char *item, emporium_secrets_failure *failure) {
    GVariant *answer = call(secrets, item, ITEM, "Delete", NULL, "(o)", failure);
    if (answer == NULL) return NULL;
    char *prompt;
    g_variant_get(answer, "(o)", &prompt);
    g_variant_unref(answer);
    return prompt;
}

int emporium_secrets_dismiss(emporium_secrets *secrets, const char *prompt, emporium_secrets_failure *failure) {
    GVariant *answer = call(secrets, prompt, PROMPT, "Dismiss", NULL, "()", failure);
    if (answer == NULL) return 0;
    g_variant_unref(answer);
    return 1;
}
#endif
