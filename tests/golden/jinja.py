# SPDX-License-Identifier: MIT
"""Makes jinja.h: small templates, and what jinja2 makes of them with transformers' settings.

    python3 tests/golden/jinja.py [FOLDER of templates] >tests/golden/jinja.h     (needs jinja2)

With a folder it also writes a hash of the renderings of each template in it, over the conversations below."""
import glob, json, os, sys
import jinja2
from jinja2.ext import Extension
from jinja2.sandbox import SandboxedEnvironment


class Generation(Extension):
    """The block that transformers adds: its body is written as it is."""
    tags = {"generation"}

    def parse(self, parser):
        next(parser.stream)
        return parser.parse_statements(["name:endgeneration"], drop_needle=True)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


env = SandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, "jinja2.ext.loopcontrols"])
env.filters["tojson"] = tojson
env.globals["raise_exception"] = raise_exception
env.globals["strftime_now"] = lambda f: "DATE"

CONTEXT = {"s": "Hello, World", "t": "  two words\n", "e": "", "u": "é漢字🎉", "n": 7, "x": 2.5, "yes": True, "no": False,
           "nil": None, "l": [3, 1, 2], "w": ["b", "A", "c", "a"], "d": {"b": 1, "a": [1, {"k": "v"}], "C": None},
           "m": [{"role": "user", "content": "q", "n": 1}, {"role": "assistant", "content": "a", "n": 2}],
           "q": "it's \"quoted\" <b>&\\"}

