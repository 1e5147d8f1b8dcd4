/* SPDX-License-Identifier: MIT */
#include "hub/transfer.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "hub/bytes/digest.h"
#include "hub/bytes/origin.h"
#include "hub/bytes/space.h"
#include "hub/wire.h"
#include "os/os.h"
#include "tool/term.h"

enum {
    MOST_REDIRECTS = 8,
    MOST_FAILURES = 5,
    PROGRESS_MADE = 1 << 20, /* bytes after which failures are counted anew */
    MOST_BODY = 64 << 20,
    MOST_WAIT = 300, /* seconds that a server may ask for */
    SLOWEST = 100,   /* bytes a second, over the time-out */
    ADDRESS_SIZE = 4096
};

struct hub_client {
    CURL *curl;
    const hub_places *places;
    bool has_token; /* which only the hub gets */
};

/* One answer: what its headers said, and where its bytes go. */
typedef struct answer {
    CURL *curl;
    struct file *file; /* of a download; NULL: to memory */
    long status;       /* 0: none came */
    char location[ADDRESS_SIZE], type[64], error_code[64], error_text[200];
    long long range_from, range_total;                    /* of Content-Range; -1: not said */
    char tag[HUB_VALIDATOR_SIZE], modified[64], date[64]; /* ETag, Last-Modified, Date; "": absent or too long */
    char digest[HUB_DIGEST_SIZE];                         /* of the whole file; "": not said */
    char linked[HUB_DIGEST_SIZE];                         /* the same, by a hub that redirected to this answer */
    long wait;                                            /* seconds that the server asks for; -1: it doesn't */
    bool is_part_wanted;                                  /* did the request ask for a Range? */
    bool is_read;                                         /* has the first byte of the body come? */
    hub_body body;                                        /* of an answer to memory */
    long timeout;                                         /* seconds without a byte after which it has failed */
    curl_off_t seen;                                      /* bytes at `since` */
    double since;
    bool is_stalled;
    const char *why;     /* the bytes were refused; NULL: they weren't */
    bool is_final;       /* and others would not come, either */
    vouch_error refusal; /* likewise final, with its sentence; code 0: none */
} answer;

/* A download's file. */
typedef struct file {
    const hub_download *d;
    int fd;
    int64_t n;         /* bytes on disk */
    int64_t n_most;    /* the most that were there in this run */
    hub_origin origin; /* what is known of the server's file; its size and digest are d's where d has them */
    hub_digest digest;
    tool_progress progress;
    int error;          /* errno of a failed write */
    const char *failed; /* the path that `error` is of */
} file;

__attribute__((format(printf, 3, 4))) static vouch_status fail(vouch_error *err, vouch_status code, const char *format,
                                                               ...)
{
    va_list list;
    va_start(list, format);
    err->code = code;
    vsnprintf(err->message, sizeof err->message, format, list);
    va_end(list);
    for (char *c = err->message; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127) *c = ' '; /* a server's words may hold anything */
    return code;
}

vouch_status hub_client_open(hub_client **out, const hub_places *places, vouch_error *err)
{
    if (places->is_offline)
        return fail(err, VOUCH_E_UNSUPPORTED, "HF_HUB_OFFLINE is set, so nothing is fetched; unset it to fetch models");
    CURL *curl;
    const vouch_status status = hub_wire_open(&curl, err);
    if (status) return status;
    hub_client *c = calloc(1, sizeof *c);
    if (!c) {
        curl_easy_cleanup(curl);
        return fail(err, VOUCH_E_MEMORY, "not enough memory to begin a request");
    }
    c->curl = curl;
    c->places = places;
    c->has_token = *places->token != '\0';
    *out = c;
    return VOUCH_OK;
}

void hub_client_close(hub_client *c)
{
    if (!c) return;
    curl_easy_cleanup(c->curl);
    free(c);
}

/* -------------------------------------------------------------------- addresses */

