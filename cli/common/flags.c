/* SPDX-License-Identifier: MIT */
#include "common/flags.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/term.h"
#include "common/text.h"

const char *cli_nearest(const char *typed, const char *(*words)(const void *arg, size_t i), const void *arg)
{
    const char *best = NULL;
    size_t least = 1 + (strlen(typed) < 3 ? 1 : strlen(typed) < 9 ? 2 : 3);
    for (size_t i = 0;; i++) {
        const char *word = words(arg, i);
        if (!word) return best;
        const size_t distance = cli_edit_distance(typed, word);
        if (distance >= least || distance >= strlen(word)) continue;
        least = distance;
        best = word;
    }
}

/* ------------------------------------------------------------------ values */

/* "(0, 1]" holds x? Never true for NaN. */
static bool range_holds(const char *range, double x)
{
    char *end;
    const double low = strtod(range + 1, &end), high = strtod(end + 1, &end);
    return (*range == '(' ? x > low : x >= low) && (*end == ')' ? x < high : x <= high);
}

static bool flag_refuse(const cli_flag *flag, const char *shown, const char *value, const char *why)
{
    const bool whole = flag->kind == CLI_FLAG_INT || flag->kind == CLI_FLAG_SEED;
    const char *what = flag->kind == CLI_FLAG_INTS ? "ascending whole numbers, separated by commas,"
                       : whole                     ? "a whole number"
                                                   : "a number";
    cli_complain("%s '%s': %s; it takes %s in %s%s%s", shown, value, why, what, flag->range,
                 flag->remedy ? "; " : "", flag->remedy ? flag->remedy : "");
    return false;
}

/* Sets what a number flag points to. Numbers are read in the C locale: nothing here sets another. */
static bool parse_number(const cli_flag *flag, const char *shown, const char *text, void *place)
{
    char *end;
    double number;
    errno = 0;
    if (flag->kind == CLI_FLAG_SEED) {
        const unsigned long long seed = strtoull(text, &end, 10);
        if (!isdigit((unsigned char)*text) || *end)
            return flag_refuse(flag, shown, text, "not a whole number");
        if (errno) return flag_refuse(flag, shown, text, "outside the range");
        const uint64_t stored = seed;
        memcpy(place, &stored, sizeof stored);
        return true;
    }
    if (flag->kind == CLI_FLAG_INT) number = (double)strtoll(text, &end, 10);
    else number = strtod(text, &end);
    if (flag->kind == CLI_FLAG_FLOAT) number = (double)(float)number;
    if (end == text || *end || isspace((unsigned char)*text) || strpbrk(text, "xX")) /* 0x10 is one to strtod */
        return flag_refuse(flag, shown, text,
                           flag->kind == CLI_FLAG_INT ? "not a whole number" : "not a number");
    if (!range_holds(flag->range, number)) return flag_refuse(flag, shown, text, "outside the range");
    if (flag->kind == CLI_FLAG_INT) memcpy(place, &(int32_t){(int32_t)number}, sizeof(int32_t));
    else if (flag->kind == CLI_FLAG_FLOAT) memcpy(place, &(float){(float)number}, sizeof(float));
    else memcpy(place, &number, sizeof number);
    return true;
}

/* "1,2,4" into a cli_ints. */
static bool parse_ints(const cli_flag *flag, const char *shown, const char *text, cli_ints *ints)
{
    ints->n = 0;
    for (const char *at = text;; at++) {
        char *end;
        const long long number = strtoll(at, &end, 10);
        if (end == at || isspace((unsigned char)*at) || (*end && *end != ','))
            return flag_refuse(flag, shown, text, "not a list of whole numbers");
        if (!range_holds(flag->range, (double)number)) return flag_refuse(flag, shown, text, "outside the range");
        if (ints->n > 0 && number <= ints->items[ints->n - 1])
            return flag_refuse(flag, shown, text, "repeated or not ascending");
        if (ints->n == CLI_MOST_INTS) return flag_refuse(flag, shown, text, "too many numbers");
        ints->items[ints->n++] = (int32_t)number;
        if (!*end) return true;
        at = end;
    }
}

