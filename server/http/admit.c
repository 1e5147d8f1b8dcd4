/* SPDX-License-Identifier: MIT */
/* Decides which requests are let in. A browser, a proxy in front and the server may read the same request in different
 * ways; nobody may gain by that. */
#include "http/http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <microhttpd.h>

static const char *header(const server_exchange *x, const char *name)
{
    return MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, name);
}

/* ---------------------------------------------------------------------- paths */

/* The part of the path that "{name}" of a route's path stands for, "" where the route has none. NULL: it is another
 * path. */
static const char *rest_of(const char *path, const server_route *route)
{
    const size_t n = strcspn(route->path, "{");
    const bool is_open = route->path[n] == '{';
    return strncmp(path, route->path, n) == 0 && is_open == (path[n] != '\0') ? path + n : NULL;
}

/* "http://host/path" is "/path" where the host is the one of the Host line (RFC 9112, section 3.2.2). */
static const char *without_host(const server_exchange *x, const char *target)
{
    const char *host = header(x, MHD_HTTP_HEADER_HOST);
    const char *name = strncmp(target, "http", 4) == 0 ? strstr(target, "://") : NULL;
    const size_t n = host ? strlen(host) : 0;
    if (!name || !host || strncasecmp(name + 3, host, n) != 0 || name[3 + n] != '/') return target;
    return name + 3 + n;
}

/* Sets x->path. Clients join a base URL and a path with two slashes, and some end paths with one. */
static bool read_path(server_exchange *x, const char *target)
{
    const char *from = without_host(x, target);
    char *path = x->path = malloc(strlen(from) + 1);
    if (!path) return false;
    size_t n = 0;
    for (; *from; from++)
        if (*from != '/' || n == 0 || path[n - 1] != '/') path[n++] = *from;
    if (n > 1 && path[n - 1] == '/') n--;
    path[n] = '\0';
    return true;
}

/* Whether the path is `root`, or begins with `root` and a slash. */
static bool is_under(const char *path, const char *root)
{
    const size_t n = strlen(root);
    return strncmp(path, root, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

server_dialect server_dialect_of(const char *path)
{
    if (is_under(path, "/v1/messages")) return SERVER_DIALECT_ANTHROPIC;
    return is_under(path, "/api") ? SERVER_DIALECT_OLLAMA : SERVER_DIALECT_OPENAI;
}

/* "GET, HEAD, OPTIONS": the methods of a path; "": it is unknown. */
static const char *methods_of(const char *path)
{
    static const char *const words[] = {"",
                                        "GET, HEAD, OPTIONS",
                                        "POST, OPTIONS",
                                        "GET, HEAD, POST, OPTIONS",
                                        "DELETE, OPTIONS",
                                        "GET, HEAD, DELETE, OPTIONS",
                                        "POST, DELETE, OPTIONS",
                                        "GET, HEAD, POST, DELETE, OPTIONS"}; /* by the bits of those that it has */
    static const char *const methods[] = {"GET", "POST", "DELETE"};
    int found = 0;
    if (strcmp(path, "*") == 0) return words[3];
    for (size_t i = 0; i < server_n_routes; i++)
        if (rest_of(path, &server_routes[i]))
            for (int m = 0; m < 3; m++) found |= (strcmp(server_routes[i].method, methods[m]) == 0) << m;
    return words[found];
}

static bool find_route(server_exchange *x, const char *method, server_fault *fault)
{
    const char *path = x->path, *wanted = strcmp(method, "HEAD") == 0 ? "GET" : method, *allowed = methods_of(path);
    for (size_t i = 0; i < server_n_routes; i++) {
        const server_route *route = &server_routes[i];
        const char *rest = strcmp(route->method, wanted) == 0 ? rest_of(path, route) : NULL;
        if (!rest) continue;
        x->route = route;
        x->rest = rest;
        return true;
    }
    x->allowed = allowed;
    if (*allowed)
        return server_fail(fault, 405, "method_not_allowed", "", "%.16s %.200s: expected %s", method, path, allowed);
    return server_fail(fault, 404, "unknown_url", "", "%.16s %.200s: unknown path; docs/server.md lists the paths",
                       method, path);
}

/* ----------------------------------------------------------- hosts and origins */

/* Does the text [n] name this machine? */
static bool is_local_name(const char *text, size_t n)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == n && strncasecmp(names[i], text, n) == 0) return true;
    return false;
}

/* The length of "host:port" without its port. */
static size_t host_length(const char *host)
{
    const char *colon = strrchr(host, ':'), *bracket = strchr(host, ']');
    return colon && (!bracket || colon > bracket) ? (size_t)(colon - host) : strlen(host);
}

