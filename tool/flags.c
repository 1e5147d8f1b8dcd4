/* SPDX-License-Identifier: MIT */
#include "tool/flags.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "tool/term.h"
#include "tool/text.h"

const char *tool_nearest(const char *typed, const char *(*words)(const void *arg, size_t i), const void *arg)
{
    const char *best = NULL;
    size_t least = 1 + (strlen(typed) < 3 ? 1 : strlen(typed) < 9 ? 2 : 3);
    for (size_t i = 0;; i++) {
        const char *word = words(arg, i);
        if (!word) return best;
        const size_t distance = tool_edit_distance(typed, word);
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

static bool flag_refuse(const tool_flag *flag, const char *shown, const char *value, const char *why)
{
    const bool whole = flag->kind == TOOL_FLAG_INT || flag->kind == TOOL_FLAG_SEED;
    const char *what = flag->kind == TOOL_FLAG_INTS   ? "ascending whole numbers, separated by commas,"
                       : whole                        ? "a whole number"
                       : flag->kind == TOOL_FLAG_SIZE ? "a size such as 800M or 4G"
                                                      : "a number";
    tool_complain("%s '%s': %s; expected %s in %s%s%s", shown, value, why, what, flag->range, flag->remedy ? "; " : "",
                  flag->remedy ? flag->remedy : "");
    return false;
}

/* Parses a number of the flag's kind into *place. strtod reads the C locale, because vouch never sets LC_NUMERIC. */
static bool parse_number(const tool_flag *flag, const char *shown, const char *text, void *place)
{
    char *end;
    double number;
    errno = 0;
    if (flag->kind == TOOL_FLAG_SEED) {
        const unsigned long long seed = strtoull(text, &end, 10);
        if (!isdigit((unsigned char)*text) || *end) return flag_refuse(flag, shown, text, "not a whole number");
        if (errno) return flag_refuse(flag, shown, text, "outside the range");
        const uint64_t stored = seed;
        memcpy(place, &stored, sizeof stored);
        return true;
    }
    if (flag->kind == TOOL_FLAG_INT) number = (double)strtoll(text, &end, 10);
    else number = strtod(text, &end);
    if (flag->kind == TOOL_FLAG_FLOAT) number = (double)(float)number;
    if (end == text || *end || isspace((unsigned char)*text) || strpbrk(text, "xX")) /* strtod reads 0x10 */
        return flag_refuse(flag, shown, text, flag->kind == TOOL_FLAG_INT ? "not a whole number" : "not a number");
    if (!range_holds(flag->range, number)) return flag_refuse(flag, shown, text, "outside the range");
    if (flag->kind == TOOL_FLAG_INT) memcpy(place, &(int32_t){(int32_t)number}, sizeof(int32_t));
    else if (flag->kind == TOOL_FLAG_FLOAT) memcpy(place, &(float){(float)number}, sizeof(float));
    else memcpy(place, &number, sizeof number);
    return true;
}

/* "800M" into bytes. */
static bool parse_size(const tool_flag *flag, const char *shown, const char *text, int64_t *out)
{
    static const char units[] = "KMGT";
    char *end;
    double size = strtod(text, &end);
    const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    for (const char *u = units; unit && u <= unit; u++) size *= 1000;
    if (unit) end++;
    if (*end == 'B') end++;
    if (!isdigit((unsigned char)*text) || strpbrk(text, "xX") || *end || !(size < 1e18))
        return flag_refuse(flag, shown, text, "not a size");
    if (!range_holds(flag->range, size)) return flag_refuse(flag, shown, text, "outside the range");
    *out = (int64_t)size;
    return true;
}

/* "1,2,4" into a tool_ints. */
static bool parse_ints(const tool_flag *flag, const char *shown, const char *text, tool_ints *ints)
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
        if (ints->n == TOOL_MOST_INTS) return flag_refuse(flag, shown, text, "too many numbers");
        ints->items[ints->n++] = (int32_t)number;
        if (!*end) return true;
        at = end;
    }
}

const char *tool_choice_word(const char *words, size_t i, char word[32])
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
    for (size_t i = 0; tool_choice_word(words, i, word); i++)
        if (strcmp(word, typed) == 0) return (int)i;
    return -1;
}

