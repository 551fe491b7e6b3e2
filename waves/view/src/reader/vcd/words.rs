//! Splits a text into words separated by white space.

use std::io::{self, Read};
use std::ops::Range;

const BLOCK: usize = 1 << 18;
/// Maximum length of a word in bytes: a value of a signal of 16 Mi bits.
const LONGEST: usize = 1 << 24;

#[derive(Debug)]
pub(super) enum WordFault {
    Io(io::Error),
    TooLong { line: u64, most: usize },
}

/// Iterator over the words of a text. The buffer keeps the current group of words.
#[derive(Debug)]
pub(super) struct Words<R> {
    input: R,
    buffer: Vec<u8>,
    /// Start of the current group in the buffer.
    group: usize,
    /// End of the last word, and end of the filled part of the buffer.
    at: usize,
    filled: usize,
    /// Number of bytes of the text before the buffer.
    before: u64,
    line: u64,
    ended: bool,
    /// True if the last word ended at the end of the text without white space.
    unterminated: bool,
}

/// A word as a range relative to the start of its group.
pub(super) type Word = Range<usize>;

pub(super) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

impl<R: Read> Words<R> {
    pub(super) fn new(input: R, before: u64, line: u64) -> Self {
        let buffer = vec![0; BLOCK];
        Words { input, buffer, group: 0, at: 0, filled: 0, before, line, ended: false, unterminated: false }
    }

    /// Starts a new group. Words of the previous group become invalid.
    pub(super) fn begin(&mut self) {
        self.group = self.at;
    }

    /// Returns the next word of the group; `None` at the end of the text.
    pub(super) fn next(&mut self) -> Result<Option<Word>, WordFault> {
        loop {
            let rest = &self.buffer[self.at..self.filled];
            let mut lines = 0;
            let skipped = rest.iter().position(|byte| {
                lines += u64::from(*byte == b'\n');
                !is_space(*byte)
            });
            self.line += lines;
            self.at += skipped.unwrap_or(rest.len());
            if self.at < self.filled {
                break;
            }
            if !self.fill()? {
                return Ok(None);
            }
        }
        let mut length = 0;
        loop {
            let rest = &self.buffer[self.at + length..self.filled];
            match rest.iter().position(|byte| is_space(*byte)) {
                Some(more) => {
                    length += more;
                    break;
                }
                None => {
                    length += rest.len();
                    if !self.fill()? {
                        self.unterminated = true;
                        break;
                    }
                }
            }
        }
        let from = self.at - self.group;
        self.at += length;
        Ok(Some(from..from + length))
    }

    pub(super) fn text(&self, word: &Word) -> &[u8] {
        &self.buffer[self.group + word.start..self.group + word.end]
    }

    pub(super) fn text_mut(&mut self, word: &Word) -> &mut [u8] {
        &mut self.buffer[self.group + word.start..self.group + word.end]
    }

    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Returns the number of bytes up to the end of the last word.
    pub(super) fn bytes(&self) -> u64 {
        self.before + self.at as u64
    }

    /// True if the last word may be incomplete because the text is truncated.
    pub(super) fn is_unterminated(&self) -> bool {
        self.unterminated
    }

    /// Fills the buffer. Returns false at the end of the text.
    fn fill(&mut self) -> Result<bool, WordFault> {
        if self.ended {
            return Ok(false);
        }
        // Move the group to the start of the buffer.
        self.buffer.copy_within(self.group..self.filled, 0);
        self.before += self.group as u64;
        self.at -= self.group;
        self.filled -= self.group;
        self.group = 0;
        if self.filled > LONGEST {
            return Err(WordFault::TooLong { line: self.line, most: LONGEST });
        }
        if self.buffer.len() - self.filled < BLOCK / 2 {
            self.buffer.resize(self.filled + BLOCK, 0);
        }
        loop {
            match self.input.read(&mut self.buffer[self.filled..]) {
                Ok(0) => {
                    self.ended = true;
                    return Ok(false);
                }
                Ok(more) => {
                    self.filled += more;
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(WordFault::Io(error)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reader that returns at most three bytes at a time.
    struct Slowly<'a>(&'a [u8]);

    impl Read for Slowly<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let some = self.0.len().min(3).min(buffer.len());
            buffer[..some].copy_from_slice(&self.0[..some]);
            self.0 = &self.0[some..];
            Ok(some)
        }
    }

    #[test]
    fn words_lines_and_places_are_those_of_the_text() {
        let text = b" $var\n\twire 1\r\n\n!  clk $end";
        let mut words = Words::new(Slowly(text), 100, 7);
        let mut found = Vec::new();
        loop {
            words.begin();
            let Some(first) = words.next().unwrap() else { break };
            let at_first = words.line();
            let second = words.next().unwrap().unwrap();
            for (word, line) in [(first, at_first), (second, words.line())] {
                found.push((String::from_utf8(words.text(&word).to_vec()).unwrap(), line));
            }
        }
        let expected = [("$var", 7), ("wire", 8), ("1", 8), ("!", 10), ("clk", 10), ("$end", 10)];
        assert_eq!(found, expected.map(|(word, line)| (word.to_owned(), line)));
        assert_eq!(words.bytes(), 100 + text.len() as u64);
        assert!(words.is_unterminated());
    }

    #[test]
    fn a_word_without_end_is_refused() {
        let mut words = Words::new(io::repeat(b'a'), 0, 1);
        assert!(matches!(words.next(), Err(WordFault::TooLong { line: 1, .. })));
    }
}
