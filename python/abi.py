#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes vouch/_abi.py, the types and functions of include/vouch.h in ctypes:  abi.py HEADER OUTPUT [CC...]

The binding can't fall behind the header, because this script reads it anew in each build. The compiler's preprocessor
expands the lists. The rest has few forms, and a form that the script doesn't know is an error:

    typedef enum NAME { A, B = 1 << A, ... } NAME;     a name of an opaque struct:  typedef struct NAME NAME;
    typedef struct NAME { fields } NAME;               typedef RESULT (*NAME)(PARAMETERS);
    RESULT NAME(PARAMETERS);

tests/test_abi.py compares sizes and offsets with the compiler's.
"""
import re
import subprocess
import sys

SCALARS = {
    "void": "None", "bool": "c_bool", "_Bool": "c_bool", "char": "c_char", "int": "c_int", "unsigned": "c_uint",
    "int32_t": "c_int32", "int64_t": "c_int64", "uint64_t": "c_uint64", "size_t": "c_size_t", "float": "c_float",
    "double": "c_double",
}


def preprocess(header, compiler):
    text = subprocess.run([*compiler, "-E", "-P", "-x", "c", header], check=True, capture_output=True, text=True).stdout
    text = re.sub(r"__attribute__\s*\(\(.*?\)\)\)", "", text)  # visibility("default")
    return re.sub(r"\s+", " ", text)


class Header:
    """The declarations of the header, as lines of Python."""

    def __init__(self, text):
        self.text = text
        self.constants = {}
        self.enums, self.callbacks = set(), set()
        self.opaque = set(re.findall(r"typedef struct (vouch_\w+) \1 ?;", text))
        self.structs = set()
        self.lines = []

    # ---------------------------------------------------------------- types

    def type_of(self, declaration, text_has_length=False):
        """The ctypes type of a declaration without its name, such as `const vouch_step *`. A pointer to text whose
        length stands beside it stays a pointer: the text need not end with a NUL."""
        words = declaration.replace("*", " * ").split()
        stars = words.count("*")
        base = [w for w in words if w not in ("*", "const", "struct", "enum")]
        if len(base) != 1:
            raise SystemExit(f"abi.py: vouch.h: unknown type: {declaration}")
        base = base[0]
        if base in self.opaque or base == "void" and stars:
            name, stars = "c_void_p", stars - 1
        elif base == "char" and stars:
            name, stars = "c_void_p" if text_has_length else "c_char_p", stars - 1
        elif base in self.enums:
            name = "c_int"
        elif base in self.structs or base in self.callbacks:
            name = base
        elif base in SCALARS:
            name = SCALARS[base]
        else:
            raise SystemExit(f"abi.py: vouch.h: unknown type: {declaration}")
        if stars < 0:
            raise SystemExit(f"abi.py: vouch.h: an opaque struct by value: {declaration}")
        return "POINTER(" * stars + name + ")" * stars

    def number(self, expression):
        return int(eval(expression, {"__builtins__": {}}, dict(self.constants)))  # of the header: 64 + 1, 1 << NAME

    def callback_of(self, result, parameters):
        types = [self.type_of(self.split_name(p)[0]) for p in parameters.split(",")]
        return f"CFUNCTYPE({', '.join([self.type_of(result), *types])})"

    @staticmethod
    def split_name(declaration):
        """("const char *", "text") of `const char *text`."""
        match = re.fullmatch(r"\s*(.*?[\s*])(\w+)\s*", declaration)
        if not match:
            raise SystemExit(f"abi.py: vouch.h: unknown declaration: {declaration}")
        return match[1].strip(), match[2]

    # --------------------------------------------------------- declarations

    def add_enum(self, name, body):
        value = -1
        for item in filter(None, map(str.strip, body.split(","))):
            constant, _, expression = map(str.strip, item.partition("="))
            value = self.number(expression) if expression else value + 1
            self.constants[constant] = value
            self.lines.append(f"{constant} = {value}")
        if name:
            self.enums.add(name)

    def add_struct(self, name, body):
        members = []  # (name, declaration of the type, length)
        for member in filter(None, map(str.strip, body.split(";"))):
            pointer = re.fullmatch(r"(.*?)\(\*(\w+)\)\((.*)\)", member)
            if pointer:
                members.append((pointer[2], self.callback_of(pointer[1], pointer[3]), None))
                continue
            first, *others = member.split(",")
            length = re.search(r"\[(.*)\]\s*$", first)
            declaration, field = self.split_name(first[:length.start()] if length else first)
            members.append((field, declaration, length and self.number(length[1])))
            base = declaration.replace("*", "").strip()
            for other in others:  # `const char *a, *b` and `int32_t a, b`
                stars, field = re.fullmatch(r"\s*(\**)\s*(\w+)\s*", other).groups()
                members.append((field, base + " " + stars, None))
        names = {m[0] for m in members}
        fields = []
        for field, declaration, length in members:
            kind = declaration
            if not kind.startswith("CFUNCTYPE"):
                kind = self.type_of(declaration, "n_" + field in names and declaration.count("*") == 1)
            fields.append(f'    ("{field}", {kind}{f" * {length}" if length else ""}),')
        self.structs.add(name)
        self.lines += ["", "", f"class {name}(Structure):", "    pass", "", "", f"{name}._fields_ = [", *fields, "]"]

    def add_function(self, result, name, parameters):
        parameters = [] if parameters.strip() == "void" else parameters.split(",")
        split = [self.split_name(p) for p in parameters]
        names = {p[1] for p in split}
        types = [self.type_of(kind, "capacity" in names and p == "text" and "const" not in kind) for kind, p in split]
        result = self.type_of(result, "n_bytes" in names)
        self.lines.append(f'    "{name}": ({result}, [{", ".join(types)}]),')

    def read(self):
        kinds = re.compile(
            r"typedef enum (?P<enum>vouch_\w+) \{(?P<values>[^}]*)\} \w+ ?;"
            r"|(?<![\w ])\s*enum \{(?P<unnamed>[^}]*)\} ?;"
            r"|typedef struct (?P<struct>vouch_\w+) \{(?P<fields>[^}]*)\} \w+ ?;"
            r"|typedef (?P<back>[^;{}()]*)\(\*(?P<callback>vouch_\w+)\)\((?P<given>[^)]*)\) ?;"
            r"|(?<=[;}])(?P<result>[^;{}()]*?[ *])(?P<function>vouch_\w+)\((?P<parameters>[^)]*)\) ?;")
        functions = []
        for m in kinds.finditer(self.text):
            if m["enum"]:
                self.add_enum(m["enum"], m["values"])
            elif m["unnamed"] and "VOUCH_" in m["unnamed"]:
                self.add_enum(None, m["unnamed"])
            elif m["struct"]:
                self.add_struct(m["struct"], m["fields"])
            elif m["callback"]:
                self.callbacks.add(m["callback"])
                self.lines.append(f"{m['callback']} = {self.callback_of(m['back'], m['given'])}")
            elif m["function"]:
                functions.append((m["result"], m["function"], m["parameters"]))
        self.lines += ["", "# name: (result, parameters)", "FUNCTIONS = {"]
        for function in functions:
            self.add_function(*function)
        self.lines.append("}")


def main(header, output, *compiler):
    parsed = Header(preprocess(header, compiler or ["cc"]))
    parsed.read()
    with open(header, encoding="utf-8") as file:
        raw = file.read()
    version = re.search(r'#define VOUCH_VERSION "(.*)"', raw)[1]
    promised = set(re.findall(r"^VOUCH_API [^(]*?(vouch_\w+)\(", raw, re.M))
    found = {line.split('"')[1] for line in parsed.lines if line.startswith('    "')}
    if promised != found:
        raise SystemExit(f"abi.py: vouch.h: functions that the script can't read: {sorted(promised ^ found)}")
    with open(output, "w", encoding="utf-8") as file:
        file.write("# Written by python/abi.py from include/vouch.h.\nfrom ctypes import *\n\n"
                   f'VERSION = "{version}"\n')
        file.write("\n".join(parsed.lines) + "\n")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__.splitlines()[0])
    main(*sys.argv[1:])
