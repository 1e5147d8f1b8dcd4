/* SPDX-License-Identifier: MIT */
#include "support/program/http.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

http_server http_server_begin(const char *const *arguments)
{
    static int n_started;
    const char *all[MAX_ARGUMENTS + 8] = {program("vouch"), "serve", "--port", "0", "--threads", "2"};
    size_t n = 6;
    for (size_t i = 0; arguments[i]; i++) all[n++] = arguments[i];
    http_server server = {0};
    char name[32];
    snprintf(name, sizeof name, "serve%d.out", ++n_started);
    strcpy(server.out, test_temporary(name));
    snprintf(name, sizeof name, "serve%d.err", n_started);
    strcpy(server.err, test_temporary(name));
    write_whole(server.out, "", 0);
    server.child = fork();
    assert_true(server.child >= 0);
    if (server.child == 0) become(all, &(setting){0}, "/dev/null", server.out, server.err);
    return server;
}

bool http_server_listens(http_server *server)
{
    size_t n;
    if (!text_comes(server->child, server->out, "\n")) return false;
    char *said = read_whole(server->out, &n);
    const char *colon = strrchr(said, ':');
    assert_non_null(colon);
    server->port = (int)strtol(colon + 1, NULL, 10);
    free(said);
    assert_true(server->port > 0);
    return true;
}

http_server http_server_start(const char *const *arguments)
{
    http_server server = http_server_begin(arguments);
    if (!http_server_listens(&server)) {
        size_t n;
        fail_msg("the server ended: %s", read_whole(server.err, &n));
    }
    return server;
}

int http_end_signal(void)
{
    return test_is_windows() ? SIGINT : SIGTERM;
}

int http_server_stop(http_server *server, int number)
{
    kill(server->child, number == SIGTERM ? http_end_signal() : number);
    return status_of(server->child);
}

int http_connect(int port)
{
    return http_connect_small(port, 0);
}

int http_connect_small(int port, int n_buffer)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd >= 0) fcntl(fd, F_SETFD, FD_CLOEXEC);
    if (fd >= 0 && n_buffer != 0) setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &n_buffer, sizeof n_buffer);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)(const void *)&address, sizeof address) == 0) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

bool http_send(int fd, const char *bytes, size_t n)
{
    for (size_t sent = 0; sent < n;) {
        const ssize_t now = send(fd, bytes + sent, n - sent, MSG_NOSIGNAL);
        if (now <= 0) return false;
        sent += (size_t)now;
    }
    return true;
}

/* Joins the chunks of a body in place. Returns the joined length; false: the last chunk is missing. */
static bool join_chunks(char *body, size_t *n)
{
    size_t from = 0, to = 0;
    while (from < *n) {
        char *end;
        const size_t length = strtoul(body + from, &end, 16);
        from = (size_t)(end - body) + 2;
        if (length == 0) {
            *n = to;
            body[to] = 0;
            return true;
        }
        if (from + length + 2 > *n) break;
        memmove(body + to, body + from, length);
        to += length;
        from += length + 2;
    }
    *n = to;
    body[to] = 0;
    return false;
}

http_reply http_read(int fd)
{
    http_reply reply = {0};
    size_t n = 0, room = 65536;
    char *all = malloc(room);
    for (ssize_t now = 1; now > 0; n += now > 0 ? (size_t)now : 0) {
        if (room - n < 4096) all = realloc(all, room *= 2);
        now = recv(fd, all + n, room - n - 1, 0);
    }
    all[n] = 0;
    close(fd);
    char *end = strstr(all, "\r\n\r\n");
    reply.head = all;
    reply.body = all + n;
    if (!end || strncmp(all, "HTTP/1.1 ", 9) != 0) return reply;
    end[2] = 0;
    reply.body = end + 4;
    reply.n = n - (size_t)(reply.body - all);
    const char *length = strcasestr(all, "\nContent-Length: ");
    bool is_whole = length && strtoul(length + 17, NULL, 10) == reply.n;
    if (strcasestr(all, "\nTransfer-Encoding: chunked")) is_whole = join_chunks(reply.body, &reply.n);
    if (is_whole) reply.status = atoi(all + 9);
    return reply;
}

http_reply http_request(int port, const char *method, const char *path, const char *headers, const char *body)
{
    char head[4096];
    const int fd = http_connect(port);
    if (fd < 0) {
        char *nothing = calloc(1, 1);
        return (http_reply){.head = nothing, .body = nothing};
    }
    const size_t n_body = body ? strlen(body) : 0;
    int n = snprintf(head, sizeof head, "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s", method, path,
                     headers);
    if (body) n += snprintf(head + n, sizeof head - (size_t)n, "Content-Length: %zu\r\n", n_body);
    n += snprintf(head + n, sizeof head - (size_t)n, "\r\n");
    http_send(fd, head, (size_t)n);
    if (body) http_send(fd, body, n_body);
    return http_read(fd);
}

http_reply http_post(int port, const char *path, const char *body)
{
    return http_request(port, "POST", path, "", body);
}

void http_reply_free(http_reply *reply)
{
    free(reply->head);
    *reply = (http_reply){0};
}

json_t *http_json(http_reply *reply)
{
    json_t *value = json_loadb(reply->body, reply->n, JSON_ALLOW_NUL, NULL);
    if (!value) fail_msg("status %d, no JSON: %s", reply->status, reply->body);
    http_reply_free(reply);
    return value;
}

json_t *http_at(json_t *value, const char *path)
{
    char word[64];
    for (const char *from = path; value && *from;) {
        const size_t n = strcspn(from, ".");
        memcpy(word, from, n);
        word[n] = 0;
        value = json_is_array(value) ? json_array_get(value, (size_t)atoi(word)) : json_object_get(value, word);
        from += n + (from[n] == '.');
    }
    return value;
}

const char *http_text_at(json_t *value, const char *path)
{
    const char *text = json_string_value(http_at(value, path));
    return text ? text : "(nothing)";
}

double http_metric(const http_server *of, const char *name)
{
    http_reply reply = http_request(of->port, "GET", "/metrics", "", NULL);
    char begin[128];
    double value = -1;
    snprintf(begin, sizeof begin, "\n%s", name);
    const char *line = strstr(reply.body, begin);
    if (line) value = strtod(strchr(line, ' '), NULL);
    http_reply_free(&reply);
    return value;
}

void http_wait_for_metric(const http_server *of, const char *name, double value)
{
    while (http_metric(of, name) != value) usleep(2000);
}

json_t *http_events(const http_reply *reply, bool *is_done)
{
    json_t *events = json_array();
    *is_done = false;
    for (const char *line = reply->body; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "data: ", 6) != 0) continue;
        *is_done = strncmp(line + 6, "[DONE]", 6) == 0;
        if (*is_done) continue;
        json_array_append_new(events, json_loads(line + 6, JSON_DISABLE_EOF_CHECK | JSON_ALLOW_NUL, NULL));
    }
    return events;
}
