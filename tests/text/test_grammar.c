/* SPDX-License-Identifier: MIT */
/* Tests which texts a grammar accepts, which grammars are refused, and how much memory they take. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/decode/grammar.h"
#include "support/test.h"

/* A grammar with texts that belong to it, beginnings of such texts, and others; lists end with NULL. */
typedef struct example {
    const char *grammar;
    const char *accepted[8], *begun[5], *refused[8];
} example;

/* In the tables of schemas, ' stands for ". */
static const char *quoted(vouch_grammar_kind kind, const char *text, char out[1000])
{
    snprintf(out, 1000, "%s", text);
    for (char *c = out; *c && (kind & 15) == VOUCH_GRAMMAR_JSON_SCHEMA; c++) /* the flags are above 15 */
        if (*c == '\'') *c = '"';
    return out;
}

static void check_examples(vouch_grammar_kind kind, const example *examples, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const example *e = &examples[i];
        const char *const *lists[] = {e->refused, e->begun, e->accepted};
        char whole[1000], one[1000];
        vouch_grammar *grammar = grammar_open(kind, quoted(kind, e->grammar, whole));
        vouch_automaton *automaton = grammar_automaton(grammar);
        for (int wanted = REFUSED; wanted <= ACCEPTED; wanted++)
            for (const char *const *text = lists[wanted]; *text; text++)
                if (grammar_follow(automaton, quoted(kind, *text, one), strlen(*text)) != (verdict)wanted)
                    fail_msg("%s\nwith the text %s: not %s", e->grammar, *text,
                             wanted == ACCEPTED ? "accepted"
                             : wanted == BEGUN  ? "begun"
                                                : "refused");
        grammar_close_automaton(automaton);
        vouch_grammar_close(grammar);
    }
}

/* ---------------------------------------------------------------------- GBNF */

static const example notations[] = {
    {"root ::= \"yes\" | \"no\"", {"yes", "no"}, {"y", ""}, {"yes ", "maybe", "yesno"}},
    {"root ::= \"\" | \"a\" root", {"", "a", "aaa"}, {NULL}, {"b"}},
    {"root ::= [a-c]+ \"-\"? [^a-c]", {"ad", "abc-x", "a\xc3\xa9"}, {"a", "ab"}, {"d", "a-a", "\xc3\xa9"}},
    {"root ::= (\"a\" | \"b\"){2,3} \"!\"", {"ab!", "bba!"}, {"ab", "a"}, {"a!", "abab!"}},
    {"root ::= \"x\"{3}", {"xxx"}, {"xx"}, {"xxxx"}},
    {"root ::= \"x\"{2,}", {"xx", "xxxxx"}, {"x"}, {"y"}},
    {"root ::= \"x\"{,2} \"y\"", {"y", "xxy"}, {"xx"}, {"xxxy"}},
    {"root ::= \"x\"{0} \"y\"", {"y"}, {""}, {"xy"}},
    {"root ::= . . \".\"", {"ab.", "\xe2\x82\xac\xf0\x9f\x98\x80."}, {"a", "\xe2\x82"}, {"a\xff", "\xc0\x80."}},
    {"root ::= [\\x41-\\u0043\\U0001F600]", {"A", "C", "\xf0\x9f\x98\x80"}, {"\xf0\x9f"}, {"D", "\xf0\x9f\x98\x81"}},
    {"root ::= \"\\\"\\\\\\n\\t\\r\"", {"\"\\\n\t\r"}, {"\""}, {"n"}},
    {"root ::= [\\]\\[-] [a-] [^]", {"]a\n", "[-b", "--x"}, {"-"}, {"xa", "]b"}},
    {"# a comment\nroot ::= item # another\n     | \"(\" root \")\"\n\nitem ::= [0-9]+",
     {"7", "42"},
     {"(", "(4"},
     {"x"}},
    {"root ::= \"(\" root \")\" | \"\"", {"", "()", "((()))"}, {"((", "(()"}, {")", "())"}},
    {"root ::= list\nlist ::= \"[\" (item (\",\" item)*)? \"]\"\nitem ::= list | \"1\"",
     {"[]", "[1]", "[[],[1,1]]"},
     {"[1,", "[["},
     {"[,", "1", "[]]"}},
    /* Ambiguous: both ways to read "aaa" stay open. */
    {"root ::= a b\na ::= \"a\"*\nb ::= \"a\"* \"b\"?", {"", "aaa", "aaab"}, {NULL}, {"ba"}},
    /* A rule that may be empty, repeated. */
    {"root ::= (space word?)* \"!\"\nspace ::= \" \"?\nword ::= [a-z]", {"!", "a b!", "  !"}, {" a"}, {"!!"}},
    /* Bars at line ends and beginnings, and groups over lines. */
    {"root ::= (\n  \"a\"\n  # of two\n  | \"b\"\n)\n", {"a", "b"}, {""}, {"ab"}},
    {"root ::=\n  \"a\" |\n  \"b\"\n  | \"c\"\n", {"a", "b", "c"}, {""}, {"d"}},
    /* Characters of 2, 3 and 4 bytes: the first and last of each length, and surrogates. */
    {"root ::= [\\u0080-\\u07ff]", {"\xc2\x80", "\xdf\xbf"}, {"\xc2"}, {"\x7f", "\xe0\xa0\x80", "\xc1\x80"}},
    {"root ::= [\\u0800-\\uffff]",
     {"\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbf"},
     {"\xe0"},
     {"\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x90\x80\x80"}},
    {"root ::= [\\U00010000-\\U0010ffff]",
     {"\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"},
     {"\xf4\x8f"},
     {"\xf4\x90\x80\x80", "\xf0\x8f\xbf\xbf"}},
    /* Up to a mark: what looks like its beginning is text, and the first mark counts. */
    {"root ::= %until \"</think>\" \"x\"",
     {"</think>x", "a\n<</t</think>x", "\xc3\xa9</</think>x"},
     {"", "</think", "</think>"},
     {"</think>y", "</think></think>x", "\xff"}},
    {"root ::= %until \"aab\"", {"aab", "aaab", "abaaab"}, {"aaaa", "ab"}, {"aabb"}},
    {"root ::= %until \"\xc3\xa9\xc3\xa8\" \"x\"",
     {"\xc3\xa9\xc3\xa8x", "a\xc3\xa9\xc3\xa9\xc3\xa8x"},
     {"\xc3\xa9\xc3\xa9"},
     {"\xc3\xa9\xc3\xa8y"}},
    {"root ::= (%until \"--\" [0-9]){2}", {"--1--2", "a--1-b--2"}, {"--1"}, {"--x"}},
    /* A schema within a grammar, whose own rules may have any name. */
    {"root ::= space %json {\"type\": \"array\", \"items\": {\"$ref\": \"#\"}} schema | %json{\"const\": 1}\n"
     "space ::= \"_\"\nschema ::= \"!\"",
     {"_[]!", "_[[],[]]!", "1"},
     {"_[", "_[]"},
     {"[]!", "_1!", " []!"}},
    /* %json takes a schema out of the last %schema by its JSON pointer; a second %schema replaces the first. */
    {"%schema {\"properties\": {\"a~b/c%\": {\"const\": 1}, \"r\": {\"items\": {\"$ref\": \"#/properties/r\"}, "
     "\"type\": \"array\"}}}\nroot ::= %json \"#/properties/a~0b~1c%25\" \"-\" %json \"#/properties/r\" two\n\n# next\n"
     "%schema {\"$defs\": {\"x\": {\"$anchor\": \"y\", \"type\": \"null\"}}, \"const\": 2}\ntwo ::= %json \"#y\" %json "
     "\"#\"",
     {"1-[]null2", "1-[[],[[]]]null2"},
     {"1-", "1-[]null"},
     {"1-1", "2"}},
    {"root ::= %token \"<x>\" \"y\"", {"\xff<x>\xfey"}, {"", "\xff<x"}, {"<x>y", "\xff<x>y", "\xff<xx>\xfey"}},
    {"root ::= [\\u1234-\\u2345]",
     {"\xe1\x88\xb4", "\xe2\x8d\x85", "\xe1\xbf\xbf"},
     {"\xe1"},
     {"\xe1\x88\xb3", "\xe2\x8d\x86"}},
};

static void test_notation(void **state)
{
    (void)state;
    check_examples(VOUCH_GRAMMAR_GBNF, notations, sizeof notations / sizeof notations[0]);
}

/* A class of two ranges accepts exactly the characters in them, among all characters of Unicode. */
static void test_classes_hold_exactly_their_characters(void **state)
{
    (void)state;
    vouch_grammar *grammar = grammar_open(VOUCH_GRAMMAR_GBNF, "root ::= [\\u0041-\\u05ff\\u2fff-\\U00012345]");
    vouch_automaton *automaton = grammar_automaton(grammar);
    for (int32_t c = 0; c <= 0x10ffff; c++) {
        char text[4];
        size_t n = 0;
        if (c >= 0xd800 && c < 0xe000) continue;
        if (c < 0x80) text[n++] = (char)c;
        else {
            const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
            text[n++] = (char)("\0\xc0\xe0\xf0"[more] | c >> (6 * more));
            for (int i = more - 1; i >= 0; i--) text[n++] = (char)(0x80 | (c >> (6 * i) & 0x3f));
        }
        const bool inside = (c >= 0x41 && c <= 0x5ff) || (c >= 0x2fff && c <= 0x12345);
        if ((grammar_follow(automaton, text, n) == ACCEPTED) != inside) fail_msg("character %x", (unsigned)c);
    }
    grammar_close_automaton(automaton);
    vouch_grammar_close(grammar);
}

/* --------------------------------------------------------------- JSON Schema */