/* Reads a set such as "a,b" out of the words "auto|none|a|b". The command decides which words go together. */
static bool parse_set(const tool_flag *flag, const char *shown, const char *text, unsigned *out)
{
    unsigned set = 0;
    for (const char *word = text;; word++) {
        char typed[32];
        const size_t n = strcspn(word, ",");
        snprintf(typed, sizeof typed, "%.*s", (int)n, word);
        const int index = choice_find(flag->value, typed);
        if (index < 0 || n >= sizeof typed || (index == 0 && (word != text || word[n]))) {
            tool_complain("%s '%s': expected one of %s, or several with commas between", shown, text, flag->value);
            return false;
        }
        if (index > 0 && set >> (index - 1) & 1) {
            tool_complain("%s '%s': %s is given twice; leave one out", shown, text, typed);
            return false;
        }
        if (index > 0) set |= 1u << (index - 1);
        word += n;
        if (!*word) break;
    }
    *out = set;
    return true;
}

/* Appends a value of a flag that may be given several times. */
static bool ints_append(const char *shown, const char *text, int32_t value, tool_ints *ints)
{
    for (size_t i = 0; i < ints->n; i++)
        if (ints->items[i] == value) {
            tool_complain("%s '%s': given twice; leave one out", shown, text);
            return false;
        }
    if (ints->n == TOOL_MOST_INTS) {
        tool_complain("%s: given more than %d times", shown, TOOL_MOST_INTS);
        return false;
    }
    ints->items[ints->n++] = value;
    return true;
}

static bool store_set(const tool_flag *flag, const char *shown, const char *text, void *place)
{
    unsigned set;
    if (!parse_set(flag, shown, text, &set)) return false;
    if (flag->kind == TOOL_FLAG_SETS) return ints_append(shown, text, (int32_t)set, place);
    memcpy(place, &set, sizeof set);
    return true;
}

static bool store_choice(const tool_flag *flag, const char *shown, const char *text, void *place)
{
    const int index = choice_find(flag->value, text);
    if (index < 0) {
        tool_complain("%s '%s': expected one of %s", shown, text, flag->value);
        return false;
    }
    if (flag->kind == TOOL_FLAG_CHOICES) return ints_append(shown, text, index, place);
    memcpy(place, &index, sizeof index);
    return true;
}

static bool flag_store(const tool_flag *flag, const char *shown, const char *text, void *values)
{
    char *place = (char *)values + flag->offset;
    switch (flag->kind) {
    case TOOL_FLAG_SWITCH: *(bool *)place = true; return true;
    case TOOL_FLAG_CHOICE:
    case TOOL_FLAG_CHOICES: return store_choice(flag, shown, text, place);
    case TOOL_FLAG_SET:
    case TOOL_FLAG_SETS: return store_set(flag, shown, text, place);
    case TOOL_FLAG_FILE:
    case TOOL_FLAG_TEXT:
    case TOOL_FLAG_TEXTS:
        if (!*text && flag->kind != TOOL_FLAG_TEXT) {
            tool_complain("%s '': the value is empty; expected %s", shown, flag->value);
            return false;
        }
        if (flag->kind == TOOL_FLAG_TEXTS) {
            tool_texts *texts = (tool_texts *)(void *)place;
            texts->items[texts->n++] = text;
        } else {
            memcpy(place, &text, sizeof text);
        }
        return true;
    case TOOL_FLAG_INTS: return parse_ints(flag, shown, text, (tool_ints *)(void *)place);
    case TOOL_FLAG_SIZE: return parse_size(flag, shown, text, (int64_t *)(void *)place);
    default: return parse_number(flag, shown, text, place);
    }
}

bool tool_flag_change(const tool_flag *flag, const char *shown, const char *text, void *values)
{
    const bool is_switch = flag->kind == TOOL_FLAG_SWITCH, on = strcmp(text, "on") == 0;
    if (!is_switch) return flag_store(flag, shown, text, values);
    if (!on && strcmp(text, "off") != 0) {
        tool_complain("%s '%s': expected on or off", shown, text);
        return false;
    }
    *(bool *)((char *)values + flag->offset) = on;
    return true;
}

/* ----------------------------------------------------------------- parsing */