/* "https://host:443" of an address; false where it is none. */
static bool origin_of(const char *address, char text[ADDRESS_SIZE])
{
    char *scheme = NULL, *host = NULL, *port = NULL;
    CURLU *url = curl_url();
    const bool ok = url && !curl_url_set(url, CURLUPART_URL, address, 0) &&
                    !curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) && !curl_url_get(url, CURLUPART_HOST, &host, 0) &&
                    !curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT);
    if (ok) snprintf(text, ADDRESS_SIZE, "%s://%s:%s", scheme, host, port);
    curl_free(scheme);
    curl_free(host);
    curl_free(port);
    curl_url_cleanup(url);
    return ok;
}

static bool is_of_the_hub(const hub_client *c, const char *address)
{
    char own[ADDRESS_SIZE], other[ADDRESS_SIZE];
    return origin_of(c->places->endpoint, own) && origin_of(address, other) && strcasecmp(own, other) == 0;
}

/* Replaces the address by where it leads. False: that is no address for files, or https would become http. */
static bool redirect(char address[ADDRESS_SIZE], const char *location)
{
    char *to = NULL;
    CURLU *url = curl_url();
    bool ok = url && !curl_url_set(url, CURLUPART_URL, address, 0) && !curl_url_set(url, CURLUPART_URL, location, 0) &&
              !curl_url_get(url, CURLUPART_URL, &to, 0) && strlen(to) < ADDRESS_SIZE;
    ok = ok &&
         (strncmp(to, "https://", 8) == 0 || (strncmp(to, "http://", 7) == 0 && strncmp(address, "http://", 7) == 0));
    if (ok) snprintf(address, ADDRESS_SIZE, "%s", to);
    curl_free(to);
    curl_url_cleanup(url);
    return ok;
}

/* ------------------------------------------------------------------ one answer */

static void take_header(char *to, size_t size, const char *value, size_t n)
{
    snprintf(to, size, "%.*s", (int)(n < size ? n : size - 1), value);
}

/* "100-199/200", or a '*' for what the server doesn't say. */
static void take_range(answer *a, const char *text)
{
    const char *total = strchr(text, '/');
    if (*text != '*') a->range_from = strtoll(text, NULL, 10);
    if (total && total[1] >= '0' && total[1] <= '9') a->range_total = strtoll(total + 1, NULL, 10);
}

/* The digest, in quotes, that a hub names while it redirects. */
static void take_linked(answer *a, const char *text)
{
    if (text[0] == '"' && strspn(text + 1, "0123456789abcdef") == HUB_DIGEST_SIZE - 1)
        snprintf(a->linked, sizeof a->linked, "%.64s", text + 1);
}

/* What an earlier answer to the same request said, such as 103 or a proxy's, isn't of this one. */
static void headers_forget(answer *a)
{
    *a->location = *a->type = *a->error_code = *a->error_text = *a->tag = *a->modified = *a->date = *a->digest = '\0';
    a->range_from = a->range_total = a->wait = -1;
}

static size_t header_come(char *line, size_t unit, size_t n, void *user)
{
    answer *a = user;
    const char *colon = memchr(line, ':', n);
    if (n > 5 && memcmp(line, "HTTP/", 5) == 0) headers_forget(a);
    if (!colon) return unit * n;
    const size_t n_name = (size_t)(colon - line);
    const char *value = colon + 1;
    size_t n_value = n - n_name - 1;
    while (n_value > 0 && (*value == ' ' || *value == '\t')) value++, n_value--;
    while (n_value > 0 && (unsigned char)value[n_value - 1] <= ' ') n_value--;
    char text[512];
    take_header(text, sizeof text, value, n_value);
#define IS(name) (n_name == sizeof name - 1 && strncasecmp(line, name, n_name) == 0)
    if (IS("Location") && n_value < sizeof a->location) take_header(a->location, sizeof a->location, value, n_value);
    if (IS("Content-Type")) take_header(a->type, sizeof a->type, value, n_value);
    if (IS("X-Error-Code")) take_header(a->error_code, sizeof a->error_code, value, n_value);
    if (IS("X-Error-Message")) take_header(a->error_text, sizeof a->error_text, value, n_value);
    if (IS("Content-Range") && strncmp(text, "bytes ", 6) == 0) take_range(a, text + 6);
    if (IS("ETag") && n_value < sizeof a->tag) take_header(a->tag, sizeof a->tag, value, n_value);
    if (IS("Last-Modified") && n_value < sizeof a->modified)
        take_header(a->modified, sizeof a->modified, value, n_value);
    if (IS("Date")) take_header(a->date, sizeof a->date, value, n_value);
    if (IS("Repr-Digest") || IS("Digest")) hub_digest_of_header(a->digest, text);
    if (IS("X-Linked-Etag") && n_value == 66) take_linked(a, text);
    if (IS("RateLimit") && strstr(text, ";t=")) a->wait = strtol(strstr(text, ";t=") + 3, NULL, 10);
#undef IS
    return unit * n;
}