static const example schemas[] = {
    /* Values that are excluded, and names that are required twice. */
    {"{'enum': ['a', 1, 2.0, null, 'b', 3], 'not': {'enum': ['b', 1.0, 2, 'c']}}",
     {"'a'", "null", "3"},
     {"'"},
     {"1", "2", "2.0", "'b'", "'c'"}},
    {"{'type': 'object', 'properties': {'a': {'const': 1}}, 'required': ['b', 'a', 'b'], 'additionalProperties': "
     "{'const': 2}}",
     {"{'a':1,'b':2}", "{'a':1,'b':2,'c':2}"},
     {"{'a':1"},
     {"{'a':1}", "{'a':1,'b':2,'b':2}"}},
    /* One schema of strings: with any spelling as a value, with one spelling where items differ. */
    {"{'type': 'object', 'properties': {'a': {'$ref': '#/$defs/s'}, 't': {'type': 'array', 'uniqueItems': true, "
     "'items': {'$ref': '#/$defs/s'}}}, 'required': ['a', 't'], 'additionalProperties': false, '$defs': {'s': "
     "{'type': 'string'}}}",
     {"{'a':'\\u0061','t':['a','b']}"},
     {"{"},
     {"{'a':'a','t':['a','a']}", "{'a':'a','t':['a','\\u0061']}"}},
    {"{'type': 'object', 'properties': {'t': {'type': 'array', 'uniqueItems': true, 'items': {'$ref': '#/$defs/s'}}, "
     "'a': {'$ref': '#/$defs/s'}}, 'required': ['a', 't'], 'additionalProperties': false, '$defs': {'s': "
     "{'type': 'string'}}}",
     {"{'t':['a','b'],'a':'\\u0061'}"},
     {"{"},
     {"{'t':['a','a'],'a':'a'}", "{'t':['a','\\u0061'],'a':'a'}"}},
    {"{'type': 'object', 'properties': {'a': {'type': 'integer'}, 'b': {'type': 'string'}}, "
     "'required': ['a'], 'additionalProperties': false}",
     {"{'a':1}", "{'a': -20, 'b': 'x'}", "{\n  'a':0,\n  'b':''\n}"},
     {"{", "{'a':1,"},
     {"{}", "{'b':'x'}", "{'a':1,}", "{'a':01}", "{'a':'1'}", "{'a':1,'c':2}", "{'a':1.5}"}},
    {"{'properties': {'ab': {'type': 'null'}}}",
     {"{}", "[]", "7", "{'ab':null}", "{'a':1,'abc':2,'b':{}}", "{'ab':null,'':0}", "'x'"},
     {"{'ab"},
     {"{'ab':1}", "{'b':1,'ab':1}", "{'\\u0061b':1}"}},
    {"{'type': 'object', 'required': ['x'], 'additionalProperties': {'type': 'boolean'}}",
     {"{'x':true}", "{'x':false,'y':true}"},
     {"{"},
     {"{}", "{'y':true}", "{'x':1}"}},
    {"{'type': ['string', 'null']}",
     {"null", "'a\\n\\'\\u00e9\\ud83d\\ude00'", "'\xc3\xa9'"},
     {"'a"},
     {"1", "'\n'", "'\\x'", "'\\ud83d'", "'\xff'"}},
    {"{'type': 'string', 'minLength': 2, 'maxLength': 3}",
     {"'ab'",
      "'a\xf0\x9f\x98\x80"
      "c'",
      "'\\ud83d\\ude00b'"},
     {"'a"},
     {"'a'", "'abcd'"}},
    {"{'type': 'string', 'pattern': '^[A-Z]{2}\\\\d+$'}", {"'AB1'", "'XY123'"}, {"'AB"}, {"'AB'", "'ab1'", "'AB1x'"}},
    {"{'type': 'string', 'pattern': 'b+|^x$'}", {"'abba'", "'x'", "'b'"}, {"'a"}, {"'a'", "'xx'"}},
    {"{'type': 'string', 'pattern': '^(?:a|\\'|\\\\\\\\|\\\\n|[^a-z\\\\W]){3}?$'}",
     {"'a\\'\\\\'", "'\\nA_'"},
     {"'a"},
     {"'abc'", "'\\''"}},
    {"{'format': 'date'}",
     {"'2024-02-29'", "'1999-12-31'", "7"},
     {"'2024-"},
     {"'2023-02-29'", "'2024-13-01'", "'0000-01-01'", "'24-01-01'"}},
    {"{'type': 'string', 'format': 'date-time'}",
     {"'2024-01-02T03:04:05Z'", "'2024-01-02T03:04:05.25+01:30'"},
     {"'2024-01-02T"},
     {"'2024-01-02 03:04:05Z'", "'2024-01-02T24:00:00Z'"}},
    {"{'type': 'string', 'format': 'email'}", {"'a.b@c-d.org'"}, {"'a@b"}, {"'a@b'", "'@b.c'", "'a@b..c'"}},
    {"{'type': 'string', 'format': 'ipv4'}", {"'1.2.3.255'", "'0.0.0.0'"}, {"'1."}, {"'1.2.3.256'", "'01.2.3.4'"}},
    {"{'type': 'string', 'format': 'uuid'}", {"'2eb8aa08-aa98-11ea-b4aa-73b441d16380'"}, {"'2e"}, {"'2eb8aa08aa98'"}},
    {"{'type': 'integer', 'minimum': -12, 'maximum': 105}",
     {"-12", "-1", "0", "9", "10", "99", "105"},
     {"-"},
     {"-13", "-0", "106", "1000", "00", "1.0"}},
    {"{'type': 'integer', 'exclusiveMinimum': 18, 'exclusiveMaximum': 21.5}",
     {"19", "20", "21"},
     {"1"},
     {"18", "22", "2x"}},
    {"{'type': 'integer', 'minimum': 997}", {"997", "999", "1000", "123456"}, {"9"}, {"99x", "-997"}},
    {"{'type': 'integer', 'maximum': -7}", {"-7", "-10", "-99"}, {"-", "-6"}, {"-6x", "7", "0"}},
    {"{'type': 'number'}", {"0", "-1.50", "1e5", "2.5E-3", "-0.0"}, {"1.", "1e"}, {"01", ".5", "+1", "NaN"}},
    {"{'enum': [1, 'a', null, [1, {'b': '\\n'}]]}",
     {"1", "'a'", "null", "[1,{'b':'\\n'}]", "[ 1, {'b': '\\n'} ]"},
     {"["},
     {"2", "[1]", "'b'"}},
    {"{'enum': [1, 'a', 'abc'], 'type': 'string', 'maxLength': 2}", {"'a'"}, {"'"}, {"1", "'abc'"}},
    {"{'const': {'k': [true, 2.5]}}", {"{'k':[true,2.5]}"}, {"{'k"}, {"{}", "{'k':[true]}"}},
    {"{'type': 'array', 'items': {'type': 'boolean'}, 'minItems': 1, 'maxItems': 3}",
     {"[true]", "[true, false,true]", "[ true ]"},
     {"[", "[true,"},
     {"[]", "[1]", "[true,true,true,true]", "[true,]"}},
    {"{'type': 'array', 'prefixItems': [{'const': 1}, {'const': 2}], 'items': {'const': 3}}",
     {"[]", "[1]", "[1,2]", "[1,2,3,3]"},
     {"[1,"},
     {"[2]", "[1,3]", "[1,2,2]"}},
    {"{'type': 'array', 'prefixItems': [{'const': 1}, {'const': 2}], 'items': false, 'minItems': 1}",
     {"[1]", "[1,2]"},
     {"[1,"},
     {"[]", "[1,2,3]"}},
    {"{'type': 'array', 'minItems': 4, 'prefixItems': [{'const': 1}], 'items': {'const': 0}}",
     {"[1,0,0,0]", "[1,0,0,0,0]"},
     {"[1,0"},
     {"[1,0,0]"}},
    {"{'anyOf': [{'type': 'integer'}, {'type': 'string', 'maxLength': 1}]}", {"5", "'a'"}, {"'a"}, {"'ab'", "null"}},
    {"{'oneOf': [{'type': 'object', 'properties': {'t': {'const': 'a'}, 'v': {'type': 'integer'}}, "
     "'required': ['t', 'v'], 'additionalProperties': false}, {'type': 'object', 'properties': {'t': "
     "{'const': 'b'}}, 'required': ['t'], 'additionalProperties': false}]}",
     {"{'t':'a','v':1}", "{'t':'b'}"},
     {"{'t':'"},
     {"{'t':'a'}", "{'t':'b','v':1}"}},
    {"{'allOf': [{'type': 'integer', 'minimum': 3}, {'maximum': 12}], 'minimum': 5}",
     {"5", "12"},
     {"1"},
     {"4", "13", "'5'"}},
    {"{'allOf': [{'properties': {'a': {'type': 'integer'}}, 'required': ['a']}, {'properties': {'a': {'minimum': 2}, "
     "'b': {'const': 1}}, 'additionalProperties': false}], 'type': 'object'}",
     {"{'a':2}", "{'a':3,'b':1}"},
     {"{'a"},
     {"{'a':1}", "{'b':1}", "{'a':2,'c':1}"}},
    {"{'$ref': '#/$defs/tree', '$defs': {'tree': {'type': 'object', 'properties': {'kids': {'type': 'array', "
     "'items': {'$ref': '#/$defs/tree'}}}, 'required': ['kids'], 'additionalProperties': false}}}",
     {"{'kids':[]}", "{'kids':[{'kids':[]},{'kids':[]}]}"},
     {"{'kids':[{"},
     {"{}", "[]", "{'kids':[1]}"}},
    {"{'type': 'object', 'properties': {'next': {'anyOf': [{'type': 'null'}, {'$ref': '#'}]}}, "
     "'required': ['next'], 'additionalProperties': false}",
     {"{'next':null}", "{'next':{'next':null}}"},
     {"{'next':{"},
     {"{'next':1}", "null"}},
    {"{'$ref': '#/$defs/a~1b%25', '$defs': {'a/b%': {'const': 1}}}", {"1"}, {""}, {"2"}},
    /* Lengths of patterns and formats. */
    {"{'type': 'string', 'pattern': '^[a-z]+$', 'minLength': 2, 'maxLength': 3}",
     {"'ab'", "'abc'"},
     {"'a"},
     {"'a'", "'abcd'"}},
    {"{'type': 'string', 'pattern': '^[A-Z]', 'maxLength': 3}", {"'A'", "'Abc'"}, {"'A"}, {"''", "'abc'", "'Abcd'"}},
    {"{'type': 'string', 'pattern': '^x(ab)*$|^yy$', 'minLength': 2, 'maxLength': 5}",
     {"'xab'", "'xabab'", "'yy'"},
     {"'x"},
     {"'x'", "'xababab'"}},
    {"{'type': 'string', 'pattern': '^\\\\d{3}-\\\\d{4}$', 'minLength': 8}", {"'123-4567'"}, {"'123"}, {"'12'"}},
    {"{'type': 'string', 'format': 'uri', 'minLength': 1, 'maxLength': 2083}",
     {"'https://a-b.example.org:80/x/y?q=1&r=%20#top'", "'mailto:a@b.c'"},
     {"'http:"},
     {"''", "'x'", "'http://-a'"}},
    {"{'type': 'string', 'format': 'duration'}",
     {"'P1D'", "'PT1H30M'", "'P3Y6M4DT12H30M5S'", "'P2W'"},
     {"'P"},
     {"'1D'", "'P1H'"}},
    {"{'type': 'string', 'format': 'ipv6'}", {"'::'", "'1:2:3:4:5:6:7:8'", "'fe80::1'"}, {"'1:"}, {"'1:2'", "':::'"}},
    {"{'type': 'string', 'format': 'hostname'}",
     {"'a'", "'a-b.c1'"},
     {"'a"},
     {"'-a'", "'a..b'", "'a-'", "'a123456789b123456-789c123456789d1-23456789e1234567-89f123456789g-1'"}},
    {"{'type': 'string', 'format': 'uuid4'}",
     {"'01234567-89ab-4def-8123-456789abcdef'"},
     {"'0"},
     {"'01234567-89ab-1def-8123-456789abcdef'"}},
    {"{'type': 'string', 'format': 'password', 'maxLength': 2}", {"'ab'"}, {"'a"}, {"'abc'"}},
    {"{'type': 'string', 'format': 'base64'}", {"''", "'YWJj'", "'YQ=='"}, {"'YW"}, {"'YWJ'", "'YR=='"}},
    /* Properties without names of their own. */
    {"{'type': 'object', 'propertyNames': {'enum': ['a', 'b']}, 'additionalProperties': {'const': 1}}",
     {"{}", "{'a':1}", "{'b':1,'a':1}"},
     {"{'"},
     {"{'c'", "{'a':2"}},
    {"{'type': 'object', 'patternProperties': {'^x': {'const': 1}}}",
     {"{}", "{'x':1}", "{'xy':1,'xz':1}"},
     {"{'x"},
     {"{'y'", "{'x':2"}},
    {"{'type': 'object', 'minProperties': 1, 'maxProperties': 2, 'additionalProperties': {'const': 1}}",
     {"{'a':1}", "{'a':1,'b':1}"},
     {"{"},
     {"{}", "{'a':1,'b':1,"}},
    {"{'type': 'array', 'items': {'enum': ['x', 'y', 'z']}, 'uniqueItems': true, 'minItems': 1, 'maxItems': 2}",
     {"['x']", "['z','y']"},
     {"['x',"},
     {"[]", "['x','x'", "['x','y',"}},
    {"{'type': 'array', 'items': {'$ref': '#/$defs/e'}, 'uniqueItems': true, '$defs': {'e': {'enum': [1, 2]}}}",
     {"[]", "[2,1]"},
     {"["},
     {"[1,1"}},
    /* Keywords that exclude, combine and count. */
    {"{'type': 'object', 'properties': {'kind': {'enum': ['a', 'b', 'c']}, 'n': {'type': 'integer'}}, "
     "'required': ['kind'], 'additionalProperties': false, 'if': {'properties': {'kind': {'const': 'a'}}, "
     "'required': ['kind']}, 'then': {'required': ['n']}, 'else': {'properties': {'n': false}}}",
     {"{'kind':'a','n':1}", "{'kind':'b'}", "{'kind':'c'}"},
     {"{'kind':'a'", "{'kind':'a',"},
     {"{'kind':'a'}", "{'kind':'b',"}},
    {"{'type': 'string', 'not': {'enum': ['', 'ab']}}", {"'a'", "'abc'"}, {"'ab", "'"}, {"''", "'ab'", "1"}},
    {"{'type': 'number', 'not': {'enum': [5, 7.5]}, 'minimum': 4, 'exclusiveMaximum': 8}",
     {"4", "5.5", "7.4", "7.9"},
     {"5", "7.50"},
     {"8", "-4"}},
    {"{'not': {'type': ['object', 'array', 'integer', 'string']}}",
     {"null", "true", "-0.25", "10.5"},
     {"1", "0.0"},
     {"{", "'"}},
    {"{'oneOf': [{'type': 'integer', 'maximum': 5}, {'type': 'integer', 'minimum': 3}]}",
     {"2", "6"},
     {"3", "5"},
     {"2.5"}},
    {"{'type': 'object', 'dependentRequired': {'card': ['street']}, 'properties': {'card': {'const': 1}, 'street': "
     "{'const': 2}}, 'additionalProperties': false}",
     {"{}", "{'street':2}", "{'card':1,'street':2}"},
     {"{'card':1"},
     {"{'card':1}"}},
    {"{'allOf': [{'properties': {'a': {'const': 1}}}], 'type': 'object', 'properties': {'b': {'const': 2}}, "
     "'unevaluatedProperties': false}",
     {"{}", "{'b':2,'a':1}"},
     {"{'b':2,"},
     {"{'c'", "{'a':2"}},
    {"{'type': 'array', 'contains': {'const': 'x'}, 'maxContains': 2, 'items': {'enum': ['x', 'y']}, 'maxItems': 4}",
     {"['x']", "['y','x','y','x']"},
     {"['y'", "['y','y','y',"},
     {"[]", "['y']", "['x','x','x'", "['y','y','y','y'"}},
    {"{'$ref': '#node', '$defs': {'n': {'$anchor': 'node', 'type': 'array', 'items': {'$dynamicRef': '#node'}}}}",
     {"[]", "[[],[[]]]"},
     {"["},
     {"1", "[1"}},
    {"true", {"{}", "[1, {'a': null}]", "''", "-1", "false"}, {"["}, {"{a}", "[1,]", " 1"}},
    {"{'title': 'T', 'description': 'D', 'default': 1, 'x-order': 2, 'const': 7}", {"7"}, {""}, {"1"}},
};

static void test_schemas(void **state)
{
    (void)state;
    check_examples(VOUCH_GRAMMAR_JSON_SCHEMA, schemas, sizeof schemas / sizeof schemas[0]);
}

/* Every integer around the bounds, for all pairs of bounds. */
static void test_bounds_of_integers(void **state)
{
    (void)state;
    static const int bounds[] = {-1001, -1000, -999, -110, -100, -99, -10, -9,  -1,   0,
                                 1,     9,     10,   11,   99,   100, 109, 999, 1000, 1234};
    enum { N = sizeof bounds / sizeof bounds[0] };
    for (int i = 0; i < N; i++)
        for (int j = i; j < N; j += 1 + test_is_quick()) {
            char schema[100], number[16];
            snprintf(schema, sizeof schema, "{\"type\": \"integer\", \"minimum\": %d, \"maximum\": %d}", bounds[i],
                     bounds[j]);
            vouch_grammar *grammar = grammar_open(VOUCH_GRAMMAR_JSON_SCHEMA, schema);
            vouch_automaton *automaton = grammar_automaton(grammar);
            for (int x = -1300; x <= 1300; x++) {
                const int n = snprintf(number, sizeof number, "%d", x);
                const bool inside = x >= bounds[i] && x <= bounds[j];
                if ((grammar_follow(automaton, number, (size_t)n) == ACCEPTED) != inside)
                    fail_msg("%s with %d", schema, x);
            }
            grammar_close_automaton(automaton);
            vouch_grammar_close(grammar);
        }
}

