#!/usr/bin/env python3
"""The project's pages (*.md): what they point to is there, and their lines can be read in an editor.

    pages.py SOURCE    a line for each fault; exit code 1 if any
    pages.py --self-test

Faults are: a relative link, or a page that a file of code names, which is not there; an anchor without a heading; a
"section N", of the same page or of one that is named before it ("opening.md, section 2"), without a heading of that
number; a line of prose that is longer than 120 characters, on pages that are wrapped (lines of tables and pictures may
be longer).
"""
import pathlib
import re
import sys
import tempfile

WIDTH = 120
WRAPPED = ('README.md', 'src/ARCHITECTURE.md', 'src/spec/', 'src/guide/kernels.md', 'src/guide/numbers.md',
           'src/guide/scaling.md')
FOLDERS = ('src', 'include', 'tests', 'jobs', 'configs')
CODE = {'.cpp', '.hpp', '.h', '.c', '.py', '.pyi', '.sh', '.sbatch', '.cmake', '.txt', '.toml', '.mjs', '.cjs', '.js'}
LINK = re.compile(r'\]\(([^()\s]+)\)|<(?:img|a)\s[^>]*?(?:src|href)="([^"]+)"')
SECTIONS = re.compile(r'(?:([\w/.-]+)\.md,\s+)?[Ss]ections?\s+'
                      r'(\d+(?:\.\d+)?(?:(?:,\s|\sand\s|\sto\s)\d+(?:\.\d+)?)*)')
PAGE = re.compile(r'(?<![\w/.-])((?:src|tests|jobs)/[\w/.-]+\.md)\b')
SELF = 'tests/pages/pages.py'  # has faults on purpose


def without_code(text):
    """Text without fenced code, comments and code spans; lines stay where they are."""
    def blank(match):
        return re.sub(r'[^\n]', ' ', match[0])
    text = re.sub(r'^ *```.*?^ *```', blank, text, flags=re.M | re.S)
    text = re.sub(r'<!--.*?-->', blank, text, flags=re.S)
    return re.sub(r'(`+)(?!`).+?(?<!`)\1(?!`)', blank, text)


def headings(text):
    fenced = re.sub(r'^ *```.*?^ *```', '', text, flags=re.M | re.S)
    return [heading.strip() for heading in re.findall(r'^#{1,6} +(.*)$', fenced, re.M)]


def anchors(text):
    """As GitHub names them."""
    found = set()
    for heading in headings(text):
        heading = re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', heading)
        name = re.sub(r'[^\w\- ]', '', re.sub(r'[`*]', '', heading).lower()).replace(' ', '-')
        count, unique = 0, name
        while unique in found:
            count += 1
            unique = f'{name}-{count}'
        found.add(unique)
    return found | set(re.findall(r'<a (?:id|name)="([^"]+)"', text))


def numbers(text):
    return {match[1] for heading in headings(text) if (match := re.match(r'(\d+(?:\.\d+)*)\.? ', heading))}