static bool body_add(answer *a, const char *bytes, size_t n)
{
    if (a->body.n + n > MOST_BODY) a->why = "the answer is larger than 64 MiB";
    else if (!hub_body_add(&a->body, bytes, n)) a->why = "not enough memory for the answer";
    return !a->why;
}

/* The digest that d->digest is one of. */
static hub_digest digest_begin(const hub_download *d)
{
    return d->digest && strlen(d->digest) == 40 ? hub_digest_git((uint64_t)d->size) : hub_digest_sha256();
}

static bool file_fail(file *f, const char *path, int error)
{
    f->failed = path;
    f->error = error;
    return false;
}

static vouch_status file_complain(const file *f, vouch_error *err)
{
    return fail(err, VOUCH_E_IO, "%.400s: %s%s", f->failed, strerror(f->error),
                f->error == EISDIR ? "; remove this folder" : "");
}

/* Empties the file, and forgets which of the server's files it began with. */
static bool file_restart(file *f)
{
    f->n = 0;
    f->digest = digest_begin(f->d);
    f->origin = (hub_origin){.size = f->d->size};
    if (f->d->digest) snprintf(f->origin.digest, sizeof f->origin.digest, "%s", f->d->digest);
    if (f->d->origin && !vouch_os_remove(f->d->origin) && errno != ENOENT) return file_fail(f, f->d->origin, errno);
    return (ftruncate(f->fd, 0) == 0 && lseek(f->fd, 0, SEEK_SET) == 0) || file_fail(f, f->d->path, errno);
}

/* Bytes of the body; -1: not said. */
static int64_t body_size(const answer *a)
{
    curl_off_t size = -1;
    curl_easy_getinfo(a->curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &size);
    return size;
}

/* Notes which file an answer with all of it brings. */
static bool file_set_origin(file *f, const answer *a)
{
    if (f->d->size < 0) f->origin.size = body_size(a);
    if (!f->d->digest) snprintf(f->origin.digest, sizeof f->origin.digest, "%s", *a->digest ? a->digest : a->linked);
    hub_validator_choose(f->origin.validator, a->tag, a->modified, a->date);
    f->progress.bytes = (double)f->origin.size;
    return !f->d->origin || hub_origin_write(&f->origin, f->d->origin) || file_fail(f, f->d->origin, errno);
}

/* May the bytes on disk be gone on from? Only where the rest can be told from the rest of another file, by a validator
 * beforehand or by a digest afterwards. */
static bool file_may_go_on(const file *f)
{
    return *f->origin.validator || *f->origin.digest;
}

/* Does an answer with a part of a file bring the rest of the file that is on disk? A server may have ignored If-Range,
 * so its answer has to show the validator again; where a digest follows, the answer must not show another one. */
static bool file_continues(file *f, const answer *a)
{
    const char *own = f->origin.validator, *other = *own == '"' ? a->tag : a->modified;
    if (a->range_from != f->n || !file_may_go_on(f)) return false;
    if (f->origin.size >= 0 && a->range_total >= 0 && a->range_total != f->origin.size) return false;
    if (*own && strcmp(other, own) != 0 && (*other || !*f->origin.digest)) return false;
    if (f->origin.size < 0) f->origin.size = a->range_total; /* the first answer didn't say it */
    f->progress.bytes = (double)f->origin.size;
    return f->origin.size > f->n;
}