/* Numbers around integer bounds, for all pairs of bounds, each inclusive or exclusive. */
static void test_bounds_of_numbers(void **state)
{
    (void)state;
    static const char *const numbers[] = {
        "-12", "-11.5", "-11.0", "-11",  "-10.99", "-10.0", "-10",  "-9.5", "-1", "-0.01", "0",   "0.0",   "0.001",
        "0.5", "1",     "1.00",  "1.01", "9.99",   "10",    "10.0", "10.1", "11", "99.9",  "100", "123.25"};
    static const int bounds[] = {-11, -10, -1, 0, 1, 10, 11, 100};
    for (int i = 0; i < 8; i++)
        for (int j = i; j < 8; j++)
            for (int kind = 0; kind < 8; kind++) {
                char schema[200];
                const bool no_min = kind >= 6, no_max = kind >= 4 && kind < 6;
                const bool above = kind & 1, below = kind & 2;
                const char *const min = no_min ? "x-none" : above ? "exclusiveMinimum" : "minimum";
                const char *const max = no_max ? "x-nor" : below ? "exclusiveMaximum" : "maximum";
                snprintf(schema, sizeof schema, "{\"type\": \"number\", \"%s\": %d, \"%s\": %d}", min, bounds[i], max,
                         bounds[j]);
                vouch_grammar *grammar;
                const bool is_empty = i == j && !no_min && !no_max && (above || below);
                const vouch_status status =
                    vouch_grammar_open(&grammar, VOUCH_GRAMMAR_JSON_SCHEMA, schema, strlen(schema), NULL);
                assert_int_equal(status == VOUCH_OK, !is_empty);
                if (is_empty) continue;
                vouch_automaton *automaton = grammar_automaton(grammar);
                for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
                    const double x = strtod(numbers[n], NULL);
                    const bool inside = (no_min || x > bounds[i] || (x == bounds[i] && !above)) &&
                                        (no_max || x < bounds[j] || (x == bounds[j] && !below));
                    if ((grammar_follow(automaton, numbers[n], strlen(numbers[n])) == ACCEPTED) != inside)
                        fail_msg("%s with %s", schema, numbers[n]);
                }
                grammar_close_automaton(automaton);
                vouch_grammar_close(grammar);
            }
}

/* Numbers around bounds with fractions, for all pairs of bounds, each inclusive or exclusive. */
static void test_bounds_of_fractions(void **state)
{
    (void)state;
    static const char *const bounds[] = {"-273.15", "-2.5", "-0.05", "0", "0.1", "0.125", "0.5", "1", "1.5", "99.9"};
    static const char *const numbers[] = {
        "-273.16", "-273.15",  "-273.150", "-273.149", "-273",    "-100",   "-3",     "-2.51", "-2.5",     "-2.49",
        "-1",      "-0.06",    "-0.05",    "-0.0501",  "-0.0499", "-0.001", "0",      "0.0",   "0.05",     "0.1",
        "0.10",    "0.100001", "0.12",     "0.1249",   "0.125",   "0.1250", "0.1251", "0.13",  "0.2",      "0.499999",
        "0.5",     "0.50",     "0.6",      "1",        "1.0",     "1.01",   "1.4",    "1.5",   "1.500001", "2",
        "50.25",   "99",       "99.8",     "99.89999", "99.9",    "99.95",  "100",    "12345"};
    enum { N = sizeof bounds / sizeof *bounds };
    for (int i = 0; i < N; i++)
        for (int j = i; j < N; j++)
            for (int kind = 0; kind < 4; kind++) {
                char schema[200];
                const bool above = kind & 1, below = kind & 2;
                snprintf(schema, sizeof schema, "{\"type\": \"number\", \"%s\": %s, \"%s\": %s}",
                         above ? "exclusiveMinimum" : "minimum", bounds[i], below ? "exclusiveMaximum" : "maximum",
                         bounds[j]);
                if (i == j && kind > 0) continue;
                vouch_grammar *grammar = grammar_open(VOUCH_GRAMMAR_JSON_SCHEMA, schema);
                vouch_automaton *automaton = grammar_automaton(grammar);
                const double min = strtod(bounds[i], NULL), max = strtod(bounds[j], NULL);
                for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
                    const double x = strtod(numbers[n], NULL);
                    const bool inside = (x > min || (x == min && !above)) && (x < max || (x == max && !below));
                    if ((grammar_follow(automaton, numbers[n], strlen(numbers[n])) == ACCEPTED) != inside)
                        fail_msg("%s with %s", schema, numbers[n]);
                }
                grammar_close_automaton(automaton);
                vouch_grammar_close(grammar);
            }
}

static void test_multiples(void **state)
{
    (void)state;
    static const int divisors[] = {1, 2, 3, 7, 10, 25, 1000}, bounds[] = {-1001, -100, -7, 0, 1, 49, 50, 1000};
    for (size_t d = 0; d < sizeof divisors / sizeof *divisors; d++)
        for (int i = 0; i < 8; i++)
            for (int j = i + 1; j < 8; j++) {
                char schema[200], number[16];
                const int of = divisors[d];
                vouch_grammar *grammar;
                snprintf(schema, sizeof schema,
                         "{\"type\": \"integer\", \"multipleOf\": %d, \"minimum\": %d, \"maximum\": %d}", of, bounds[i],
                         bounds[j]);
                if (vouch_grammar_open(&grammar, VOUCH_GRAMMAR_JSON_SCHEMA, schema, strlen(schema), NULL)) {
                    for (int x = bounds[i]; x <= bounds[j]; x++) assert_true(x % of != 0);
                    continue;
                }
                vouch_automaton *automaton = grammar_automaton(grammar);
                for (int x = -1300; x <= 1300; x++) {
                    const int n = snprintf(number, sizeof number, "%d", x);
                    const bool inside = x >= bounds[i] && x <= bounds[j] && x % of == 0;
                    if ((grammar_follow(automaton, number, (size_t)n) == ACCEPTED) != inside)
                        fail_msg("%s with %d", schema, x);
                }
                grammar_close_automaton(automaton);
                vouch_grammar_close(grammar);
            }
}

/* Numbers of any length and with any exponent, compared by their text. */
static const example long_numbers[] = {
#define LONG "123456789012345678901234567890"
    {"{'const': " LONG "}", {LONG}, {"1234567890123456789012345678"}, {LONG "1", "123456789012345678901234567891"}},
    {"{'enum': [" LONG ", -" LONG ", 1e400, 0.1, 2.50, -0, 1E-400]}",
     {LONG, "-" LONG, "1e400", "0.1", "2.50", "1E-400"},
     {"1e40"},
     {"1e401", "0.10000000000000001", "2.51", "inf"}},
    {"{'enum': [{'a': 100000000000000000000000001}, [12345678901234567890.5]]}",
     {"{'a':100000000000000000000000001}", "[12345678901234567890.5]"},
     {"{'a':1"},
     {"{'a':1e26}"}},
    {"{'const': 2.0}", {"2", "2.0"}, {""}, {"3"}},
    {"{'enum': [1, 2, 100000000000000000000], 'not': {'enum': [2.0, 1e20]}}",
     {"1"},
     {""},
     {"2", "100000000000000000000"}},
    {"{'enum': [1e400, 1e-400, 5], 'minimum': 1e399}", {"1e400"}, {"1"}, {"5", "1e-400"}},
    {"{'enum': [100000000000000000001, 100000000000000000002], 'exclusiveMinimum': 100000000000000000001}",
     {"100000000000000000002"},
     {"1"},
     {"100000000000000000001"}},
    {"{'allOf': [{'enum': [10000000000000000000000, 1.0]}, {'enum': [1e22, 2]}]}",
     {"10000000000000000000000"},
     {"1"},
     {"1.0", "2"}},
    {"{'type': 'integer', 'minimum': 99999999999999999998, 'maximum': 100000000000000000001}",
     {"99999999999999999998", "99999999999999999999", "100000000000000000000", "100000000000000000001"},
     {"1", "9"},
     {"99999999999999999997", "100000000000000000002", "5", "-99999999999999999998"}},
    {"{'type': 'integer', 'maximum': -1e20}",
     {"-100000000000000000000", "-999999999999999999999"},
     {"-1", "-99999999999999999999"},
     {"-0", "0", "100000000000000000000"}},
    {"{'type': 'integer', 'minimum': -1e300, 'maximum': 1e300}",
     {"0", "-5", "1000000000000000000000000000000"},
     {"-"},
     {"1.5", "01"}},
    {"{'type': 'integer', 'exclusiveMinimum': 9.99e2, 'exclusiveMaximum': 1000.5}", {"1000"}, {"1"}, {"999", "1001"}},
    {"{'type': 'integer', 'minimum': -0.5, 'maximum': 0.5}", {"0"}, {""}, {"1", "-1", "-0"}},
    {"{'type': 'integer', 'exclusiveMinimum': -1, 'exclusiveMaximum': 1}", {"0"}, {""}, {"1", "-1"}},
    {"{'type': 'integer', 'exclusiveMaximum': 0, 'minimum': -1.5}", {"-1"}, {"-"}, {"0", "-2", "1"}},
    {"{'type': 'number', 'minimum': 1e19}",
     {"10000000000000000000", "99999999999999999999"},
     {"1", "9999999999999999999"},
     {"1e19", "-10000000000000000000"}},
    {"{'type': 'number', 'maximum': 1e300}", {"5.5", "-7", "999999999999999999"}, {"-"}, {"1e301", "1e300"}},
    {"{'type': 'number', 'minimum': 0.12345678901234567890123, 'maximum': 0.2}",
     {"0.15", "0.2", "0.123456789012345679"},
     {"0.1", "0.12"},
     {"0.3", "0.12345678901234567890"}},
    {"{'type': 'number', 'exclusiveMinimum': 1e-400, 'maximum': 1}", {"0.1", "1"}, {"0.0", "0"}, {"-0.1", "1.1"}},
    {"{'type': 'array', 'minItems': 1.0, 'maxItems': 2e0, 'items': {'const': 1}}", {"[1]", "[1,1]"}, {"["}, {"[]"}},
    {"{'enum': [0.3, 0.35, 1e3], 'multipleOf': 0.1}", {"0.3", "1e3"}, {"1e"}, {"0.35"}},
    {"{'const': {'\\u0000': '\\ud800x'}, 'description': '\\udc00'}",
     {"{'\\u0000': '\\ud800x'}"},
     {"{'\\u0000':"},
     {"{'\\u0001': '\\ud800x'}"}},
    {"{'enum': ['1e400', 1e400], 'type': 'string'}", {"'1e400'"}, {"'"}, {"1e400"}},
};

static void test_long_numbers(void **state)
{
    (void)state;
    check_examples(VOUCH_GRAMMAR_JSON_SCHEMA, long_numbers, sizeof long_numbers / sizeof long_numbers[0]);
    static const char part[] = "root ::= %json {\"const\": " LONG "} \"!\" [0-9] | %json true";
    assert_int_equal(grammar_verdict(VOUCH_GRAMMAR_GBNF, part, LONG "!7"), ACCEPTED);
}

/* Schemas as packages write them, bound as the server binds them: closed objects, and keywords that can't be bound let
 * pass. */
