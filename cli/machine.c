/* SPDX-License-Identifier: MIT */
#include "machine.h"

#include <string.h>

#include "os/os.h"
#include "tool/text.h"
#include "vouch.h"
#ifdef VOUCH_SERVER
#include "server.h"
#endif

#if defined(__x86_64__)
#define ARCHITECTURE "x86_64"
#elif defined(__aarch64__)
#define ARCHITECTURE "aarch64"
#else
#define ARCHITECTURE "another architecture"
#endif

/* Optional parts that the Makefile builds in. */
#ifdef VOUCH_SERVER
enum { HAS_SERVER = 1 };
#else
enum { HAS_SERVER = 0 };
static bool server_has_tls(void)
{
    return false;
}
#endif
#ifdef VOUCH_DISTILL
enum { HAS_DISTILL = 1 };
#else
enum { HAS_DISTILL = 0 };
#endif
#ifdef VOUCH_EDITLINE
enum { HAS_EDITOR = 1 };
#else
enum { HAS_EDITOR = 0 };
#endif
#ifdef VOUCH_HUB
enum { HAS_HUB = 1 };
#else
enum { HAS_HUB = 0 };
#endif

static const char *last_name(const char *(*name_of)(size_t i))
{
    size_t n = 0;
    while (name_of(n + 1)) n++;
    return name_of(n);
}

/* --------------------------------------------------------------------- text */

static void key_put(FILE *out, const char *key)
{
    fprintf(out, "%-18s", key);
}

static void names_put(FILE *out, const char *key, const char *(*name_of)(size_t i))
{
    key_put(out, key);
    for (size_t i = 0; name_of(i); i++) fprintf(out, "%s%s", i ? ", " : "", name_of(i));
    if (!name_of(0)) fputs("none that kernels use", out);
    fputc('\n', out);
}

static void part_put(FILE *out, const char *key, bool is_built)
{
    key_put(out, key);
    fprintf(out, "%s\n", is_built ? "yes" : "no: not in this build");
}

void cli_machine_put(FILE *out, bool is_whole)
{
    char name[200];
    const int64_t left = vouch_os_memory_left();
    vouch_os_processor_name(name, sizeof name);
    key_put(out, "version");
    fprintf(out, "vouch %s\n", vouch_version());
    key_put(out, "system");
    fprintf(out, "%s, " ARCHITECTURE "\n", vouch_os_name());
    key_put(out, "processor");
    tool_put_escaped(out, *name ? name : "unknown", strlen(*name ? name : "unknown"), 0);
    fprintf(out, ", %d usable\n", vouch_cpu_count());
    if (!is_whole) return;
    names_put(out, "features", vouch_cpu_feature);
    if (left >= 0) {
        key_put(out, "memory");
        fprintf(out, "%lld bytes available\n", (long long)left);
    }
    names_put(out, "in this build", vouch_cpu_built_name);
    names_put(out, "available here", vouch_cpu_name);
    key_put(out, "instruction set");
    fprintf(out, "%s%s\n", last_name(vouch_cpu_name),
            vouch_cpu_name(1) ? "" : ", plain C: this build has no vector kernels that this processor can run");
    part_put(out, "server", HAS_SERVER);
    if (HAS_SERVER) part_put(out, "TLS", server_has_tls());
    part_put(out, "distill", HAS_DISTILL);
    part_put(out, "line editor", HAS_EDITOR);
    part_put(out, "fetching models", HAS_HUB);
}

/* --------------------------------------------------------------------- JSON */

static json_t *names_json(const char *(*name_of)(size_t i))
{
    json_t *array = json_array();
    for (size_t i = 0; name_of(i); i++) json_array_append_new(array, json_string(name_of(i)));
    return array;
}

json_t *cli_machine_json(void)
{
    char name[200];
    const int64_t left = vouch_os_memory_left();
    vouch_os_processor_name(name, sizeof name);
    const tool_json_entry parts[] = {{"server", json_boolean(HAS_SERVER)},
                                     {"tls", json_boolean(server_has_tls())},
                                     {"distill", json_boolean(HAS_DISTILL)},
                                     {"line_editor", json_boolean(HAS_EDITOR)},
                                     {"fetching", json_boolean(HAS_HUB)}};
    const tool_json_entry entries[] = {{"version", json_string(vouch_version())},
                                       {"system", json_string(vouch_os_name())},
                                       {"architecture", json_string(ARCHITECTURE)},
                                       {"processor", tool_json_text(name)},
                                       {"n_processors", json_integer(vouch_cpu_count())},
                                       {"features", names_json(vouch_cpu_feature)},
                                       {"memory_available", left >= 0 ? json_integer(left) : json_null()},
                                       {"built", names_json(vouch_cpu_built_name)},
                                       {"available", names_json(vouch_cpu_name)},
                                       {"cpu", json_string(last_name(vouch_cpu_name))},
                                       {"parts", tool_json_object(parts, sizeof parts / sizeof *parts)}};
    return tool_json_object(entries, sizeof entries / sizeof *entries);
}
