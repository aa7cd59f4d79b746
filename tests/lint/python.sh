#!/usr/bin/env bash
# Python files: no warning of the compiler, lines of at most 110 columns, no tabs, and a docstring that opens
# each file.
source "$(dirname "$0")/common.bash"
skip_all_without python3

sources '*.py' | xargs python3 -W error -c '
import ast, sys
for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as file:
        text = file.read()
    try:
        tree = ast.parse(text, name)
        compile(text, name, "exec")
    except (SyntaxError, SyntaxWarning) as error:
        print(f"{name}: {error}")
        continue
    if not ast.get_docstring(tree):
        print(f"{name}: does not say in a docstring what it is")
    for number, line in enumerate(text.split("\n"), 1):
        if "\t" in line or len(line) > 110 or line != line.rstrip():
            print(f"{name}:{number}: a tab, a space at the end, or more than 110 columns")
' 2>&1 | verdict "every Python file compiles without a warning and keeps to the form"
finish