static const example packages[] = {
    /* pydantic 2: a model within a model, an optional number */
    {"{'$defs': {'A': {'properties': {'city': {'title': 'City', 'type': 'string'}}, 'required': ['city'], 'title': "
     "'A', 'type': 'object'}}, 'properties': {'name': {'title': 'Name', 'type': 'string'}, 'age': {'anyOf': [{'type': "
     "'integer'}, {'type': 'null'}], 'default': null, 'title': 'Age'}, 'address': {'$ref': '#/$defs/A'}}, 'required': "
     "['name', 'address'], 'title': 'P', 'type': 'object'}",
     {"{'name':'a','age':null,'address':{'city':'b'}}", "{'name':'a','address':{'city':''}}"},
     {"{'name':'a','a"},
     {"{'name':'a','type':", "{'name':'a'}", "{'name':'a','age':'", "{'name':'a','address':{'title'"}},
    /* pydantic 2: a union told apart by a member */
    {"{'$defs': {'Cat': {'properties': {'kind': {'const': 'cat', 'title': 'Kind', 'type': 'string'}}, 'required': "
     "['kind'], 'type': 'object'}, 'Dog': {'properties': {'kind': {'const': 'dog', 'type': 'string'}, 'age': "
     "{'type': 'integer'}}, 'required': ['kind', 'age'], 'type': 'object'}}, 'properties': {'pet': {'discriminator': "
     "{'mapping': {'cat': '#/$defs/Cat', 'dog': '#/$defs/Dog'}, 'propertyName': 'kind'}, 'oneOf': [{'$ref': "
     "'#/$defs/Cat'}, {'$ref': '#/$defs/Dog'}]}}, 'required': ['pet'], 'type': 'object'}",
     {"{'pet':{'kind':'cat'}}", "{'pet':{'kind':'dog','age':3}}"},
     {"{'pet':{'kind':'"},
     {"{'pet':{'kind':'dog'}", "{'pet':{'kind':'cat','", "{'pet':{'kind':'cow"}},
    /* pydantic 2: a tuple, a set, a dictionary */
    {"{'properties': {'t': {'maxItems': 2, 'minItems': 2, 'prefixItems': [{'type': 'integer'}, {'type': 'string'}], "
     "'type': 'array'}}, 'required': ['t'], 'type': 'object'}",
     {"{'t':[1,'a']}"},
     {"{'t':[1"},
     {"{'t':[1]", "{'t':['", "{'t':[1,'a',"}},
    {"{'properties': {'s': {'items': {'type': 'string'}, 'type': 'array', 'uniqueItems': true}}, 'required': ['s'], "
     "'type': 'object'}",
     {"{'s':['a','b']}", "{'s':[]}"},
     {"{'s':['a','a"},
     {"{'s':['a','a'"}},
    {"{'properties': {'d': {'additionalProperties': {'type': 'integer'}, 'type': 'object'}}, 'required': ['d'], "
     "'type': 'object'}",
     {"{'d':{'a':1,'b':2}}", "{'d':{}}"},
     {"{'d':{'a':1"},
     {"{'d':{'a':'", "{'e'"}},
    /* pydantic 2: numbers within bounds, times, a decimal number whose pattern looks ahead */
    {"{'properties': {'x': {'exclusiveMinimum': 0, 'title': 'X', 'type': 'number'}}, 'required': ['x'], 'type': "
     "'object'}",
     {"{'x':0.5}", "{'x':7}"},
     {"{'x':0"},
     {"{'x':-", "{'x':0}"}},
    {"{'properties': {'a': {'format': 'date-time', 'type': 'string'}, 'b': {'format': 'time', 'type': 'string'}}, "
     "'required': ['a'], 'type': 'object'}",
     {"{'a':'2024-01-02T03:04:05Z','b':'03:04:05Z'}"},
     {"{'a':'2024-01-02T"},
     {"{'a':'2024-01-02 "}},
    {"{'properties': {'x': {'anyOf': [{'type': 'number'}, {'type': 'string', 'pattern': "
     "'^(?!^[-+.]*$)[+-]?0*\\\\d*\\\\.?\\\\d*$'}]}}, 'required': ['x'], 'type': 'object'}",
     {"{'x':1.5}", "{'x':'1.5'}"},
     {"{'x':1"},
     {"{'x':t"}},
    /* pydantic 1: definitions, an enumeration, a description beside allOf */
    {"{'title': 'P', 'type': 'object', 'properties': {'a': {'description': 'd', 'allOf': [{'$ref': "
     "'#/definitions/A'}]}}, 'required': ['a'], 'definitions': {'A': {'title': 'A', 'description': 'An enumeration.', "
     "'enum': [1, 2]}}}",
     {"{'a':1}", "{'a':2}"},
     {"{'a':"},
     {"{'a':3", "{'title'"}},
    /* langchain's tools, and llama-index's: a default is an annotation */
    {"{'description': 'Search.', 'properties': {'query': {'type': 'string'}, 'k': {'default': 4, 'type': 'integer'}}, "
     "'required': ['query'], 'title': 'search', 'type': 'object'}",
     {"{'query':'a'}", "{'query':'a','k':2}"},
     {"{'query':'a','k':"},
     {"{'k':4}", "{'query':'a','default'", "{'title'"}},
    /* the schema that the package instructor sends when it streams a list of objects */
    {"{'type': 'object', 'properties': {'tasks': {'type': 'array', 'items': {'$ref': '#/$defs/T'}}}, 'required': "
     "['tasks'], '$defs': {'T': {'type': 'object', 'properties': {'id': {'type': 'integer'}}, 'required': ['id']}}}",
     {"{'tasks':[{'id':1},{'id':2}]}", "{'tasks':[]}"},
     {"{'tasks':[{'id':1},"},
     {"{'tasks':[{'id':1,", "{'tasks':{"}},
    /* zod: draft-07 with recursion, and safe integers */
    {"{'$ref': '#/definitions/x', 'definitions': {'x': {'type': 'object', 'properties': {'a': {'type': 'array', "
     "'items': {'$ref': '#/definitions/x'}}}, 'required': ['a'], 'additionalProperties': false}}, "
     "'$schema': 'http://json-schema.org/draft-07/schema#'}",
     {"{'a':[]}", "{'a':[{'a':[]}]}"},
     {"{'a':[{"},
     {"{}", "{'a':[1"}},
    {"{'$schema': 'https://json-schema.org/draft/2020-12/schema', 'type': 'object', 'properties': {'n': {'type': "
     "'integer', 'minimum': -9007199254740991, 'maximum': 9007199254740991}}, 'required': ['n'], "
     "'additionalProperties': false}",
     {"{'n':9007199254740991}", "{'n':-3}"},
     {"{'n':"},
     {"{'n':9007199254740992}", "{'n':1.5", "{'n':00"}},
    {"{'type': 'string', 'format': 'uuid', 'pattern': '^([0-9a-f]{8}-[0-9a-f]{4}|0{8})$'}",
     {"'00000000'", "'12345678-abcd'"},
     {"'1234"},
     {"'x", "'00000000-0000-0000-0000-000000000000'"}},
    /* Tools of MCP servers and of hand */
    {"{'type': 'object', 'properties': {'path': {'type': 'string'}}, 'required': ['path'], 'additionalProperties': "
     "false, '$schema': 'http://json-schema.org/draft-07/schema#', 'annotations': {'readOnlyHint': true}}",
     {"{'path':'/'}"},
     {"{'path"},
     {"{}", "{'annotations'"}},
    {"{'type': 'object', 'properties': {'unit': {'type': ['string', 'null'], 'enum': ['C', 'F', null]}}, 'required': "
     "['unit']}",
     {"{'unit':'C'}", "{'unit':null}"},
     {"{'unit':'"},
     {"{'unit':'K", "{}"}},
    {"{'type': 'object', 'properties': {'$ref': {'type': 'integer'}, 'properties': {'type': 'object', 'properties': "
     "{'type': {'const': 1}}, 'required': ['type']}, '': {'const': true}}, 'required': ['$ref', 'properties', '']}",
     {"{'$ref':1,'properties':{'type':1},'':true}"},
     {"{'$ref':1,'pro"},
     {"{'$ref':'", "{'$ref':1,'properties':{}"}},
    {"{'type': 'object', 'description': null, 'properties': {'a': {'type': 'string', 'title': null, 'examples': ['x'], "
     "'readOnly': true, 'deprecated': true, '$comment': 'c', 'format': 'password'}}}",
     {"{'a':'x'}", "{}"},
     {"{'a"},
     {"{'title'", "{'a':1"}},
    {"{'enum': ['Ja', '\xe6\x97\xa5\xe6\x9c\xac', 'a\\nb', '\\'', '\\u00e9']}",
     {"'Ja'", "'\xe6\x97\xa5\xe6\x9c\xac'", "'a\\nb'", "'\\''", "'\xc3\xa9'"},
     {"'\xe6"},
     {"'ja'", "'e"}},
    {"{'$defs': {'N': {'anyOf': [{'type': 'string'}, {'type': 'array', 'items': {'$ref': '#/$defs/N'}}, {'type': "
     "'object', 'additionalProperties': {'$ref': '#/$defs/N'}}]}}, '$ref': '#/$defs/N'}",
     {"'a'", "[['a'],{'k':[]}]"},
     {"[[{'"},
     {"1", "[1"}},
    {"{'type': 'array', 'items': {'type': 'object', 'properties': {'a': {'type': 'integer', 'format': 'int64'}}, "
     "'required': ['a']}, 'minItems': 1, 'maxItems': 2}",
     {"[{'a':1}]", "[{'a':1},{'a':2}]"},
     {"[{'a':1}"},
     {"[]", "{'a'", "[{'a':1},{'a':2},"}},
};

static void test_schemas_of_packages(void **state)
{
    (void)state;
    check_examples(VOUCH_GRAMMAR_JSON_SCHEMA | VOUCH_GRAMMAR_CLOSED | VOUCH_GRAMMAR_LENIENT, packages,
                   sizeof packages / sizeof packages[0]);
}

static void test_any_object(void **state)
{
    (void)state;
    assert_int_equal(grammar_verdict(VOUCH_GRAMMAR_JSON, NULL, "{\"a\": [1, {\"b\": null}], \"c\": {}}"), ACCEPTED);
    assert_int_equal(grammar_verdict(VOUCH_GRAMMAR_JSON, NULL, "{\"a\""), BEGUN);
    assert_int_equal(grammar_verdict(VOUCH_GRAMMAR_JSON, NULL, "[]"), REFUSED);
}

/* ----------------------------------------------------------- what is refused */

typedef struct complaint {
    const char *grammar, *message; /* a part of the message */
} complaint;

static void check_complaints(vouch_grammar_kind kind, const complaint *complaints, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char text[1000];
        vouch_grammar *grammar;
        vouch_error err = {0};
        quoted(kind, complaints[i].grammar, text);
        const vouch_status status = vouch_grammar_open(&grammar, kind, text, strlen(text), &err);
        if (status == VOUCH_OK) fail_msg("%s: is accepted", text);
        assert_null(grammar);
        assert_int_equal(status, err.code);
        for (char *c = err.message; *c && kind == VOUCH_GRAMMAR_JSON_SCHEMA; c++)
            if (*c == '"') *c = '\'';
        if (!strstr(err.message, complaints[i].message)) fail_msg("%s: %s", text, err.message);
    }
}

static const complaint wrong_notations[] = {
    {"", "no rule root"},
    {"rot ::= \"a\"", "no rule root"},
    {"root ::= item", "the rule item is used but not defined"},
    {"root ::= \"a\"\nroot ::= \"b\"", "line 2, column 5 of the grammar: this rule is defined already"},
    {"root = \"a\"", "line 1, column 6 of the grammar: expected ::="},
    {"root ::= \"a", "closing quote"},
    {"root ::= \"a\nb\"", "the line ends here"},
    {"root ::= [a", "closing quote or bracket"},
    {"root ::= [b-a]", "a range that ends before it begins"},
    {"root ::= (\"a\"", "closing parenthesis"},
    {"root ::= \"a\")", "unmatched )"},
    {"root ::= \"\\q\"", "column 11 of the grammar: an unknown escape"},
    {"root ::= \"\\x4\"", "more hexadecimal digits"},
    {"root ::= \"\\UFFFFFFFF\"", "is no character"},
    {"root ::= \"a\"{3,2}", "smaller than the first"},
    {"root ::= \"a\"{x}", "expected a number"},
    {"root ::= \"a\"{999999}", "more than 100000 repetitions"},
    {"root ::= *", "expected a literal"},
    {"root ::= <think>", "tokens such as <think> are not supported"},
    {"root ::= \"\xff\"", "not UTF-8"},
    {"root ::= %jsn {}", "column 10 of the grammar: expected %json, %until or %token"},
    {"root ::= %json {\"type\": }", "the schema is no JSON: line 1"},
    {"root ::= %json 3", "must be an object"},
    {"root ::= %json {\"type\": \"text\"}", "the schema at \"/type\": expected null"},
    {"root ::= %json \"#\"", "column 16 of the grammar: expected a schema; a reference needs a line %schema"},
    {"%schema {}\nroot ::= %json \"#/properties/x\"", "\"#/properties/x\" is no schema of the document"},
    {"%schema {}\nroot ::= %json \"x\"", "\"x\" is no schema of the document"},
    {"%schema {\"properties\": {\"x\": {\"type\": \"text\"}}}\nroot ::= %json \"#/properties/x\"",
     "the schema at \"/properties/x/type\": expected null"},
    {"%schema {\"properties\": {\"x\": false}}\nroot ::= %json \"#/properties/x\"",
     "\"/properties/x\": false allows no value"},
    {"%schema {\"$defs\": {\"x\": {\"enum\": []}}}\nroot ::= %json \"#/$defs/x\"", "no value is valid"},
    {"%schema {", "the schema is no JSON"},
    {"%schema 3\nroot ::= \"a\"", "must be an object"},
    {"root ::= \"a\" %schema {}", "expected %json, %until or %token"},
    {"root ::= %until x", "expected a text in quotes"},
    {"root ::= %until \"\"", "not empty"},
    {"root ::= %token \"12345678901234567890123456789012345678901234567890123456789012345\"", "more than 64"},
    {"root ::= %token", "expected a text in quotes"},
    {"::= \"a\"", "expected a rule"},
    /* Left recursion: direct, through another rule, after something that may be empty. */
    {"root ::= root \"a\" | \"b\"", "the rule root is left recursive"},
    {"root ::= \"x\" | one\none ::= two \"a\" | \"b\"\ntwo ::= one | \"c\"", "the rule one is left recursive"},
    {"root ::= space root | \"b\"\nspace ::= \" \"*", "the rule root is left recursive"},
    {"root ::= (root)", "the rule root"},
    /* Rules without an end. */
    {"root ::= \"a\" root", "the rule root never ends"},
    {"root ::= \"a\" b\nb ::= \"x\" c\nc ::= \"y\" b", "the rule root never ends"},
    {"root ::= []", "the rule root never ends"},
};

static void test_wrong_notations_are_refused(void **state)
{
    (void)state;
    check_complaints(VOUCH_GRAMMAR_GBNF, wrong_notations, sizeof wrong_notations / sizeof wrong_notations[0]);
}

