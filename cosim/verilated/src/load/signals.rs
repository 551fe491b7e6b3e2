//! The signals inside a design: Verilator's wave writer declares them as text, and hands over what changes as numbers.

use std::ffi::{c_char, c_void};
use std::ptr::{self, NonNull};

use atoms_model::port::{In, Out, Probe};

use crate::{Library, RtlError};

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
    /// What stands for the wire in changes; counted without large gaps.
    pub code: usize,
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
    /// Place in the list by the code; of one that is not listed, none.
    places: Vec<Option<u32>>,
    /// What changed in the last cycle; empty before the first.
    changed: (*const c_char, usize),
}

/// Reads value changes as [`Rtl::changes_bytes`](crate::Rtl::changes_bytes) gives them: words of 32 bits as
/// `build/shim/records.h` says. `each` takes the [code](DesignSignal::code) of a signal, which may be none of the list, and what
/// the signal is now.
pub fn read_changes(bytes: &[u8], mut each: impl FnMut(usize, u128)) {
    let mut rest = bytes.as_chunks::<4>().0;
    while let [head, behind @ ..] = rest {
        let head = u32::from_ne_bytes(*head) as usize;
        let Some((words, behind)) = behind.split_at_checked(head & 7) else { return };
        rest = behind;
        let value = match words {
            [word] => u32::from_ne_bytes(*word).into(),
            _ => {
                words.iter().rev().fold(0, |value, word| value << 32 | u128::from(u32::from_ne_bytes(*word)))
            }
        };
        each(head >> 3, value);
    }
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
        Ok(Self { opened, list, places, changed: (ptr::null(), 0) })
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
        let (mut changed, mut length) = (ptr::null(), 0);
        // SAFETY: both are live, the caller says; structs as in `Rtl::cycle`; both pointers are to locals.
        let status = unsafe {
            cycle(handle.as_ptr(), self.opened.as_ptr(), input, out, probe, &mut changed, &mut length)
        };
        self.changed = (changed, length);
        Ok(status)
    }

    pub(crate) fn list(&self) -> &[DesignSignal] {
        &self.list
    }

    /// The signals that changed in the last cycle.
    pub(crate) fn changes(&self) -> Vec<SignalChange> {
        let mut changes = Vec::new();
        read_changes(self.changed(), |code, value| {
            let place = self.places.get(code).copied().flatten();
            changes.extend(place.map(|place| SignalChange { signal: place as usize, value }));
        });
        changes
    }

    /// The same as [`read_changes`] takes it.
    pub(crate) fn changed(&self) -> &[u8] {
        let (bytes, length) = self.changed;
        // SAFETY: the shim gave `length` bytes that stay until its next call with `opened`, and each needs `self` mutably,
        // or consumes it.
        unsafe { self::bytes(bytes, length) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignalChange {
    /// Its place in the list; of a wire of several names, that of the first one.
    pub signal: usize,
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
                    code: number,
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
        assert_eq!(list.iter().map(|signal| signal.code).collect::<Vec<_>>(), [2, 0, 0, 94]);
    }

    #[test]
    fn changes_are_read() {
        let wide = 0x8123_4567_89ab_cdef_0f1e_2d3c_4b5a_6978_u128;
        let expected = [(2, 1, 1), (0, wide >> 64, 2), (94, wide >> 32, 3), (7, 5, 1), (0, wide, 4)];
        let mut words = Vec::new();
        for (code, value, count) in expected {
            words.push((code as u32) << 3 | count);
            words.extend((0..count).map(|at| (value >> (32 * at)) as u32));
        }
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let read = |bytes: &[u8]| {
            let mut changes = Vec::new();
            read_changes(bytes, |code, value| changes.push((code, value)));
            changes
        };
        let expected = expected.map(|(code, value, _)| (code, value));
        assert_eq!(read(&bytes), expected);
        assert_eq!(read(&bytes[..bytes.len() - 1]), expected[..4], "cut");
        assert_eq!(read(&[]), []);
    }
}