/* Begins like a web page or like git's note about a file that lies elsewhere? Such bytes came in the file's place. */
static const char *impostor(const answer *a, const char *bytes, size_t n)
{
    static const char note[] = "version https://git-lfs.github.com/spec/v1";
    while (n > 0 && (unsigned char)*bytes <= ' ') bytes++, n--;
    if (n >= sizeof note - 1 && memcmp(bytes, note, sizeof note - 1) == 0)
        return "a Git LFS pointer came in place of the file: this server doesn't hold large files";
    const bool is_page = strncasecmp(a->type, "text/html", 9) == 0 ||
                         (n >= 9 && strncasecmp(bytes, "<!doctype", 9) == 0) ||
                         (n >= 5 && strncasecmp(bytes, "<html", 5) == 0);
    return is_page ? "a web page came in place of the file: a proxy or a sign-in page may answer for the hub" : NULL;
}

/* Begins a file of this kind so? is_all: the bytes are all that came; else more may follow. */
static bool begins_well(hub_content content, const char *bytes, size_t n, bool is_all)
{
    const size_t n_space = strspn(bytes, " \t\r\n");
    switch (content) {
    case HUB_GGUF: return memcmp(bytes, "GGUF", n < 4 ? n : 4) == 0 && (n >= 4 || !is_all);
    case HUB_SAFETENSORS: /* after the length of a header, 8 bytes, the header */
        return n < 9 ? !is_all : bytes[7] == 0 && bytes[8] == '{';
    case HUB_JSON: return n_space < n ? bytes[n_space] == '{' || bytes[n_space] == '[' : !is_all;
    case HUB_ANY_BYTES: break;
    }
    return true;
}

/* Refuses a body that begins otherwise than its file does, and shows how. */
static vouch_status content_check(const hub_download *d, const char *bytes, size_t n, bool is_all, vouch_error *err)
{
    static const char *const kinds[] = {"", "GGUF", "safetensors", "JSON"};
    char begin[33] = "", text[4 * sizeof begin] = "";
    size_t n_text = 0;
    n = n < sizeof begin ? n : sizeof begin - 1;
    memcpy(begin, bytes, n);
    if (begins_well(d->content, begin, n, is_all)) return VOUCH_OK;
    for (size_t i = 0; i < n; i++)
        n_text += (size_t)snprintf(text + n_text, sizeof text - n_text,
                                   begin[i] >= ' ' && begin[i] <= '~' ? "%c" : "<%02x>", (unsigned char)begin[i]);
    if (n == 0) return fail(err, VOUCH_E_FORMAT, "%.200s: the answer is empty; check the address", d->what);
    return fail(err, VOUCH_E_FORMAT, "%.200s: the answer is no %s file: it begins with '%s'%s; check the address",
                d->what, kinds[d->content], text, memcmp(begin, "\x1f\x8b", 2) == 0 ? ", compressed by gzip" : "");
}

/* Room for a file whose size the server just named. Where it is known beforehand, the caller has seen to it. */
static vouch_status room_check(const file *f, int64_t size, vouch_error *err)
{
    char folder[VOUCH_OS_PATH_SIZE];
    const char *slash = strrchr(f->d->path, '/');
    if (f->d->size >= 0 || size <= f->n) return VOUCH_OK;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - f->d->path) : 1, slash ? f->d->path : ".");
    return hub_space_check(folder, size - f->n, f->d->what, "XDG_CACHE_HOME", err);
}

static bool file_write(answer *a, const char *bytes, size_t n)
{
    file *f = a->file;
    if (f->origin.size >= 0 && f->n + (int64_t)n > f->origin.size) {
        a->why = "more bytes came than the file has";
        return false;
    }
    for (size_t done = 0; done < n;) {
        const ssize_t now = vouch_os_write(f->fd, bytes + done, n - done);
        if (now < 0 && errno == EINTR) continue;
        if (now <= 0) {
            return file_fail(f, f->d->path, now < 0 ? errno : EIO);
        }
        done += (size_t)now;
    }
    hub_digest_add(&f->digest, bytes, n);
    f->n += (int64_t)n;
    if (f->origin.size > 0) tool_progress_report(&f->progress, (double)f->n / (double)f->origin.size);
    return true;
}

/* Decides by status and first bytes whether an answer goes to the file, and where. Nothing on disk is given up for a
 * page in the file's place. */