static const complaint wrong_schemas[] = {
    {"{", "the schema is no JSON: line 1"},
    {"[]", "must be an object or true"},
    {"false", "the schema at '': false allows no value"},
    {"{'type': 'strnig'}", "at '/type': expected null, boolean"},
    {"{'properties': {'a/b': {'required': 1}}}", "at '/properties/a~1b/required': expected an array of strings"},
    {"{'items': {'not': {'pattern': 'a'}}}", "at '/items/not/pattern': it can't be negated"},
    {"{'not': 1}", "at '/not': expected a schema"},
    {"{'type': 64}", "at '/type': expected null, boolean"},
    {"{'dependentRequired': {'a': ['b', 1]}}", "at '/dependentRequired': expected an object of arrays of strings"},
    {"{'type': 'string', 'maxLength': 3, 'not': {'const': 'a'}}", "can't exclude values"},
    {"{'type': 'array', 'not': {'const': [1]}}", "at '/not/const': of arrays and objects, only [] and {}"},
    {"{'type': 'array', 'contains': {'const': 1}, 'minContains': 100, 'maxItems': 100}", "'/contains': the number of"},
    {"{'type': 'array', 'contains': {'const': 1}, 'uniqueItems': true}", "'/contains': it can't be combined with uni"},
    {"{'type': 'array', 'contains': {'const': 1}, 'unevaluatedItems': false}", "'/unevaluatedItems': it can't be"},
    {"{'unevaluatedProperties': false, 'anyOf': [{}, {}, {}, {}, {}, {}, {}]}", "'/anyOf': it has 7 schemas"},
    {"{'$ref': '#a', '$defs': {'x': {'$anchor': 'a'}, 'y': {'$anchor': 'a'}}}", "'/$ref': '#a' is no schema"},
    {"{'type': 'array', 'uniqueItems': true}", "'/uniqueItems'"},
    {"{'items': {'properties': {'l': {'type': 'array', 'uniqueItems': true}}}}", "'/items/properties/l/uniqueItems'"},
    {"{'anyOf': [{}, {'patternProperties': {'a': {}, 'b': {}}}]}", "'/anyOf/1/patternProperties'"},
    {"{'minLength': -1}", "at '/minLength': expected an integer from 0"},
    {"{'required': 'a'}", "at '/required': expected an array of strings"},
    {"{'properties': {'a': 1}}", "at '/properties': expected an object of schemas"},
    {"{'$ref': '#/$defs/none'}", "at '/$ref': '#/$defs/none' is no schema of this document"},
    {"{'$ref': 'http://x/y'}", "is no schema of this document"},
    {"{'$ref': '#'}", "leads back to itself"},
    {"{'$ref': '#/$defs/a', '$defs': {'a': {'$ref': '#/$defs/b'}, 'b': {'$ref': '#/$defs/a'}}}",
     "leads back to itself"},
    {"{'anyOf': [{'$ref': '#'}, {'type': 'null'}]}", "without end"},
    {"{'$ref': '#/$defs/a', '$defs': {'a': {'anyOf': [{'$ref': '#/$defs/b'}, {'type': 'null'}]}, 'b': {'title': 'B', "
     "'anyOf': [{'$ref': '#/$defs/a'}]}}}",
     "/$defs/a': schemas refer to each other without end"},
    {"{'oneOf': [{'type': 'string'}, {'format': 'date'}]}", "'/oneOf/1/format': it can't be negated"},
    {"{'type': 'number', 'minimum': 1e500}", "'/minimum': a bound has at most 400 digits"},
    {"{'type': 'integer', 'multipleOf': 0.5}", "'/multipleOf': expected an integer from 1 to 1000"},
    {"{'type': 'integer', 'minimum': 4611686018427387904, 'multipleOf': 3}", "'/multipleOf': supported are"},
    {"{'type': 'integer', 'maximum': -4611686018427387904, 'multipleOf': 3}", "'/multipleOf': supported are"},
    {"{'type': 'integer', 'multipleOf': 0}", "'/multipleOf': expected a number above 0"},
    {"{'type': 'array', 'items': {'type': 'number'}, 'uniqueItems': true}", "'/uniqueItems': supported for"},
    {"{'type': 'array', 'items': {'type': 'integer', 'minimum': 1, 'maximum': 5}, 'uniqueItems': true, 'minItems': 4}",
     "'/uniqueItems': supported for"},
    {"{'uniqueItems': 1}", "'/uniqueItems': expected true or false"},
    {"{'type': 'object', 'minProperties': 129}", "'/minProperties': supported are as many"},
    {"{'type': 'object', 'maxProperties': 1, 'properties': {'a': {}}}", "'/maxProperties': supported without"},
    {"{'type': 'object', 'properties': {'a': {}}, 'propertyNames': {'maxLength': 3}}", "'/propertyNames': supported"},
    {"{'type': 'string', 'pattern': 'a', 'maxLength': 3}", "its length varies in several places"},
    {"{'type': 'string', 'pattern': '^$', 'minLength': 1}", "at '': no value is valid"},
    {"{'type': 'string', 'pattern': '^a+b+$', 'minLength': 3}", "its length varies in several places"},
    {"{'allOf': [{'patternProperties': {'^a': {'type': 'integer'}}}, {'additionalProperties': {'type': 'string'}}]}",
     "'/allOf/0/patternProperties': it can't be joined"},
    {"{'type': 'string', 'pattern': 'a', 'format': 'date'}", "'/format': it can't be joined with a pattern"},
    {"{'type': 'string', 'pattern': '(?=a)'}", "at '/pattern': the pattern '(?=a)', character 2"},
    {"{'type': 'string', 'pattern': '(a'}", "closing parenthesis"},
    {"{'type': 'string', 'pattern': '\\\\bx'}", "this escape is not supported"},
    {"{'type': 'string', 'format': 'regex'}", "'/format': 'regex' is not supported; expected one of date"},
    {"{'allOf': [{'pattern': 'a'}, {'pattern': 'b'}]}", "at '/allOf/1/pattern': it can't be joined"},
    {"{'items': {'properties': {'n': {'type': 'integer', 'maximum': -2e999}}}}", "'/items/properties/n/maximum'"},
    {"{'type': 'object', 'properties': {'a': {'$ref': '#'}}, 'required': ['a']}",
     "at '': no value is valid: a valid one"},
    {"{'type': 'integer', 'minimum': 5, 'maximum': 4}", "at '/minimum': no value is valid: maximum leaves none"},
    {"{'enum': []}", "at '/enum': no value is valid"},
};

static const complaint schemas_without_values[] = {
    {"{'type': 'string', 'minLength': 5, 'maxLength': 2}", "at '/minLength': no value is valid"},
    {"{'properties': {'name': {'type': 'string', 'minLength': 5, 'maxLength': 2}}, 'required': ['name'], "
     "'type': 'object'}",
     "at '/properties/name/minLength': no value is valid"},
    {"{'enum': [1, 2], 'type': 'string'}", "at '/enum': no value is valid"},
    {"{'type': 'object', 'properties': {'a': {'enum': ['x'], 'type': 'integer'}}, 'required': ['a']}",
     "at '/properties/a/enum': no value is valid"},
    {"{'type': 'object', 'properties': {'a': false}, 'required': ['a']}", "at '/required': no value is valid"},
    {"{'type': 'object', 'required': ['b'], 'properties': {'a': {}}, 'additionalProperties': false}",
     "at '/required': no value is valid"},
    {"{'allOf': [{'type': 'integer'}, {'type': 'string'}]}", "at '/allOf': no value is valid"},
    {"{'allOf': [{'type': 'integer', 'minimum': 5}, {'maximum': 4}]}", "at '/allOf': no value is valid"},
    {"{'type': 'array', 'minItems': 3, 'maxItems': 2}", "at '/minItems': no value is valid"},
    {"{'type': 'array', 'items': false, 'minItems': 1}", "at '/minItems': no value is valid"},
    {"{'type': 'array', 'items': {'type': 'array', 'items': {'const': 1, 'type': 'string'}, 'minItems': 2}, "
     "'minItems': 1}",
     "at '/items/items/const': no value is valid"},
    {"{'type': 'array', 'prefixItems': [{'const': 1}, {'not': {}}], 'minItems': 2}",
     "at '/prefixItems/1/not': no value is valid"},
    {"{'const': 1, 'enum': [2, 3]}", "at '/enum': no value is valid"},
    {"{'const': 'abc', 'maxLength': 2}", "at '/const': no value is valid"},
    {"{'type': 'number', 'exclusiveMinimum': 5, 'maximum': 5}", "at '/exclusiveMinimum': no value is valid"},
    {"{'type': 'number', 'minimum': 1e400, 'maximum': 1e399}", "at '/minimum': a bound has at most 400 digits"},
    {"{'not': {}}", "at '/not': no value is valid"},
    {"{'not': true}", "at '/not': no value is valid"},
    {"{'oneOf': [{'type': 'integer'}, {'type': 'integer'}]}", "at '/oneOf': no value is valid"},
    {"{'anyOf': [{'enum': []}, false]}", "at '/anyOf': no value is valid"},
    {"{'$ref': '#/$defs/n', '$defs': {'n': {'type': 'integer', 'minimum': 2, 'maximum': 1}}}",
     "at '/$defs/n/minimum': no value is valid"},
    {"{'type': 'object', 'properties': {'a': {'$ref': '#/$defs/n'}}, 'required': ['a'], '$defs': {'n': {'type':"
     " 'integer', 'minimum': 2, 'maximum': 1}}}",
     "at '/$defs/n/minimum': no value is valid"},
    {"{'type': 'integer', 'multipleOf': 7, 'minimum': 8, 'maximum': 13}", "at '': no value is valid"},
    {"{'type': 'object', 'properties': {'a': {'type': 'object', 'properties': {'b': {'type': 'object', "
     "'required': ['c'], 'additionalProperties': false}}, 'required': ['b']}}, 'required': ['a']}",
     "at '/properties/a/properties/b/required': no value is valid"},
    {"{'type': 'object', 'maxProperties': 1, 'required': ['a', 'b'], 'properties': {'a': {}, 'b': {}}, "
     "'additionalProperties': false}",
     "at '': no value is valid"},
    {"{'type': 'array', 'contains': {'const': 1}, 'maxItems': 0}", "at '': no value is valid"},
    {"{'type': 'array', 'items': {'const': 2}, 'contains': {'const': 1}}", "at '': no value is valid"},
    {"{'type': 'array', 'items': {'enum': [1, 2]}, 'uniqueItems': true, 'minItems': 3}", "at '': no value is valid"},
    {"{'type': 'object', 'additionalProperties': false, 'minProperties': 1}", "at '': no value is valid"},
    {"{'type': 'object', 'properties': {'next': {'$ref': '#'}}, 'required': ['next']}", "at '': no value is valid"},
    {"{'type': []}", "at '': no value is valid"},
    {"{'if': true, 'then': false, 'else': {}}", "at '/if': no value is valid"},
    {"{'type': 'string', 'pattern': '^xyz', 'maxLength': 2}", "at '': no value is valid"},
    {"{'type': 'string', 'pattern': '^x', 'maxLength': 0}", "at '': no value is valid"},
    {"{'type': 'string', 'pattern': '^ab*$', 'maxLength': 0}", "at '': no value is valid"},
    {"{'type': 'string', 'pattern': '^a{2,3}$', 'minLength': 4}", "at '': no value is valid"},
    {"{'type': 'integer', 'minimum': -9223372036854775808, 'maximum': -9.223372036854776e+18}",
     "at '/minimum': no value is valid"},
    {"{'type': 'integer', 'multipleOf': 7, 'enum': [1.5e300]}", "at '/enum': no value is valid"},
};

static void test_schemas_without_values_are_refused(void **state)
{
    (void)state;
    check_complaints(VOUCH_GRAMMAR_JSON_SCHEMA, schemas_without_values,
                     sizeof schemas_without_values / sizeof schemas_without_values[0]);
}

static void test_wrong_schemas_are_refused(void **state)
{
    (void)state;
    check_complaints(VOUCH_GRAMMAR_JSON_SCHEMA, wrong_schemas, sizeof wrong_schemas / sizeof wrong_schemas[0]);
}

/* The effect of VOUCH_GRAMMAR_CLOSED and VOUCH_GRAMMAR_LENIENT: texts, and a part of vouch_grammar_unbound's result
 * (NULL: it has none). */