typedef struct parser {
    const tool_flag_table *table;
    unsigned command;
    int argc, next;
    char **argv;
} parser;

/* Long name of flag i of the command, for tool_nearest. */
static const char *flag_word(const void *arg, size_t i)
{
    const parser *p = arg;
    for (size_t j = 0; j < p->table->n; j++)
        if ((p->table->flags[j].commands & p->command) && *p->table->flags[j].name && i-- == 0)
            return p->table->flags[j].name;
    return NULL;
}

/* A flag of these commands by its long name, or by the letter; NULL: none. */
static const tool_flag *flag_named(const tool_flag_table *table, unsigned commands, const char *name, size_t n)
{
    for (size_t i = 0; i < table->n && n > 0; i++) {
        const tool_flag *flag = &table->flags[i];
        if (!(flag->commands & commands)) continue;
        if (strlen(flag->name) == n && memcmp(flag->name, name, n) == 0) return flag;
        if (flag->alias && strlen(flag->alias) == n && memcmp(flag->alias, name, n) == 0) return flag;
    }
    return NULL;
}

static const tool_flag *flag_lettered(const parser *p, char letter)
{
    for (size_t i = 0; i < p->table->n; i++)
        if ((p->table->flags[i].commands & p->command) && p->table->flags[i].letter == letter && letter)
            return &p->table->flags[i];
    return NULL;
}

/* The flag that "--name", "--name=..." or "-x" names; NULL for "-xVALUE". */
static const tool_flag *flag_exact(const parser *p, const char *argument)
{
    const size_t n = strcspn(argument, "=");
    if (argument[0] != '-' || n < 2) return NULL;
    if (argument[1] == '-') return flag_named(p->table, p->command, argument + 2, n - 2);
    return n == 2 ? flag_lettered(p, argument[1]) : NULL;
}

/* Finds the row of another program's flag. Such programs take underscores and dashes inside a name as the same. */
static const tool_foreign_flag *foreign_find(const parser *p, const char *argument)
{
    char typed[64];
    snprintf(typed, sizeof typed, "%.*s", (int)strcspn(argument, "="), argument);
    for (char *at = typed; *at; at++)
        if (*at == '_') *at = '-';
    for (const tool_foreign_flag *f = p->table->foreign; f && f->name; f++)
        if (strcmp(f->name, typed) == 0) return f;
    return NULL;
}

static const char *command_of(const tool_flag_table *table, const tool_flag *flag)
{
    size_t bit = 0;
    while (!(flag->commands >> bit & 1)) bit++;
    return table->command_names[bit];
}

/* Names the remedy for an argument that is no flag of this command. */
static void complain_unknown(const parser *p, const char *argument)
{
    const int n = (int)strcspn(argument, "=");
    const bool is_long = argument[1] == '-';
    const tool_foreign_flag *foreign = foreign_find(p, argument);
    if (foreign && !foreign->same) {
        tool_complain("%.*s is not a flag of vouch: %s", n, argument, foreign->advice);
        return;
    }
    const char *name = foreign ? foreign->same : argument + 2;
    const tool_flag *other = flag_named(p->table, UINT_MAX, name, foreign ? strlen(name) : is_long ? (size_t)n - 2 : 0);
    if (other) {
        tool_complain("%.*s is a flag of `vouch %s`, not of this command; leave it out", n, argument,
                      command_of(p->table, other));
        return;
    }
    char typed[64];
    snprintf(typed, sizeof typed, "%.*s", n - (is_long ? 2 : 1), argument + (is_long ? 2 : 1));
    const char *near = n > 2 ? tool_nearest(typed, flag_word, p) : NULL;
    const tool_flag *letter = n == 2 ? flag_lettered(p, (char)(argument[1] ^ 0x20)) : NULL;
    if (near) tool_complain("unknown flag %.*s; did you mean --%s?", n, argument, near);
    else if (letter)
        tool_complain("unknown flag %.*s; did you mean -%c (--%s)?", n, argument, letter->letter, letter->name);
    else tool_complain("unknown flag %.*s; --help lists the flags", n, argument);
}

/* The long name that "-model" (a dash is missing) or "-modle" (and misspelt) stands for. NULL: it is "-m" with its
 * value after it. Looks for misspelt names only where the letter's flag takes a file: the value of another flag, such
 * as 100 in -n100, is so short that it would resemble some name. */