class Pages:
    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        files = [self.root / 'README.md', self.root / 'CMakeLists.txt']
        for folder in FOLDERS:
            files += sorted(path for path in (self.root / folder).rglob('*') if path.is_file())
        files = [path for path in files if path.exists() and '__pycache__' not in path.parts]
        self.pages = {path: path.read_text() for path in files if path.suffix == '.md'}
        self.code = {path: path.read_text(errors='replace') for path in files
                     if path.suffix in CODE and self.name(path) != SELF}
        self.faults = []

    def name(self, path):
        return path.relative_to(self.root).as_posix()

    def fault(self, path, text, offset, message):
        line = text.count('\n', 0, offset) + 1
        self.faults.append(f'{self.name(path)}:{line}: {message}')

    def check_links(self, path, text):
        for match in LINK.finditer(without_code(text)):
            target = match[1] or match[2]
            if re.match(r'[a-z]+:', target):
                continue
            file, _, anchor = target.partition('#')
            page = (path.parent / file).resolve() if file else path
            if not page.exists():
                self.fault(path, text, match.start(), f'{target}: no such file')
            elif anchor and anchor not in anchors(self.pages.get(page, '')):
                self.fault(path, text, match.start(), f'{target}: no such heading')

    def check_sections(self, path, text, own):
        """Sections of pages that are named, and of this page if it is one."""
        for match in SECTIONS.finditer(text):
            named = match[1] and match[1] + '.md'
            if not named and not own:
                continue
            page = path
            if named:
                page = next((place for place in ((path.parent / named).resolve(), (self.root / named).resolve())
                             if place in self.pages), None)
            if page is None:
                self.fault(path, text, match.start(), f'{named}: no such page')
                continue
            known = numbers(self.pages[page])
            for number in re.findall(r'\d+(?:\.\d+)?', match[2]):
                if number not in known:
                    self.fault(path, text, match.start(), f'section {number}: {self.name(page)} has none')

    def check_width(self, path, text):
        prose = re.sub(r'^ *```.*?^ *```', lambda match: '\n' * match[0].count('\n'), text, flags=re.M | re.S)
        for number, line in enumerate(prose.split('\n'), 1):
            if len(line) > WIDTH and not line.lstrip().startswith(('|', '![', '<img ')):
                self.faults.append(f'{self.name(path)}:{number}: {len(line)} characters, expected at most {WIDTH}')

    def check(self):
        for path, text in self.pages.items():
            self.check_links(path, text)
            self.check_sections(path, without_code(text), own=True)
            if self.name(path).startswith(WRAPPED):
                self.check_width(path, text)
        for path, text in self.code.items():
            # what a comment says may go on in its next line
            joined = re.sub(r'\n[ \t]*(?:///?|#|\*)[ \t]?', lambda match: '\n' + ' ' * (len(match[0]) - 1), text)
            for match in PAGE.finditer(joined):
                if not (self.root / match[1]).exists():
                    self.fault(path, joined, match.start(), f'{match[1]}: no such page')
            self.check_sections(path, joined, own=False)
        return self.faults


GOOD = {
    'README.md': '# A\n\nSee [b](src/spec/b.md#1-one-two), [here](#a) and ![p](src/p.png), https://x.y/[z](q:z).\n'
                 '`[code](nowhere.md)`\n\n```\n[fenced](nowhere.md), section 9, a long line' + ' long' * 30 + '\n```\n',
    'src/p.png': '',
    'src/spec/b.md': '# B\n\n## 1. One, `two`\n\nSection 2.1 and sections 1 to 2, [c.md, section\n3](c.md#3-x).\n\n'
                     '## 2. T\n\n### 2.1. U\n\n| a table\'s line | ' + 'long ' * 30 + '|\n',
    'src/spec/c.md': '## 3. X\n',
    'src/code.hpp': '/// (src/spec/b.md,\n/// section 2.1), section 17 of a standard\n',
}
BAD = {
    'no such file': ('README.md', '[x](src/nowhere.md)'),
    'no such file ': ('README.md', '<img alt="" src="src/q.png">'),
    'no such heading': ('README.md', '[x](src/spec/b.md#1-one)'),
    'section 7': ('src/spec/b.md', 'in section 7.'),
    'section 4': ('src/spec/b.md', '[c.md,\nsection 4](c.md)'),
    'no such page': ('src/code.hpp', '// src/README.md says'),
    'section 5': ('src/code.hpp', '// (src/spec/b.md,\n  /// section 5)'),
    '121 characters': ('src/spec/c.md', 'x' * 121),
}


def faults_of(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return Pages(folder).check()


def self_test():
    if faults := faults_of(GOOD):
        sys.exit(f'pages: expected no fault, found {faults}')
    for expected, (name, text) in BAD.items():
        faults = faults_of({**GOOD, name: GOOD[name] + '\n' + text + '\n'})
        if len(faults) != 1 or expected.strip() not in faults[0]:
            sys.exit(f'pages: expected one fault like "{expected}", found {faults}')


def main():
    if sys.argv[1:] == ['--self-test']:
        self_test()
        return
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    pages = Pages(sys.argv[1])
    if len(pages.pages) < 10:
        sys.exit(f'pages: expected the project\'s pages, found {len(pages.pages)}')
    for fault in (faults := pages.check()):
        print(fault)
    sys.exit(1 if faults else 0)


if __name__ == '__main__':
    main()