static const struct {
    int flags;
    const char *schema, *accepted, *refused, *note;
} flagged[] = {
#define A "{'type': 'object', 'properties': {'a': {'type': 'integer'}}"
    {0, A "}", "{'a':1,'b':2}", "{'a':'x'}", NULL},
    {VOUCH_GRAMMAR_CLOSED, A "}", "{'a':1}", "{'a':1,'b':2}", NULL},
    {VOUCH_GRAMMAR_CLOSED, A "}", "{}", "{'b':2}", NULL},
    {VOUCH_GRAMMAR_CLOSED, "{'properties': {}, 'type': 'object'}", "{}", "{'b':2}", NULL},
    {VOUCH_GRAMMAR_CLOSED, A ", 'required': ['z']}", "{'a':1,'z':[]}", "{'z':1,'y':1}", NULL},
    {VOUCH_GRAMMAR_CLOSED, A ", 'additionalProperties': true}", "{'a':1,'b':2}", "{'a':''}", NULL},
    {VOUCH_GRAMMAR_CLOSED, A ", 'additionalProperties': {'const': 2}}", "{'a':1,'b':2}", "{'b':3}", NULL},
    {VOUCH_GRAMMAR_CLOSED, A ", 'unevaluatedProperties': true}", "{'b':3}", "{'a':''}", NULL},
    {VOUCH_GRAMMAR_CLOSED, "{'type': 'object'}", "{'b':3}", "[]", NULL},
    {VOUCH_GRAMMAR_CLOSED, "{'type': 'object', 'required': ['b']}", "{'b':3,'c':1}", "{}", NULL},
    {VOUCH_GRAMMAR_CLOSED, "{'type': 'object', 'patternProperties': {'^x': {}}}", "{'xy':3}", "{'y':3}", NULL},
    /* After allOf and references are merged. */
    {VOUCH_GRAMMAR_CLOSED,
     "{'allOf': [" A "}, {'$ref': '#/$defs/b'}], '$defs': {'b': {'properties': {'b': {'const': "
     "2}}}}}",
     "{'a':1,'b':2}", "{'a':1,'c':2}", NULL},
    {VOUCH_GRAMMAR_CLOSED, "{'allOf': [" A "}, {'additionalProperties': {'type': 'integer'}}]}", "{'a':1,'b':2}",
     "{'b':''}", NULL},
    {VOUCH_GRAMMAR_CLOSED, A ", 'anyOf': [{'required': ['p']}, {'properties': {'q': {'const': 1}}}]}", "{'p':1}",
     "{'a':1,'c':1}", NULL},
    {VOUCH_GRAMMAR_CLOSED, "{'type': 'array', 'items': " A "}}", "[{'a':1}]", "[{'b':1}]", NULL},
    {VOUCH_GRAMMAR_CLOSED, A ", 'dependentRequired': {'a': ['z']}}", "{'a':1,'z':1}", "{'y':1}", NULL},
    /* Never under not and if. */
    {VOUCH_GRAMMAR_CLOSED, "{'type': 'object', 'not': {'required': ['a']}}", "{'b':1}", "{'a':1}", NULL},
    {VOUCH_GRAMMAR_CLOSED, "{'type': 'object', 'not': {'properties': {'a': {'const': 1}}, 'required': ['a']}}",
     "{'a':2,'b':1}", "{'a':1}", NULL},
    {VOUCH_GRAMMAR_CLOSED,
     "{'type': 'object', 'if': {'properties': {'a': {'const': 1}}, 'required': ['a']}, 'then': "
     "{'required': ['b']}}",
     "{'a':1,'b':1,'c':1}", "{'a':1}", NULL},
    {VOUCH_GRAMMAR_CLOSED,
     "{'type': 'object', 'required': ['o'], 'if': {'properties': {'o': {'properties': {'k': "
     "{'const': 1}}, 'required': ['k']}}}, 'then': {'required': ['b']}}",
     "{'o':{'k':1,'l':2},'b':1}", "{'o':{'k':1}}", NULL},
    {VOUCH_GRAMMAR_CLOSED, "{'type': 'object', 'if': {'required': ['a']}, 'then': {'properties': {'b': {}}}}",
     "{'b':1,'a':1}", "{'a':1,'c':1}", NULL},
    /* Annotations, known or not, and OpenAPI's nullable. */
    {0, "{'type': 'integer', 'markdownDescription': 'm', 'x-a': 1, 'title': 't'}", "1", "''", NULL},
    {0, "{'type': 'integer', 'icon': {'a': 1}}", "1", "''", "'/icon': JSON Schema has no such keyword"},
    {0, "{'properties': {'a/b': {'requierd': []}}}", "{'a/b':1}", "{'a/b'}", "'/properties/a~1b/requierd': JSON"},
    {0, "{'type': 'string', 'nullable': true}", "null", "1", NULL},
    {0, "{'type': 'string', 'nullable': false}", "''", "null", NULL},
    {0, "{'enum': ['a'], 'nullable': true}", "null", "'b'", NULL},
    {0, "{'$ref': '#/$defs/a', 'nullable': true, '$defs': {'a': {'type': 'integer'}}}", "null", "''", NULL},
    {0, "{'allOf': [{'$ref': '#/$defs/a'}], 'nullable': true, '$defs': {'a': {'type': 'integer'}}}", "null", "''",
     NULL},
    {0, "{'type': 'array', 'items': {'type': 'integer', 'nullable': true}}", "[1,null]", "null", NULL},
    {VOUCH_GRAMMAR_LENIENT, "{'not': {'enum': [[1, 2], 7]}}", "[1,2]", "7", "'/not/enum/0': of arrays and objects"},
    {VOUCH_GRAMMAR_LENIENT, "{'type': 'string', 'maxLength': 4294967295}", "'x'", "1",
     "'/maxLength': maxLength is 4294967295"},
    /* Keywords of older drafts. */
    {0, "{'type': 'array', 'items': [{'const': 1}, {'const': 2}], 'minItems': 3}", "[1,2,'x']", "[2", NULL},
    {0, "{'type': 'array', 'items': [{'const': 1}], 'additionalItems': {'const': 2}}", "[1,2]", "[1,1", NULL},
    {0, "{'type': 'array', 'items': [{'const': 1}], 'additionalItems': false}", "[1]", "[1,", NULL},
    {0, "{'type': 'array', 'items': []}", "[1]", "1", NULL},
    {0, "{'dependencies': {'a': ['b']}, 'dependentRequired': null, 'type': 'object'}", "{'a':1,'b':1}", "{'a':1}",
     NULL},
    {0, "{'type': 'integer', 'minimum': 3, 'exclusiveMinimum': true, 'maximum': 4}", "4", "3", NULL},
    {0, "{'type': 'integer', 'minimum': 3, 'exclusiveMaximum': true, 'maximum': 4}", "3", "4", NULL},
    {0, "{'type': 'integer', 'minimum': 3, 'exclusiveMinimum': false, 'maximum': 3}", "3", "4", NULL},
    {0,
     "{'type': 'object', 'properties': {'a': {}, 'b': {}, 'c': {}}, 'dependencies': {'a': ['b'], 'c': {'required': "
     "['b']}}, 'additionalProperties': false}",
     "{'a':1,'b':1}", "{'a':1}", NULL},
    /* A keyword that is null counts as absent. */
    {0, "{'type': 'object', 'properties': null, 'required': null, 'additionalProperties': null, 'maxItems': null}",
     "{'a':1}", "[]", NULL},
    {0, "{'type': 'array', 'items': null, 'prefixItems': null, 'allOf': null, 'anyOf': null, 'not': null}", "[1]", "{",
     NULL},
    {0, "{'type': 'string', 'enum': null, 'format': null, 'pattern': null, '$ref': null}", "'a'", "1", NULL},
    {0, "{'type': null, 'minimum': null, 'const': null}", "null", "1", NULL},
    {0, "{'$ref': '#/$defs/a', 'required': null, '$defs': {'a': {'type': 'integer', 'minimum': null}}}", "1", "''",
     NULL},
    {0, "{'anyOf': [{'type': 'integer', 'enum': null}, {'oneOf': [{'required': null, 'type': 'null'}]}], 'if': null}",
     "null", "''", NULL},
    /* Keywords that can't be bound. */
    {VOUCH_GRAMMAR_LENIENT, "{'type': 'string', 'format': 'regex'}", "'x'", "1", "'/format': 'regex' is not supported"},
    {VOUCH_GRAMMAR_LENIENT, "{'type': 'string', 'format': 'date'}", "'2024-01-02'", "'x'", NULL},
    {VOUCH_GRAMMAR_LENIENT, "{'type': 'string', 'pattern': '(?=a)'}", "'x'", "1", "'/pattern': the pattern '(?=a)'"},
    {VOUCH_GRAMMAR_LENIENT, "{'type': 'string', 'pattern': '^a+b+$', 'minLength': 3}", "'ab'", "'a'",
     "'/pattern': the pattern"},
    {VOUCH_GRAMMAR_LENIENT, "{'type': 'string', 'pattern': '^a+$', 'format': 'date'}", "'aa'", "'b'",
     "'/format': it can't be joined"},
    {VOUCH_GRAMMAR_LENIENT, "{'allOf': [{'pattern': '^a+$'}, {'pattern': '^.$'}], 'type': 'string'}", "'aa'", "'b'",
     "'/allOf/1/pattern': it can't be joined"},
    {VOUCH_GRAMMAR_LENIENT, "{'type': 'integer', 'minimum': 1e18, 'multipleOf': 2}", "1000000000000000000", "999999",
     "'/multipleOf': supported are multiples"},
    {VOUCH_GRAMMAR_LENIENT, "{'type': 'integer', 'maximum': 18446744073709551615, 'multipleOf': 2}", "22", "1", NULL},
    {VOUCH_GRAMMAR_LENIENT, "{'type': 'number', 'multipleOf': 0.01}", "1.5", "''", "'/multipleOf': expected"},
    {VOUCH_GRAMMAR_LENIENT, "{'items': {'type': 'array', 'uniqueItems': true}, 'type': 'array'}", "[[1,1]]", "[1]",
     "'/items/uniqueItems': supported for"},
    {VOUCH_GRAMMAR_LENIENT, "{'type': 'array', 'contains': {'const': 1}, 'uniqueItems': true}", "[]", "1",
     "'/contains': it can't be"},
    {VOUCH_GRAMMAR_LENIENT, "{'type': 'string', 'maxLength': 99999}", "'x'", "1", "'/maxLength': maxLength is 99999"},
    {VOUCH_GRAMMAR_LENIENT, "{'type': 'object', 'maxProperties': 1, 'properties': {'a': {}}}", "{'a':1}", "1",
     "'/maxProperties': supported"},
    {VOUCH_GRAMMAR_LENIENT, "{'type': 'object', 'properties': {'abc': {}}, 'propertyNames': {'maxLength': 3}}",
     "{'abc':1}", "1", "'/propertyNames': supported"},
    {VOUCH_GRAMMAR_LENIENT, "{'type': 'object', 'patternProperties': {'^a': {}, '^b': {}}}", "{'c':1}", "1",
     "'/patternProperties': supported"},
    {VOUCH_GRAMMAR_LENIENT, "{'type': 'string', 'not': {'pattern': 'a'}}", "'a'", "1", "'/not/pattern': it can't be"},
/* Members of a union that pydantic tells apart by a kind, which has a default, so that it isn't required. */
#define M(k) "{'type':'object','properties':{'kind':{'const':'" k "'},'a':{'type':'integer'},'" k "':{'type':" \
             "'integer'}},'required':['" k "']}, "
    {VOUCH_GRAMMAR_LENIENT, "{'oneOf': [" M("p") M("q") M("r") M("s") M("t") M("u") M("v") M("w") "{'type': 'null'}]}",
     "{'kind':'w','a':1,'w':2}", "{'kind':'w','a':1,'v'", "'/oneOf': it takes more than 20000 merges"},
    {0, "{'oneOf': [" M("p") M("q") M("r") "{'type': 'null'}]}", "{'kind':'r','a':1,'r':2}", "{'kind':'r','a':1,'q'",
     NULL},
#undef M
    {VOUCH_GRAMMAR_LENIENT, "{'oneOf': [{'type': 'string'}, {'format': 'date'}]}", "'x'", "{x}",
     "'/oneOf/1/format': it can't be negated"},
    {VOUCH_GRAMMAR_LENIENT, "{'enum': ['a', 'b'], 'pattern': 'a'}", "'a'", "'c'", "'/pattern': it can't be combined"},
};

static void test_flags(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof flagged / sizeof flagged[0]; i++) {
        char schema[1000], text[1000];
        const char *const texts[] = {flagged[i].accepted, flagged[i].refused};
        const int kind = VOUCH_GRAMMAR_JSON_SCHEMA | flagged[i].flags;
        vouch_grammar *grammar = grammar_open(kind, quoted(VOUCH_GRAMMAR_JSON_SCHEMA, flagged[i].schema, schema));
        vouch_automaton *automaton = grammar_automaton(grammar);
        for (int j = 0; j < 2; j++)
            if ((grammar_follow(automaton, quoted(VOUCH_GRAMMAR_JSON_SCHEMA, texts[j], text), strlen(texts[j])) ==
                 ACCEPTED) != (j == 0))
                fail_msg("%s, flags %d, with %s", schema, flagged[i].flags, text);
        const char *note = vouch_grammar_unbound(grammar, 0);
        snprintf(text, sizeof text, "%s", note ? note : "");
        for (char *c = text; *c; c++)
            if (*c == '"') *c = '\'';
        if ((note != NULL) != (flagged[i].note != NULL) || (note && !strstr(text, flagged[i].note)))
            fail_msg("%s: the note is '%s'", schema, text);
        grammar_close_automaton(automaton);
        vouch_grammar_close(grammar);
        /* A keyword that is let pass is an error without the flag. */
        if (!(flagged[i].flags & VOUCH_GRAMMAR_LENIENT) || !note) continue;
        assert_int_equal(vouch_grammar_open(&grammar, VOUCH_GRAMMAR_JSON_SCHEMA, schema, strlen(schema), NULL),
                         VOUCH_E_UNSUPPORTED);
    }
}

static void test_large_grammars_are_refused(void **state)
{
    (void)state;
    test_skip_slow();
    static char text[17 << 20];
    vouch_grammar *grammar;
    vouch_error err;
    memset(text, ' ', sizeof text);
    assert_int_equal(vouch_grammar_open(&grammar, VOUCH_GRAMMAR_GBNF, text, sizeof text, &err), VOUCH_E_ARGUMENT);
    char many[1000] = "root ::= (\"abcdefgh\"|\"b\"){100000}";
    for (int i = 0; i < 50; i++) strcat(many, " [a-z]{100000}");
    assert_int_equal(vouch_grammar_open(&grammar, VOUCH_GRAMMAR_GBNF, many, strlen(many), &err), VOUCH_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "too large"));
    char deep[2000] = "root ::= ";
    memset(deep + 9, '(', 200);
    assert_int_equal(vouch_grammar_open(&grammar, VOUCH_GRAMMAR_GBNF, deep, 209, &err), VOUCH_E_ARGUMENT);
    assert_non_null(strstr(err.message, "more than 128 parentheses"));
}

/* -------------------------------------------------------------------- memory */

/* A grammar never leads into a dead end. At the largest depth it still allows what closes the open brackets. */
static void test_depth_is_bounded_and_leaves_a_way_out(void **state)
{
    (void)state;
    static const char *const grammars[] = {
        "root ::= \"(\" root \")\" | \"x\"",
        "root ::= \"(\" a \")\" | \"x\"\na ::= \"[\" b \"]\"\nb ::= root",
    };
    for (int i = 0; i < 2; i++) {
        vouch_grammar *grammar = grammar_open(VOUCH_GRAMMAR_GBNF, grammars[i]);
        vouch_automaton *a = grammar_automaton(grammar);
        int32_t at = vouch_automaton_start(a), depth = 0;
        for (;; depth++) {
            const int32_t next = vouch_automaton_step(a, at, i == 0 || depth % 2 == 0 ? '(' : '[');
            if (next == VOUCH_STATE_DEAD) break;
            at = next;
        }
        assert_in_range(depth, VOUCH_STACK_DEPTH - 2, VOUCH_STACK_DEPTH);
        at = vouch_automaton_step(a, at, 'x');
        for (int32_t d = depth - 1; d >= 0; d--) {
            assert_int_not_equal(at, VOUCH_STATE_DEAD);
            at = vouch_automaton_step(a, at, i == 0 || d % 2 == 0 ? ')' : ']');
        }
        assert_true(a->states[at].accepts);
        grammar_close_automaton(a);
        vouch_grammar_close(grammar);
    }
}

/* Right recursion, where a rule ends with itself, needs no stack, so it may go on forever. */
static void test_right_recursion_is_unbounded(void **state)
{
    (void)state;
    vouch_grammar *grammar = grammar_open(VOUCH_GRAMMAR_GBNF, "root ::= \"a\" root | \"b\" root | \".\"");
    vouch_automaton *a = grammar_automaton(grammar);
    int32_t at = vouch_automaton_start(a);
    for (int i = 0; i < 100000; i++) at = vouch_automaton_step(a, at, i % 3 ? 'a' : 'b');
    at = vouch_automaton_step(a, at, '.');
    assert_true(a->states[at].accepts);
    assert_in_range(a->n_states, 1, 8);
    grammar_close_automaton(a);
    vouch_grammar_close(grammar);
}

/* When more states come than fit, the automaton drops them. It goes on from the places in the grammar (program.h) that
 * the last state stood for. */
static void test_dropped_states_leave_no_trace(void **state)
{
    (void)state;
    vouch_grammar *grammar =
        grammar_open(VOUCH_GRAMMAR_GBNF, "root ::= (\"a\" | \"(\" root \")\" | \"[\" root \"]\")* \"c\"{300}");
    vouch_automaton *a = grammar_automaton(grammar), *fresh = grammar_automaton(grammar);
    test_random random = {1};
    char text[300];
    for (int round = 0; round < 300; round++) {
        const int n = (int)sizeof text;
        for (int i = 0; i < n; i++) text[i] = "a(["[test_below(&random, 3)];
        memset(a->kept, 0, sizeof a->kept);
        a->kept[0] = vouch_automaton_start(a);
        for (int i = 0; i < n; i++) {
            a->kept[0] = vouch_automaton_step(a, a->kept[0], (unsigned char)text[i]);
            if (i == n / 2) a->kept[1] = a->kept[0];
        }
        int32_t at = vouch_automaton_start(fresh);
        for (int i = 0; i < n; i++) {
            at = vouch_automaton_step(fresh, at, (unsigned char)text[i]);
            if (i == n / 2) assert_true(vouch_automaton_digest(fresh, at) == vouch_automaton_digest(a, a->kept[1]));
        }
        assert_true(vouch_automaton_digest(fresh, at) == vouch_automaton_digest(a, a->kept[0]));
        if (round % 10 == 0) {
            grammar_close_automaton(fresh);
            fresh = grammar_automaton(grammar);
        }
    }
    assert_true(a->n_drops > 1);
    grammar_close_automaton(a);
    grammar_close_automaton(fresh);
    vouch_grammar_close(grammar);
}

