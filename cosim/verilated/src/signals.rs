//! The signals inside a design, as Verilator's wave writer gives them: text in memory, read here.

use crate::abi::OK;
use crate::{Library, RtlError};
use atoms_model::port::{In, Out, Probe};
use std::ffi::{c_char, c_void};
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// A signal of the design, or a field of one that has fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DesignSignal {
    /// Instances from the top module on, and signals that it is a field of.
    pub scopes: Vec<String>,
    /// Name, with the place of an element: `head_q`, `rd_q[3]`.
    pub name: String,
    /// Bits, at most 128: wider ones are left out.
    pub bits: u32,
    /// Place of the first signal in the list that is the same wire, where this is not it.
    pub same_as: Option<usize>,
}

impl DesignSignal {
    /// Scopes and name, joined by points: `atoms_unit.u_issue.op_q`.
    pub fn path(&self) -> String {
        self.scopes.iter().chain([&self.name]).map(String::as_str).collect::<Vec<_>>().join(".")
    }
}

/// The signals of one model, and those that changed last.
#[derive(Debug)]
pub(crate) struct Signals {
    opened: NonNull<c_void>,
    list: Vec<DesignSignal>,
    codes: SignalCodes,
    /// What changed in the last cycle, as text; empty before the first.
    text: (*const c_char, usize),
}

/// Which signals the codes of a design's wave text stand for.
#[derive(Clone, Debug, Default)]
pub struct SignalCodes {
    /// Place in the list by the number of the code; of one that is not listed, none.
    places: Arc<[Option<u32>]>,
}

impl SignalCodes {
    /// Reads value changes, `1!` of one bit, `b101 !` of more, as [`Rtl::changes_text`](crate::Rtl::changes_text) gives
    /// them.
    pub fn changes(&self, text: &[u8], mut each: impl FnMut(SignalChange)) {
        let mut rest = text;
        while let [first, behind @ ..] = rest {
            let (value, code) = match first {
                b'0' | b'1' => (Some(u128::from(first & 1)), behind),
                b'b' => {
                    let (value, count) = digits(behind);
                    (Some(value), behind.get(count + 1..).unwrap_or_default())
                }
                // A time, a keyword.
                _ => (None, behind),
            };
            let (number, length) = code_of_line(code);
            if let Some((value, Some(place))) = value.zip(self.places.get(number)) {
                each(SignalChange { signal: *place as usize, value });
            }
            rest = code.get(length + 1..).unwrap_or_default();
        }
    }
}

/// Number and length of the code that a line ends with, at once for up to four characters.
fn code_of_line(text: &[u8]) -> (usize, usize) {
    if let Some(first) = text.first_chunk::<8>() {
        let eight = u64::from_le_bytes(*first);
        // The lowest byte that is the end of a line: in those below it, no bit is set.
        let ends = eight ^ 0x0a0a_0a0a_0a0a_0a0a;
        let ends = ends.wrapping_sub(0x0101_0101_0101_0101) & !ends & 0x8080_8080_8080_8080;
        let length = ends.trailing_zeros() as usize / 8;
        if length <= 4 {
            let here = (1_u64 << (8 * length)) - 1;
            let digits = (eight & here).wrapping_sub(0x2020_2020 & here);
            let digit = |at: usize| (digits >> (8 * at) & 0xff) as usize;
            let number = digit(0) + 94 * (digit(1) + 94 * (digit(2) + 94 * digit(3)));
            return (number.wrapping_sub(1), length);
        }
    }
    let length = text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len());
    (number(&text[..length]), length)
}

/// The number that digits `0` and `1` in front of a space say, the highest first, and how many there are.
///
/// Signals have any width, and follow in any order: a branch for each eight digits costs more than to look at forty.
fn digits(text: &[u8]) -> (u128, usize) {
    let Some(forty) = text.first_chunk::<40>() else { return digits_one_by_one(text) };
    let (mut value, mut ends) = (0, 0);
    for (at, eight) in forty.as_chunks::<8>().0.iter().enumerate() {
        let eight = u64::from_le_bytes(*eight);
        // A bit that every digit has, and neither a space nor the end of a line.
        let end = !eight >> 4 & 0x0101_0101_0101_0101;
        // The products put the lowest bit of each byte side by side: the first byte's lowest, or on top.
        ends |= (end.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * at);
        let digits = eight & 0x0101_0101_0101_0101;
        value |= (digits.wrapping_mul(0x8040_2010_0804_0201) >> 56) << (32 - 8 * at);
    }
    if ends == 0 {
        return digits_one_by_one(text);
    }
    let count = ends.trailing_zeros() as usize;
    ((value >> (40 - count)).into(), count)
}