static bool file_begin(answer *a, const char *bytes, size_t n)
{
    file *f = a->file;
    const bool is_whole = a->status == 200;
    if (is_whole || f->n == 0) a->why = impostor(a, bytes, n);
    a->is_final = a->why != NULL;
    if (a->why) return false;
    if (is_whole) {
        const bool is_wanted =
            !content_check(f->d, bytes, n, n == 0, &a->refusal) && !room_check(f, body_size(a), &a->refusal);
        return is_wanted && file_restart(f) && file_set_origin(f, a);
    }
    if (!a->is_part_wanted) {
        a->why = "the server sent a part of the file (status 206), and was asked for the whole";
        a->is_final = true;
    } else if (!file_continues(f, a))
        a->why = "the server sent another part, or a part of another file, than it was asked for";
    return !a->why && !room_check(f, f->origin.size, &a->refusal);
}

static size_t body_come(char *bytes, size_t unit, size_t n, void *user)
{
    answer *a = user;
    n *= unit;
    const bool is_first = !a->is_read;
    a->is_read = true;
    if (is_first) curl_easy_getinfo(a->curl, CURLINFO_RESPONSE_CODE, &a->status);
    if (a->status != 200 && a->status != 206) return n; /* the page about an error: headers say it better */
    if (!a->file) return body_add(a, bytes, n) ? n : 0;
    if (is_first && !file_begin(a, bytes, n)) return 0;
    return file_write(a, bytes, n) ? n : 0;
}

/* libcurl calls this at least once a second. Its own limit of speed looks at a longer time. */
static int progress_come(void *user, curl_off_t total, curl_off_t now, curl_off_t sent, curl_off_t to_send)
{
    answer *a = user;
    (void)total;
    (void)sent;
    (void)to_send;
    if (now != a->seen) {
        a->seen = now;
        a->since = tool_now();
    }
    a->is_stalled = tool_now() - a->since > (double)a->timeout;
    return a->is_stalled;
}

/* Adds a header. False: not enough memory. */
static bool header_add(struct curl_slist **list, const char *name, const char *value)
{
    char text[sizeof((hub_places *)0)->token + HUB_VALIDATOR_SIZE + 32];
    snprintf(text, sizeof text, "%s: %s", name, value);
    struct curl_slist *longer = curl_slist_append(*list, text);
    if (longer) *list = longer;
    return longer != NULL;
}

/* The headers of a request beside curl's own; NULL: there are none, or *ok is false for want of memory. */
static struct curl_slist *headers_of(const hub_client *c, const char *address, const answer *a, bool *ok)
{
    struct curl_slist *list = NULL;
    char bearer[sizeof c->places->token + 8];
    *ok = true;
    if (c->has_token && is_of_the_hub(c, address)) {
        snprintf(bearer, sizeof bearer, "Bearer %s", c->places->token);
        *ok = header_add(&list, "Authorization", bearer);
    }
    if (a->file && a->file->n > 0 && *a->file->origin.validator)
        *ok = *ok && header_add(&list, "If-Range", a->file->origin.validator);
    return list;
}

/* One request, without redirects. */
static CURLcode ask(hub_client *c, const char *address, answer *a)
{
    char range[32];
    CURL *curl = c->curl;
    const bool goes_on = a->file && a->file->n > 0;
    hub_wire_begin(curl, address, c->places->timeout, c->places->certificates);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, (long)SLOWEST);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, c->places->timeout);
    a->since = tool_now();
    a->timeout = c->places->timeout;
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, progress_come);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, a);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, header_come);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, a);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, body_come);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, a);
    bool ok;
    struct curl_slist *headers = headers_of(c, address, a, &ok);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    a->is_part_wanted = goes_on;
    if (goes_on) {
        snprintf(range, sizeof range, "%lld-", (long long)a->file->n);
        curl_easy_setopt(curl, CURLOPT_RANGE, range);
    }
    const CURLcode code = ok ? curl_easy_perform(curl) : CURLE_OUT_OF_MEMORY;
    curl_slist_free_all(headers);
    curl_off_t wait = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &a->status);
    if (!code && a->file && !a->is_read && (a->status == 200 || a->status == 206)) file_begin(a, "", 0);
    if (!curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &wait) && wait > 0) a->wait = (long)wait;
    return code;
}