const char *cli_choice_word(const char *words, size_t i, char word[32])
{
    for (; i > 0; i--) {
        words = strchr(words, '|');
        if (!words) return NULL;
        words++;
    }
    snprintf(word, 32, "%.*s", (int)strcspn(words, "|"), words);
    return word;
}

static int choice_find(const char *words, const char *typed)
{
    char word[32];
    for (size_t i = 0; cli_choice_word(words, i, word); i++)
        if (strcmp(word, typed) == 0) return (int)i;
    return -1;
}

/* "a,b" of "auto|none|a|b". Which words go together is the command's to say. */
static bool parse_set(const cli_flag *flag, const char *shown, const char *text, unsigned *out)
{
    unsigned set = 0;
    for (const char *word = text;; word++) {
        char typed[32];
        const size_t n = strcspn(word, ",");
        snprintf(typed, sizeof typed, "%.*s", (int)n, word);
        const int index = choice_find(flag->value, typed);
        if (index < 0 || n >= sizeof typed || (index == 0 && (word != text || word[n]))) {
            cli_complain("%s '%s': it takes one of %s, or several with commas between", shown, text, flag->value);
            return false;
        }
        if (index > 0 && set >> (index - 1) & 1) {
            cli_complain("%s '%s': %s is there twice", shown, text, typed);
            return false;
        }
        if (index > 0) set |= 1u << (index - 1);
        word += n;
        if (!*word) break;
    }
    *out = set;
    return true;
}

/* One more of a flag that may be given several times. */
static bool ints_append(const char *shown, const char *text, int32_t value, cli_ints *ints)
{
    for (size_t i = 0; i < ints->n; i++)
        if (ints->items[i] == value) {
            cli_complain("%s '%s': given twice", shown, text);
            return false;
        }
    if (ints->n == CLI_MOST_INTS) {
        cli_complain("%s: given more than %d times", shown, CLI_MOST_INTS);
        return false;
    }
    ints->items[ints->n++] = value;
    return true;
}

static bool store_set(const cli_flag *flag, const char *shown, const char *text, void *place)
{
    unsigned set;
    if (!parse_set(flag, shown, text, &set)) return false;
    if (flag->kind == CLI_FLAG_SETS) return ints_append(shown, text, (int32_t)set, place);
    memcpy(place, &set, sizeof set);
    return true;
}

static bool store_choice(const cli_flag *flag, const char *shown, const char *text, void *place)
{
    const int index = choice_find(flag->value, text);
    if (index < 0) {
        cli_complain("%s '%s': it takes one of %s", shown, text, flag->value);
        return false;
    }
    if (flag->kind == CLI_FLAG_CHOICES) return ints_append(shown, text, index, place);
    memcpy(place, &index, sizeof index);
    return true;
}

static bool flag_store(const cli_flag *flag, const char *shown, const char *text, void *values)
{
    char *place = (char *)values + flag->offset;
    switch (flag->kind) {
    case CLI_FLAG_SWITCH: *(bool *)place = true; return true;
    case CLI_FLAG_CHOICE:
    case CLI_FLAG_CHOICES: return store_choice(flag, shown, text, place);
    case CLI_FLAG_SET:
    case CLI_FLAG_SETS: return store_set(flag, shown, text, place);
    case CLI_FLAG_FILE:
    case CLI_FLAG_TEXT:
    case CLI_FLAG_TEXTS:
        if (!*text && flag->kind != CLI_FLAG_TEXT) {
            cli_complain("%s: the value is empty", shown);
            return false;
        }
        if (flag->kind == CLI_FLAG_TEXTS) {
            cli_texts *texts = (cli_texts *)(void *)place;
            texts->items[texts->n++] = text;
        } else {
            memcpy(place, &text, sizeof text);
        }
        return true;
    case CLI_FLAG_INTS: return parse_ints(flag, shown, text, (cli_ints *)(void *)place);
    default: return parse_number(flag, shown, text, place);
    }
}

