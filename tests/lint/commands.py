#!/usr/bin/env python3
"""Compare the programs that this repository runs with the packages that the Makefile lists.

    commands.py NAME=PACKAGES=PLACE,... ... <exceptions

What lies in those places (files and folders; . is everything) may run the programs of an essential Debian
system and of those packages, which are written as setup.sh takes them. The level with the longest place
counts for a file. A line of the exceptions is COMMAND PLACE,... REASON.

The commands are those that shfmt's parser sees in scripts, in what make would run (make -n), and in strings
that a shell is given; and those that Python and C sources start. dpkg's data say what packages contain, not
the PATH, because a machine for development has more. A command whose name is only known when it runs is not
seen.
"""
import ast
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap

# Programs that run another one, with their options that take a value. The first word after those is run.
WRAPPERS = {
    "command": "", "exec": "-a", "env": "-u -C -S", "nice": "-n", "nohup": "", "setsid": "", "sudo": "-u -g",
    "time": "-f -o", "timeout": "-k -s", "xargs": "-n -P -I -L -d -a -s", "taskset": "", "unshare": "",
    "run": "", "stdbuf": "", "chrt": "", "setarch": "", "prlimit": "", "coproc": "", "builtin": "",
}
ONE_MORE = {"timeout", "taskset", "setarch", "chrt"}  # the first word of these is a value
OPERAND = "\0"  # stands for what is only known when the script runs


def words_of(call):
    return [text_of(word) for word in call.get("Args") or []]


def text_of(word):
    """The word's text, with OPERAND for expansions; the default of ${NAME:-word}."""
    text = ""
    for part in word.get("Parts") or []:
        kind = part["Type"]
        if kind in ("Lit", "SglQuoted"):
            value = part.get("Value", "")
            text += re.sub(r"\\(.)", r"\1", value) if kind == "Lit" else value
        elif kind == "DblQuoted":
            text += text_of(part)
        elif kind == "ParamExp" and (part.get("Exp") or {}).get("Word") and len(word["Parts"]) == 1:
            text += text_of(part["Exp"]["Word"])
        elif kind == "ParamExp" and part["Param"]["Value"] == "@":
            offset = (part.get("Slice") or {}).get("Offset") or {}
            text += OPERAND + "@" + (text_of(offset) or "1")
        elif kind == "ParamExp" and not part.get("Exp"):
            text += OPERAND + "$" + part["Param"]["Value"]
        else:
            text += OPERAND
    return text


def nodes(tree, without=None):
    """All objects of the tree, in no order; nothing below one of the type without."""
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack.extend(node)
        elif isinstance(node, dict):
            yield node
            if without is None or node.get("Type") != without:
                stack.extend(
                    value
                    for key, value in node.items()
                    if isinstance(value, (dict, list)) and not key.endswith(("Pos", "End"))
                )