/* Replaces the answer's values by those of an answer that hasn't come. */
static void answer_clear(answer *a)
{
    free(a->body.bytes);
    *a = (answer){.curl = a->curl, .file = a->file, .range_from = -1, .range_total = -1, .wait = -1};
}

/* Follows redirects. address becomes the last one asked. */
static CURLcode ask_through(hub_client *c, char address[ADDRESS_SIZE], answer *a)
{
    char linked[HUB_DIGEST_SIZE] = "";
    for (int n = 0;; n++) {
        answer_clear(a);
        memcpy(a->linked, linked, sizeof linked);
        const CURLcode code = ask(c, address, a);
        const bool leads_on = !code && a->status >= 300 && a->status < 400 && a->status != 304 && *a->location;
        if (!leads_on) return code;
        memcpy(linked, a->linked, sizeof linked); /* a hub names it before it redirects */
        a->is_final = true;
        if (n == MOST_REDIRECTS) a->why = "the servers redirect in a circle";
        else if (!redirect(address, a->location))
            a->why = "the server redirects to an address that isn't safe to follow";
        if (a->why) return code;
    }
}

/* --------------------------------------------------------------------- verdicts */

typedef enum verdict { DONE, AGAIN, ANEW, NEVER } verdict; /* ANEW: again, without the bytes that are there */

/* The sentence about a status that asking again doesn't change. */
static verdict refused(const hub_client *c, const char *what, const char *host, const answer *a, vouch_error *err)
{
    const bool is_gated = strcasecmp(a->error_code, "GatedRepo") == 0, has_token = c->has_token;
    const char *endpoint = c->places->endpoint, *token_file = c->places->token_file;
    const char *said = *a->error_text ? a->error_text : "no reason given";
    if (is_gated || a->status == 403)
        fail(err, VOUCH_E_ARGUMENT,
             "%.120s: %s answers %ld: access needs the owner's consent; accept the terms at %.100s/%.100s, then %s "
             "HF_TOKEN "
             "or %.100s",
             what, host, a->status, endpoint, what, has_token ? "check the token in" : "put a token of yours into",
             token_file);
    else if (a->status == 401 || strcasecmp(a->error_code, "RepoNotFound") == 0)
        fail(err, VOUCH_E_ARGUMENT,
             "%.120s: %s answers %ld: there is no such repository, or it is private; check the name, or %s HF_TOKEN or "
             "%.100s",
             what, host, a->status, has_token ? "the token in" : "put a token of yours into", token_file);
    else if (strcasecmp(a->error_code, "RevisionNotFound") == 0)
        fail(err, VOUCH_E_ARGUMENT, "%.160s: %s answers %ld: there is no such revision; leave out @ for main", what,
             host, a->status);
    else if (a->status == 404)
        fail(err, VOUCH_E_ARGUMENT, "%.160s: %s answers 404: there is no such file or repository; check the name", what,
             host);
    else fail(err, VOUCH_E_IO, "%.160s: %s answers %ld (%.200s)", what, host, a->status, said);
    return NEVER;
}

