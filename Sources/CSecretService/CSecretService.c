#include "CSecretService.h"

#ifdef EMPORIUM_SECRET_SERVICE
#include <gio/gio.h>
#include <string.h>

#define SERVICE_NAME "org.freedesktop.secrets"
#define SERVICE_PATH "/org/freedesktop/secrets"
#define SERVICE "org.freedesktop.Secret.Service"
#define COLLECTION "org.freedesktop.Secret.Collection"
#define ITEM "org.freedesktop.Secret.Item"
#define PROMPT "org.freedesktop.Secret.Prompt"

struct emporium_secrets {
    GDBusConnection *connection;
    /// The path of the session.
    char *session;
    GCancellable *cancellable;
};

emporium_cancellation *emporium_cancellation_create(void) { return (emporium_cancellation *)g_cancellable_new(); }

void emporium_cancellation_cancel(emporium_cancellation *cancellation) {
    g_cancellable_cancel(G_CANCELLABLE(cancellation));
}

void emporium_cancellation_release(emporium_cancellation *cancellation) { g_object_unref(cancellation); }

void emporium_secrets_free(void *memory) { g_free(memory); }

void emporium_secrets_free_paths(char **paths) { g_strfreev(paths); }

/// Moves an error into a failure.
static void report(GError *error, emporium_secrets_failure *failure) {
    char *name = g_dbus_error_get_remote_error(error);
    if (name != NULL) {
        failure->reason = emporium_secrets_refused;
        failure->text = name;
    } else if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED)) {
        failure->reason = emporium_secrets_cancelled;
        failure->text = NULL;
    } else {
        failure->reason = emporium_secrets_disconnected;
        failure->text = g_strdup(error->message);
    }
    g_error_free(error);
}

/// Calls a method of the service and returns its answer of a type; null after a failure.
static GVariant *call(
    emporium_secrets *secrets, const char *path, const char *interface, const char *method, GVariant *arguments,
    const char *type, emporium_secrets_failure *failure) {
    GError *error = NULL;
    // Without a time limit of D-Bus: what ends a call is its cancellation.
    GVariant *answer = g_dbus_connection_call_sync(
        secrets->connection, SERVICE_NAME, path, interface, method, arguments, NULL, G_DBUS_CALL_FLAGS_NONE, G_MAXINT,
        secrets->cancellable, &error);
    if (answer == NULL) {
        report(error, failure);
        return NULL;
    }
    if (g_variant_is_of_type(answer, G_VARIANT_TYPE(type))) return answer;
    g_variant_unref(answer);
    failure->reason = emporium_secrets_garbled;
    return NULL;
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
    emporium_secrets *secrets = g_new0(emporium_secrets, 1);
    secrets->connection = connection;
    secrets->cancellable = g_object_ref(cancellable);
    GVariant *arguments = g_variant_new("(sv)", "plain", g_variant_new_string(""));
    GVariant *answer = call(secrets, SERVICE_PATH, SERVICE, "OpenSession", arguments, "(vo)", failure);
    if (answer == NULL) {
        emporium_secrets_close(secrets);
        return NULL;
    }
    g_variant_get(answer, "(vo)", NULL, &secrets->session);
    g_variant_unref(answer);
    return secrets;
}

void emporium_secrets_close(emporium_secrets *secrets) {
    g_dbus_connection_close_sync(secrets->connection, secrets->cancellable, NULL);
    g_object_unref(secrets->connection);
    g_object_unref(secrets->cancellable);
    g_free(secrets->session);
    g_free(secrets);
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
    GVariant *arguments = g_variant_new("(o)", secrets->session);
    GVariant *answer = call(secrets, item, ITEM, "GetSecret", arguments, "((oayays))", failure);
    if (answer == NULL) return NULL;
    GVariant *secret = g_variant_get_child_value(answer, 0);
    GVariant *value = g_variant_get_child_value(secret, 2);
    gsize count = 0;
    const void *bytes = g_variant_get_fixed_array(value, &count, 1);
    // A pointer even if there are no bytes.
    void *copy = g_malloc(count + 1);
    if (count > 0) memcpy(copy, bytes, count);
    *length = count;
    g_variant_unref(value);
    g_variant_unref(secret);
    g_variant_unref(answer);
    return copy;
}

char *emporium_secrets_write(
    emporium_secrets *secrets, const char *collection, const char *label, const char *const *attributes,
    const void *bytes, size_t length, emporium_secrets_failure *failure) {
    GVariant *secret = g_variant_new(
        "(o@ay@ays)", secrets->session, g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, NULL, 0, 1),
        g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, bytes, length, 1), "application/octet-stream");
    GVariantBuilder properties;
    g_variant_builder_init(&properties, G_VARIANT_TYPE("a{sv}"));
    g_variant_builder_add(&properties, "{sv}", ITEM ".Label", g_variant_new_string(label));
    g_variant_builder_add(&properties, "{sv}", ITEM ".Attributes", dictionary(attributes));
    GVariant *arguments = g_variant_new("(a{sv}@(oayays)b)", &properties, secret, TRUE);
    GVariant *answer = call(secrets, collection, COLLECTION, "CreateItem", arguments, "(oo)", failure);
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