/* A text with ever more ways to read it ends in refusal, in bounded memory. */
static void test_ambiguity_is_bounded(void **state)
{
    (void)state;
    static const char ambiguous[] = "root ::= \"a\" root b | \"a\" root c | \"x\"\nb ::= \"y\"\nc ::= \"y\"";
    vouch_grammar *grammar = grammar_open(VOUCH_GRAMMAR_GBNF, ambiguous);
    vouch_automaton *a = grammar_automaton(grammar);
    int32_t at = vouch_automaton_start(a), n = 0;
    for (; at != VOUCH_STATE_DEAD && n < 1000; n++) at = vouch_automaton_step(a, at, 'a');
    assert_in_range(n, 20, 1000);
    grammar_close_automaton(a);
    vouch_grammar_close(grammar);
}

/* ------------------------------------------------------------- alternatives */

/* Number i in letters, after a common beginning. */
static int spell(char out[32], int i)
{
    return snprintf(out, 32, "option_%c%c%c%c_%d", 'a' + i / 17576 % 26, 'a' + i / 676 % 26, 'a' + i / 26 % 26,
                    'a' + i % 26, i);
}

/* Alternatives as a part of a grammar, between a beginning and an end; each has `form`, where @ stands for its name. */
static const struct {
    vouch_grammar_kind kind;
    const char *begin, *form, *between, *end;
    int n;
} many_alternatives[] = {
    {VOUCH_GRAMMAR_JSON_SCHEMA, "{\"enum\": [", "\"@\"", ",", "]}", 65536},
    {VOUCH_GRAMMAR_JSON_SCHEMA, "{\"type\": \"string\", \"pattern\": \"^(", "@", "|", ")$\"}", 65536},
    {VOUCH_GRAMMAR_JSON_SCHEMA, "{\"anyOf\": [", "{\"const\": \"@\"}", ",", "]}", 65536},
    {VOUCH_GRAMMAR_JSON_SCHEMA, "{\"anyOf\": [",
     "{\"properties\": {\"kind\": {\"const\": \"@\"}}, \"type\": \"object\", \"required\": [\"kind\"], "
     "\"additionalProperties\": false}",
     ",", "]}", 20000},
    {VOUCH_GRAMMAR_GBNF, "root ::= ", "\"@\"", " | ", "", 65536},
    {VOUCH_GRAMMAR_GBNF, "root ::= ", "\"{\\\"name\\\": \\\"@\\\", \\\"arguments\\\": \" [0-9]+ \"}\"", "|", "", 32768},
};

static void test_many_alternatives(void **state)
{
    (void)state;
    char *text = malloc(16 << 20), name[32];
    for (size_t t = 0; t < sizeof many_alternatives / sizeof many_alternatives[0]; t++) {
        const int n = test_is_quick() ? many_alternatives[t].n / 16 : many_alternatives[t].n;
        char *at = text + sprintf(text, "%s", many_alternatives[t].begin);
        for (int i = 0; i < n; i++) {
            spell(name, i);
            if (i > 0) at += sprintf(at, "%s", many_alternatives[t].between);
            for (const char *c = many_alternatives[t].form; *c; c++)
                if (*c == '@') at += sprintf(at, "%s", name);
                else *at++ = *c;
        }
        strcpy(at, many_alternatives[t].end);
        vouch_grammar *grammar = grammar_open(many_alternatives[t].kind, text);
        vouch_automaton *automaton = grammar_automaton(grammar);
        const bool is_object = t == 3 || t == 5;
        for (int i = 0; i < n + 5; i += 1 + n / 100) {
            char answer[100];
            spell(name, i);
            if (t == 3) snprintf(answer, sizeof answer, "{\"kind\":\"%s\"}", name);
            else if (is_object) snprintf(answer, sizeof answer, "{\"name\": \"%s\", \"arguments\": 17}", name);
            else if (t == 4) snprintf(answer, sizeof answer, "%s", name);
            else snprintf(answer, sizeof answer, "\"%s\"", name);
            const verdict found = grammar_follow(automaton, answer, strlen(answer));
            if ((found == ACCEPTED) != (i < n)) fail_msg("case %zu, %s: %d", t, answer, (int)found);
        }
        for (int32_t s = VOUCH_STATE_FIRST; s < automaton->n_states; s++) assert_true(automaton->states[s].n < 64);
        grammar_close_automaton(automaton);
        vouch_grammar_close(grammar);
    }
    free(text);
}

/* Definitions d0 to d60; each is `form`, in which @ stands for a reference to the next one, and the last is `last`. */
static char *chain_of(const char *form, const char *last)
{
    char *text = calloc(1, 61 * (strlen(form) + 60) + 200);
    char *at = text + sprintf(text, "{\"$ref\": \"#/$defs/d0\", \"$defs\": {");
    for (int i = 0; i < 60; i++) {
        at += sprintf(at, "\"d%d\": ", i);
        for (const char *c = form; *c; c++)
            if (*c == '@') at += sprintf(at, "{\"$ref\": \"#/$defs/d%d\"}", i + 1);
            else *at++ = *c;
        at += sprintf(at, ", ");
    }
    sprintf(at, "\"d60\": %s}}", last);
    return text;
}

/* Schemas that many references share are read once each, and no schema takes 2^60 steps. */
static void test_shared_schemas(void **state)
{
    (void)state;
    char *text = chain_of("{\"anyOf\": [@, @]}", "{\"type\": \"integer\"}");
    assert_int_equal(grammar_verdict(VOUCH_GRAMMAR_JSON_SCHEMA, text, "7"), ACCEPTED);
    free(text);
    text = chain_of("{\"allOf\": [@, @]}", "{\"type\": \"integer\"}");
    assert_int_equal(grammar_verdict(VOUCH_GRAMMAR_JSON_SCHEMA, text, "7"), ACCEPTED);
    free(text);
    text = chain_of("{\"allOf\": [@, {\"allOf\": [@], \"minimum\": 0}]}", "{\"title\": \"x\"}");
    vouch_grammar *grammar;
    vouch_error err = {0};
    assert_int_equal(vouch_grammar_open(&grammar, VOUCH_GRAMMAR_JSON_SCHEMA, text, strlen(text), &err),
                     VOUCH_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "the schema at \"/$defs/d60\""));
    free(text);
    text = malloc(1 << 20);
    char *at = text + sprintf(text, "{\"type\": \"object\", \"properties\": {");
    for (int i = 0; i < 500; i++)
        at += sprintf(at,
                      "%s\"p%d\": {\"description\": \"%d\", \"anyOf\": [{\"$ref\": \"#/$defs/large\"}, "
                      "{\"type\": \"null\"}]}",
                      i ? ", " : "", i, i);
    at += sprintf(at, "}, \"$defs\": {\"large\": {\"type\": \"object\", \"properties\": {");
    for (int i = 0; i < 500; i++) at += sprintf(at, "%s\"q%d\": {\"type\": \"integer\"}", i ? ", " : "", i);
    strcpy(at, "}}}}");
    grammar = grammar_open(VOUCH_GRAMMAR_JSON_SCHEMA | VOUCH_GRAMMAR_CLOSED, text);
    assert_true(grammar->n_nodes < 100000);
    vouch_automaton *automaton = grammar_automaton(grammar);
    static const char answer[] = "{\"p3\": {\"q7\": 1, \"q9\": 2}, \"p499\": null}";
    assert_int_equal(grammar_follow(automaton, answer, sizeof answer - 1), ACCEPTED);
    grammar_close_automaton(automaton);
    vouch_grammar_close(grammar);
    free(text);
}

/* Of more than 1,024 schemas of oneOf a value may meet several, where that is let pass. */
static void test_large_choices(void **state)
{
    (void)state;
    test_skip_slow();
    static char text[1025 * 32 + 64];
    for (int n = 1024; n < 1026; n++) {
        char *at = text + sprintf(text, "{\"oneOf\": [{\"enum\": [0, 1]}");
        for (int i = 1; i < n; i++) at += sprintf(at, ", {\"const\": %d}", i);
        strcpy(at, "]}");
        vouch_grammar *grammar;
        vouch_error err = {0};
        const vouch_status status = vouch_grammar_open(&grammar, VOUCH_GRAMMAR_JSON_SCHEMA, text, strlen(text), &err);
        assert_int_equal(status, n == 1024 ? VOUCH_OK : VOUCH_E_UNSUPPORTED);
        if (status)
            assert_non_null(strstr(err.message, "\"/oneOf\": it has 1025 schemas; at most 1024 are told apart"));
        vouch_grammar_close(grammar);
        grammar = grammar_open(VOUCH_GRAMMAR_JSON_SCHEMA | VOUCH_GRAMMAR_LENIENT, text);
        assert_int_equal(vouch_grammar_unbound(grammar, 0) != NULL, n > 1024);
        vouch_grammar_close(grammar);
        const int kind = VOUCH_GRAMMAR_JSON_SCHEMA | VOUCH_GRAMMAR_LENIENT;
        assert_int_equal(grammar_verdict(kind, text, "0"), ACCEPTED);
        assert_int_equal(grammar_verdict(kind, text, "1"), n == 1024 ? BEGUN : ACCEPTED); /* of two schemas */
    }
}

/* ---------------------------------------------------------------- names once */

static const example names_once[] = {
    {"{'type': 'object'}",
     {"{'a':1,'ab':2,'b':3}", "{'a':{'a':1},'b':{'a':{}}}", "{}"},
     {"{'a':1,'a", "{'a':1,"},
     {"{'a':1,'a'", "{'a':{'b':1,'b'", "{'':1,''", "{'\\n':1,'\\n'"}},
    {"{'type': 'object'}",
     {"{'A':1,'a':2,'a ':3,' a':4}", "{'\xc3\xa9':1,'e\xcc\x81':2}", "{'1':1,'01':2}"},
     {"{'\xf0\x9f\x98\x80':1,'\xf0\x9f\x98"},
     {"{'\xf0\x9f\x98\x80':1,'\xf0\x9f\x98\x80'", "{'\\'':1,'\\''", "{'\\\\':1,'\\\\'", "{'a':1,'b':2,'c':3,'a'",
      "{'a':[{'a':{}}],'a'"}},
    {"{'type': 'array', 'items': {'type': 'object'}}", {"[{'a':1},{'a':1}]"}, {"[{'a':1},{'a"}, {"[{'a':1,'a'"}},
    {"{'properties': {'a': {'type': 'object'}, 'b': {'type': 'object'}}, 'required': ['a'], 'type': 'object'}",
     {"{'a':{'a':1,'b':2},'b':{'a':1}}"},
     {"{'a':{'b':1},'b"},
     {"{'a':{'b':1,'b'", "{'a':{},'a'"}},
    {"{'anyOf': [{'type': 'object', 'properties': {'k': {'const': 1}}, 'required': ['k']}, {'type': 'object', "
     "'properties': {'l': {}}, 'required': ['l']}]}",
     {"{'k':1,'l':2}", "{'l':1,'k':1}"},
     {"{'k':1,'"},
     {"{'k':1,'k'", "{'l':1,'l'"}},
    {"{'allOf': [{'properties': {'a': {}}}, {'properties': {'b': {}}}], 'type': 'object'}",
     {"{'a':1,'b':1,'c':1}"},
     {"{'a':1,'c"},
     {"{'c':1,'c'", "{'a':1,'b':1,'a'"}},
    {"{'properties': {'a': {}}, 'type': 'object'}",
     {"{'a':1,'b':2}", "{'b':1,'ab':1}"},
     {"{'a':1,'a"},
     {"{'a':1,'a'", "{'b':1,'b'", "{'b':1,'a'", "{'\\u0061':1"}},
    {"true", {"[{'a':1},{'a':1}]", "{'a':[{'a':1}],'b':1}"}, {"[{'a':1,"}, {"[{'a':1,'a'", "{'a':[{'a':1}],'a'"}},
    {"{'type': 'object', 'additionalProperties': {'type': 'object', 'additionalProperties': {'const': 1}}}",
     {"{'x':{'a':1,'b':1},'y':{'a':1}}"},
     {"{'x':{'a':1,"},
     {"{'x':{'a':1,'a'", "{'x':{},'x'"}},
    /* Names of which there are few: the object ends when none is left, and never leads to one that it has. */
    {"{'type': 'object', 'propertyNames': {'enum': ['ab', 'ac', 'b']}, 'additionalProperties': {'const': 1}}",
     {"{'b':1,'ac':1,'ab':1}", "{}", "{'ac':1}"},
     {"{'ab':1,'a"},
     {"{'ab':1,'ab'", "{'ab':1,'ac':1,'a", "{'b':1,'ac':1,'ab':1,", "{'c'"}},
    {"{'type': 'object', 'patternProperties': {'^[ab]c?$': {'const': 1}}, 'additionalProperties': false}",
     {"{'a':1,'bc':1,'b':1,'ac':1}"},
     {"{'a':1,'a"},
     {"{'a':1,'a'", "{'a':1,'bc':1,'b':1,'ac':1,", "{'c'"}},
    {"{'type': 'object', 'patternProperties': {'^x': {'const': 1}}, 'additionalProperties': false}",
     {"{'x':1,'xx':1,'xy':1}"},
     {"{'x':1,'x"},
     {"{'x':1,'x'", "{'y'"}},
    {"{'type': 'object', 'minProperties': 3, 'maxProperties': 4}",
     {"{'a':1,'b':1,'c':1}", "{'a':1,'b':1,'c':1,'d':1}"},
     {"{'a':1,'b':1"},
     {"{'a':1,'b':1}", "{'a':1,'b':1,'a'", "{'a':1,'b':1,'c':1,'d':1,"}},
};