# One expression a line: written as {{ ... }}.
EXPRESSIONS = r"""
1 + 2 * 3 - 4
(1 + 2) * 3
7 // 2
-7 // 2
-7 % 3
7 / 2
2 ** 10
2 ** -1
2 ** 3 ** 2
-2 ** 2
1_000 + 1
1.5e3
10.0
1e16
1e15
0.1 + 0.2
1 / 3
1e-5
0.0001
7.0 // 2
7.5 % 2
1 < 2 < 3
3 > 2 > 2
['a\u2028b\u00adc\u200bd\u00a0e\u3000f\U000e0001g\ue000h\u0085i']
['\u2027\u00ac\u00ae\u00a1\u3001\ufffd\U0001f389']
1 == 1.0
True == 1
'a' < 'b'
[1, 2] < [1, 3]
(1, 2) == (1, 2)
[1, 2] == (1, 2)
{'a': 1} == {'a': 1.0}
not yes
not no and yes
yes or missing.x
no and missing.x
e or 'default'
nil or 'none'
'x' if yes else 'y'
'x' if no else 'y'
'x' if no
1 if no else 2 if no else 3
'a' in s
'H' in s
'ell' not in s
2 in l
'a' in d
'zz' in d
nil is none
s is string
n is number
x is float
n is integer
yes is boolean
yes is integer
l is sequence
d is mapping
l is iterable
n is iterable
missing is defined
missing is undefined
missing is none
n is odd
n is even
n is divisibleby 7
n is divisibleby(2)
n is eq 7
n is gt 6
n is lessthan 3
1 is sameas 1
'abc' is lower
'ABC' is upper
yes is true
no is false
2 is in l
'a' is in d
n is not odd
range is callable
s ~ n ~ nil ~ missing ~ yes
s + '!'
'ab' * 3
[1, 2] * 2
[1] + [2]
(1,) + (2,)
'a' 'b'
'%s has %d and %r' % (s, n, s)
'%s' % n
'%%'|format
"tab\tnewline\nquote\"back\\slash"
'\x41\u00e9\U0001F389'
'\q'
s[0]
s[-1]
s[100]
s[1:4]
s[::-1]
s[-5:]
s[:-5]
s[::2]
u[1]
u[-1:]
u|length
u[::-1]
l[0]
l[-1]
l[5]
l[1:]
l[::-1]
l[5:1:-2]
d['a']
d.a
d['a'][1].k
d.missing
d['missing'] is defined
m[0].role
m[0]['content']
m.0.role
m[-1].content
[]
()
(1,)
[1, 'two', 3.0, none, true]
{'a': 1, 'b': [2, 3]}
q
[q]
['\n\t\r']
['é', '\x01', '\x7f', '\u00a0']
d
m|map(attribute='role')|list
m|map(attribute='x', default='?')|list
w|map('upper')|list
w|map('replace', 'a', 'z')|join(',')
m|selectattr('role', 'equalto', 'user')|list|length
m|selectattr('role', 'eq', 'user')|map(attribute='content')|join
m|rejectattr('role', 'in', ['user'])|list|length
m|selectattr('missing')|list
m|selectattr('missing', 'defined')|list
m|sum(attribute='n')
l|sum
l|select('odd')|list
l|reject('odd')|list
[0, 1, '', 'x', none]|select|list
l|sort
l|sort(reverse=true)
w|sort
w|sort(case_sensitive=true)
m|sort(attribute='n', reverse=true)|map(attribute='n')|list
['a', 'A', 'b', 'a']|unique|list
l|min
l|max
w|min
l|first
l|last
[]|first
'abc'|first
'abc'|last
s|reverse
l|reverse|list
d|dictsort
d|dictsort(false, 'key', true)
{'x': 2, 'y': 1}|dictsort(by='value')
d|items|list
d.items()|list
d.keys()|list
d.values()|list
d|list
d|length
d.get('b')
d.get('zz')
d.get('zz', 'default')
s|upper
s|lower
'hello wORLD-foo (bar'|title
'hello wORLD'|capitalize
t|trim
'xxaxx'|trim('x')
t.strip()
t.lstrip()
t.rstrip()
'xyaxy'.strip('yx')
s|replace('o', '0')
s|replace('o', '0', 1)
s.replace('l', 'L', 2)
'abc'.replace('', '-')
s.split(', ')
' a  b '.split()
'a,b,c'.split(',', 1)
'a b  c'.split(none, 1)
'a,b,c'.rsplit(',', 1)
'a'.split(',')
''.split(',')
''.split()
'a\nb\r\nc\n'.splitlines()
s.startswith('Hell')
s.startswith(('x', 'He'))
s.endswith('d')
s.upper()
s.lower()
s.title()
s.capitalize()
s.find('o')
s.find('zz')
s.rfind('o')
u.find('字')
s.count('l')
s.index('W')
'-'.join(w)
'abc'.join('xy')
'12'.isdigit()
'1a'.isdigit()
'ab'.isalpha()
'a1'.isalnum()
' '.isspace()
'AB'.isupper()
'prefixed'.removeprefix('pre')
'suffixed'.removesuffix('ed')
'{} and {1} {{}}'.format(1)
'{} and {}'.format(1, 'b')
'{a}-{0}'.format(1, a=2)
w|join
w|join(', ')
m|join(',', attribute='role')
l|string
x|string
l|length
e|length
nil|string
missing|string
missing|default('d')
missing|d
e|default('d')
e|default('d', true)
nil|default('d')
'42'|int
'x'|int
'x'|int(3)
'3.7'|int
' 12 '|int
3.9|int
true|int
'2.5'|float
'x'|float
3|float
-3|abs
2.567|round
2.567|round(2)
2.1|round(0, 'ceil')
2.9|round(method='floor')
2.5|round
'one two  three'|wordcount
'a b/ü'|urlencode
q|escape
q|e
('<a>'|safe) + '<b>'
('<a>'|escape) ~ '<b>'
'<a>'|escape|escape
'a\nb\n\nc'|indent
'a\nb\n\nc'|indent(2, true)
'a\nb\n\nc'|indent(2, blank=true)
'a\nb\n'|indent('> ')
d|tojson
d|tojson(indent=2)
m|tojson(indent=4)
[]|tojson(indent=2)
{}|tojson(indent=2)
u|tojson
u|tojson(ensure_ascii=true)
'\u0001\x7f"\\/\n'|tojson
d|tojson(separators=(',', ':'))
d|tojson(sort_keys=true)
{1: 2, none: 3, true: 4, 'a': 5}|tojson
[1.0, 1e100, 0.1, -0.0]|tojson
range(5)|list
range(2, 8, 3)|list
range(5, 0, -2)|list
dict(a=1, b=2)
dict(d, z=1)|length
namespace(a=1).a
namespace({'k': 'v'}).k
s|attr('upper') is callable
'abc'|list
[1, 2, 3][1:][0]
l|map('string')|join('+')
[[1, 2], [3]]|map('length')|list
[1, [2, [3, {'a': none}]]]
missing
missing.x
missing['x']
missing()
missing + 1
nil + 1
s + 1
1 + s
[1] + (2,)
1 / 0
5 % 0
l.foo()
s.nothing
s.nothing()
n.x
nil.x
d|nofilter
d is notest
1 < 'a'
nil < 1
'a' * 'b'
-s
s|replace('o')
s|round
d|join(1)
raise_exception('no')
range(1, 2, 0)|list
l.index(9)
s.index('zz')
'{}'.format()
n()
1 +
)
'abc
1 2
a b
[1, 2
{'a' 1}
x.
"""