/* What to do after an answer, with the sentence for the case that nothing helps. */
static verdict judge(const hub_client *c, const char *what, const char *address, CURLcode code, const answer *a,
                     vouch_error *err)
{
    char origin[ADDRESS_SIZE], host[128];
    const file *f = a->file;
    if (!origin_of(address, origin)) snprintf(origin, sizeof origin, "%s", address);
    snprintf(host, sizeof host, "%.127s", strstr(origin, "://") ? strstr(origin, "://") + 3 : origin);
    if (f && f->error) {
        file_complain(f, err);
        return NEVER;
    }
    if (a->refusal.code) {
        *err = a->refusal;
        return NEVER;
    }
    if (a->why) {
        fail(err, VOUCH_E_IO, "%.160s: %s (from %s)", what, a->why, host);
        return a->is_final ? NEVER : ANEW;
    }
    if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE) {
        fail(err, VOUCH_E_IO, "%.160s: the certificate of %s can't be trusted: %s", what, host,
             curl_easy_strerror(code));
        return NEVER;
    }
    if (a->is_stalled) {
        fail(err, VOUCH_E_IO, "%.160s: %s sent nothing for %ld s", what, host, a->timeout);
        return AGAIN;
    }
    const bool is_busy = a->status == 429 || a->status == 408 || a->status >= 500;
    if (is_busy) {
        fail(err, VOUCH_E_IO, "%.160s: %s answers %ld%s; try again later", what, host, a->status,
             a->status == 429 ? ", too many requests" : "");
        return AGAIN;
    }
    if (a->status == 416 && f && f->n > 0) {
        fail(err, VOUCH_E_IO, "%.160s: %s doesn't go on where the file on disk ends", what, host);
        return ANEW;
    }
    if (a->status >= 400) return refused(c, what, host, a, err);
    if (code) {
        fail(err, VOUCH_E_IO, "%.160s: %s: %s%s", what, host, curl_easy_strerror(code),
             code == CURLE_COULDNT_RESOLVE_HOST ? "; is this machine on the network?" : "");
        if (code == CURLE_COULDNT_RESOLVE_HOST && !(f && f->n > 0)) return NEVER; /* no network */
        return code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL ? NEVER : AGAIN;
    }
    if (a->status != 200 && a->status != 206) {
        fail(err, VOUCH_E_IO, "%.160s: %s answers %ld, which is no file", what, host, a->status);
        return NEVER;
    }
    if (f && f->origin.size >= 0 && f->n < f->origin.size) {
        fail(err, VOUCH_E_IO, "%.160s: %s sent %lld of %lld bytes", what, host, (long long)f->n,
             (long long)f->origin.size);
        return AGAIN;
    }
    return DONE;
}

static void wait_seconds(double seconds)
{
    for (const double end = tool_now() + seconds; tool_now() < end;) usleep(50000);
}

/* Asks until there is an answer, or none is to be expected. */
static vouch_status ask_patiently(hub_client *c, const char *what, const char *address, answer *a, vouch_error *err)
{
    double wait = 0.5;
    for (int failures = 0;;) {
        char at[ADDRESS_SIZE];
        snprintf(at, sizeof at, "%s", address); /* each time anew: addresses that one is redirected to expire */
        file *f = a->file;
        const CURLcode code = ask_through(c, at, a);
        const verdict v = judge(c, what, at, code, a, err);
        if (v == DONE) return VOUCH_OK;
        if (v == NEVER) return err->code;
        if (f && f->n - f->n_most >= PROGRESS_MADE) { /* bytes that come a second time are no progress */
            failures = 0;
            wait = 0.5;
        }
        if (f && f->n > f->n_most) f->n_most = f->n;
        if (++failures >= MOST_FAILURES) return err->code;
        if (a->wait > MOST_WAIT) {
            const size_t n = strlen(err->message);
            snprintf(err->message + n, sizeof err->message - n, " (it asks to wait %ld s)", a->wait);
            return err->code;
        }
        if (f && (v == ANEW || !file_may_go_on(f)) && !file_restart(f)) return file_complain(f, err);
        if (f) tool_progress_end(&f->progress);
        const double seconds = a->wait > 0 ? (double)a->wait : wait;
        if (seconds >= 2) tool_note("%s; waiting %.0f s", err->message, seconds);
        wait_seconds(seconds);
        wait *= 2;
    }
}

vouch_status hub_get(hub_client *c, const char *address, const char *what, char **body, size_t *n_body,
                     vouch_error *err)
{
    answer a = {.curl = c->curl};
    vouch_status status = ask_patiently(c, what, address, &a, err);
    if (!status && !a.body.bytes && !body_add(&a, "", 0)) status = fail(err, VOUCH_E_MEMORY, "%.160s: %s", what, a.why);
    if (status) {
        free(a.body.bytes);
        return status;
    }
    *body = a.body.bytes;
    *n_body = a.body.n;
    return VOUCH_OK;
}

/* -------------------------------------------------------------------- downloads */