static const char *dash_missing(const parser *p, const char *argument)
{
    char typed[64];
    if (argument[1] == '-' || strlen(argument) < 4) return NULL;
    snprintf(typed, sizeof typed, "%.*s", (int)strcspn(argument, "=") - 1, argument + 1);
    const tool_flag *letter = flag_lettered(p, argument[1]),
                    *exact = flag_named(p->table, p->command, typed, strlen(typed));
    if (exact) return exact->name;
    return letter && letter->kind == TOOL_FLAG_FILE && strlen(typed) > 3 ? tool_nearest(typed, flag_word, p) : NULL;
}

/* The flag that an argument names, under its own or a foreign name; *value is the value in the same argument, or NULL.
 * The foreign names come before a letter with its value: "-md" is no -m with the value "d". */
static const tool_flag *flag_find(const parser *p, char *argument, char **value)
{
    const size_t n = strcspn(argument, "=");
    const tool_flag *flag = flag_exact(p, argument);
    *value = argument[n] ? argument + n + 1 : NULL;
    if (flag) return flag;
    const tool_foreign_flag *foreign = foreign_find(p, argument);
    if (foreign) return foreign->same ? flag_named(p->table, p->command, foreign->same, strlen(foreign->same)) : NULL;
    if (argument[1] == '-' || dash_missing(p, argument)) return NULL;
    *value = argument + 2;
    return flag_lettered(p, argument[1]);
}

/* The value in the next argument. NULL if that is "--word": it counts as a flag, and the value as forgotten. A flag
 * that takes any text accepts "--word" unless the command has such a flag. */
static char *value_next(parser *p, const tool_flag *flag)
{
    char *next = p->next < p->argc ? p->argv[p->next] : NULL;
    const bool is_text = flag->kind == TOOL_FLAG_TEXT || flag->kind == TOOL_FLAG_TEXTS;
    if (!next) return NULL;
    if (strncmp(next, "--", 2) == 0 && isalpha((unsigned char)next[2]) && (!is_text || flag_exact(p, next)))
        return NULL;
    if (flag->implied && choice_find(flag->value, next) < 0) return NULL;
    p->next++;
    return next;
}

static bool complain_valueless(const parser *p, const tool_flag *flag, const char *shown)
{
    const char *next = p->next < p->argc ? p->argv[p->next] : NULL;
    if (next)
        tool_complain("%s needs a value: %s %s; if %s is the value, write %s=%s", shown, shown, flag->value, next,
                      shown, next);
    else tool_complain("%s needs a value: %s %s", shown, shown, flag->value);
    return false;
}

static bool value_store(const parser *p, const tool_flag *flag, const char *shown, const char *value, void *values,
                        const char **given)
{
    const size_t index = (size_t)(flag - p->table->flags);
    const bool repeatable =
        flag->kind == TOOL_FLAG_TEXTS || flag->kind == TOOL_FLAG_SETS || flag->kind == TOOL_FLAG_CHOICES;
    if (!repeatable && given[index] && strcmp(given[index], value) != 0) {
        tool_complain("%s is given twice, as '%s' and as '%s'; leave one out", shown, given[index], value);
        return false;
    }
    given[index] = value;
    return flag_store(flag, shown, value, values);
}

/* Tidies an argument that is a path (tool_flag_kind). The word for MODEL isn't always one: beside --model it is the
 * prompt. */
static void path_tidy(const tool_flag *flag, char *value)
{
    const bool is_text = flag->kind == TOOL_FLAG_FILE || flag->kind == TOOL_FLAG_TEXTS;
    const bool is_path = is_text && (strstr(flag->value, "FILE") || strcmp(flag->value, "OUT") == 0);
    if (is_path && *value != '{') vouch_os_path_tidy(value);
}

/* Stores a word that follows no flag. The row with the empty name takes the first such word; a second one is an
 * error. */