/* ----------------------------------------------------------------- parsing */

typedef struct parser {
    const cli_flag_table *table;
    unsigned command;
    int argc, next;
    char **argv;
} parser;

/* For cli_nearest: the long names of a command's flags. */
static const char *flag_word(const void *arg, size_t i)
{
    const parser *p = arg;
    for (size_t j = 0; j < p->table->n; j++)
        if ((p->table->flags[j].commands & p->command) && i-- == 0) return p->table->flags[j].name;
    return NULL;
}

static bool flag_is_named(const cli_flag *flag, const char *name, size_t n)
{
    return (strlen(flag->name) == n && memcmp(flag->name, name, n) == 0) ||
           (flag->alias && strlen(flag->alias) == n && memcmp(flag->alias, name, n) == 0);
}

static void complain_unknown(const parser *p, const char *argument)
{
    const int n = (int)strcspn(argument, "=");
    const cli_flag_table *table = p->table;
    for (size_t i = 0; n > 2 && i < table->n; i++) {
        if (!flag_is_named(&table->flags[i], argument + 2, (size_t)n - 2)) continue;
        size_t bit = 0;
        while (!(table->flags[i].commands >> bit & 1)) bit++;
        cli_complain("%.*s is a flag of `vouch %s`, not of this command", n, argument,
                     table->command_names[bit]);
        return;
    }
    char typed[64];
    snprintf(typed, sizeof typed, "%.*s", n, argument + (n > 2 ? 2 : 1));
    typed[strcspn(typed, "=")] = 0;
    const char *near = n > 2 ? cli_nearest(typed, flag_word, p) : NULL;
    cli_complain("unknown flag %.*s%s%s%s", n, argument, near ? "; did you mean --" : "", near ? near : "",
                 near ? "?" : "");
}

/* The flag an argument names; *value is what follows in the same argument, or NULL. */
static const cli_flag *flag_find(const parser *p, const char *argument, const char **value)
{
    const bool is_long = argument[1] == '-';
    const size_t n = is_long ? strcspn(argument + 2, "=") : 1;
    for (size_t i = 0; i < p->table->n; i++) {
        const cli_flag *flag = &p->table->flags[i];
        if (!(flag->commands & p->command)) continue;
        if (is_long ? !flag_is_named(flag, argument + 2, n) : flag->letter != argument[1]) continue;
        const char *rest = argument + (is_long ? 2 : 1) + n;
        *value = *rest == '=' ? rest + 1 : !is_long && *rest ? rest : NULL;
        return flag;
    }
    return NULL;
}

/* The value in the next argument, or NULL. "--word" is taken for a flag that follows a forgotten value. */
static const char *value_next(parser *p, const cli_flag *flag)
{
    const char *next = p->next < p->argc ? p->argv[p->next] : NULL;
    if (!next || (strncmp(next, "--", 2) == 0 && isalpha((unsigned char)next[2]))) return NULL;
    if (flag->implied && choice_find(flag->value, next) < 0) return NULL;
    p->next++;
    return next;
}

static bool parse_one(parser *p, void *values, const char **given)
{
    const char *argument = p->argv[p->next++], *value = NULL;
    char shown[48];
    if (argument[0] != '-' || !argument[1]) {
        cli_complain("unexpected argument '%s': every value belongs to a flag, as in --prompt TEXT",
                     argument);
        return false;
    }
    const cli_flag *flag = flag_find(p, argument, &value);
    if (!flag) {
        complain_unknown(p, argument);
        return false;
    }
    const size_t index = (size_t)(flag - p->table->flags);
    if (argument[1] == '-') snprintf(shown, sizeof shown, "%.*s", (int)strcspn(argument, "="), argument);
    else snprintf(shown, sizeof shown, "-%c", flag->letter);

    if (flag->kind == CLI_FLAG_SWITCH && value) {
        cli_complain("%s takes no value, '%s' was given", shown, value);
        return false;
    }
    if (flag->kind != CLI_FLAG_SWITCH && !value) value = value_next(p, flag);
    if (!value) value = flag->kind == CLI_FLAG_SWITCH ? "" : flag->implied;
    if (!value) {
        cli_complain("%s needs a value: %s %s", shown, shown, flag->value);
        return false;
    }
    const bool repeatable =
        flag->kind == CLI_FLAG_TEXTS || flag->kind == CLI_FLAG_SETS || flag->kind == CLI_FLAG_CHOICES;
    if (!repeatable && given[index] && strcmp(given[index], value) != 0) {
        cli_complain("%s is given twice, as '%s' and as '%s'", shown, given[index], value);
        return false;
    }
    given[index] = value;
    return flag_store(flag, shown, value, values);
}