# Templates with statements, separated by lines of ====.
TEMPLATES = r"""
{% for i in l %}{{ i }}{% if not loop.last %}, {% endif %}{% endfor %}
====
{% for i in l %}{{ loop.index }}/{{ loop.index0 }}/{{ loop.revindex }}/{{ loop.revindex0 }}/{{ loop.first }}/{{ loop.last }}/{{ loop.length }};{% endfor %}
====
{% for i in l %}{{ loop.previtem }}<{{ i }}>{{ loop.nextitem }};{% endfor %}
====
{% for i in l %}{{ loop.cycle('odd', 'even') }} {% endfor %}
====
{% for i in [] %}x{% else %}none{% endfor %}
====
{% for i in l if i > 1 %}{{ loop.index }}:{{ i }} {% endfor %}
====
{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}
====
{% for (a, b) in [(1, 2), (3, 4)] %}{{ a + b }} {% endfor %}
====
{% for a, (b, c) in [(1, (2, 3))] %}{{ a }}{{ b }}{{ c }}{% endfor %}
====
{% for i in range(10) %}{% if i == 2 %}{% continue %}{% endif %}{% if i == 5 %}{% break %}{% endif %}{{ i }}{% endfor %}
====
{% for c in 'é漢x' %}[{{ c }}]{% endfor %}{% for k in d %}{{ k }}{% endfor %}{% for i in missing %}x{% endfor %}
====
{% for i in l %}{% for j in l %}{{ loop.index }}{% endfor %}{{ loop.index }};{% endfor %}
====
{% set a = 1 %}{% for i in l %}{% set a = a + i %}{{ a }} {% endfor %}{{ a }}
====
{% set ns = namespace(a=1) %}{% for i in l %}{% set ns.a = ns.a + i %}{% endfor %}{{ ns.a }}
====
{% if yes %}{% set a = 1 %}{% endif %}{{ a }}
====
{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set c = 1, 2 %}{{ c }}
====
{% set a %}text {{ n }}{% endset %}[{{ a }}]{% set b | upper | trim %} x {% endset %}[{{ b }}]
====
{% if no %}a{% elif n == 7 %}b{% else %}c{% endif %}{% if no %}a{% elif no %}b{% else %}c{% endif %}
====
{% macro f(a, b=2, c='x') %}{{ a }}-{{ b }}-{{ c }}{% endmacro %}{{ f(1) }} {{ f(1, c=3) }} {{ f(1, 4, 5) }} {{ f() }}
====
{% macro f(a) %}{{ a }}{% if a %}{{ f(a - 1) }}{% endif %}{% endmacro %}{{ f(4) }}
====
{% macro f(a, b=a) %}{{ a }}{{ b }}{% endmacro %}{{ f(1) }}{{ f(1, 2) }}
====
{% set g = 5 %}{% macro f() %}{{ g }}{% set g = 6 %}{{ g }}{% endmacro %}{{ f() }}{{ g }}
====
{% macro box(t) %}<{{ t }}:{{ caller() }}>{% endmacro %}{% call box('a') %}body {{ n }}{% endcall %}
====
{% macro each(l) %}{% for i in l %}{{ caller(i) }};{% endfor %}{% endmacro %}{% call(x) each(l) %}<{{ x }}>{% endcall %}
====
{% filter upper %}abc {{ s }}{% endfilter %}{% filter replace('a', 'b')|upper %}aaa{% endfilter %}
====
{% filter upper is string %}a{% endfilter %}
====
{% filter upper is string | upper %}a{% endfilter %}
====
{% filter upper()() %}a{% endfilter %}
====
{% set b | upper is string | upper %}x{% endset %}
====
{% set b | upper | replace('X', 'y') %}x{% endset %}{{ b }}
====
{% raw %}{{ not }} {% run %}{% endraw %}{{ n }}
====
a {# comment {{ n }} #} b
{# line #}
c
====
  {% if yes %}
    x
  {% endif %}
y
====
  {%- if yes %}
    x
  {%- endif %}
y
====
a {{- n -}} b
====
a
{{- n -}}
b
====
a   {%+ if yes %} b {% endif +%}
c
====
{% if yes -%}   x   {%- endif %}  y
====
x {% set a = 1 %} y
====
{{ n }}
{{ n }}

====
{% for m in m %}
{{ m.role }}: {{ m.content }}
{% endfor %}
end
====
line1\r\nline2
====
{% generation %}g{{ n }}{% endgeneration %}
====
{%- for x in l -%} {{ x }} {%- endfor -%} !
====
{{ '{{' }}{{ '%}' }}{{ "#}" }}
====
{{ {'a': {'b': 1}}['a']['b'] }}{{ {'a': {'b': {}}} }}
====
{% set l2 = [] %}{% for i in l %}{% set _ = l2.append(i * 2) %}{% endfor %}{{ l2 }}{{ l2.pop() }}{{ l2 }}{{ l2.pop(0) }}{{ l2 }}
====
{% set x = {} %}{% set _ = x.update({'a': 1}) %}{{ x }}{% set _ = x.update(b=2) %}{{ x }}
====
{% if %}
====
{% endif %}
====
{% for i in l %}
====
{% set 1 = 2 %}
====
{% set s.a = 2 %}
====
{% unknown %}
====
{{ n
====
{% if n
====
{# never ends
====
{% raw %} never ends
====
{% break %}
====
{% macro f(a) %}{{ a }}{% endmacro %}{{ f(1, 2) }}
====
{% for a, b in [1] %}{% endfor %}
====
{% for a, b in [(1, 2, 3)] %}{% endfor %}
====
{% for i in n %}{% endfor %}
====
{% if missing %}a{% else %}b{% endif %}{{ missing }}{{ missing|length }}
"""