fn digits_one_by_one(text: &[u8]) -> (u128, usize) {
    let digits = text.iter().take_while(|byte| matches!(byte, b'0' | b'1'));
    digits.fold((0, 0), |(value, count), digit| (value << 1 | u128::from(digit & 1), count + 1))
}

impl Signals {
    /// Those of the model behind `handle`, of `library`.
    ///
    /// # Safety
    /// `handle` is a live model of `library`.
    pub(crate) unsafe fn open(library: &Library, handle: NonNull<c_void>) -> Result<Self, RtlError> {
        let open = library.api().open_signals.ok_or(RtlError::NoWaves)?;
        let (mut text, mut length) = (ptr::null(), 0);
        // SAFETY: the handle is live (the caller's promise), both pointers are to locals.
        let opened = unsafe { open(handle.as_ptr(), &mut text, &mut length) };
        let opened = NonNull::new(opened)
            .ok_or_else(|| RtlError::Failed("the signals of the design cannot be listed".to_owned()))?;
        // SAFETY: where it succeeds, the shim gives `length` bytes that stay until its next call.
        let text = unsafe { bytes(text, length) };
        let (list, places) = declarations(&String::from_utf8_lossy(text));
        Ok(Self { opened, list, codes: SignalCodes { places: places.into() }, text: (ptr::null(), 0) })
    }

    /// Ends it.
    ///
    /// # Safety
    /// `handle` is the live model that it was opened with.
    pub(crate) unsafe fn close(self, library: &Library, handle: NonNull<c_void>) {
        if let Some(close) = library.api().close_signals {
            // SAFETY: both are live, the caller says.
            unsafe { close(handle.as_ptr(), self.opened.as_ptr()) };
        }
    }

    /// A cycle of the model; gives its status.
    ///
    /// # Safety
    /// `handle` is the live model that it was opened with.
    pub(crate) unsafe fn cycle(
        &mut self,
        library: &Library,
        handle: NonNull<c_void>,
        (input, out, probe): (&In, &mut Out, &mut Probe),
    ) -> Result<i32, RtlError> {
        let cycle = library.api().cycle_signals.ok_or(RtlError::NoWaves)?;
        let (mut text, mut length) = (ptr::null(), 0);
        // SAFETY: both are live, the caller says; structs as in `Rtl::cycle`; both pointers are to locals.
        let status = unsafe {
            cycle(handle.as_ptr(), self.opened.as_ptr(), input, out, probe, &mut text, &mut length)
        };
        self.text = (text, length);
        debug_assert!(status != OK || length > 0, "a dump has at least its time");
        Ok(status)
    }

    pub(crate) fn list(&self) -> &[DesignSignal] {
        &self.list
    }

    pub(crate) fn codes(&self) -> &SignalCodes {
        &self.codes
    }

    /// The signals that changed in the last cycle.
    pub(crate) fn text(&self) -> &[u8] {
        let (text, length) = self.text;
        // SAFETY: the shim gave `length` bytes that stay until its next call with `opened`, and each needs `self` mutably,
        // or consumes it.
        unsafe { bytes(text, length) }
    }
}

/// A signal that changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignalChange {
    /// Its place in the list; of a wire of several names, that of the first one.
    pub signal: usize,
    /// What it is now.
    pub value: u128,
}

/// # Safety
/// `text` points to `length` bytes that outlive the use of the result, or `length` is 0.
unsafe fn bytes<'a>(text: *const c_char, length: usize) -> &'a [u8] {
    if length == 0 {
        return &[];
    }
    // SAFETY: as the caller says.
    unsafe { std::slice::from_raw_parts(text.cast(), length) }
}

/// Number of a code: base 94 from `!` on, the lowest digit first, without gaps.
fn number(code: &[u8]) -> usize {
    let digit = |byte: &u8| usize::from(byte.wrapping_sub(b'!' - 1));
    code.iter().rev().fold(0, |number, byte| number * 94 + digit(byte)).wrapping_sub(1)
}