def parse_shell(text, dialect):
    words = ["shfmt", "-ln", dialect, "-tojson"]  # as 3.4 and newer know it
    done = subprocess.run(words, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SyntaxError(done.stderr.strip())
    return json.loads(done.stdout)


class Script:
    """Commands of a shell script, and of what it gives to other interpreters."""

    def __init__(self, path, text, dialect):
        self.path = path
        self.commands = []  # (name, line)
        self.functions = {}  # name: position of the first argument that it runs as a command, or None
        self.values = {}  # literals that variables are set to
        self.pending = []  # (here document, words, line) of calls, looked at when all functions are known
        self.read(parse_shell(text, dialect), 0)

    def read(self, tree, lines_before):
        calls, here_documents = [], {}
        for node in nodes(tree):
            kind = node.get("Type")
            if kind == "FuncDecl":
                self.functions[node["Name"]["Value"]] = runs_argument(node)
            if kind == "CallExpr" and node.get("Args"):
                calls.append((node, words_of(node), node["Pos"]["Line"] + lines_before))
            for assign in node.get("Assigns") or []:
                if assign.get("Name") and assign.get("Value"):
                    self.values.setdefault(assign["Name"]["Value"], set()).add(text_of(assign["Value"]))
            for redirection in node.get("Redirs") or []:
                if redirection.get("Hdoc") and node.get("Cmd"):
                    here_documents[id(node["Cmd"])] = text_of(redirection["Hdoc"])
        self.pending += [(here_documents.get(id(node), ""), words, line) for node, words, line in calls]

    def sources(self, scripts):
        """Paths of the scripts that it sources, or has bats load, and of those that they source."""
        found = set()
        for _, words, _ in self.pending:
            if words[0] not in (".", "source", "load") or not words[1:]:
                continue
            place = re.sub(f".*{OPERAND}[@$]?\\w*", ".", words[1]).removesuffix(".bash") + ".bash"
            for folder in (os.path.dirname(self.path), ""):  # the script's own, or the repository
                path = os.path.normpath(os.path.join(folder, place))
                if path in scripts and path != self.path:
                    found |= {path} | scripts[path].sources(scripts)
        return found

    def look(self, functions):
        while self.pending:
            document, words, line = self.pending.pop()
            self.look_at(words, line, document, functions)

    def look_at(self, words, line, document, functions):
        for name, rest in commands_in(words):
            if name.startswith(OPERAND + "$"):
                for value in self.values.get(name[2:], ()):
                    if not value.startswith(name):
                        self.look_at(value.split() + rest, line, document, functions)
            else:
                self.add(name, rest, line, document, functions)

    def add(self, name, rest, line, document, functions):
        script = next((text for word, text in zip(rest, rest[1:]) if re.fullmatch(r"-[a-z]*c", word)), None)
        if name in functions:
            first = functions[name]
            if first is not None and rest[first:] and name not in WRAPPERS:  # commands_in() knows those
                self.look_at(rest[first:], line, document, functions)
            if name != "python3":
                return
        else:
            self.commands.append((name, line))
        if name in ("sh", "bash", "dash") and script:
            self.inner(script, line)
        if name == "trap" and rest:
            self.inner(rest[0], line)
        if name == "eval" and rest:
            self.inner(" ".join(rest), line)
        if name.startswith("python3"):
            self.commands += python_commands(script or document, line)

    def inner(self, text, line):
        try:
            tree = parse_shell(without_operands(text), "bash")
        except SyntaxError:  # what stands there is only known when it runs
            return
        self.read(tree, line - 1)


def runs_argument(function):
    """The argument that "$@" or "${@:N}" begins with where the function runs it as a command."""
    inside = nodes(function["Body"], "FuncDecl")
    calls = [node for node in inside if node.get("Type") == "CallExpr" and node.get("Args")]
    shifted = 0
    for call in sorted(calls, key=lambda node: node["Pos"]["Offset"]):
        words = words_of(call)
        if words[0] == "shift":
            shifted += int(words[1]) if words[1:] and words[1].isdigit() else 1
        for word, _ in commands_in(words):
            if word.startswith(OPERAND + "@") and word[2:].isdigit():
                return int(word[2:]) - 1 + shifted
    return None


def without_operands(text):
    """The text with something that is no command for what is only known when it runs."""
    return re.sub(OPERAND + r"([@$]\w*)?", "_/_", text)


def commands_in(words):
    """(name, its arguments): of the command itself and of each that it is a wrapper of."""
    while words:
        name, rest = words[0], words[1:]
        if re.match(r"\w+=", name):
            words = rest
            continue
        if name == "command" and rest[:1] and re.fullmatch("-[vV]+", rest[0]):
            return
        yield name, rest
        if name == "find":
            for i, word in enumerate(rest[:-1]):
                if word in ("-exec", "-execdir", "-ok"):
                    yield rest[i + 1], rest[i + 2 :]
        if name not in WRAPPERS:
            return
        values = WRAPPERS[name].split()
        while rest and rest[0].startswith("-"):
            rest = rest[2:] if rest[0] in values else rest[1:]
        if name in ONE_MORE:
            rest = rest[1:]
        words = rest


STARTERS = {"run", "Popen", "call", "check_call", "check_output", "execvp", "execlp", "posix_spawnp"}


def python_commands(text, line_before=0):
    """Programs that Python starts, where their names are literals: in lists, and in strings for a shell."""
    try:
        tree = ast.parse(textwrap.dedent(without_operands(text)))
    except SyntaxError:
        return []
    found = []
    values = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args or not isinstance(node.func, ast.Attribute):
            continue
        module = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
        first = node.args[0]
        if isinstance(first, ast.Name):
            first = values.get(first.id, first)
        if isinstance(first, ast.BinOp):
            first = first.left
        line = node.lineno + max(line_before - 1, 0)
        if module == "os" and node.func.attr in ("system", "popen"):
            found += [(name, line) for name in shell_names(first)]
        elif module in ("subprocess", "os") and node.func.attr in STARTERS:
            if isinstance(first, (ast.List, ast.Tuple)):
                words = [literal(each) for each in first.elts]
                found += [(name, line) for name, _ in commands_in(words)]
            elif any(key.arg == "shell" for key in node.keywords):
                found += [(name, line) for name in shell_names(first)]
            elif isinstance(first, ast.Constant) and isinstance(first.value, str):
                found.append((first.value, line))
    return found


def literal(node):
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else OPERAND


def shell_names(node):
    """Commands of a string for a shell, as Python writes it: parts that are not literal are operands."""
    if isinstance(node, ast.JoinedStr):
        text = "".join(literal(part) for part in node.values)
    else:
        text = literal(node)
    return string_commands(text)


def string_commands(text):
    try:
        script = Script("", without_operands(text), "bash")
    except SyntaxError:
        return []
    script.look({})
    return [name for name, _ in script.commands]


def c_commands(text):
    """What C sources name for exec, posix_spawnp, system and popen: in the call, or in what it is given."""
    string = r'"((?:[^"\\\n]|\\.)*)"'
    for call in re.finditer(r"\b(execv?l?p|execlp|execvpe?|posix_spawnp|system|popen)\s*\(([^;]*)\)", text):
        line = text.count("\n", 0, call.start()) + 1
        name, arguments = call.groups()
        texts = re.findall(rf"^\s*{string}", arguments)
        for variable in re.findall(r"^\s*(?:&\w+,\s*)?([a-z_]\w*)", arguments):
            texts += re.findall(rf"\bsnprintf\(\s*{variable},[^\"]*{string}", text)
            texts += re.findall(rf"\b{variable}(?:\[\])?\s*=\s*{{?\s*{string}", text)
        for each in texts:
            words = re.sub(r"%[-0-9.]*[a-z]+", "_/_", each)
            for command in string_commands(words) if name in ("system", "popen") else [each]:
                yield command, line
    # Arrays of words in files that start programs.
    if re.search(r"\b(execvpe?|posix_spawnp)\s*\(", text):
        for array in re.finditer(rf"\bchar \*(?:const )?\w+\[\w*\] = {{\s*{string}", text):
            yield array.group(1), text.count("\n", 0, array.start()) + 1


def make_commands(targets, with_shell, problems):
    """Commands of what make would run where there is a CUDA toolkit, and of the Makefile's $(shell ...)."""
    options = ["NVCC=nvcc", "CUDA_HOME=/", "CUPTI_H=/x.h", "CUDA_H=/x.h", "BUILD=build/none", "CC=cc", "V=1"]
    callers = ("MAKEFLAGS", "MAKELEVEL", "CFLAGS")
    variables = {name: value for name, value in os.environ.items() if name not in callers}
    # jobs next to each other would print into each other's lines
    words = ["make", "--no-print-directory", "-j1", "-knB", *options, *targets.split()]
    done = subprocess.run(words, capture_output=True, text=True, env=variables, check=False)
    if done.returncode != 0:
        problems.append(f"make -n {targets}: {done.stderr.strip().splitlines()[-1]}")
    script = Script("Makefile", done.stdout, "bash")
    if with_shell:
        with open("Makefile", encoding="utf-8") as file:
            for call in shell_calls(file.read()):
                script.inner(call, 1)
    script.look({})
    return [(name, 0) for name, _ in script.commands]


def shell_calls(text):
    """What stands in $(shell ...) of a makefile, whatever parentheses are in it."""
    for start in (match.end() for match in re.finditer(r"\$\(shell ", text)):
        depth, end = 1, start
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        yield re.sub(r"\$\([^()]*\)", "_", text[start : end - 1].replace("$$", "$"))


# ---- the files ----
MAKE_TARGETS = {"Makefile/demo": "demo", "Makefile": "check deb gpu-tests bench golden readme format help"}


def paths():
    """Yield what git tracks: a checkout may hold other folders.  Without git: what is not built or hidden."""
    tracked = output("git", "ls-files", "-z").split("\0")[:-1] if shutil.which("git") else []
    if tracked:
        yield from tracked
        return
    for folder, folders, names in os.walk("."):
        folders[:] = [name for name in folders if not name.startswith(("build", ".", "roofline-demo"))]
        for name in names:
            yield os.path.join(folder, name)[2:]


def files():
    for path in paths():
        name = os.path.basename(path)
        kind = name.rpartition(".")[2] if "." in name[1:] else ""
        if kind not in ("sh", "bash", "bats", "py", "c", "h", "cu", "cuh", "") or not os.path.isfile(path):
            continue
        if os.path.islink(path):
            continue
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        first = text.partition("\n")[0]
        if kind == "" and not first.startswith("#!"):
            continue
        yield path, kind or ("py" if "python" in first else "sh"), text


def shebang(text):
    words = text.partition("\n")[0].removeprefix("#!").split() if text.startswith("#!") else []
    return [(words[-1].rpartition("/")[2], 1)] if words else []


def found_commands():
    """{path: [(command, line)]}"""
    found, scripts, problems = {}, {}, []
    for path, kind, text in files():
        found[path] = shebang(text)
        try:
            if kind in ("sh", "bash", "bats"):
                scripts[path] = Script(path, text, "bats" if kind == "bats" else "bash")
            elif kind == "py":
                ast.parse(text)
                found[path] += python_commands(text)
            else:
                found[path] += c_commands(text)
        except SyntaxError as error:
            problems.append(f"{path}: {error}")
    sources = {path: script.sources(scripts) for path, script in scripts.items()}
    for path, script in scripts.items():
        functions = {}
        # A library may call what a script that sources it defines.
        for user in [path] + [each for each in scripts if path in sources[each]]:
            for library in sources[user]:
                functions |= scripts[library].functions
        script.look(functions | script.functions)
        found[path] += script.commands
    return found, problems


# ---- the packages ----
class Packages:
    """dpkg's database of this machine."""

    def __init__(self):
        fields = ["Package", "db:Status-Status", "Essential", "Provides", "Pre-Depends", "Depends"]
        self.rows, self.providers = {}, {}
        form = "\\t".join("${" + field + "}" for field in fields) + "\\n"
        for line in output("dpkg-query", "-W", "-f", form).splitlines():
            name, status, essential, provides, *needs = line.split("\t")
            if status != "installed":
                continue
            self.rows[name] = (essential == "yes", ",".join(needs))
            for each in names_of(provides):
                self.providers.setdefault(each, []).append(name)

    def closure(self, wanted):
        """The packages that are installed with these: those that they depend on, and the essential ones."""
        inside, stack = set(), [name for name, row in self.rows.items() if row[0]] + wanted
        while stack:
            name = stack.pop()
            if name in inside or name not in self.rows:
                continue
            inside.add(name)
            for alternatives in self.rows[name][1].split(","):
                for each in names_of(alternatives.replace("|", ",")):
                    here = [each] if each in self.rows else self.providers.get(each, [])[:1]
                    if here:
                        stack += here
                        break
        return inside

    def commands(self, wanted):
        """Programs in the folders of a PATH, and the names that the alternatives system gives them."""
        inside = sorted(self.closure(wanted))
        paths = {re.sub("^/(?=s?bin/)", "/usr/", path) for path in output("dpkg", "-L", *inside).splitlines()}
        names = {os.path.basename(path) for path in paths if re.match("/usr/s?bin/[^/]+$", path)}
        for file in os.listdir("/var/lib/dpkg/alternatives"):
            with open("/var/lib/dpkg/alternatives/" + file, encoding="utf-8") as lines:
                head, _, choices = lines.read().partition("\n\n")
            links = head.splitlines()[1::2]  # the alternative's own link, then those of its slaves
            if any(re.sub("^/(?=s?bin/)", "/usr/", choice) in paths for choice in choices.split()):
                names |= {os.path.basename(link) for link in links if "bin/" in link}
        return names


def output(*words):
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout


def names_of(field):
    return [re.sub(r"[ :(].*", "", part.strip()) for part in field.split(",") if part.strip()]


def provided(packages, items):
    """Commands of an essential system with these packages, or with what stands in for one."""
    wanted = [re.sub(r"[:?].*", "", item) for item in items]
    names = packages.commands(wanted)
    for item, name in zip(items, wanted):
        if ":" in item and name not in packages.rows:
            names.add(item.partition(":")[2])
    return names


def main():
    packages = Packages()
    known = set(output("bash", "-c", "compgen -b; compgen -k").split())
    known |= {"load", "run", "skip", "bats_require_minimum_version"}  # of bats
    exceptions = [line.split(None, 2) for line in sys.stdin.read().splitlines() if line.strip()]
    found, problems = found_commands()
    levels = []
    for argument in sys.argv[1:]:
        name, items, places = argument.split("=", 2)
        levels.append((name, provided(packages, items.split()), places.split(",")))
    for path, targets in MAKE_TARGETS.items():
        found[path] = make_commands(targets, path == "Makefile", problems)
    used = set()
    for path, commands in sorted(found.items()):
        level, there, _ = max(levels, key=lambda each: longest(each[2], path))
        excepted = {row[0] for row in exceptions if longest(row[1].split(","), path) >= 0}
        for command, line in sorted(set(commands)):
            if not re.fullmatch(r"[A-Za-z_][\w.+-]*", command) or command in known | there:
                continue
            if command in excepted:
                used.add(command)
            else:
                where = f"{path}:{line}: {command}"
                problems.append(f"{where} is in no package that the Makefile lists for {level}")
    problems += [f"{row[0]} is excepted, and nothing needs that" for row in exceptions if row[0] not in used]
    print("\n".join(problems), end="\n" if problems else "")


def longest(places, path):
    """Length of the longest of these places that the path is, or lies in; -1 where it is in none."""
    lies_in = [place for place in places if path == place or path.startswith(place + "/") or place == "."]
    return max((len(place) for place in lies_in), default=-1)


if __name__ == "__main__":
    main()