def user(text): return {"role": "user", "content": text}
def answer(text): return {"role": "assistant", "content": text}
def system(text): return {"role": "system", "content": text}


TOOLS = [{"type": "function", "function": {"name": "weather", "description": "Weather <of> a place & more", "parameters": {
    "type": "object", "properties": {"city": {"type": "string", "description": "The city"},
                                     "days": {"type": "integer", "default": 3}}, "required": ["city"]}}}]
CALL = {"role": "assistant", "content": "", "tool_calls": [
    {"id": "abcdefghi", "type": "function", "function": {"name": "weather", "arguments": {"city": "Zürich", "days": 2}}}]}
RESULT = {"role": "tool", "tool_call_id": "abcdefghi", "name": "weather", "content": "{\"t\": 21.5}"}
CONVERSATIONS = [
    {"messages": [user("Hello")]},
    {"messages": [system("Be brief."), user("Hi"), answer("Hello!"), user("How are you?")]},
    {"messages": [user("  spaces \n\n"), answer("<think>\nhm\n</think>\n\nAnswer"), user("<|im_end|> </s> [INST]")]},
    {"messages": [system(""), user("")]},
    {"messages": [user("é漢字🎉")], "enable_thinking": False},
    {"messages": [user("q"), answer("a"), user("r")], "enable_thinking": True},
    {"messages": [system("s"), user("weather?")], "tools": TOOLS},
    {"messages": [user("weather?"), CALL, RESULT, user("thanks")], "tools": TOOLS},
    {"messages": [user("weather?"), CALL, RESULT, answer("21.5"), user("and?")], "tools": TOOLS, "enable_thinking": False},
    {"messages": [user("x"), {"role": "assistant", "content": "y", "reasoning_content": "because"}, user("z")]},
    {"messages": [user("q")], "add_generation_prompt": False},
    {"messages": [user("q")], "documents": [{"title": "T", "text": "body", "content": "c"}]},
]
for conversation in CONVERSATIONS:
    for key, value in {"bos_token": "<BOS>", "eos_token": "<EOS>", "add_generation_prompt": True}.items():
        conversation.setdefault(key, value)


