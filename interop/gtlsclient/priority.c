/* gtlsclient cannot be told which headers to send. Preloaded into it, this adds a `priority` header to its requests:
 *
 *     LD_PRELOAD=gtlsclient-priority.so PRIORITY_HEADERS='/high u=0;/low u=6' gtlsclient ...
 *
 * Everything else is gtlsclient's and nghttp3's own, the encoding of the header included. The declarations are those
 * of nghttp3.h, of which Debian's ngtcp2-client does not bring the file.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint8_t *name, *value;
    size_t name_length, value_length;
    uint8_t flags;
} field;

typedef int submit(void *connection, int64_t stream, const field *fields, size_t count, const void *body, void *user);

/* The value for a path in PRIORITY_HEADERS, not terminated, and its length; NULL when there is none. */
static const char *priority_of(const field *path, size_t *length) {
    const char *row = getenv("PRIORITY_HEADERS");
    while (row != NULL && *row != '\0') {
        size_t whole = strcspn(row, ";"), name = strcspn(row, " ");
        if (name < whole && name == path->value_length && memcmp(row, path->value, name) == 0) {
            *length = whole - name - 1;
            return row + name + 1;
        }
        row += whole + (row[whole] == ';');
    }
    return NULL;
}

int nghttp3_conn_submit_request(void *connection, int64_t stream, const field *fields, size_t count, const void *body,
                                void *user) {
    submit *next = (submit *)dlsym(RTLD_NEXT, "nghttp3_conn_submit_request");
    field more[32];
    const size_t room = sizeof more / sizeof *more;
    if (next == NULL || count >= room)
        abort();
    memcpy(more, fields, count * sizeof *fields);
    for (size_t i = 0; i < count; i++) {
        size_t length;
        const char *value;
        if (fields[i].name_length != 5 || memcmp(fields[i].name, ":path", 5) != 0)
            continue;
        if ((value = priority_of(&fields[i], &length)) != NULL)
            more[count++] = (field){(uint8_t *)"priority", (uint8_t *)value, 8, length, 0};
        break;
    }
    return next(connection, stream, more, count, body, user);
}