static bool parse_word(const parser *p, char *word, void *values, const char **given)
{
    for (size_t i = 0; i < p->table->n; i++) {
        const tool_flag *flag = &p->table->flags[i];
        if (*flag->name || !(flag->commands & p->command) || given[i]) continue;
        path_tidy(flag, word);
        return value_store(p, flag, flag->value, word, values, given);
    }
    tool_complain("unexpected argument '%s': a value follows its flag; several words are one in quotes, as in "
                  "\"Name three rivers.\"",
                  word);
    return false;
}

static bool parse_one(parser *p, void *values, const char **given)
{
    char *argument = p->argv[p->next++], *value = NULL;
    char shown[48];
    if (argument[0] != '-' || !argument[1]) return parse_word(p, argument, values, given);
    const tool_flag *flag = flag_find(p, argument, &value);
    if (!flag) {
        const char *name = foreign_find(p, argument) ? NULL : dash_missing(p, argument);
        if (name) tool_complain("unknown flag %s; did you mean --%s?", argument, name);
        else complain_unknown(p, argument);
        return false;
    }
    const bool is_attached = value && argument[1] != '-' && value == argument + 2;
    snprintf(shown, sizeof shown, "%.*s", is_attached ? 2 : (int)strcspn(argument, "="), argument);

    if (flag->kind == TOOL_FLAG_SWITCH && value) {
        tool_complain("%s takes no value, but '%s' was given; write %s alone", shown, value, shown);
        return false;
    }
    if (flag->kind != TOOL_FLAG_SWITCH && !value) value = value_next(p, flag);
    if (value) path_tidy(flag, value);
    const char *stored = value ? value : flag->kind == TOOL_FLAG_SWITCH ? "" : flag->implied;
    return stored ? value_store(p, flag, shown, stored, values, given) : complain_valueless(p, flag, shown);
}

bool tool_flags_parse(const tool_flag_table *table, unsigned command, int argc, char **argv, void *values,
                      const char **given)
{
    parser p = {table, command, argc, 0, argv};
    while (p.next < argc)
        if (!parse_one(&p, values, given)) return false;
    return true;
}

/* -------------------------------------------------------------------- help */

static void ints_text(const tool_ints *ints, char text[32])
{
    size_t used = 0;
    for (size_t i = 0; i < ints->n && used < 32; i++)
        used += (size_t)snprintf(text + used, 32 - used, "%s%" PRId32, i ? "," : "", ints->items[i]);
}

/* Writes 64000000 as "64M". */
static void size_text(int64_t size, char text[TOOL_FLAG_VALUE])
{
    int unit = 0;
    for (; size > 0 && size % 1000 == 0 && unit < 4; unit++) size /= 1000;
    snprintf(text, TOOL_FLAG_VALUE, "%" PRId64 "%.*s", size, unit > 0, &"KMGT"[unit > 0 ? unit - 1 : 0]);
}

/* Writes the words of a set with commas between. */
static void set_text(const char *words, unsigned set, char text[TOOL_FLAG_VALUE])
{
    char word[32];
    size_t used = 0;
    if (set == 0) tool_choice_word(words, 0, text);
    for (size_t i = 1; set && tool_choice_word(words, i, word); i++, set >>= 1)
        if (set & 1 && used < TOOL_FLAG_VALUE)
            used += (size_t)snprintf(text + used, TOOL_FLAG_VALUE - used, "%s%s", used ? "," : "", word);
}

const char *tool_flag_text(const tool_flag *flag, const void *values, char text[TOOL_FLAG_VALUE])
{
    const void *place = (const char *)values + flag->offset;
    int index;
    *text = 0;
    switch (flag->kind) {
    case TOOL_FLAG_SWITCH: strcpy(text, *(const bool *)place ? "on" : "off"); break;
    case TOOL_FLAG_INT: snprintf(text, TOOL_FLAG_VALUE, "%" PRId32, *(const int32_t *)place); break;
    case TOOL_FLAG_INTS: ints_text(place, text); break;
    case TOOL_FLAG_SEED: snprintf(text, TOOL_FLAG_VALUE, "%" PRIu64, *(const uint64_t *)place); break;
    case TOOL_FLAG_FLOAT: snprintf(text, TOOL_FLAG_VALUE, "%g", (double)*(const float *)place); break;
    case TOOL_FLAG_SIZE: size_text(*(const int64_t *)place, text); break;
    case TOOL_FLAG_DOUBLE: snprintf(text, TOOL_FLAG_VALUE, "%g", *(const double *)place); break;
    case TOOL_FLAG_CHOICE:
        memcpy(&index, place, sizeof index);
        tool_choice_word(flag->value, (size_t)index, text);
        break;
    case TOOL_FLAG_SET: set_text(flag->value, *(const unsigned *)place, text); break;
    default: break;
    }
    return text;
}