/// The signals that the head of a VCD text declares below the top module, and the place of each code's first one.
/// Verilator puts a scope of its own around the top module.
fn declarations(text: &str) -> (Vec<DesignSignal>, Vec<Option<u32>>) {
    let (mut list, mut by_code) = (Vec::new(), Vec::new());
    let mut scopes: Vec<String> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["$scope", _, name, "$end"] => scopes.push(name.to_owned()),
            ["$upscope", ..] => drop(scopes.pop()),
            ["$var", _, bits, code, name, ..] if scopes.len() > 1 => {
                // None of ours is wider: structs and arrays come by their fields.
                let Some(bits) = bits.parse().ok().filter(|bits| *bits <= u128::BITS) else { continue };
                let number = number(code.as_bytes());
                if by_code.len() <= number {
                    by_code.resize(number + 1, None);
                }
                let same_as = by_code[number].map(|at: u32| at as usize);
                by_code[number].get_or_insert(list.len() as u32);
                list.push(DesignSignal {
                    scopes: scopes[1..].to_vec(),
                    name: name.to_owned(),
                    bits,
                    same_as,
                });
            }
            _ => {}
        }
    }
    (list, by_code)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "\
$scope module TOP $end
 $var wire 1 # clk_i $end
 $scope module top $end
  $var wire 1 # clk_i $end
  $var wire 4 ! count_q [3:0] $end
  $scope module u_queue $end
   $var wire 4 ! level [3:0] $end
   $scope module entry_q[0] $end
    $var wire 8 !! tag [7:0] $end
   $upscope $end
  $upscope $end
 $upscope $end
$upscope $end
$enddefinitions $end
";

    #[test]
    fn signals_have_paths_and_one_wire_is_one() {
        let (list, by_code) = declarations(HEAD);
        let paths: Vec<_> = list.iter().map(DesignSignal::path).collect();
        assert_eq!(paths, ["top.clk_i", "top.count_q", "top.u_queue.level", "top.u_queue.entry_q[0].tag"]);
        assert_eq!(list.iter().map(|signal| signal.same_as).collect::<Vec<_>>(), [None, None, Some(1), None]);
        assert_eq!((by_code[0], by_code[2], by_code[94]), (Some(1), Some(0), Some(3)));
    }

    fn changes(text: &[u8]) -> Vec<(usize, u128)> {
        let codes = SignalCodes { places: declarations(HEAD).1.into() };
        let mut changes = Vec::new();
        codes.changes(text, |change| changes.push((change.signal, change.value)));
        changes
    }

    #[test]
    fn changes_are_read() {
        let read = changes(b"#12\n1#\nb1010 !\nb00000011 !!\n0~~\n$dumpoff\n");
        assert_eq!(read, [(0, 1), (1, 10), (3, 3)], "a code that is not declared is left out");
        for cut in ["", "b", "b10", "b10 ", "b000000001", "1", "b1111000011110000 ", "b\n", "b 1", "\n\n"] {
            assert_eq!(changes(cut.as_bytes()), [], "{cut:?}");
        }
    }

    #[test]
    fn codes_are_read_at_once() {
        for code in ["!", "~", "!!", "~~", "\"#$", "~~~", "!!!!", "~~~~", "!!!!!", "~~~~~"] {
            let expected = (number(code.as_bytes()), code.len());
            for behind in ["\n", "\n1!\nb101 !!\n", ""] {
                assert_eq!(code_of_line(format!("{code}{behind}").as_bytes()), expected, "{code}{behind:?}");
            }
        }
        assert_eq!(code_of_line(b"\n0123456789").1, 0);
    }

    #[test]
    fn digits_are_read_forty_at_a_time() {
        let number = 0x8123_4567_89ab_cdef_0f1e_2d3c_4b5a_6978_u128;
        for shift in 0..128 {
            let (number, width) = (number >> shift, 128 - shift);
            let text = format!("b{number:0width$b} !\n0#\n");
            assert_eq!(changes(text.as_bytes()), [(1, number), (0, 0)], "{text}");
            let long = format!("{text}#1000\n").repeat(9);
            assert_eq!(changes(long.as_bytes()), [(1, number), (0, 0)].repeat(9), "{text}");
        }
    }
}