/* Items that differ: of large enums, strings and integers. */
static const example different_items[] = {
    {"{'type': 'array', 'items': {'enum': [1,2,3,4,5,6,7,8,9,'a','ab']}, 'uniqueItems': true, 'minItems': 2}",
     {"[1,2]", "['ab',9,'a']"},
     {"['a','a", "[1,"},
     {"[1,1", "['a','a'", "[1]", "[]"}},
    {"{'type': 'array', 'items': {'enum': ['aa','ab','ac','ba','bb','bc','ca','cb','cc']}, 'uniqueItems': true}",
     {"[]", "['cc','aa','ab','ac','ba','bb','bc','ca','cb']"},
     {"['aa','a"},
     {"['aa','aa'", "['aa','ab','ac','a", "['cc','aa','ab','ac','ba','bb','bc','ca','cb',"}},
    {"{'type': 'array', 'items': {'type': 'string'}, 'uniqueItems': true, 'minItems': 2, 'maxItems': 3}",
     {"['a','b']", "['','a','aa']"},
     {"['a'", "['a','a"},
     {"['a','a'", "['a']", "['a','b','c','d'", "['\\u0061'"}},
    {"{'type': 'array', 'items': {'type': 'integer'}, 'uniqueItems': true}",
     {"[]", "[1,12,123]", "[0]"},
     {"[1,1"},
     {"[1,1]", "[1,1,", "[1.0"}},
    {"{'type': 'array', 'items': {'$ref': '#/$defs/i'}, 'uniqueItems': true, '$defs': {'i': {'type': ['integer', "
     "'null'], 'minimum': 8, 'maximum': 10}}}",
     {"[8,null,10,9]"},
     {"[1"},
     {"[null,null", "[8,8", "[8,9,10,null,"}},
    {"{'type': 'object', 'properties': {'a': {'type': 'array', 'items': {'type': 'string'}, 'uniqueItems': true}}}",
     {"{'a':['x'],'x':['x','x']}", "{'a':['a']}"},
     {"{'a':['x'"},
     {"{'a':['x','x'"}},
};

static void test_names_come_once(void **state)
{
    (void)state;
    check_examples(VOUCH_GRAMMAR_JSON_SCHEMA, names_once, sizeof names_once / sizeof names_once[0]);
    check_examples(VOUCH_GRAMMAR_JSON_SCHEMA, different_items, sizeof different_items / sizeof different_items[0]);
}

/* An object has at most VOUCH_NAMES names, and all that are open VOUCH_NAMES_ALL: then only their ends are left. */
static void test_names_are_bounded(void **state)
{
    (void)state;
    vouch_grammar *grammar = grammar_open(VOUCH_GRAMMAR_JSON, NULL);
    vouch_automaton *a = grammar_automaton(grammar);
    char text[40000] = "{", *at = text + 1;
    for (int i = 0; i < VOUCH_NAMES; i++) at += sprintf(at, "%s\"n%d\":%d", i ? "," : "", i, i);
    assert_int_equal(grammar_follow(a, text, (size_t)(at - text)), BEGUN);
    strcpy(at, ",");
    assert_int_equal(grammar_follow(a, text, strlen(text)), REFUSED);
    strcpy(at, "}");
    assert_int_equal(grammar_follow(a, text, strlen(text)), ACCEPTED);
    int depth = 0;
    at = text;
    for (verdict found = BEGUN; found == BEGUN; depth++) {
        at += sprintf(at, "{\"name of a level\":1,");
        for (int i = 0; i < 50; i++) at += sprintf(at, "\"n%d\":%d,", i, i);
        at += sprintf(at, "\"more\":");
        found = grammar_follow(a, text, (size_t)(at - text));
    }
    assert_in_range(depth, 5, 30);
    grammar_close_automaton(a);
    vouch_grammar_close(grammar);
}

/* Random objects within objects, followed byte by byte by random choice: the text is JSON without a name twice, and no
 * choice leads into a dead end. Names are short, so that many would come twice. */
static void test_random_texts_have_no_name_twice(void **state)
{
    (void)state;
    static const char *const given[] = {
        "{'type': 'object', 'additionalProperties': {'anyOf': [{'const': 1}, {'$ref': '#'}]}}",
        "{'type': 'object', 'properties': {'a': {'const': 0}}, 'additionalProperties': {'$ref': '#'}}",
        "{'type': 'object', 'patternProperties': {'^[abc]{1,2}$': {'$ref': '#'}}, 'additionalProperties': false}",
        "{'type': 'object', 'propertyNames': {'enum': ['a', 'b', 'ab', 'ba']}, 'additionalProperties': {'$ref': '#'}}",
    };
    test_random random = {5};
    int n_names = 0;
    for (int round = 0; round < (test_is_quick() ? 200 : 4000); round++) {
        char schema[1000], text[1500];
        size_t n = 0;
        vouch_grammar *grammar =
            grammar_open(VOUCH_GRAMMAR_JSON_SCHEMA, quoted(VOUCH_GRAMMAR_JSON_SCHEMA, given[round % 4], schema));
        vouch_automaton *a = grammar_automaton(grammar);
        int32_t at = vouch_automaton_start(a);
        while (n < sizeof text - 1 && !(a->states[at].accepts && a->states[at].n == 0)) {
            static const char common[] = "\"\"\"\"aaabb::::,,,,,}}1{{{";
            int32_t next = VOUCH_STATE_DEAD;
            char byte = 0;
            const bool must_end = n > 700;
            for (int tries = 0; next == VOUCH_STATE_DEAD && tries < 3000; tries++) {
                byte = must_end && tries == 0 ? '}' : common[test_below(&random, sizeof common - 1)];
                if (tries > 1000) byte = (char)test_below(&random, 128);
                next = vouch_automaton_step(a, at, (unsigned char)byte);
            }
            if (next == VOUCH_STATE_DEAD) fail_msg("%s: dead end after %.*s", schema, (int)n, text);
            text[n++] = byte;
            at = next;
        }
        text[n] = '\0';
        if (a->states[at].accepts) {
            json_error_t flaw;
            json_t *value = json_loadb(text, n, JSON_REJECT_DUPLICATES, &flaw);
            if (!value) fail_msg("%s: %s: %s", schema, text, flaw.text);
            n_names += (int)json_object_size(value);
            json_decref(value);
        }
        grammar_close_automaton(a);
        vouch_grammar_close(grammar);
    }
    assert_true(n_names > 100);
}

/* ---------------------------------------------------------------------- fuzz */

/* Follows the grammar with random bytes. Every state allows a byte, unless it accepts the text so far or is too
 * ambiguous. */
static void walk(const vouch_grammar *grammar, test_random *random)
{
    vouch_automaton *a = grammar_automaton(grammar);
    int32_t at = vouch_automaton_start(a);
    assert_int_not_equal(at, VOUCH_STATE_DEAD);
    for (int i = 0; i < 60; i++) {
        int32_t next = VOUCH_STATE_DEAD;
        const uint32_t first = test_below(random, 256);
        a->kept[0] = at;
        for (uint32_t b = 0; b < 256 && next == VOUCH_STATE_DEAD; b++)
            next = vouch_automaton_step(a, a->kept[0], (unsigned char)(first + b));
        if (next == VOUCH_STATE_DEAD) {
            assert_true(a->states[a->kept[0]].accepts || a->states[a->kept[0]].n > 100);
            break;
        }
        at = next;
    }
    grammar_close_automaton(a);
}

static void test_fuzzed_notations(void **state)
{
    (void)state;
    static const char *const words[] = {"root",
                                        " ::= ",
                                        "a",
                                        "b ",
                                        "\"x\"",
                                        "\"yz\" ",
                                        "[a-c]",
                                        "[^\\n]",
                                        "(",
                                        ")",
                                        "*",
                                        "+",
                                        "?",
                                        "{2}",
                                        "{1,3}",
                                        " | ",
                                        "\n",
                                        ".",
                                        "\\x41",
                                        "# c\n",
                                        "root ::= ",
                                        "\"",
                                        "\na ::= \"q\" a | \"r\"",
                                        "\nb ::= a? \"s\"",
                                        "\xc3\xa9",
                                        "]"};
    test_random random = {7};
    const int rounds = test_is_quick() ? 10000 : 200000;
    int opened = 0;
    for (int round = 0; round < rounds; round++) {
        char text[2000];
        size_t n = 0;
        if (round % 2) {
            const char *base = notations[test_below(&random, sizeof notations / sizeof notations[0])].grammar;
            n = strlen(base);
            memcpy(text, base, n);
            for (uint32_t edits = 1 + test_below(&random, 3); edits > 0; edits--)
                text[test_below(&random, (uint32_t)n)] = "ab\"[](){}|*+?:=\n \\"[test_below(&random, 18)];
        } else {
            n = (size_t)snprintf(text, sizeof text, "root ::= \"k\" ");
            for (uint32_t w = test_below(&random, 12); w > 0; w--) {
                const char *word = words[test_below(&random, sizeof words / sizeof words[0])];
                memcpy(text + n, word, strlen(word));
                n += strlen(word);
            }
        }
        vouch_grammar *grammar;
        vouch_error err = {0};
        const vouch_status status = vouch_grammar_open(&grammar, VOUCH_GRAMMAR_GBNF, text, n, &err);
        if (status == VOUCH_OK) {
            opened++;
            if (opened % 16 == 0) walk(grammar, &random);
        } else {
            assert_true(err.message[0]);
        }
        vouch_grammar_close(grammar);
    }
    assert_in_range(opened, rounds / 50, rounds);
}

/* Random edits of schemas: texts, numbers and parts change places. */
static void test_fuzzed_schemas(void **state)
{
    (void)state;
    test_random random = {11};
    const int rounds = test_is_quick() ? 10000 : 200000;
    int opened = 0;
    for (int round = 0; round < rounds; round++) {
        enum { N = sizeof schemas / sizeof schemas[0] };
        char text[4000];
        const char *one = schemas[test_below(&random, N)].grammar, *other = schemas[test_below(&random, N)].grammar;
        const char *const wraps[] = {"%s%.0s",
                                     "{\"anyOf\": [%s, %s]}",
                                     "{\"allOf\": [%s, %s]}",
                                     "{\"type\": \"array\", \"items\": %s, \"prefixItems\": [%s]}",
                                     "{\"properties\": {\"p\": %s, \"q\": %s}}",
                                     "{\"oneOf\": [%s, %s]}"};
        const uint32_t wrap = test_below(&random, 6);
        const int written = snprintf(text, sizeof text, wraps[wrap], one, other);
        assert_in_range(written, 1, sizeof text - 1);
        for (char *c = text; *c; c++)
            if (*c == '\'') *c = '"';
        const size_t n = (size_t)written;
        for (uint32_t edits = test_below(&random, 3); edits > 0; edits--)
            text[test_below(&random, (uint32_t)n)] = "ab\"[](){}|*+?:=01\\"[test_below(&random, 18)];
        vouch_grammar *grammar;
        vouch_error err = {0};
        if (vouch_grammar_open(&grammar, VOUCH_GRAMMAR_JSON_SCHEMA, text, n, &err) == VOUCH_OK) {
            opened++;
            if (opened % 16 == 0) walk(grammar, &random);
        } else {
            assert_true(err.message[0]);
        }
        vouch_grammar_close(grammar);
    }
    assert_in_range(opened, rounds / 10, rounds);
}

/* An expression by itself matches the whole answer, with characters as they are. */
static void test_expressions(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *text;
        verdict verdict;
    } cases[] = {
        {"a+b", "aab", ACCEPTED},
        {"a+b", "aa", BEGUN},
        {"a+b", "xaab", REFUSED},
        {"a+b", "aabx", REFUSED},
        {"^a|b$", "a", ACCEPTED},
        {"^a|b$", "b", ACCEPTED},
        {"^a|b$", "ab", REFUSED},
        {"(yes|no)\\.", "no.", ACCEPTED},
        {"\"[\\w ]*\"", "\"a b\"", ACCEPTED},
        {"\\\\n", "\\n", ACCEPTED},
        {"a\\nb", "a\nb", ACCEPTED},
        {".", "\xe2\x82\xac", ACCEPTED},
        {".", "\n", REFUSED},
        {"[^a]{2,3}", "bc", ACCEPTED},
        {"[^a]{2,3}", "b", BEGUN},
        {"\\d{4}-\\d{2}", "2026-11", ACCEPTED},
        {"", "", ACCEPTED},
        {"", "a", REFUSED},
        {"a*?", "aaa", ACCEPTED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (grammar_verdict(VOUCH_GRAMMAR_REGEX, cases[i].pattern, cases[i].text) != cases[i].verdict)
            fail_msg("%s: %s", cases[i].pattern, cases[i].text);
    static const char *const wrong[] = {"(", ")", "a{2,1}", "\\1", "(?=a)", "a^b", "[b-a]", "*"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        vouch_grammar *grammar;
        vouch_error err;
        const vouch_status status = vouch_grammar_open(&grammar, VOUCH_GRAMMAR_REGEX, wrong[i], strlen(wrong[i]), &err);
        if (status != VOUCH_E_UNSUPPORTED || !strstr(err.message, "the pattern")) fail_msg("%s", wrong[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_notation),
        cmocka_unit_test(test_schemas),
        cmocka_unit_test(test_bounds_of_integers),
        cmocka_unit_test(test_bounds_of_numbers),
        cmocka_unit_test(test_bounds_of_fractions),
        cmocka_unit_test(test_multiples),
        cmocka_unit_test(test_schemas_of_packages),
        cmocka_unit_test(test_any_object),
        cmocka_unit_test(test_long_numbers),
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_many_alternatives),
        cmocka_unit_test(test_shared_schemas),
        cmocka_unit_test(test_large_choices),
        cmocka_unit_test(test_names_come_once),
        cmocka_unit_test(test_names_are_bounded),
        cmocka_unit_test(test_random_texts_have_no_name_twice),
        cmocka_unit_test(test_expressions),
        cmocka_unit_test(test_wrong_schemas_are_refused),
        cmocka_unit_test(test_schemas_without_values_are_refused),
        cmocka_unit_test(test_fuzzed_schemas),
        cmocka_unit_test(test_classes_hold_exactly_their_characters),
        cmocka_unit_test(test_wrong_notations_are_refused),
        cmocka_unit_test(test_large_grammars_are_refused),
        cmocka_unit_test(test_depth_is_bounded_and_leaves_a_way_out),
        cmocka_unit_test(test_right_recursion_is_unbounded),
        cmocka_unit_test(test_dropped_states_leave_no_trace),
        cmocka_unit_test(test_ambiguity_is_bounded),
        cmocka_unit_test(test_fuzzed_notations),
    };
    return cmocka_run_group_tests_name("grammar", tests, NULL, NULL);
}