bool cli_flags_parse(const cli_flag_table *table, unsigned command, int argc, char **argv, void *values,
                     const char **given)
{
    parser p = {table, command, argc, 0, argv};
    while (p.next < argc)
        if (!parse_one(&p, values, given)) return false;
    return true;
}

/* -------------------------------------------------------------------- help */

static void ints_text(const cli_ints *ints, char text[32])
{
    size_t used = 0;
    for (size_t i = 0; i < ints->n && used < 32; i++)
        used += (size_t)snprintf(text + used, 32 - used, "%s%" PRId32, i ? "," : "", ints->items[i]);
}

/* What the flag is without being given, where that says something the help text does not; else "". */
static const char *default_text(const cli_flag *flag, const void *defaults, char text[32])
{
    const void *place = (const char *)defaults + flag->offset;
    int index;
    *text = 0;
    if (strstr(flag->help, "default")) return text;
    switch (flag->kind) {
    case CLI_FLAG_INT: snprintf(text, 32, "%" PRId32, *(const int32_t *)place); break;
    case CLI_FLAG_INTS: ints_text(place, text); break;
    case CLI_FLAG_SEED: snprintf(text, 32, "%" PRIu64, *(const uint64_t *)place); break;
    case CLI_FLAG_FLOAT: snprintf(text, 32, "%g", (double)*(const float *)place); break;
    case CLI_FLAG_DOUBLE: snprintf(text, 32, "%g", *(const double *)place); break;
    case CLI_FLAG_CHOICE:
        memcpy(&index, place, sizeof index);
        cli_choice_word(flag->value, (size_t)index, text);
        break;
    case CLI_FLAG_SET: cli_choice_word(flag->value, 0, text); break;
    default: break;
    }
    return text;
}

static void help_flag(const cli_flag *flag, const void *defaults, FILE *stream)
{
    enum { COLUMN = 34 };
    int used = flag->letter ? fprintf(stream, "  -%c, ", flag->letter) : fprintf(stream, "      ");
    used += fprintf(stream, "--%s", flag->name);
    if (flag->value) used += fprintf(stream, " %s", flag->value);
    if (used >= COLUMN) fprintf(stream, "\n%*s", COLUMN, "");
    else fprintf(stream, "%*s", COLUMN - used, "");
    for (const char *line = flag->help; line;) {
        const char *end = strchr(line, '\n');
        fprintf(stream, "%.*s", (int)(end ? end - line : (ptrdiff_t)strlen(line)), line);
        if (end) fprintf(stream, "\n%*s", COLUMN, "");
        line = end ? end + 1 : NULL;
    }
    char text[32];
    const bool limited = flag->range && !strstr(flag->range, "2147483647") && !strstr(flag->range, "-inf");
    if (limited) fprintf(stream, "; in %s", flag->range);
    if (*default_text(flag, defaults, text)) fprintf(stream, "%sdefault %s", limited ? ", " : "; ", text);
    fputc('\n', stream);
}

void cli_flags_help(const cli_flag_table *table, unsigned command, const void *defaults, FILE *stream)
{
    const char *group = "";
    for (size_t i = 0; i < table->n; i++) {
        const cli_flag *flag = &table->flags[i];
        if (!(flag->commands & command)) continue;
        if (strcmp(group, flag->group) != 0) fprintf(stream, "\n%s\n", group = flag->group);
        help_flag(flag, defaults, stream);
    }
}
