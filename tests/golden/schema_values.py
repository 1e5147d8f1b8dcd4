# SPDX-License-Identifier: MIT
"""Makes schema_values.h: random JSON schemas of the keywords that need negation, and which of some values jsonschema
accepts.

    python3 tests/golden/schema_values.py [SEED NUMBER] >tests/golden/schema_values.h     (needs jsonschema)"""
import importlib.metadata, itertools, json, random, sys
import jsonschema

SEED, NUMBER = (int(word) for word in sys.argv[1:3]) if len(sys.argv) > 2 else (1, 250)
SIMPLE = [None, True, False, 0, 1, 2, -1, 0.5, 1.5, "", "a", "b", "ab", "abc"]
ARRAYS = [[], [0], [1], ["a"], [None], [0, 0], [0, 1], [1, "a"], ["a", 0], ["a", "a"], [0, 1, 2], [1, 1, 1], ["a", 1, 1],
          [1, "a", 1], [0, 1, 0, 1], [[]], [{}]]
OBJECTS = [{}, {"d": 1}, {"a": 1, "d": "a"}, {"a": {}}, {"a": {"a": 1}}, {"a": [1]}]
OBJECTS += [{name: value} for name in "abc" for value in (0, 1, "a")]
OBJECTS += [dict(zip(names, values)) for names in itertools.combinations("abc", 2)
            for values in itertools.product((0, 1, "a"), repeat=2)]
OBJECTS += [dict(zip("abc", values)) for values in itertools.product((1, "a"), repeat=3)]
VALUES = SIMPLE + ARRAYS + OBJECTS
CONSTANTS = [0, 1, "a", "b", "", None, True, 0.5, [], {}]
TYPES = ["integer", "number", "string", "null", "boolean", "array", "object"]
rng = random.Random(SEED)


def leaf():
    return rng.choice([
        {"const": rng.choice(CONSTANTS)}, {"enum": rng.sample(CONSTANTS, rng.randint(1, 3))},
        {"type": rng.choice(TYPES)}, {"type": rng.sample(TYPES, 2)}, {"minimum": rng.choice([0, 1, 0.5])},
        {"exclusiveMaximum": rng.choice([1, 2, 0.5])}, {"minLength": rng.randint(0, 2)},
        {"maxLength": rng.randint(0, 2)}, {"minItems": rng.randint(0, 2)}, {"maxItems": rng.randint(0, 2)},
        {"required": rng.sample("abc", rng.randint(1, 2))}, {"type": "integer", "minimum": 1}, {}])


def keyword(depth):
    """Some keywords with random values."""
    def child():
        return rng.choice([True, False]) if rng.random() < 0.1 else schema(depth - 1)

    def some():
        return [child() for _ in range(rng.randint(1, 3))]

    contains = {"contains": child()}
    contains.update({"minContains": rng.randint(0, 2)} if rng.random() < 0.4 else {})
    contains.update({"maxContains": rng.randint(0, 2)} if rng.random() < 0.4 else {})
    condition = {"if": child()}
    condition.update({"then": child()} if rng.random() < 0.8 else {})
    condition.update({"else": child()} if rng.random() < 0.5 else {})
    return rng.choice([
        {"not": child()}, condition, condition, contains, leaf(), {"allOf": some()}, {"anyOf": some()},
        {"oneOf": some()}, {"items": child()}, {"prefixItems": some()}, {"additionalProperties": child()},
        {"type": rng.choice(TYPES)}, {"dependentSchemas": {rng.choice("abc"): child()}},
        {"dependentRequired": {name: rng.sample("abc", rng.randint(0, 2)) for name in rng.sample("abc", 2)}},
        {"properties": {name: child() for name in sorted(rng.sample("abc", rng.randint(1, 2)))}},
        {"unevaluatedProperties": rng.choice([False, child()])}, {"unevaluatedItems": rng.choice([False, child()])}])


def schema(depth):
    if depth <= 0 or rng.random() < 0.15:
        return leaf()
    made = {}
    for _ in range(rng.randint(1, 3)):
        made.update(keyword(depth))
    return made


def literal(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def lines(text, width=110):
    """A string literal over several lines."""
    return "\n     ".join(literal(text[at:at + width]) for at in range(0, len(text), width))


def main():
    print("/* SPDX-License-Identifier: MIT */")
    print(f"/* What jsonschema {importlib.metadata.version('jsonschema')} accepts; tests/golden/schema_values.py wrote "
          "this file. */\n")
    print("static const char *const schema_values[] = {")
    for value in VALUES:
        print(f"    {literal(json.dumps(value, separators=(',', ':')))},")
    print("};\n\n/* `valid` has a 1 for each of schema_values that is valid, and a 0 for each other one. */")
    print("static const struct {\n    const char *schema, *valid;\n} schema_cases[] = {")
    seen = set()
    while len(seen) < NUMBER:
        made = schema(rng.choice([1, 2, 2, 3]))
        text = json.dumps(made)
        validator = jsonschema.Draft202012Validator(made)
        valid = "".join("01"[validator.is_valid(value)] for value in VALUES)
        if text in seen or "0" not in valid or "1" not in valid or len(text) > 400:
            continue
        seen.add(text)
        print(f"    {{{lines(text)},\n     {lines(valid)}}},")
    print("};")


main()
