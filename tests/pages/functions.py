#!/usr/bin/env python3
"""Functions of C++ (in src/ and include/) have at most 60 lines, from the name to the last brace, and 7 parameters.

    functions.py SOURCE    a line for each fault: file, line, name, found; exit code 1 if any
    functions.py --self-test
"""
import pathlib
import re
import sys
import tempfile

LINES, PARAMETERS = 60, 7
FOLDERS = ('src', 'include')
SUFFIXES = {'.cpp', '.hpp', '.h', '.c'}
# what is no code: comments, raw and plain strings, characters (not the ' in 1'000), lines of the preprocessor
SILENT = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
                    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'|^[ \t]*#(?:\\\n|[^\n])*", re.DOTALL | re.MULTILINE)
TOKEN = re.compile(r'operator\s*(?:\(\)|\[\]|[^\s\w(]+)|[A-Za-z_~][\w~]*|::|->|[^\s\w]|\d[\w.\']*')
CLOSING = {'(': ')', '[': ']', '{': '}', '<': '>'}
NO_NAME = {'alignas', 'decltype', 'explicit', 'noexcept', 'requires', 'static_assert'}


def silenced(text):
    """Text of the same lines, with nothing but code and empty strings."""
    return SILENT.sub(lambda match: ('""' if match[0][0] in 'R"' else ' ') + '\n' * match[0].count('\n'), text)


def after(tokens, at):
    """Where the bracket that opens at `at` has been closed."""
    opens, closes, depth = tokens[at][0], CLOSING[tokens[at][0]], 0
    while at < len(tokens):
        depth += (tokens[at][0] == opens) - (tokens[at][0] == closes)
        at += 1
        if depth == 0:
            break
    return at


def count_of(tokens):
    """Parameters between two parentheses: commas outside all brackets, and one more."""
    depth, count = 0, 1
    for text, _ in tokens:
        depth += (text in '([{<') - (text in ')]}>')
        count += text == ',' and depth == 0
    return count if tokens and [text for text, _ in tokens] != ['void'] else 0


def functions_in(text):
    """(name, line, lines, parameters) of each function that has a body; lambdas are lines of theirs."""
    code = silenced(text)
    tokens, line, last = [], 1, 0
    for match in TOKEN.finditer(code):
        line += code.count('\n', last, match.start())
        last = match.start()
        tokens.append((match[0], line))
    found, at, name, parameters, initial, assigned = [], 0, None, 0, False, False
    while at < len(tokens):
        token, previous = tokens[at][0], tokens[at - 1][0] if at else ''
        if token == '<' and previous == 'template':
            at = after(tokens, at)
            continue
        if token in ('(', '['):
            end = after(tokens, at)
            named = name is not None and (initial or not name[0].isupper())  # a macro may stand before a function
            of_type = end < len(tokens) and tokens[end][0] in ('>', ',')  # function<int(int)> f() {
            if token == '(' and not (named or assigned or of_type or previous in NO_NAME) and \
                    re.match(r'[A-Za-z_~]', previous):
                name, parameters = tokens[at - 1], count_of(tokens[at + 1:end - 1])
            at = end
            continue
        if token == '{':
            end = after(tokens, at)
            if assigned or initial and (re.match(r'\w', previous) or previous == '>'):
                at = end  # a value, or a member's
                continue
            if name is not None:
                found.append((name[0], name[1], tokens[end - 1][1] - name[1] + 1, parameters))
                at = end
            else:  # of a namespace, class or enumeration
                at += 1
        else:
            at += 1
            if token == ':' and name is not None:
                initial = True
            if token == '=':
                assigned = True
            if token not in (';', '}') and not (token == ':' and previous in ('public', 'private', 'protected')):
                continue
        name, parameters, initial, assigned = None, 0, False, False
    return found


def check(root):
    """Functions that were read, and faults as lines of text."""
    root, count, faults = pathlib.Path(root), 0, []
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob('*')):
            if path.suffix not in SUFFIXES or not path.is_file():
                continue
            file = path.relative_to(root).as_posix()
            for name, line, lines, parameters in functions_in(path.read_text(errors='replace')):
                count += 1
                if lines <= LINES and parameters <= PARAMETERS:
                    continue
                faults.append(f'{file}:{line}: {name}: expected at most {LINES} lines and {PARAMETERS} parameters, '
                              f'found {lines} and {parameters}')
    return count, faults


WITHIN = '''
#define MACRO(a, b, c, d, e, f, g, h) {
namespace room {
struct Made {
  explicit Made(int a) : a_{a}, b_(a), c_(std::array<int, 2>{a, 1'000}) {}
  template <class T = std::less<int>>
  bool operator()(int a, int b) const noexcept { return a < b; }  // }
  int values[2] = {1, 2};
};
EACH_SCALAR(MACRO)
constexpr auto text = R"(} {)";
auto least = [](int a, int b, int c, int d, int e, int f, int g, int h) { return a; };
int seven(int a, std::map<int, int> b, int (*c)(int, int), int d, int e, int f, int g = pair(1, 2)) {
  call(a, '{', "}", d, e, f, g, 8, 9);
''' + '\n' * 57 + '''}
}
'''
OVERS = {'eight': ('int eight(int a, int b, int c, int d, int e, int f, int g, int h) {}', 1, 8),
         'Long': ('Long::Long(int a)\n    : a_{a} {' + '\n' * 59 + '}', 61, 1),
         'after': ('EACH_SCALAR(MACRO)\nint after(int) {' + '\n' * 60 + '}', 61, 1),
         'result': ('std::function<int(int, int)> result(int) {' + '\n' * 60 + '}', 61, 1),
         'operator()': ('struct A {\n  void operator()() const {' + '\n' * 60 + '}\n};', 61, 0)}


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / 'src' / 'room' / 'a.cpp'
        path.parent.mkdir(parents=True)
        path.write_text(WITHIN)
        if check(folder) != (3, []):
            sys.exit(f'functions: expected three within the limits, found {check(folder)}')
        for name, (text, lines, parameters) in OVERS.items():
            path.write_text(f'{WITHIN}\n{text}\n')
            count, faults = check(folder)
            if count != 4 or len(faults) != 1 or f' {name}: ' not in faults[0] or \
                    not faults[0].endswith(f'found {lines} and {parameters}'):
                sys.exit(f'functions: expected one fault, {name}, found {count}: {faults}')


def main():
    if sys.argv[1:] == ['--self-test']:
        self_test()
        return
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    count, faults = check(sys.argv[1])
    if count < 1000:
        sys.exit(f'functions: expected the project\'s functions, found {count}')
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


if __name__ == '__main__':
    main()