/* The default of a flag as text; "" where the help text already says it. */
static const char *default_text(const tool_flag *flag, const void *defaults, char text[TOOL_FLAG_VALUE])
{
    *text = 0;
    if (flag->kind == TOOL_FLAG_SWITCH || strstr(flag->help, "default")) return text;
    return tool_flag_text(flag, defaults, text);
}

/* A line end in a text becomes a space, so that the description is one line. */
const char *tool_flag_describe(const tool_flag *flag, const void *defaults, char text[TOOL_FLAG_TEXT_SIZE])
{
    char standard[TOOL_FLAG_VALUE];
    const bool limited = flag->range && !strstr(flag->range, "2147483647") && !strstr(flag->range, "-inf");
    default_text(flag, defaults, standard);
    const int n = snprintf(text, TOOL_FLAG_TEXT_SIZE, "%s%s%s%s%s", flag->help, limited ? "; in " : "",
                           limited ? flag->range : "",
                           !*standard ? ""
                           : limited  ? ", default "
                                      : "; default ",
                           standard);
    for (int i = 0; i < n && i < TOOL_FLAG_TEXT_SIZE; i++)
        if (text[i] == '\n') text[i] = ' ';
    return text;
}

/* Prints the words of the text in lines from `column` to `width`, starting at `column`. Never breaks a range such as
 * "[1, 64]". */
static void help_wrap(const char *text, int column, int width, FILE *stream)
{
    int used = column;
    for (const char *word = text; *word;) {
        size_t n = strcspn(word, " ");
        if (strchr("[(", *word) && isdigit((unsigned char)word[1]) && word[n - 1] == ',')
            n += 1 + strcspn(word + n + 1, " ");
        if (used > column && used + 1 + (int)n > width) {
            fprintf(stream, "\n%*s", column, "");
            used = column;
        }
        used += fprintf(stream, "%s%.*s", used > column ? " " : "", (int)n, word);
        word += n;
        word += strspn(word, " ");
    }
    fputc('\n', stream);
}

/* Writes the words of a choice, "auto|none|draft", over several lines where they don't fit. Returns the column. */
static int help_value(const char *value, int column, int width, FILE *stream)
{
    int used = column;
    while (*value) {
        const int word = (int)strcspn(value, "|"), n = word + (value[word] == '|');
        if (used > column && used + n > width) {
            fprintf(stream, "\n%*s", column, "");
            used = column;
        }
        used += fprintf(stream, "%.*s", n, value);
        value += n;
    }
    return used;
}

static void help_flag(const tool_flag *flag, const void *defaults, FILE *stream)
{
    enum { COLUMN = 30, WIDTH = 80 };
    char text[TOOL_FLAG_TEXT_SIZE];
    int used = 0;
    if (!*flag->name) used = fprintf(stream, "  ");
    else
        used = flag->letter ? fprintf(stream, "  -%c, --%s", flag->letter, flag->name)
                            : fprintf(stream, "      --%s", flag->name);
    if (flag->value && *flag->name) used += fprintf(stream, " ");
    if (flag->value) used = help_value(flag->value, used, WIDTH, stream);
    if (used + 2 > COLUMN) fprintf(stream, "\n%*s", COLUMN, "");
    else fprintf(stream, "%*s", COLUMN - used, "");
    help_wrap(tool_flag_describe(flag, defaults, text), COLUMN, WIDTH, stream);
}

void tool_flags_help(const tool_flag_table *table, unsigned command, const void *defaults, FILE *stream)
{
    const char *group = "";
    for (size_t i = 0; i < table->n; i++) {
        const tool_flag *flag = &table->flags[i];
        if (!(flag->commands & command)) continue;
        if (strcmp(group, flag->group) != 0) fprintf(stream, "\n%s\n", group = flag->group);
        help_flag(flag, defaults, stream);
    }
}