/* Takes over the bytes of an earlier run, if they are known to belong to the file that is wanted. */
static vouch_status file_go_on(file *f, vouch_error *err)
{
    static const size_t step = 1 << 20;
    vouch_os_info info;
    hub_origin origin = {.size = -1};
    char *bytes = malloc(step);
    if (!bytes) return fail(err, VOUCH_E_MEMORY, "not enough memory to read %.300s", f->d->path);
    const bool is_known = f->d->origin ? hub_origin_read(&origin, f->d->origin) : f->d->digest != NULL;
    const int64_t size = f->d->size >= 0 ? f->d->size : origin.size;
    const bool fits = vouch_os_info_of_open(f->fd, &info) && (size < 0 || info.size <= size);
    if (is_known && fits) {
        f->digest = digest_begin(f->d);
        f->origin = origin;
        f->origin.size = size;
        if (f->d->digest) snprintf(f->origin.digest, sizeof f->origin.digest, "%s", f->d->digest);
    } else file_restart(f);
    ssize_t now = 0;
    while (!f->error && (now = vouch_os_read(f->fd, bytes, step)) > 0) {
        hub_digest_add(&f->digest, bytes, (size_t)now);
        f->n += now;
    }
    f->n_most = f->n;
    if (now < 0) file_fail(f, f->d->path, errno);
    free(bytes);
    f->progress.bytes = (double)f->origin.size;
    return f->error ? file_complain(f, err) : VOUCH_OK;
}

/* Sees to the content and to the disk. */
static vouch_status file_finish(file *f, vouch_error *err)
{
    char begin[32];
    const ssize_t n = vouch_os_file_read_at(f->fd, begin, sizeof begin, 0);
    if (n < 0) return fail(err, VOUCH_E_IO, "%.400s: %s", f->d->path, strerror(errno));
    const vouch_status status = content_check(f->d, begin, (size_t)n, true, err);
    if (status) {
        file_restart(f);
        return status;
    }
    return !vouch_os_file_sync(f->fd) ? fail(err, VOUCH_E_IO, "%.400s: %s", f->d->path, strerror(errno)) : VOUCH_OK;
}

static vouch_status file_fill(hub_client *c, file *f, vouch_error *err)
{
    char digest[HUB_DIGEST_SIZE], expected[HUB_DIGEST_SIZE];
    answer a = {.curl = c->curl, .file = f};
    for (int round = 0; round < 2; round++) {
        if (f->origin.size < 0 || f->n < f->origin.size) {
            const vouch_status status = ask_patiently(c, f->d->what, f->d->address, &a, err);
            if (status) return status;
        }
        hub_digest_end(&f->digest, digest);
        memcpy(expected, f->origin.digest, sizeof expected);
        if (!*expected || strcasecmp(digest, expected) == 0) return file_finish(f, err);
        file_restart(f);
    }
    return fail(err, VOUCH_E_IO,
                "%.160s: the bytes that came have the digest %s, and not %s: a proxy or mirror changes them",
                f->d->what, digest, expected);
}

vouch_status hub_download_run(hub_client *c, const hub_download *d, vouch_error *err)
{
    char label[48];
    const char *slash = strrchr(d->what, '/'), *name = slash ? slash + 1 : d->what;
    const size_t n = strlen(name), most = 30; /* the end of a name says the type */
    snprintf(label, sizeof label, "fetching %s%s", n > most ? "..." : "", n > most ? name + n - (most - 3) : name);
    file f = {.d = d, .progress = {.label = label}};
    vouch_os_info info;
    f.fd = vouch_os_open(d->path, VOUCH_OS_READ | VOUCH_OS_WRITE | VOUCH_OS_CREATE | VOUCH_OS_NO_LINK, 0644);
    if (f.fd < 0 && errno == ELOOP)
        return fail(err, VOUCH_E_IO, "%.400s: a link is in the place of the file to write; remove it", d->path);
    if (f.fd < 0) return fail(err, VOUCH_E_IO, "%.400s: %s", d->path, strerror(errno));
    vouch_status status = VOUCH_OK;
    if (!vouch_os_info_of_open(f.fd, &info) || info.kind != VOUCH_OS_FILE)
        status = fail(err, VOUCH_E_IO, "%.400s: it is no file that can be written; remove it", d->path);
    if (!status) status = file_go_on(&f, err);
    if (!status) status = file_fill(c, &f, err);
    tool_progress_end(&f.progress);
    close(f.fd);
    return status;
}