/* A page of another site may resolve its own name to this machine (DNS rebinding). Its requests then carry that name.
 * A key protects as well. */
static bool is_own_host(const server_exchange *x)
{
    const char *host = header(x, MHD_HTTP_HEADER_HOST), *own = x->server->options->host;
    if (!host || !x->server->is_loopback || x->server->options->n_keys > 0) return true;
    const size_t n = host_length(host);
    return is_local_name(host, n) || (strlen(own) == n && strncasecmp(own, host, n) == 0);
}

/* Is the origin "https://host:port" the server's own page, as the request's Host names it? */
static bool is_same_origin(const server_exchange *x, const char *origin)
{
    const char *host = header(x, MHD_HTTP_HEADER_HOST), *name = strstr(origin, "://");
    return host && name && strcasecmp(name + 3, host) == 0;
}

static bool is_allowed_origin(const server_options *o, const char *origin)
{
    const char *name = strstr(origin, "://");
    for (size_t i = 0; i < o->n_origins; i++) {
        const char *allowed = o->origins[i];
        if (strcmp(allowed, "*") == 0 || strcasecmp(allowed, origin) == 0) return true;
        if (strcmp(allowed, "localhost") == 0 && name && is_local_name(name + 3, host_length(name + 3))) return true;
    }
    return false;
}

/* A browser names the page that a request comes from. Without a key, a page of any site could make this machine work,
 * even where the browser hides the answer from it. */
static bool check_origin(server_exchange *x, server_fault *fault)
{
    const char *origin = header(x, MHD_HTTP_HEADER_ORIGIN);
    if (!origin || is_same_origin(x, origin)) return true;
    if (is_allowed_origin(x->server->options, origin)) {
        x->origin = origin;
        return true;
    }
    if (x->server->options->n_keys > 0) return true;
    return server_fail(fault, 403, "foreign_origin", "",
                       "Origin '%.200s': pages of other sites are refused; `vouch serve --cors %.200s` lets this one "
                       "in",
                       origin, origin);
}

/* ----------------------------------------------------------------------- keys */

typedef enum server_key { KEY_NONE, KEY_API, KEY_ADMIN } server_key;

/* Takes the same time for every key of the same length. */
static bool is_same_key(const char *given, const char *key)
{
    const size_t n = strlen(key);
    if (strlen(given) != n) return false;
    volatile unsigned char difference = 0;
    for (size_t i = 0; i < n; i++) difference |= (unsigned char)(given[i] ^ key[i]);
    return difference == 0;
}

/* Which key the request has, or has none. Sets x->scope. */
static server_key take_key(server_exchange *x)
{
    const server_options *o = x->server->options;
    const char *bearer = header(x, MHD_HTTP_HEADER_AUTHORIZATION), *given = header(x, "X-Api-Key");
    if (o->n_keys == 0 && !o->admin_key) return KEY_ADMIN;
    if (bearer && strncasecmp(bearer, "Bearer ", 7) == 0) given = bearer + 7;
    server_key found = o->n_keys == 0 ? KEY_API : KEY_NONE;
    for (size_t i = 0; given && i < o->n_keys; i++) {
        if (!is_same_key(given, o->keys[i])) continue;
        if (o->scopes) x->scope = o->scopes[i];
        found = KEY_API;
    }
    return given && o->admin_key && is_same_key(given, o->admin_key) ? KEY_ADMIN : found;
}

static bool check_key(server_exchange *x, server_fault *fault)
{
    const server_key key = take_key(x);
    const unsigned flags = x->route->flags;
    if (flags & SERVER_ROUTE_PUBLIC || (key != KEY_NONE && !(flags & SERVER_ROUTE_ADMIN)) || key == KEY_ADMIN)
        return true;
    if (key == KEY_NONE)
        return server_fail(fault, 401, "invalid_api_key", "",
                           "the key is missing or wrong; send it as `Authorization: Bearer KEY` or `X-Api-Key: KEY`");
    return server_fail(fault, 403, "permission_denied", "", "%.200s changes the server: %s", x->path,
                       x->server->options->admin_key ? "it needs the key of --admin-key"
                                                     : "start it with --admin-key KEY, and send that key");
}

/* ---------------------------------------------------------------- header lines */

/* A summary of all header lines. */
typedef struct header_lines {
    int n_hosts, n_lengths, n_codings;
    const char *length;
    bool differ;     /* two lengths */
    bool is_foreign; /* a coding other than chunked */
    char wrong[64];  /* name of a line that isn't well-formed; "": none */
} header_lines;

