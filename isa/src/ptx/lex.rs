//! Lexer for PTX: a cursor over the bytes of the text.

use crate::problem::Problem;
use std::ops::Range;

const SPACE: u8 = 1;
const START: u8 = 2;
const WORD: u8 = 4;
const DIGIT: u8 = 8;

/// Character classes of each byte, as a mask of `SPACE`, `START`, `WORD` and `DIGIT`.
static CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut b = 0_usize;
    while b < 256 {
        let byte = b as u8;
        class[b] = match byte {
            b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c => SPACE,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => START | WORD,
            b'$' => START | WORD,
            b'%' => START,
            b'0'..=b'9' => WORD | DIGIT,
            _ => 0,
        };
        b += 1;
    }
    class
};

fn is(byte: u8, class: u8) -> bool {
    CLASS[usize::from(byte)] & class != 0
}

#[derive(Clone, Debug)]
pub(super) struct Cursor<'t> {
    text: &'t str,
    pos: usize,
    line: u32,
    open: Option<Problem>,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Cursor<'t> {
        Cursor { text, pos: 0, line: 1, open: None }
    }

    /// Returns the byte at the cursor; 0 at the end of the text.
    #[inline]
    pub(super) fn peek(&self) -> u8 {
        self.ahead(0)
    }

    #[inline]
    pub(super) fn ahead(&self, by: usize) -> u8 {
        self.text.as_bytes().get(self.pos + by).copied().unwrap_or(0)
    }

    pub(super) fn at_end(&self) -> bool {
        self.pos >= self.text.len()
    }

    pub(super) fn pos(&self) -> usize {
        self.pos
    }

    pub(super) fn begin(&mut self) -> usize {
        self.trivia();
        self.pos
    }

    pub(super) fn line(&self) -> u32 {
        self.line
    }

    /// Returns the text from `start` to the cursor. Both must be at character boundaries, as the ends of
    /// words are.
    pub(super) fn since(&self, start: usize) -> &'t str {
        self.text.get(start..self.pos).unwrap_or("")
    }

    pub(super) fn slice(&self, range: Range<usize>) -> &'t str {
        self.text.get(range).unwrap_or("")
    }

    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    pub(super) fn take_open(&mut self) -> Option<Problem> {
        self.open.take()
    }

    pub(super) fn rewind(&mut self, pos: usize, line: u32) {
        (self.pos, self.line) = (pos, line);
    }

    /// True if there is only white space between the start of the line and the cursor.
    pub(super) fn starts_line(&self) -> bool {
        let before = self.text.as_bytes().get(..self.pos).unwrap_or_default();
        let blank = before.iter().rev().take_while(|b| matches!(b, b' ' | b'\t')).count();
        matches!(before.get(..before.len() - blank), None | Some([] | [.., b'\n']))
    }

    #[inline]
    pub(super) fn bump(&mut self) {
        self.pos += 1;
    }

    pub(super) fn bump_char(&mut self) {
        let next = self.text.get(self.pos..).and_then(|rest| rest.chars().next());
        self.line += u32::from(next == Some('\n'));
        self.pos += next.map_or(1, char::len_utf8);
        self.pos = self.pos.min(self.text.len());
    }

    pub(super) fn char_range(&self) -> Range<usize> {
        let next = self.text.get(self.pos..).and_then(|rest| rest.chars().next());
        self.pos..self.pos + next.map_or(0, char::len_utf8)
    }

    /// Returns the range and the text of the word or character at the cursor, for messages. At the end of the
    /// text, returns a description.
    pub(super) fn found(&self) -> (Range<usize>, String) {
        let mut look = Cursor { open: None, ..self.clone() };
        if look.word().is_some() || look.digits().is_some() {
            let text = look.since(self.pos);
            return (self.pos..look.pos, format!("`{text}`"));
        }
        let range = self.char_range();
        match self.text.get(range.clone()).and_then(|c| c.chars().next()) {
            None => (range, "the end of the text".into()),
            Some('\n') => (range, "the end of the line".into()),
            Some(c) if c.is_control() => (range, format!("character U+{:04X}", u32::from(c))),
            Some(c) => (range, format!("`{c}`")),
        }
    }

    #[inline]
    pub(super) fn trivia(&mut self) {
        loop {
            let byte = self.peek();
            if is(byte, SPACE) {
                self.line += u32::from(byte == b'\n');
                self.pos += 1;
            } else if byte == b'/' && matches!(self.ahead(1), b'/' | b'*') {
                self.comment();
            } else {
                return;
            }
        }
    }

    fn comment(&mut self) {
        if self.ahead(1) == b'/' {
            self.skip_line();
            return;
        }
        let start = self.pos;
        self.pos += 2;
        loop {
            match self.peek() {
                b'*' if self.ahead(1) == b'/' => {
                    self.pos += 2;
                    return;
                }
                b'\n' => self.line += 1,
                0 if self.at_end() => {
                    let help = "end the comment with */";
                    self.open
                        .get_or_insert_with(|| Problem::new(start..start + 2, "comment is not closed", help));
                    return;
                }
                _ => {}
            }
            self.pos += 1;
        }
    }

    pub(super) fn skip_line(&mut self) {
        let rest = self.text.as_bytes().get(self.pos..).unwrap_or_default();
        self.pos += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
    }

    /// Skips white space and comments. If `byte` follows, consumes it and returns true.
    #[inline]
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        self.trivia();
        let found = self.peek() == byte && !self.at_end();
        self.pos += usize::from(found);
        found
    }

    /// Consumes a name: a letter, `_`, `$` or `%`, then letters, digits, `_` and `$`. `None` if there is none
    /// at the cursor.
    #[inline]
    pub(super) fn word(&mut self) -> Option<&'t str> {
        let start = self.pos;
        if !is(self.peek(), START) {
            return None;
        }
        self.pos += 1;
        while is(self.peek(), WORD) {
            self.pos += 1;
        }
        Some(self.since(start))
    }

    /// Consumes a number: a digit, then letters, digits, `_` and `$`. `None` if there is none at the cursor.
    #[inline]
    pub(super) fn digits(&mut self) -> Option<&'t str> {
        let start = self.pos;
        if !is(self.peek(), DIGIT) {
            return None;
        }
        while is(self.peek(), WORD) {
            self.pos += 1;
        }
        Some(self.since(start))
    }

    /// Consumes a dot and the words after it, joined by `::`, such as `.shared::cta`. The cursor is on the
    /// dot. The result does not contain the dot.
    #[inline]
    pub(super) fn dotted(&mut self) -> Option<&'t str> {
        let start = self.pos + 1;
        if self.peek() != b'.' || !is(self.ahead(1), WORD) {
            return None;
        }
        self.pos = start;
        loop {
            while is(self.peek(), WORD) {
                self.pos += 1;
            }
            if self.peek() != b':' || self.ahead(1) != b':' || !is(self.ahead(2), WORD) {
                return Some(self.since(start));
            }
            self.pos += 2;
        }
    }

    /// Consumes a string and returns the text between the quotes. The cursor is on the first quote.
    pub(super) fn string(&mut self) -> &'t str {
        let start = self.pos;
        self.pos += 1;
        loop {
            match self.peek() {
                b'"' => break,
                b'\\' if !matches!(self.ahead(1), b'\n' | 0) => self.pos += 1,
                b'\n' => return self.open_string(start),
                0 if self.at_end() => return self.open_string(start),
                _ => {}
            }
            self.pos += 1;
        }
        let inside = self.since(start + 1);
        self.pos += 1;
        inside
    }

    fn open_string(&mut self, start: usize) -> &'t str {
        let help = "end the string with \" on the same line";
        self.open.get_or_insert_with(|| Problem::new(start..start + 1, "string is not closed", help));
        self.since(start + 1)
    }

    /// Skips a block, from the `{` at the cursor to the matching `}`. Braces in comments and strings do not
    /// count. Returns false if the text ends first.
    pub(super) fn skip_block(&mut self) -> bool {
        let mut depth = 0_usize;
        while !self.at_end() {
            let byte = self.peek();
            match byte {
                b'"' => {
                    self.string();
                    continue;
                }
                b'/' if matches!(self.ahead(1), b'/' | b'*') => {
                    self.comment();
                    continue;
                }
                b'\n' => self.line += 1,
                b'{' => depth += 1,
                b'}' => depth -= 1,
                _ => {}
            }
            self.pos += 1;
            if depth == 0 {
                return true;
            }
        }
        false
    }
}
