#!/usr/bin/env python3
"""Doc comments of C++ (///, in src/ and include/) can be read alone: none needs the one above it to be understood.

    comments.py SOURCE    a line for each fault: file, line, text; exit code 1 if any
    comments.py --self-test

A fault is a comment whose first words point back ("The same of ...", "Likewise", "Those of ...", "And of all ...",
"They ...") or lack what they belong to ("Of a rank that is alone, ..."): it says what the thing is, or does.
"""
import pathlib
import re
import sys
import tempfile

FOLDERS = ('src', 'include')
SUFFIXES = {'.cpp', '.hpp', '.h', '.c'}
BACK = r'(?:it|them|these|those|that|this|all of them|one of them)'
POINTING = re.compile(
    r'(?:'
    r'(?:the|much the|just the) same\b|same\b|likewise|ditto|as (?:above|before|there|these|those|they)\b|again\b'
    r'|(?:and|but|or|nor|so|then|else|also|thus|hence|otherwise|of)\b'
    r'|(?:it|its|they|them|their|theirs|these|those|such)\b|both\b(?! \w+)|both (?:must|may|can|are|have|of)\b'
    r'|that (?:of|is|which|are|they|in|between|as)\b|this one\b|the (?:other|others|former|latter|ones?)\b(?! \w)'
    r'|the (?:other|others|former|latter|ones?) (?:of|is|are|that|which|where|for|with)\b'
    r'|another\b|others\b|(?:one|all|some|none|more|most|each|any|half) of (?:it|them|these|those)\b'
    r'|(?:in|to|from|with|without|for|by|on|at|after|before|behind|below|above|beside) ' + BACK + r'\b'
    r')', re.IGNORECASE)# a comment that is one phrase ("In the child.") and nothing else, or leaves the rest to others ("..., likewise.")
PHRASE = re.compile(r'(?:after|as|at|before|behind|below|by|for|from|in|on|under|with|without)\b[^.,:;]*\.?$'
                    r'|.*\b(?:likewise|as above|as before)\.?$', re.IGNORECASE)
DOC = re.compile(r'\s*///(?!/)(?!<)\s*(.*)')


def faults_in(text):
    """(line, its text) of each comment that begins so."""
    found, inside, lines = [], False, text.split('\n')
    for number, (line, following) in enumerate(zip(lines, lines[1:] + ['']), 1):
        match = DOC.match(line)
        alone = not DOC.match(following)
        if match and not inside and (POINTING.match(match[1]) or alone and PHRASE.match(match[1])):
            found.append((number, match[1]))
        inside = re.match(r'\s*//', line) is not None
    return found


def check(root):
    """Files that were read, and faults as lines of text."""
    root, count, faults = pathlib.Path(root), 0, []
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob('*')):
            if path.suffix in SUFFIXES and path.is_file():
                count += 1
                name = path.relative_to(root).as_posix()
                faults += [f'{name}:{line}: expected a comment that can be read alone, found "{text}"'
                           for line, text in faults_in(path.read_text(errors='replace'))]
    return count, faults


GOOD = '''
/// Leaves of a rank that is alone.
/// The same of two lines is one comment, whatever its second line begins with.
int a;  ///< of both
// The same is not said of other comments.
/// as it goes on.
int b;
/// The one message of a type.
/// Another line.
int c;
/// Both sides of an identity.
/// The other side's claims.
int d;
/// In the order of the file, of which
/// there is one: entries.
int e;
/// From now on a pad is added: begin_pads().
'''
BAD = ('The same of a rank that had all.', 'Likewise: two.', 'And back.', 'Of a rank that is alone, a coset.',
       'Those of all ranks.', 'They are not read any more.', 'Its output.', 'That of `rank`.', 'But for this one.',
       'Another communicator, and a record.', 'One of them.', 'In it, what follows.', 'It begins.', 'the same again',
       'Both must outlive this.', 'In the child.', 'By number.', 'As above, of two.', 'Such a file.',
       'The other of the two.', '(B,K), likewise.')


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / 'src' / 'room' / 'a.hpp'
        path.parent.mkdir(parents=True)
        path.write_text(GOOD)
        if check(folder) != (1, []):
            sys.exit(f'comments: expected no fault, found {check(folder)}')
        for text in BAD:
            path.write_text(f'{GOOD}\n  /// {text}\n  int d;\n')
            _, faults = check(folder)
            line = GOOD.count('\n') + 2
            if len(faults) != 1 or not faults[0].startswith(f'src/room/a.hpp:{line}: ') or text not in faults[0]:
                sys.exit(f'comments: expected one fault, "{text}", found {faults}')


def main():
    if sys.argv[1:] == ['--self-test']:
        self_test()
        return
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    count, faults = check(sys.argv[1])
    if count < 100:
        sys.exit(f'comments: expected the project\'s sources, found {count}')
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


if __name__ == '__main__':
    main()