/* A name of letters, digits and these marks, and a value without line ends and NUL (RFC 9110, section 5). */
static bool is_well_formed(const char *name, size_t n_name, const char *value, size_t n_value)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~";
    if (n_name == 0 || strspn(name, letters) != n_name) return false;
    return !value || (strlen(value) == n_value && strcspn(value, "\r\n") == n_value);
}

static enum MHD_Result read_line(void *cls, enum MHD_ValueKind kind, const char *name, size_t n_name, const char *value,
                                 size_t n_value)
{
    (void)kind;
    header_lines *found = cls;
    if (!is_well_formed(name, n_name, value, n_value)) snprintf(found->wrong, sizeof found->wrong, "%.60s", name);
    if (strcasecmp(name, MHD_HTTP_HEADER_HOST) == 0) found->n_hosts++;
    if (strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0) {
        found->n_codings++;
        found->is_foreign |= !value || strcasecmp(value, "chunked") != 0;
    }
    if (strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) != 0) return MHD_YES;
    if (found->length && value && strcmp(found->length, value) != 0) found->differ = true;
    found->length = value ? value : "";
    found->n_lengths++;
    return MHD_YES;
}

/* The length of the body has to be one that all readers agree on (RFC 9112, section 6.3). libmicrohttpd has checked
 * that Content-Length is a number. */
static bool check_length(const server_exchange *x, const header_lines *found, server_fault *fault)
{
    if (found->differ || (found->n_lengths > 0 && found->n_codings > 0) || found->n_codings > 1)
        return server_fail(fault, 400, "invalid_length", "",
                           "Content-Length and Transfer-Encoding contradict each other; send one of them, once");
    if (found->is_foreign)
        return server_fail(fault, 400, "invalid_length", "", "Transfer-Encoding: expected chunked alone, or none");
    if (!found->length && found->n_codings == 0 && strcmp(x->route->method, "POST") == 0)
        return server_fail(fault, 411, "length_required", "", "the request has no Content-Length");
    const unsigned long long length = found->length ? strtoull(found->length, NULL, 10) : 0;
    if (length > SERVER_MOST_BODY)
        return server_fail(fault, 413, "body_too_large", "", "the body has %llu bytes; at most %d are read", length,
                           SERVER_MOST_BODY);
    return true;
}

/* Refuses lines that another reader, such as a proxy in front, could read differently. */
static bool check_lines(const server_exchange *x, server_fault *fault)
{
    header_lines found = {0};
    MHD_get_connection_values_n(x->connection, MHD_HEADER_KIND, read_line, &found);
    if (*found.wrong)
        return server_fail(fault, 400, "invalid_header", "",
                           "header '%s': expected a name of letters, digits and hyphens, a colon, and one line of text",
                           found.wrong);
    if (found.n_hosts > 1) return server_fail(fault, 400, "invalid_header", "", "the request has Host more than once");
    return check_length(x, &found, fault);
}

/* ------------------------------------------------------------------ the request */

bool server_admit(server_exchange *x, const char *method, const char *target, server_fault *fault)
{
    const char *coding = header(x, MHD_HTTP_HEADER_CONTENT_ENCODING);
    if (!read_path(x, target)) return server_fail_memory(fault);
    if (!check_origin(x, fault) || !find_route(x, method, fault)) return false;
    if (!is_own_host(x))
        return server_fail(fault, 403, "foreign_host", "", "Host '%.100s': expected localhost or 127.0.0.1",
                           header(x, MHD_HTTP_HEADER_HOST));
    if (!check_key(x, fault)) return false;
    if (coding && strcasecmp(coding, "identity") != 0)
        return server_fail(fault, 415, "unsupported_encoding", "", "Content-Encoding '%.40s': send the body as it is",
                           coding);
    return check_lines(x, fault);
}

void server_answer_options(server_exchange *x, const char *target)
{
    server_fault fault = {0};
    const char *methods = read_path(x, target) ? methods_of(x->path) : "";
    const char *wanted = header(x, "Access-Control-Request-Headers");
    if (!*methods) {
        if (x->path) server_fail(&fault, 404, "unknown_url", "", "OPTIONS %.200s: unknown path", x->path);
        server_reply_fault(x, &fault);
        return;
    }
    check_origin(x, &fault); /* a browser takes the missing lines as a refusal */
    server_reply_text(x, MHD_HTTP_OK, NULL, "", 0);
    if (!x->response) return;
    MHD_add_response_header(x->response, MHD_HTTP_HEADER_ALLOW, methods);
    if (!x->origin) return;
    MHD_add_response_header(x->response, "Access-Control-Allow-Methods", methods);
    if (wanted) MHD_add_response_header(x->response, "Access-Control-Allow-Headers", wanted);
    MHD_add_response_header(x->response, "Access-Control-Max-Age", "600");
}
