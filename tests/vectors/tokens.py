"""Makes `compiler/faultspec/leaks/tokens.py` of the rules of gitleaks: those for tokens that name
their vendor.

    python tests/vectors/tokens.py gitleaks.toml v8.30.0 > compiler/faultspec/leaks/tokens.py

The file is `config/gitleaks.toml` of https://github.com/gitleaks/gitleaks (MIT). A rule is taken
when one of its keywords is a part of the token itself, at least four characters long: what has to
be recognised by a name in front of it is a matter of source code and configuration, which errors do
not hold. RE2's syntax becomes Python's, and every repetition gets a bound.
"""

import re
import sys
import tomllib
from collections.abc import Iterator

SHORTEST = 4

MOST = 400
"""Characters that a repetition without a bound may take: the longest of these tokens has fewer."""

END = r"""(?:[\x60'"\s;]|\\[nr]|$)"""

LEFT_OUT = {
    "clickhouse-cloud-api-secret-key": "its mark, 4b1d, is hexadecimal, and so are ids",
    "curl-auth-header": "a command line",
    "curl-auth-user": "a command line",
    "flutterwave-public-key": "public",
    "freemius-secret-key": "source code of PHP",
    "kubernetes-secret-yaml": "a configuration",
    "nuget-config-password": "a configuration",
    "private-key": "asks for the whole key; its first line is enough, and has a pattern of our own",
    "sidekiq-sensitive-url": "a URL with credentials, which is a connection string whatever its host",
    "sourcegraph-access-token": "any 40 hexadecimal digits, as a commit has",
}


def bounded(expression: str) -> str:
    """The expression in Python's syntax, with a bound to every repetition."""
    out, index, inside = "", 0, False
    while index < len(expression):
        sign = expression[index]
        if sign == "\\":
            pair = expression[index : index + 2]
            out += {"\\z": r"\Z"}.get(pair, pair)
            index += 2
            continue
        if expression.startswith("[[:alnum:]]", index):
            out, index = out + "[A-Za-z0-9]", index + len("[[:alnum:]]")
            continue
        if inside:
            inside = sign != "]"
        elif sign == "[":
            inside = True
            if expression[index + 1 : index + 2] == "]":
                out, index = out + "[", index + 1
        elif sign in "+*":
            out, index = out + f"{{{int(sign == '+')},{MOST}}}", index + 1
            continue
        elif found := re.match(r"\{(\d+),\}", expression[index:]):
            out, index = out + f"{{{found[1]},{max(MOST, int(found[1]))}}}", index + len(found[0])
            continue
        out, index = out + sign, index + 1
    return out


def scoped(expression: str) -> str:
    """`(?i)` in the middle, which holds to the end of its group in RE2, as a group of its own."""
    while (found := expression.find("(?i)", 1)) > 0:
        depth, index = 0, found + 4
        while index < len(expression) and depth >= 0:
            if expression[index] == "\\":
                index += 1
            elif expression[index] in "()":
                depth += 1 if expression[index] == "(" else -1
            index += 1
        end = index - 1 if depth < 0 else index
        expression = f"{expression[:found]}(?i:{expression[found + 4 : end]}){expression[end:]}"
    return expression


def rows(rules: list[dict[str, object]]) -> Iterator[tuple[str, tuple[str, ...], str, float]]:
    """Id, needles, expression and least entropy of each rule that is taken."""
    for rule in rules:
        expression, name = str(rule.get("regex", "")), str(rule["id"])
        keywords = tuple(str(each) for each in rule.get("keywords", ()))  # type: ignore[attr-defined]
        literal = re.sub(r"\\(.)", r"\1", expression).lower()
        if name in LEFT_OUT or r":{1,3}=" in expression or not keywords:
            continue
        if any(len(each) < SHORTEST or each not in literal for each in keywords):
            continue
        # The end of a token in source code is not one in a sentence.
        found = scoped(bounded(expression)).replace(END, r"(?![\w-])")
        re.compile(found)
        yield name, keywords, found, float(rule.get("entropy", 0))  # type: ignore[arg-type]


def main(path: str, version: str) -> None:
    """Print the module."""
    with open(path, "rb") as file:
        rules = tomllib.load(file)["rules"]
    print(f'''"""Tokens that name their vendor: the rules of gitleaks {version}, one a row. Made by `tests/vectors/tokens.py`.

Copyright (c) 2019 Zachary Rice. Permission is hereby granted, free of charge, to any person obtaining a copy of this software
and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation
the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions: The above copyright notice and this
permission notice shall be included in all copies or substantial portions of the Software. THE SOFTWARE IS PROVIDED "AS IS",
WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A
PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR
OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR
THE USE OR OTHER DEALINGS IN THE SOFTWARE.
"""

# A row is a rule, kept on one line however long: its name, its needles, its pattern, the least entropy of the token in bits a
# character.
# ruff: noqa: E501
# fmt: off
TOKENS: tuple[tuple[str, str, str, float], ...] = (''')
    for name, needles, expression, entropy in rows(rules):
        quoted = f'r"{expression}"' if '"' not in expression else f"r'''{expression}'''"
        print(f'    ("{name}", "{"|".join(needles)}", {quoted}, {entropy:g}),')
    print(")\n# fmt: on")


if __name__ == "__main__":
    main(*sys.argv[1:])