def render(source, context):
    """The text; None where jinja2 refuses."""
    try:
        return env.from_string(source).render(**json.loads(json.dumps(context)))
    except Exception:
        return None


def quote(text):
    if text is None:
        return "NULL"
    out, after_hex = [], False
    for byte in text.encode():
        c = chr(byte)
        if c in '"\\':
            out.append("\\" + c)
        elif c == "\n":
            out.append("\\n")
        elif 32 <= byte < 127 and c != "?":
            out.append(('" "' if after_hex and c in "0123456789abcdefABCDEF" else "") + c)
            after_hex = False
            continue
        else:
            out.append("\\%03o" % byte)
        after_hex = False
    return '"' + "".join(out) + '"'


def wrap(literal, width=112):
    """A long literal, in pieces on lines of their own."""
    if len(literal) <= width or literal == "NULL":
        return literal
    body, pieces = literal[1:-1], []
    while body:
        n = min(width - 2, len(body))
        while n < len(body) and (body[n - 1] == "\\" or "\\" in body[n - 4:n]):
            n -= 1
        pieces.append('"%s"' % body[:n])
        body = body[n:]
    return "\n     ".join(pieces)


def fnv(data):
    h = 0xcbf29ce484222325
    for byte in data:
        h = ((h ^ byte) * 0x100000001b3) & 0xffffffffffffffff
    return h


def main():
    cases = ["{{ %s }}" % line for line in EXPRESSIONS.strip().split("\n")]
    cases += [t.replace("\\r", "\r") for t in TEMPLATES[1:-1].split("\n====\n")]
    print("/* SPDX-License-Identifier: MIT */")
    print("/* What jinja2 %s makes of small templates; tests/golden/jinja.py wrote this file. */\n#include <stdint.h>\n" % jinja2.__version__)
    print("static const char jinja_context[] =\n    %s;\n" % wrap(quote(json.dumps(CONTEXT, ensure_ascii=False))))
    print("/* text NULL: jinja2 refuses. */\nstatic const struct {\n    const char *source, *text;\n} jinja_cases[] = {")
    for source in cases:
        print("    {%s,\n     %s}," % (wrap(quote(source)), wrap(quote(render(source, CONTEXT)))))
    print("};\n")
    print("static const char *const jinja_conversations[] = {")
    for conversation in CONVERSATIONS:
        print("    %s," % wrap(quote(json.dumps(conversation, ensure_ascii=False))))
    print("};\n")
    print("/* FNV-1a of the renderings of all conversations, each after a line \"ok\" or \"refused\". */")
    print("static const struct {\n    const char *name;\n    uint64_t hash;\n} jinja_models[] = {")
    for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.jinja"))) if len(sys.argv) > 1 else []:
        data = b""
        with open(path, newline="") as file:
            source = file.read()
        if "strftime_now" in source:
            continue  # its text depends on the day
        for conversation in CONVERSATIONS:
            text = render(source, conversation)
            data += b"refused\n" if text is None else b"ok\n" + text.encode() + b"\n"
        print('    {"%s", 0x%016xu},' % (os.path.basename(path), fnv(data)))
    print("};")


main()
